public import FieldpackCore

/// A track as the file has it.
public struct RecordedTrack: Hashable, Sendable {
  /// How its points were chosen.
  public enum Monitor: String, Hashable, Sendable {
    /// One at each exit of a boundary around the point before.
    case boundary
    /// One at each way of so many metres from the point before; of 0, each fix.
    case distance
    case `import`
  }

  /// The feature id in layer `track`.
  public var id: Int64
  /// Which track of the file it is, from 1 on.
  public var ordinal: Int
  public var name: String?
  /// Empty or `nil` where there is one device only.
  public var device: String?
  /// `nil` where the file says something else.
  public var monitor: Monitor?
  /// In metres.
  public var threshold: Double
  public var startedAt: Instant?
  /// `nil` while the track is recorded, and after its recorder was killed.
  public var stoppedAt: Instant?
  /// On the ellipsoid, in metres.
  public var length: Double
  public var pointCount: Int
}

/// A point of a track as the file has it.
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

/// Something that happened in a run.
public struct TrackLogEntry: Hashable, Sendable {
  public enum Level: String, Hashable, Sendable, CaseIterable { case debug, info, warning, error }

  /// The id in layer `track_log`.
  public var id: Int64
  /// The name of the recording or monitoring run.
  public var run: String
  public var time: Instant?
  /// `nil` where the file says something else.
  public var level: Level?
  public var message: String
  public var fix: Int?
  public var device: String?
}
