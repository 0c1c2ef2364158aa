public import FieldpackCore
public import FieldpackLocation

/// Watches how far a device has come since the last detection, as a distance filter does.
///
/// The first fix of a device is its `start`; each fix that is as far as the threshold from the last
/// detection, or farther, is `moved`. Distances are geodesics on the ellipsoid of WGS 84.
public struct DistanceMonitor: FixMonitor {
  /// Metres.
  public let distance: Double
  /// Fixes with a radius of accuracy above it, in metres, are passed over.
  public var accuracyGate: Double? { watch.gate.accuracy }
  private var watch: AnchorWatch

  /// The threshold of significant changes of place, in metres.
  public static let significant = 500.0

  /// - Throws: `.invalidArgument` for a distance that is not above 0 and a gate below 0.
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
