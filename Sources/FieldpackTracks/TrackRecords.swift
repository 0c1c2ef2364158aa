public import FieldpackCore

/// A track as it is stored in a file.
public struct RecordedTrack: Hashable, Sendable {
  /// How the points of a track were chosen.
  public enum Monitor: String, Hashable, Sendable {
    /// A point at each exit from a boundary around the last point.
    case boundary
    /// A point at each distance of so many metres from the last point; with 0 each fix.
    case distance
    case `import`
  }

  /// The feature id in layer `track`.
  public var id: Int64
  /// The number of the track in the file, from 1.
  public var ordinal: Int
  public var name: String?
  /// The name of the device; empty or `nil` where there is only one.
  public var device: String?
  /// `nil` where the file has another value.
  public var monitor: Monitor?
  /// In metres.
  public var threshold: Double
  public var startedAt: Instant?
  /// When the recording stopped; `nil` while it goes on, and after it was killed.
  public var stoppedAt: Instant?
  /// The length on the ellipsoid, in metres.
  public var length: Double
  public var pointCount: Int
}

/// A point of a track as it is stored in a file.
public struct TrackPoint: Hashable, Sendable {
  /// The feature id in layer `track_point`.
  public var id: Int64
  public var track: Int64
  /// From 1 on.
  public var sequence: Int
  public var longitude: Double
  public var latitude: Double
  /// In metres.
  public var elevation: Double?
  public var time: Instant?
  /// See ``PlaceID``.
  public var placeID: String
  /// In metres.
  public var accuracy: Double?
  /// Degrees clockwise from true north.
  public var course: Double?
  /// Metres a second.
  public var speed: Double?
  /// Which fix of the run it was, from 0 on.
  public var fix: Int?
  /// `pending`, `found`, `none`, `failed` or `duplicate`.
  public var photoState: String
}

/// An event of a run.
public struct TrackLogEntry: Hashable, Sendable {
  public enum Level: String, Hashable, Sendable, CaseIterable { case debug, info, warning, error }

  /// The id in layer `track_log`.
  public var id: Int64
  /// The name of the recording or monitoring run.
  public var run: String
  public var time: Instant?
  /// `nil` where the file has another value.
  public var level: Level?
  public var message: String
  public var fix: Int?
  public var device: String?
}
