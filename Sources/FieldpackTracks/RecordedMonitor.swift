public import FieldpackCore
public import FieldpackField
public import FieldpackGeoPackage
public import FieldpackLocation
public import FieldpackMonitoring

/// Watches the fixes of a source and stores its detections and its state in a GeoPackage.
///
/// The detections of each batch of fixes are committed together with the state of their devices. A
/// run that was killed continues under its name, and stores each detection exactly once.
public final class RecordedMonitor: Sendable {
  private let store: GeoPackageStore
  private let name: String
  private let monitor: any FixMonitor
  private let refresh: Detections.MonitorRefresh?
  private let watched: String?
  private let clock: FieldClock
  private let slot = RunSlot()

  /// - Parameters:
  ///   - monitor: the monitor, which resumes the state that the file has of the run.
  ///   - name: the name of the run. Where the file has a run of that name, it continues.
  ///   - layer: the layer of a ``FieldpackMonitoring/GeofenceMonitor``, which is read again where it has changed before
  ///     a transaction. A run continues only with the same layer, known by its name and the id of
  ///     its store, and the same radius.
  public init(
    _ monitor: any FixMonitor, in store: GeoPackageStore, as name: String,
    watching layer: RegionLayer? = nil, clock: FieldClock = .system
  ) {
    self.monitor = monitor
    self.store = store
    self.name = name
    self.clock = clock
    watched = layer?.text
    refresh = layer?.refresh
  }

  /// A run over the fixes of `source`, which begins when it is iterated.
  ///
  /// - Parameters:
  ///   - origin: the origin of the fixes, as text for the file.
  ///   - isReplay: whether the source begins with the first fix again, as a file does. The run then
  ///     skips the fixes that it took before; the source has to be of the same origin. Where fixes were
  ///     added, changed or removed among those, each device goes on after its last fix that was taken:
  ///     the run ignores fixes inserted before that one, and fixes of the same time.
  ///   - note: called with a text about such a change, which the log gets as well.
  ///   - words: makes the text for the file's log of the error that ends the run.
  /// - Throws: as it is iterated, `.invalidArgument` where the run of that name has other parameters,
  ///   or where a replay is of another origin, or was changed and has no times, or not the last fix of a
  ///   device any more; the failures of ``FieldpackLocation/LocationFailure``; what the source throws.
  public func watch(
    _ source: any LocationSource, origin: String? = nil, isReplay: Bool = false,
    note: @escaping @Sendable (String) -> Void = { _ in },
    words: @escaping @Sendable (FieldpackError) -> String = { $0.message }
  ) -> RecordedSteps {
    let plan = RunPlan(
      store: store, name: name, kind: .monitor, monitor: monitor, refresh: refresh,
      watched: watched, source: source, sourceName: origin, isReplay: isReplay, note: note,
      words: words, clock: clock, slot: slot)
    return RecordedSteps { RunLoop(plan) }
  }
}
