public import FieldpackCore
public import FieldpackGeoPackage
public import FieldpackLocation
public import FieldpackMonitoring

/// Watches the fixes of a source and keeps what it sees, and all it knows, in a GeoPackage.
///
/// The detections of each batch of fixes are committed together with the state of their devices, so
/// that each is stored exactly once, also when the run is killed: started again under its name, it
/// goes on from there.
public final class RecordedMonitor: Sendable {
  private let store: GeoPackageStore
  private let name: String
  private let monitor: any FixMonitor
  private let refresh: Detections.MonitorRefresh?
  private let watched: String?
  private let now: @Sendable () -> Instant
  private let slot = RunSlot()

  /// - Parameters:
  ///   - monitor: which begins with what the file knows of the run.
  ///   - name: of the run; where the file has one of that name, it goes on.
  ///   - layer: the layer that a ``GeofenceMonitor`` is to watch as it is before each transaction; a run
  ///     goes on with the same layer, by its name and the id of its store, and the same radius only.
  public init(
    _ monitor: any FixMonitor, in store: GeoPackageStore, as name: String,
    watching layer: RegionLayer? = nil, now: @escaping @Sendable () -> Instant = Instant.now
  ) {
    self.monitor = monitor
    self.store = store
    self.name = name
    self.now = now
    watched = layer?.text
    refresh = layer?.refresh
  }

  /// The run over what `source` gives, which begins when it is iterated.
  ///
  /// - Parameters:
  ///   - origin: where the fixes come from, in words for the file.
  ///   - isReplay: whether the source begins with the first fix again, as a file does. The run then
  ///     skips the fixes that it took before; the source has to be of the same origin. Where fixes were
  ///     added, changed or removed among those, each device goes on after its last fix that was taken:
  ///     the run ignores fixes inserted before that one, and fixes of the same time.
  ///   - note: told of such a change, as the log is.
  ///   - words: how the error that ends the run is told in the file's log.
  /// - Throws: as it is iterated, `.invalidArgument` where the run of that name has other parameters,
  ///   or where a replay is of another origin, or was changed and has no times, or not the last fix of a
  ///   device any more; the failures of ``LocationFailure``; what the source throws.
  public func watch(
    _ source: any LocationSource, origin: String? = nil, isReplay: Bool = false,
    note: @escaping @Sendable (String) -> Void = { _ in },
    words: @escaping @Sendable (FieldpackError) -> String = { $0.message }
  ) -> RecordedSteps {
    let plan = RunPlan(
      store: store, name: name, kind: .monitor, monitor: monitor, refresh: refresh,
      watched: watched, source: source, sourceName: origin, isReplay: isReplay, note: note,
      words: words, now: now, slot: slot)
    return RecordedSteps { RunLoop(plan) }
  }
}
