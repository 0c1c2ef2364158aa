public import FieldpackCore

/// The layers in which recordings and monitors are kept in a GeoPackage.
///
/// `track` and `track_point` hold what was recorded. `monitor_run` holds the parameters and the
/// progress of each run, `monitor_state` and `monitor_stay` what its monitor knows of each device,
/// `detection` what it detected, and `track_log` its events.
public enum FieldData {
  /// The version of the layers that this program writes. It reads older versions as well.
  ///
  /// 1: `track` and `track_point` without a version in the file. 2: names, devices, accuracy, course,
  /// speed and number of a fix; runs, states, detections and logs. 3: late fixes in states. 4: a digest
  /// of the fixes that a run took.
  public static let version = 4

  public static let track: LayerID = "track"
  public static let trackPoint: LayerID = "track_point"
  public static let log: LayerID = "track_log"
  public static let run: LayerID = "monitor_run"
  public static let state: LayerID = "monitor_state"
  public static let stay: LayerID = "monitor_stay"
  public static let detection: LayerID = "detection"
}
