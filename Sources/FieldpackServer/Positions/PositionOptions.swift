public import FieldpackCore
import FieldpackGeoPackage
import FieldpackMonitoring

/// What is watched in the positions that devices send.
///
/// Without regions a device is detected each time that it has moved ``distance``.
public struct PositionOptions: Hashable, Sendable {
  /// The layer of the served file whose regions are watched.
  public var regions: LayerID?
  /// The radius in metres of regions that are points without one of their own.
  public var radius: Double?
  /// The seconds after which a stay in a region is told.
  public var dwell: Double?
  /// How many metres a device moves until it is detected again; used only without ``regions``.
  public var distance = DistanceMonitor.significant
  /// The name of the run under which detections and the state of the devices are kept in the file.
  public var run = "positions"

  public init() {}

  /// What detects, and the layer that it looks at.
  func monitor(
    in store: GeoPackageStore
  ) async throws(FieldpackError) -> (monitor: any FixMonitor, layer: RegionLayer?) {
    guard let regions else { return (try DistanceMonitor(distance: distance), nil) }
    let layer = RegionLayer(regions, of: store, radius: radius)
    var options = GeofenceMonitor.Options()
    if let dwell {
      options.dwell = dwell
      options.kinds.insert(.dwell)
    }
    return (try GeofenceMonitor(try await layer.regions(), options: options), layer)
  }
}
