#if PostGIS
  import FieldpackCore

  /// Dates and instants as the texts that stores have.
  enum MomentText {
    /// The text of a date or instant; `nil` for another kind or length of bytes.
    static func text(
      _ rows: PostgresRows, _ row: Int, _ column: Int, _ kind: PostGISColumn.Kind
    ) -> String? {
      guard let count = rows.integer(row, column) else { return nil }
      switch kind {
      case .date: return date(count)
      case .instant: return instant(count)
      default: return nil
      }
    }

    /// - Parameter count: days since 2000; the largest and least stand for infinity.
    static func date(_ count: Int64) -> String {
      if count >= Int64(Int32.max) { return "infinity" }
      if count <= Int64(Int32.min) { return "-infinity" }
      return text(of: CalendarDate(dayNumber: Int(count + PostgresTime.epochDay)))
    }

    /// - Parameter count: microseconds since 2000; the largest and least stand for infinity.
    static func instant(_ count: Int64) -> String {
      if count == .max { return "infinity" }
      if count == .min { return "-infinity" }
      let (quotient, remainder) = count.quotientAndRemainder(dividingBy: 1_000)
      let rest = remainder < 0 ? remainder + 1_000 : remainder
      let whole = remainder < 0 ? quotient - 1 : quotient
      let instant = Instant(milliseconds: whole + PostgresTime.epochMilliseconds)
      let isPlain = (PostgresTime.firstMoment...PostgresTime.lastMoment)
        .contains(instant.milliseconds)
      let text = isPlain ? instant.description : wide(instant)
      guard rest != 0 else { return text }
      let digits = String(rest)
      return text.dropLast() + String(repeating: "0", count: 3 - digits.count) + digits + "Z"
    }

    /// A year beyond the four digits has a sign in ISO 8601.
    private static func text(of day: CalendarDate) -> String {
      let (year, month, dayOfMonth) = day.components
      guard !(0...9_999).contains(year) else { return day.description }
      func two(_ number: Int) -> String { number < 10 ? "0\(number)" : String(number) }
      let digits = String(abs(year))
      let padding = String(repeating: "0", count: max(0, 5 - digits.count))
      return "\(year < 0 ? "-" : "+")\(padding)\(digits)-\(two(month))-\(two(dayOfMonth))"
    }

    private static func wide(_ instant: Instant) -> String {
      let day: Int64 = 86_400_000
      var (number, rest) = instant.milliseconds.quotientAndRemainder(dividingBy: day)
      if rest < 0 { (number, rest) = (number - 1, rest + day) }
      // The time of the day is that of the same time on the first day of 1970.
      let time = Instant(milliseconds: rest).description.dropFirst(10)
      return text(of: CalendarDate(dayNumber: Int(number))) + time
    }
  }
#endif
