public import FieldpackCore
public import FieldpackGeometry

/// One position reading of a device.
public struct Fix: Hashable, Sendable {
  /// Degrees on WGS 84, -180 to 180.
  public var longitude: Double
  /// Degrees on WGS 84, -90 to 90.
  public var latitude: Double
  /// Metres.
  public var elevation: Double?
  /// When the position was read; `nil` where the source does not say.
  public var time: Instant?
  /// The radius of accuracy in metres, within which the device is; `nil` where unknown.
  public var accuracy: Double?
  /// The direction of movement in degrees clockwise from true north, from 0 to below 360.
  public var course: Double?
  /// Metres a second.
  public var speed: Double?
  /// The direction in which the device points, in degrees clockwise from true north, where the source
  /// tells it with the position.
  public var heading: Double?
  /// The name of the device; empty where there is only one.
  public var device: String

  public init(
    longitude: Double, latitude: Double, elevation: Double? = nil, time: Instant? = nil,
    accuracy: Double? = nil, course: Double? = nil, speed: Double? = nil, heading: Double? = nil,
    device: String = ""
  ) {
    self.longitude = longitude
    self.latitude = latitude
    self.elevation = elevation
    self.time = time
    self.accuracy = accuracy
    self.course = course
    self.speed = speed
    self.heading = heading
    self.device = device
  }

  /// Longitude and latitude as x and y.
  public var position: Position { Position(x: longitude, y: latitude) }

  /// Whether longitude and latitude are finite and within their ranges.
  public var isOnEarth: Bool { abs(longitude) <= 180 && abs(latitude) <= 90 }
}

/// The direction in which a device points.
public struct Heading: Hashable, Sendable {
  /// Degrees clockwise from true north, from 0 to below 360.
  public var degrees: Double
  /// The possible error in degrees; `nil` where unknown.
  public var accuracy: Double?
  public var time: Instant?
  public var device: String

  public init(
    degrees: Double, accuracy: Double? = nil, time: Instant? = nil, device: String = ""
  ) {
    self.degrees = degrees
    self.accuracy = accuracy
    self.time = time
    self.device = device
  }
}
