#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A moment in UTC to the millisecond, as a GeoPackage DATETIME holds it.
public struct Instant: Hashable, Sendable, Comparable, LosslessStringConvertible {
  /// Milliseconds since 1970-01-01T00:00:00Z.
  public let milliseconds: Int64

  public init(milliseconds: Int64) { self.milliseconds = milliseconds }

  /// The moments that a GeoPackage's DATETIME can say, those of the years 1 to 9999, in seconds since
  /// 1970.
  package static let unixSeconds: Range<Double> = -62_135_596_800..<253_402_300_800

  /// The millisecond that a time in seconds since 1970 is nearest to; `nil` outside of
  /// ``unixSeconds``.
  package init?(unixSeconds seconds: Double) {
    guard Self.unixSeconds.contains(seconds) else { return nil }
    self.init(milliseconds: Int64((seconds * 1000).rounded(.toNearestOrAwayFromZero)))
  }

  /// The current moment by the system's clock.
  public static var now: Instant {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Instant(milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
  }

  /// Reads RFC 3339 text: date, `T` or blank, `hh:mm[:ss[.f…]]`, and `Z` or an offset.
  ///
  /// Digits beyond the millisecond are cut off; ``DateTimeParser`` tells whether there were any.
  public init?(_ description: String) {
    var text = description
    let parsed = text.withUTF8 { DateTimeParser.dateTime($0) }
    guard let parsed, parsed.hasZone else { return nil }
    self = parsed.instant
  }

  /// `YYYY-MM-DDTHH:MM:SS.SSSZ`, GeoPackage's form.
  public var description: String {
    let day = Int(floorDivide(milliseconds, 86_400_000))
    let remainder = Int(milliseconds % 86_400_000)
    let rest = remainder < 0 ? remainder + 86_400_000 : remainder
    let seconds = rest / 1000
    let date = CalendarDate(dayNumber: day)
    let (year, month, dayOfMonth) = date.components
    guard (0...9999).contains(year) else {
      return "\(date)T\(padded(seconds / 3600, 2)):"
        + "\(padded(seconds / 60 % 60, 2)):\(padded(seconds % 60, 2)).\(padded(rest % 1000, 3))Z"
    }
    return String(unsafeUninitializedCapacity: 24) { text in
      var end = 0
      /// Writes so many digits, and what follows them.
      func write(_ value: Int, _ width: Int, _ mark: Unicode.Scalar) {
        var value = value
        for index in (end..<end + width).reversed() {
          text[index] = UInt8(ascii: "0") + UInt8(value % 10)
          value /= 10
        }
        text[end + width] = UInt8(ascii: mark)
        end += width + 1
      }
      write(year, 4, "-")
      write(month, 2, "-")
      write(dayOfMonth, 2, "T")
      write(seconds / 3600, 2, ":")
      write(seconds / 60 % 60, 2, ":")
      write(seconds % 60, 2, ".")
      write(rest % 1000, 3, "Z")
      return end
    }
  }

  public static func < (a: Instant, b: Instant) -> Bool { a.milliseconds < b.milliseconds }
}

func floorDivide(_ a: Int64, _ b: Int64) -> Int64 {
  let quotient = a / b
  return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient
}

/// Reads dates and times from bytes, without allocation.
public enum DateTimeParser {
  public struct DateTime: Sendable {
    /// The moment; a text without a zone is taken as UTC.
    public var instant: Instant
    public var hasZone: Bool
    public var fractionDigits: Int
  }

  /// Reads `YYYY-MM-DD` from the first ten bytes.
  public static func date(_ bytes: UnsafeBufferPointer<UInt8>) -> CalendarDate? {
    guard bytes.count >= 10, bytes[4] == UInt8(ascii: "-"), bytes[7] == UInt8(ascii: "-"),
      let year = digits(bytes, 0, 4), let month = digits(bytes, 5, 2),
      let day = digits(bytes, 8, 2)
    else { return nil }
    return CalendarDate(year: year, month: month, day: day)
  }

  /// Reads a date, `T`, `t` or blank, `hh:mm[:ss[.f…]]`, then `Z`, `z`, `±hh:mm`, `±hhmm`, `±hh` or
  /// nothing.
  ///
  /// Second 60 is read as the first moment of the next minute.
  public static func dateTime(_ bytes: UnsafeBufferPointer<UInt8>) -> DateTime? {
    guard bytes.count >= 16, let day = date(bytes),
      bytes[10] == UInt8(ascii: "T") || bytes[10] == UInt8(ascii: " ")
        || bytes[10] == UInt8(ascii: "t"),
      bytes[13] == UInt8(ascii: ":"), let hour = digits(bytes, 11, 2), hour <= 23,
      let minute = digits(bytes, 14, 2), minute <= 59
    else { return nil }
    var index = 16
    var second = 0
    var millisecond = 0
    var fractionDigits = 0
    if index < bytes.count, bytes[index] == UInt8(ascii: ":") {
      guard let value = digits(bytes, 17, 2), value <= 60 else { return nil }
      second = value
      index = 19
      if index < bytes.count, bytes[index] == UInt8(ascii: ".") || bytes[index] == UInt8(ascii: ",")
      {
        index += 1
        while index < bytes.count, let digit = digits(bytes, index, 1) {
          if fractionDigits < 3 { millisecond = millisecond * 10 + digit }
          fractionDigits += 1
          index += 1
        }
        guard fractionDigits > 0 else { return nil }
        for _ in 0..<max(0, 3 - fractionDigits) { millisecond *= 10 }
      }
    }
    guard let offset = zone(bytes, at: index) else { return nil }
    let seconds =
      day.dayNumber * 86_400 + hour * 3600 + minute * 60 + second - (offset.minutes * 60)
    return DateTime(
      instant: Instant(milliseconds: Int64(seconds) * 1000 + Int64(millisecond)),
      hasZone: offset.isGiven, fractionDigits: fractionDigits)
  }

  /// Reads a date, as its first moment in UTC, or a date with time; nothing else may stand in the
  /// bytes.
  public static func moment(_ bytes: UnsafeBufferPointer<UInt8>) -> Instant? {
    bytes.count == 10 ? date(bytes)?.startOfDay : dateTime(bytes)?.instant
  }

  private static func zone(
    _ bytes: UnsafeBufferPointer<UInt8>, at index: Int
  ) -> (minutes: Int, isGiven: Bool)? {
    let left = bytes.count - index
    if left == 0 { return (0, false) }
    let sign: Int
    switch bytes[index] {
    case UInt8(ascii: "Z"), UInt8(ascii: "z"): return left == 1 ? (0, true) : nil
    case UInt8(ascii: "+"): sign = 1
    case UInt8(ascii: "-"): sign = -1
    default: return nil
    }
    guard let hours = digits(bytes, index + 1, 2), hours <= 23 else { return nil }
    var minutes = 0
    switch left {
    case 3: break
    case 5:
      guard let value = digits(bytes, index + 3, 2) else { return nil }
      minutes = value
    case 6 where bytes[index + 3] == UInt8(ascii: ":"):
      guard let value = digits(bytes, index + 4, 2) else { return nil }
      minutes = value
    default: return nil
    }
    guard minutes <= 59 else { return nil }
    return (sign * (hours * 60 + minutes), true)
  }

  private static func digits(
    _ bytes: UnsafeBufferPointer<UInt8>, _ start: Int, _ count: Int
  ) -> Int? {
    guard start + count <= bytes.count else { return nil }
    var value = 0
    for index in start..<start + count {
      let digit = bytes[index] &- UInt8(ascii: "0")
      guard digit <= 9 else { return nil }
      value = value * 10 + Int(digit)
    }
    return value
  }
}
