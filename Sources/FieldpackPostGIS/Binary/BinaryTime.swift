import FieldpackCore
import FieldpackGeometry

/// A moment as PostgreSQL sends it: microseconds since 2000-01-01 in UTC.
struct BinaryTime: Hashable {
  /// The number of the day 2000-01-01, counted from 1970-01-01.
  static let epochDay = 10_957

  /// The largest and the smallest number stand for the end and the beginning of time.
  var microseconds: Int64

  init(microseconds: Int64) { self.microseconds = microseconds }

  /// Reads a date with time, or a date alone as its first moment. A text without a zone is in UTC.
  /// Digits beyond the microsecond are cut off.
  init?(_ text: UnsafeBufferPointer<UInt8>) {
    guard let instant = DateTimeParser.moment(text) else {
      switch String(decoding: text, as: UTF8.self) {
      case "infinity": microseconds = .max
      case "-infinity": microseconds = .min
      default: return nil
      }
      return
    }
    let sinceEpoch = instant.milliseconds - Int64(Self.epochDay) * 86_400_000
    microseconds = sinceEpoch * 1000 + Self.digitsBeyondMilliseconds(text)
  }

  private static func digitsBeyondMilliseconds(_ text: UnsafeBufferPointer<UInt8>) -> Int64 {
    // `YYYY-MM-DDThh:mm:ss.fff` has 23 bytes.
    guard text.count > 23, text[19] == UInt8(ascii: ".") || text[19] == UInt8(ascii: ",") else {
      return 0
    }
    var (value, index) = (Int64(0), 20)
    while index < 26 {
      let digit = index < text.count ? text[index] &- UInt8(ascii: "0") : 0xFF
      guard digit <= 9 else { break }
      value = value * 10 + Int64(digit)
      index += 1
    }
    for _ in index..<26 { value *= 10 }
    return value % 1000
  }

  /// Appends RFC 3339 text: three digits of the second where these suffice, else six.
  ///
  /// - Parameter zone: what stands behind it, such as `Z`.
  func append(zone: String, to bytes: inout [UInt8]) {
    guard microseconds != .max, microseconds != .min else {
      bytes.append(contentsOf: (microseconds == .max ? "infinity" : "-infinity").utf8)
      return
    }
    let (seconds, fraction) = Self.split(microseconds, by: 1_000_000)
    let (day, second) = Self.split(seconds, by: 86_400)
    Self.append(day: Int(day) + Self.epochDay, to: &bytes)
    let time = UInt32(truncatingIfNeeded: second)
    bytes.append(addingCapacity: 16) { output in
      output.append("T", time / 3600)
      output.append(":", time / 60 % 60)
      output.append(":", time % 60)
      output.append(UInt8(ascii: "."))
      let digits = UInt32(truncatingIfNeeded: fraction)
      output.append(digit: digits / 100_000)
      output.append(digit: digits / 10_000)
      output.append(digit: digits / 1000)
      guard digits % 1000 != 0 else { return }
      output.append(digit: digits / 100)
      output.append(digit: digits / 10)
      output.append(digit: digits)
    }
    bytes.append(contentsOf: zone.utf8)
  }

  /// Appends `YYYY-MM-DD` for a day counted from 1970-01-01.
  static func append(day: Int, to bytes: inout [UInt8]) {
    let (year, month, dayOfMonth) = CalendarDate(dayNumber: day).components
    // A year beyond the four digits has a sign in ISO 8601.
    let isWide = !(0...9999).contains(year)
    if isWide {
      bytes.append(UInt8(ascii: year < 0 ? "-" : "+"))
      append(Int64(year.magnitude), digits: 5, to: &bytes)
    }
    bytes.append(addingCapacity: 10) { output in
      if !isWide {
        let digits = UInt32(truncatingIfNeeded: year)
        output.append(digit: digits / 1000)
        output.append(digit: digits / 100)
        output.append(digit: digits / 10)
        output.append(digit: digits)
      }
      output.append("-", UInt32(truncatingIfNeeded: month))
      output.append("-", UInt32(truncatingIfNeeded: dayOfMonth))
    }
  }

  /// Appends a number with at least so many digits.
  private static func append(_ number: Int64, digits: Int, to bytes: inout [UInt8]) {
    let text = String(number)
    let missing = max(0, digits - text.utf8.count)
    bytes.append(contentsOf: repeatElement(UInt8(ascii: "0"), count: missing))
    bytes.append(contentsOf: text.utf8)
  }

  /// Quotient and remainder, the latter not negative.
  private static func split(_ number: Int64, by divisor: Int64) -> (Int64, Int64) {
    let rest = number % divisor
    return rest < 0 ? (number / divisor - 1, rest + divisor) : (number / divisor, rest)
  }
}

extension OutputSpan<UInt8> {
  /// Appends the last digit of a number.
  @inline(__always)
  fileprivate mutating func append(digit number: UInt32) {
    append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number % 10))
  }

  /// Appends a mark and a number of two digits.
  @inline(__always)
  fileprivate mutating func append(_ mark: Unicode.Scalar, _ number: UInt32) {
    append(UInt8(ascii: mark))
    append(digit: number / 10)
    append(digit: number)
  }
}
