public import FieldpackCore
public import FoundationEssentials

extension Instant {
  /// The moment of a date, to the nearest millisecond. A date beyond those that there are becomes
  /// the last of them.
  public init(_ date: Date) {
    let milliseconds = (date.timeIntervalSince1970 * 1000).rounded()
    let isKnown = Int64(exactly: milliseconds)
    self.init(milliseconds: isKnown ?? (milliseconds < 0 ? .min : .max))
  }
}

extension Date {
  public init(_ instant: Instant) {
    self.init(timeIntervalSince1970: Double(instant.milliseconds) / 1000)
  }
}
