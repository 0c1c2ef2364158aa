import FieldpackCore
import FieldpackField
import FieldpackGeoPackage
import FieldpackLocation
import FieldpackMonitoring

/// What a run is to do.
struct RunPlan: Sendable {
  var store: GeoPackageStore
  var name: String
  var kind: StoredRun.Kind
  var monitor: any FixMonitor
  /// What the monitor is to be told before each transaction.
  var refresh: Detections.MonitorRefresh?
  /// Which regions that is.
  var watched: String?
  /// Which fixes become points of a track, where the run is a recording.
  var sampling: Sampling?
  var source: any LocationSource
  /// Where the fixes come from, in words for the file.
  var sourceName: String?
  /// Whether the source begins with the first fix again, so that those taken before are skipped.
  var isReplay: Bool
  /// Told what the user should know, as the log is.
  var note: @Sendable (String) -> Void
  /// How the error that ends the run is told in the file's log.
  var words: @Sendable (FieldpackError) -> String
  var afterPoint: PointAction?
  var clock: FieldClock
  var slot: RunSlot

  /// What a run of the name has to have in common with this one.
  var parameters: String { monitor.parameters + (watched.map { " " + $0 } ?? "") }
}
