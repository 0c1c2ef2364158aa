public import FieldpackCore
public import FieldpackLocation

/// Detects each time a device leaves a circle around its last detection, as PhotoPath's boundary
/// does.
///
/// The first fix of a device is its `start` and the first centre. The first fix farther from the
/// centre than radius and cushion together is an `exit` and the next centre. Distances are
/// geodesics on the ellipsoid of WGS 84.
public struct AnchorMonitor: FixMonitor {
  /// Metres.
  public let radius: Double
  /// The metres beyond the radius that still count as inside.
  public let cushion: Double
  /// The seconds that a device has to stay beyond the boundary for an exit.
  ///
  /// A fix inside starts the waiting anew. A fix without a time is an exit at once.
  public let dwell: Double
  /// The largest radius of accuracy in metres. Less accurate fixes are ignored.
  public var accuracyGate: Double? { watch.gate.accuracy }
  private var watch: AnchorWatch

  /// - Throws: `.invalidArgument` for a radius that is not above 0, and for other numbers below 0.
  public init(
    radius: Double = 80, cushion: Double = 0, dwell: Double = 0, accuracyGate: Double? = nil
  ) throws(FieldpackError) {
    try MonitorArgument.check(radius, "the radius of the region", isPositive: true)
    try MonitorArgument.check(cushion, "the cushion")
    try MonitorArgument.check(dwell, "the time to dwell")
    try MonitorArgument.check(accuracyGate ?? 0, "the accuracy that fixes need")
    self.radius = radius
    self.cushion = cushion
    self.dwell = dwell
    watch = AnchorWatch(gate: FixGate(accuracy: accuracyGate))
  }

  public var parameters: String {
    "region radius=\(radius) cushion=\(cushion) dwell=\(dwell)" + watch.gate.text
  }

  @discardableResult
  public mutating func take(
    _ fix: Fix, number: Int, into detections: inout [Detection]
  ) -> Bool {
    let (limit, dwell) = (radius + cushion, dwell)
    return watch.take(fix, number: number, as: .exit, into: &detections) { distance, anchor in
      guard distance > limit else {
        anchor.beyondSince = nil
        return false
      }
      guard dwell > 0, let time = fix.time else { return true }
      let since = anchor.beyondSince ?? time
      anchor.beyondSince = since
      return time.seconds(since: since) >= dwell
    }
  }

  public var state: MonitorState { watch.state }
  public func state(of device: String) -> DeviceState? { watch.state(of: device) }
  public mutating func resume(_ state: MonitorState) { watch.resume(state) }
}

extension Instant {
  /// Without a trap for moments that a file may hold.
  func seconds(since other: Instant) -> Double {
    (Double(milliseconds) - Double(other.milliseconds)) / 1000
  }
}

enum MonitorArgument {
  static func check(
    _ value: Double, _ name: String, isPositive: Bool = false
  ) throws(FieldpackError) {
    guard value.isFinite, isPositive ? value > 0 : value >= 0 else {
      throw FieldpackError(
        .invalidArgument, "\(name) is \(value). Try: a number \(isPositive ? "above" : "from") 0")
    }
  }
}
