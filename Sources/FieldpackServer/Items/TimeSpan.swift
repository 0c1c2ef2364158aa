import FieldpackCore

/// A length of time such as `P1DT2H` or `P3M` (ISO 8601), whose years and months are those of the
/// calendar.
struct TimeSpan: Hashable {
  private var months = 0
  private var milliseconds: Int64 = 0

  /// - Returns: `nil` for what is none, and for numbers beyond 100,000.
  init?(_ text: String) {
    var rest = text[...]
    guard rest.popFirst() == "P", !rest.isEmpty, rest.last != "T" else { return nil }
    var isTime = false
    var units = "YMWD"[...]
    while !rest.isEmpty {
      if rest.first == "T" {
        guard !isTime else { return nil }
        (isTime, units) = (true, "HMS")
        rest.removeFirst()
        continue
      }
      let digits = rest.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
      rest = rest[digits.endIndex...]
      guard let number = Double(digits), number <= 100_000, let unit = rest.popFirst(),
        let place = units.firstIndex(of: unit), unit == "S" || !digits.contains(".")
      else { return nil }
      units = units[units.index(after: place)...]
      add(number, unit, isTime: isTime)
    }
  }

  private mutating func add(_ number: Double, _ unit: Character, isTime: Bool) {
    let second = 1000.0
    switch (unit, isTime) {
    case ("Y", _): months += 12 * Int(number)
    case ("M", false): months += Int(number)
    case ("W", _): milliseconds += Int64(number * 7 * 86_400 * second)
    case ("D", _): milliseconds += Int64(number * 86_400 * second)
    case ("H", _): milliseconds += Int64(number * 3_600 * second)
    case ("M", true): milliseconds += Int64(number * 60 * second)
    default: milliseconds += Int64((number * second).rounded())
    }
  }

  /// - Returns: `nil` beyond the years of the calendar, 0 to 9999.
  fileprivate func moved(_ instant: Instant, by sign: Int) -> Instant? {
    let day = CalendarDate(instant)
    guard let date = day.adding(months: sign * months) else { return nil }
    let days = Int64(date.dayNumber - day.dayNumber)
    return Instant(
      milliseconds: instant.milliseconds + days * 86_400_000 + Int64(sign) * milliseconds)
  }
}

extension Instant {
  func adding(_ span: TimeSpan) -> Instant? { span.moved(self, by: 1) }
  func subtracting(_ span: TimeSpan) -> Instant? { span.moved(self, by: -1) }
}

extension CalendarDate {
  init(_ instant: Instant) {
    let (day, rest) = instant.milliseconds.quotientAndRemainder(dividingBy: 86_400_000)
    self.init(dayNumber: Int(rest < 0 ? day - 1 : day))
  }

  /// The same day of another month, or the last day of that month where it has no such day.
  fileprivate func adding(months: Int) -> CalendarDate? {
    let (year, month, day) = components
    let count = year * 12 + month - 1 + months
    guard count >= 0 else { return nil }
    for candidate in stride(from: day, through: min(day, 28), by: -1) {
      if let date = CalendarDate(year: count / 12, month: count % 12 + 1, day: candidate) {
        return date
      }
    }
    return nil
  }
}
