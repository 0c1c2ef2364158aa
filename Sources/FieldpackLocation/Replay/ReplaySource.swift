public import FieldpackCore
public import FieldpackField
import FieldpackGeometry

/// The points of a layer as fixes, ordered by time and then by feature id.
///
///     let source = ReplaySource(store, layer: "track_points", options: .init(speed: .times(10)))
///
/// The layer may be of any store: a GPX file, a log, a recorded track. The columns are found by
/// their names, see ``Columns``; a fix lacks what its layer has no column for. Points are
/// transformed to WGS 84.
///
/// - ``Speed/max`` gives some 16,384 fixes at a time and never waits. Any other speed keeps the
///   intervals between the times, divided by the speed, and sleeps until the next fix is due. Fixes
///   that are due together come together. Without times a finite speed needs ``Options/rate``.
/// - A feature without a position, or whose time cannot be read, ends the replay with its key; with
///   ``Options/skipsErrors`` it is counted in ``report``. Features without time come first.
/// - Times in a column of text are ordered as texts, which for RFC 3339 is by time where all are in
///   UTC with as many decimals.
public struct ReplaySource: LocationSource {
  public enum Speed: Hashable, Sendable {
    /// So many times faster than in life; 1 keeps the pace.
    case times(Double)
    case max
  }

  /// The columns of a fix. `nil` takes the first of the listed names that the layer has, in upper
  /// or lower case.
  public struct Columns: Hashable, Sendable {
    /// `time`, `timestamp`, `time_unix`: DATETIME, RFC 3339 text or Unix seconds.
    public var time: String?
    /// `device`, `device_id`; in the points of recorded tracks without one, the device of the track.
    public var device: String?
    /// `accuracy`, `accuracy_m`, `fxa` (IGC's): metres.
    public var accuracy: String?
    /// `ele`, `ele_m`, `elevation`, `altitude`: metres; without one the Z of the point.
    public var elevation: String?
    /// `course`, `course_deg`: degrees from true north.
    public var course: String?
    /// `speed`, `speed_mps`, `speed_m_s`: metres a second.
    public var speed: String?

    public init() {}
  }

  public struct Options: Hashable, Sendable {
    public var speed: Speed
    /// Fixes a second at speed 1, in place of their times.
    public var rate: Double?
    public var columns = Columns()
    /// The device of fixes that name none.
    public var device = ""
    /// Whether features that are no fix are counted in ``report`` instead of ending the replay.
    public var skipsErrors = false

    public init(speed: Speed = .max, rate: Double? = nil) {
      self.speed = speed
      self.rate = rate
    }
  }

  /// The features that the newest reading skipped as errors: all are counted, the first 1,000 are
  /// listed.
  public let report = QueryReport()
  private let store: any Store
  private let layer: LayerID
  private let options: Options
  private let clock: FieldClock

  /// - Parameter layer: a layer of points; see ``layer(of:)``.
  public init(
    _ store: any Store, layer: LayerID, options: Options = Options(), clock: FieldClock = .system
  ) {
    self.store = store
    self.layer = layer
    self.options = options
    self.clock = clock
  }

  /// Whether the store has the layer.
  public var isAvailable: Bool {
    get async {
      let schemas = try? await store.schemas()
      return schemas?.contains { $0.layer == layer } ?? false
    }
  }

  /// Whether the replay runs at ``Speed/max``.
  public var isComplete: Bool { options.speed == .max }

  public func updates() -> LocationUpdates {
    let (store, layer, options, report, clock) = (store, layer, options, report, clock)
    return LocationUpdates {
      report.reset()
      let replay = Replay(store, layer, options, report, clock)
      return { () async throws(FieldpackError) in try await replay.next() }
    }
  }

  /// The layer of a store that holds its fixes: `track_points`, `track_point`, `waypoints`, else
  /// the only layer of points.
  ///
  /// - Throws: `.invalidArgument` where there is none, or more than one; the error names the
  ///   layers.
  public static func layer(of store: any Store) async throws(FieldpackError) -> LayerID {
    let points = try await store.schemas().filter { $0.geometry?.type == .point }.map(\.layer)
    for name in ["track_points", "track_point", "waypoints"] {
      if let found = points.first(where: { $0.rawValue.lowercased() == name }) { return found }
    }
    if points.count == 1 { return points[0] }
    let names = points.map { "'\($0)'" }.joined(separator: ", ")
    throw FieldpackError(
      .invalidArgument,
      points.isEmpty
        ? "store '\(store.id)' has no layer of points to take fixes from"
        : "store '\(store.id)' has several layers of points: \(names). Try: name one of them",
      location: .init(store: store.id))
  }
}
