public import FieldpackCore
public import FieldpackLocation

/// Detects each time a device has moved a given distance, as a distance filter does.
///
/// The first fix of a device is its `start`. Each fix at the threshold or farther from the last
/// detection is `moved`. Distances are geodesics on the ellipsoid of WGS 84.
public struct DistanceMonitor: FixMonitor {
  /// Metres.
  public let distance: Double
  /// The largest radius of accuracy in metres. Less accurate fixes are ignored.
  public var accuracyGate: Double? { watch.gate.accuracy }
  private var watch: AnchorWatch

  /// The threshold of significant changes of place, in metres.
  public static let significant = 500.0

  /// - Throws: `.invalidArgument` for a distance that is not above 0, and for a gate below 0.
  public init(distance: Double = 100, accuracyGate: Double? = nil) throws(FieldpackError) {
    try MonitorArgument.check(distance, "the distance to watch for", isPositive: true)
    try MonitorArgument.check(accuracyGate ?? 0, "the accuracy that fixes need")
    self.distance = distance
    watch = AnchorWatch(gate: FixGate(accuracy: accuracyGate))
  }

  public var parameters: String { "distance distance=\(distance)" + watch.gate.text }

  @discardableResult
  public mutating func take(
    _ fix: Fix, number: Int, into detections: inout [Detection]
  ) -> Bool {
    let threshold = distance
    return watch.take(fix, number: number, as: .moved, into: &detections) { distance, _ in
      distance >= threshold
    }
  }

  public var state: MonitorState { watch.state }
  public func state(of device: String) -> DeviceState? { watch.state(of: device) }
  public mutating func resume(_ state: MonitorState) { watch.resume(state) }
}
