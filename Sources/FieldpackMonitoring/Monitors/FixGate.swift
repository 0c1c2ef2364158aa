import FieldpackCore
import FieldpackLocation

/// Which fixes a monitor passes over, whatever it looks for.
struct FixGate: Hashable, Sendable {
  /// The late fix that is taken, counted in the order of their times.
  private static let lateLimit = 3

  /// Metres; fixes with a larger radius of accuracy are passed over.
  var accuracy: Double?

  /// Whether a fix can be taken as its device's first.
  func lets(_ fix: Fix) -> Bool {
    guard fix.isOnEarth else { return false }
    guard let accuracy, let radius = fix.accuracy else { return true }
    return radius <= accuracy
  }

  /// - Parameters:
  ///   - last: the time of the last fix of the device that had one.
  ///   - late: the late fixes since then.
  func lets(_ fix: Fix, after last: Instant?, late: inout LateFixes?) -> Bool {
    guard lets(fix) else { return false }
    guard let time = fix.time else { return true }
    guard let last, time < last else {
      late = nil
      return true
    }
    let isInOrder = late.map { time > $0.time } ?? false
    let count = isInOrder ? (late?.count ?? 0) + 1 : 1
    late = count < Self.lateLimit ? LateFixes(count: count, time: time) : nil
    return late == nil
  }

  /// How a monitor's parameters tell it.
  var text: String { accuracy.map { " accuracy-gate=\($0)" } ?? "" }
}
