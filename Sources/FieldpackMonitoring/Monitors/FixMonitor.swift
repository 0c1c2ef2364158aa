public import FieldpackLocation

/// Takes fixes one after the other and gives what it detects in them.
///
/// A monitor is a value: the same fixes give the same detections, and a copy continues from where
/// the original was. It watches any number of devices, each on its own.
///
/// Some fixes are ignored and give no detection: fixes that are not on Earth, fixes less accurate
/// than the monitor's gate, and late fixes. A fix is late when its time is before that of the last
/// fix of its device. A fix with the same time, or without one, is not late. Where three fixes of a
/// device in a row are late, each later than the one before, the last time was wrong: the third fix
/// is taken, and its time counts from then on.
public protocol FixMonitor: Sendable {
  /// The parameters as text, such as `region radius=80 cushion=0 dwell=0`.
  ///
  /// Only a monitor with the same text may resume a state.
  var parameters: String { get }

  /// Takes the next fix of the run.
  /// - Parameters:
  ///   - number: the number of the fix in the run, counted from 0 over all devices, ignored fixes
  ///     included.
  ///   - detections: gets the detections appended.
  /// - Returns: `false` where the fix was ignored.
  @discardableResult
  mutating func take(_ fix: Fix, number: Int, into detections: inout [Detection]) -> Bool

  /// What the monitor knows of every device.
  var state: MonitorState { get }

  /// What the monitor knows of one device; `nil` before its first fix.
  func state(of device: String) -> DeviceState?

  /// Replaces what the monitor knows of all devices by `state`.
  mutating func resume(_ state: MonitorState)
}

extension FixMonitor {
  /// Takes fixes in their order.
  /// - Parameters:
  ///   - first: the number of the first one.
  ///   - detections: gets the detections appended.
  public mutating func take(
    _ fixes: [Fix], from first: Int = 0, into detections: inout [Detection]
  ) {
    for index in fixes.indices {
      take(fixes[index], number: first + index, into: &detections)
    }
  }

  /// Takes the next fix of the run and gives what is detected in it.
  /// - Parameter number: the number of the fix in the run, counted from 0.
  public mutating func take(_ fix: Fix, number: Int) -> [Detection] {
    var detections: [Detection] = []
    take(fix, number: number, into: &detections)
    return detections
  }

  /// Takes fixes in their order and gives what is detected in them.
  /// - Parameter first: the number of the first one.
  public mutating func take(_ fixes: [Fix], from first: Int = 0) -> [Detection] {
    var detections: [Detection] = []
    take(fixes, from: first, into: &detections)
    return detections
  }
}
