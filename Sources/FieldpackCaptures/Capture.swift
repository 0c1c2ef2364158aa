public import FieldpackCore
public import FieldpackGeometry

/// A picture or a video with where it was taken, as the file `capture-info.json` states it.
public struct CaptureInfo: Hashable, Sendable {
  public enum MediaKind: String, Hashable, Sendable, CaseIterable {
    case image, video
  }

  /// How a picture is held when it is upright.
  public enum Orientation: String, Hashable, Sendable, CaseIterable {
    case horizontal, vertical
  }

  public static let untitled = "Untitled Capture"

  /// The name of the capture's folder, which no other capture has.
  public var token: String
  public var title = CaptureInfo.untitled
  public var kind: MediaKind
  /// Where the capture began, in degrees of WGS 84.
  public var longitude: Double
  public var latitude: Double
  /// Degrees clockwise from true north; negative where the device did not know.
  public var heading: Double?
  public var orientation: Orientation?
  /// Seconds since 1970 in UTC.
  public var createdAt: Double
  /// The time of the upload as the file states it; below 500 it means that there was none.
  public var uploadedAtStated = 0.0
  /// The path of the geo-data below the folder of captures: `<token>/<name>`.
  public var geodataFile: String
  public var thumbnailFile: String
  public var mediaFile: String
  /// The members of the file that Fieldpack does not know, as a JSON object.
  public var extraJSON: String?

  public init(
    token: String, title: String = CaptureInfo.untitled, kind: MediaKind, longitude: Double,
    latitude: Double, heading: Double? = nil, createdAt: Double
  ) {
    self.token = token
    self.title = title
    self.kind = kind
    self.longitude = longitude
    self.latitude = latitude
    self.heading = heading
    self.createdAt = createdAt
    geodataFile = "\(token)/\(token).json"
    thumbnailFile = "\(token)/\(token).png"
    mediaFile = "\(token)/\(token).\(kind == .video ? "mov" : "jpg")"
  }

  /// Longitude and latitude as x and y.
  public var position: Position { Position(x: longitude, y: latitude) }

  /// When the capture was uploaded, in seconds since 1970 in UTC; `nil` where it never was.
  public var uploadedAt: Double? { uploadedAtStated < 500 ? nil : uploadedAtStated }
}

/// Where a device was and pointed at a moment of a capture.
public struct CapturePoint: Hashable, Sendable {
  /// Seconds since the media began.
  public var time: Double
  /// In degrees of WGS 84.
  public var longitude: Double
  public var latitude: Double
  /// Degrees clockwise from true north; negative where the device did not know.
  public var heading: Double?
  /// In metres; negative where the device did not know.
  public var accuracy: Double?
  /// The members of the point that Fieldpack does not know, as a JSON object.
  public var extraJSON: String?

  public init(
    time: Double, longitude: Double, latitude: Double, heading: Double? = nil,
    accuracy: Double? = nil
  ) {
    self.time = time
    self.longitude = longitude
    self.latitude = latitude
    self.heading = heading
    self.accuracy = accuracy
  }

  /// Longitude and latitude as x and y, the time as m.
  public var position: Position { Position(x: longitude, y: latitude, m: time) }
}

/// Where a device was through a capture, as the geo-data file states it.
public struct CaptureGeodata: Hashable, Sendable {
  public var points: [CapturePoint]
  /// The members beside `points`, as a JSON object.
  public var extraJSON: String?

  public init(points: [CapturePoint]) { self.points = points }
}

/// A capture that is stored in a GeoPackage.
public struct Capture: Hashable, Sendable {
  /// The feature in the layer `capture`.
  public var key: KeyTuple
  public var info: CaptureInfo
}
