public import FieldpackLocation

/// Applies something to fixes, one after the other, and tells what it saw.
///
/// A monitor is a value: fed with the same fixes it gives the same detections, and a copy of it goes
/// on from where the original was. Devices are watched each for itself; there may be any number.
///
/// Some fixes are passed over: they give no detection. These are fixes that are not on Earth, fixes
/// less accurate than the monitor's gate, and fixes with a time before the last one of the same
/// device, which are late (those of the same time are not, nor those without a time). Where three of
/// a device are late one after the other, each later than the one before, it is the last time that was
/// wrong: the third is taken, and what comes is late by its time.
public protocol FixMonitor: Sendable {
  /// The parameters as text, such as `region radius=80 cushion=0 dwell=0`.
  ///
  /// A state is to be resumed by a monitor of the same text only.
  var parameters: String { get }

  /// Takes the next fix in the order of the run.
  /// - Parameters:
  ///   - number: which fix of the run it is, counted from 0 over all devices and also over those
  ///     passed over.
  ///   - detections: what is seen is appended.
  /// - Returns: whether it was not passed over.
  @discardableResult
  mutating func take(_ fix: Fix, number: Int, into detections: inout [Detection]) -> Bool

  /// What is known of every device.
  var state: MonitorState { get }

  /// What is known of one device; `nil` before its first fix.
  func state(of device: String) -> DeviceState?

  /// Forgets what is known of all devices and goes on from `state`.
  mutating func resume(_ state: MonitorState)
}

extension FixMonitor {
  /// Takes fixes in their order.
  /// - Parameters:
  ///   - first: the number of the first one.
  ///   - detections: what is seen is appended.
  public mutating func take(
    _ fixes: [Fix], from first: Int = 0, into detections: inout [Detection]
  ) {
    for index in fixes.indices {
      take(fixes[index], number: first + index, into: &detections)
    }
  }
}
