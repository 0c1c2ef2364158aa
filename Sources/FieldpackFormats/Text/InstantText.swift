import FieldpackCore
import FieldpackGeometry

/// Writes moments into bytes.
enum InstantText {
  /// The most bytes that a moment takes.
  static let room = 24

  /// The first and last moments whose year has four digits.
  private static let fourDigitYears: ClosedRange<Int64> = -62_167_219_200_000...253_402_300_799_999

  /// Whether the year has four digits.
  static func canWrite(_ instant: Instant) -> Bool {
    fourDigitYears.contains(instant.milliseconds)
  }

  /// Appends `YYYY-MM-DDTHH:MM:SS.SSSZ`, and no fraction where it is zero and `isShort`.
  static func append(_ instant: Instant, isShort: Bool = false, to bytes: inout [UInt8]) {
    bytes.appendRun(upTo: room) { append(instant, isShort: isShort, to: &$0) }
  }

  static func append(_ instant: Instant, to bytes: inout GrowingBytes) {
    bytes.appendRun(upTo: room) { append(instant, to: &$0) }
  }

  static func append(_ instant: Instant, isShort: Bool = false, to text: inout TextRun) {
    var day = instant.milliseconds / 86_400_000
    var rest = Int(instant.milliseconds % 86_400_000)
    if rest < 0 {
      rest += 86_400_000
      day -= 1
    }
    let (year, month, dayOfMonth) = CalendarDate(dayNumber: Int(day)).components
    append(pair: year / 100, to: &text)
    append(pair: year % 100, to: &text)
    append("-", month, to: &text)
    append("-", dayOfMonth, to: &text)
    append("T", rest / 3_600_000, to: &text)
    append(":", rest / 60_000 % 60, to: &text)
    append(":", rest / 1000 % 60, to: &text)
    if !isShort || rest % 1000 != 0 {
      append(".", rest % 1000 / 10, to: &text)
      append(digit: rest % 10, to: &text)
    }
    text.append("Z")
  }

  @inline(__always)
  private static func append(_ separator: StaticString, _ value: Int, to text: inout TextRun) {
    text.append(separator)
    append(pair: value, to: &text)
  }

  @inline(__always)
  private static func append(pair value: Int, to text: inout TextRun) {
    append(digit: value / 10, to: &text)
    append(digit: value % 10, to: &text)
  }

  @inline(__always)
  private static func append(digit: Int, to text: inout TextRun) {
    text.append(UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: digit))
  }
}
