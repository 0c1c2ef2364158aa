/// A day of the proleptic Gregorian calendar, without time or zone.
public struct CalendarDate: Hashable, Sendable, Comparable, LosslessStringConvertible {
  /// Days since 1970-01-01.
  public let dayNumber: Int

  /// The day so many days after 1970-01-01; numbers beyond ±2^36 become ±2^36.
  public init(dayNumber: Int) {
    self.dayNumber = min(max(dayNumber, -(1 << 36)), 1 << 36)
  }

  /// The day; `nil` where the calendar has no such day, and for years outside 0 to 9999.
  public init?(year: Int, month: Int, day: Int) {
    guard (0...9999).contains(year), (1...12).contains(month), day >= 1,
      day <= Self.days(inMonth: month, year: year)
    else { return nil }
    // Howard Hinnant's civil-to-days, "chrono-Compatible Low-Level Date Algorithms".
    let shifted = month <= 2 ? year - 1 : year
    let era = (shifted >= 0 ? shifted : shifted - 399) / 400
    let yearOfEra = shifted - era * 400
    let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    dayNumber = era * 146_097 + dayOfEra - 719_468
  }

  /// Reads `YYYY-MM-DD` and nothing else.
  public init?(_ description: String) {
    var text = description
    let date = text.withUTF8 { bytes -> CalendarDate? in
      bytes.count == 10 ? DateTimeParser.date(bytes) : nil
    }
    guard let date else { return nil }
    self = date
  }

  private static func days(inMonth month: Int, year: Int) -> Int {
    switch month {
    case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }

  /// Days are counted from 1 March of the year -400 × eras, which is before every possible day.
  private static let eras = 500_000

  public var components: (year: Int, month: Int, day: Int) {
    // C. Neri and L. Schneider, "Euclidean affine functions and their application to calendar
    // algorithms", Software: Practice and Experience 53 (2023).
    let days = UInt64(truncatingIfNeeded: dayNumber + 719_468 + Self.eras * 146_097)
    let quarters = days * 4 + 3
    let century = quarters / 146_097
    let product = 2_939_745 * (quarters % 146_097 | 3)
    let dayOfYear = (product & 0xFFFF_FFFF) / (4 * 2_939_745)
    let mixed = 2_141 * dayOfYear + 197_913
    let (month, day) = (mixed >> 16, (mixed & 0xFFFF) / 2_141 + 1)
    // The year of this count begins in March.
    let isLater = dayOfYear >= 306
    let year = Int(truncatingIfNeeded: 100 * century + product >> 32) - Self.eras * 400
    return (
      isLater ? year + 1 : year, Int(truncatingIfNeeded: isLater ? month - 12 : month),
      Int(truncatingIfNeeded: day)
    )
  }

  /// Midnight in UTC.
  public var startOfDay: Instant {
    Instant(milliseconds: Int64(dayNumber) * 86_400_000)
  }

  public var description: String {
    let (year, month, day) = components
    return "\(padded(year, 4))-\(padded(month, 2))-\(padded(day, 2))"
  }

  public static func < (a: CalendarDate, b: CalendarDate) -> Bool { a.dayNumber < b.dayNumber }
}

/// `value` in decimal with leading zeros up to `width` digits.
func padded(_ value: Int, _ width: Int) -> String {
  let digits = String(value)
  return String(repeating: "0", count: max(0, width - digits.count)) + digits
}
