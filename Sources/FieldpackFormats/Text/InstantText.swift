import FieldpackCore

/// Writes moments into bytes.
enum InstantText {
  /// Whether the year has four digits.
  static func canWrite(_ instant: Instant) -> Bool {
    instant.milliseconds >= -62_167_219_200_000 && instant.milliseconds < 253_402_300_800_000
  }

  /// Appends `YYYY-MM-DDTHH:MM:SS.SSSZ`, and no fraction where it is zero and `isShort`.
  static func append(_ instant: Instant, isShort: Bool = false, to bytes: inout [UInt8]) {
    var day = instant.milliseconds / 86_400_000
    var rest = Int(instant.milliseconds % 86_400_000)
    if rest < 0 {
      rest += 86_400_000
      day -= 1
    }
    let (year, month, dayOfMonth) = CalendarDate(dayNumber: Int(day)).components
    append(year, digits: 4, to: &bytes)
    bytes.append(UInt8(ascii: "-"))
    append(month, digits: 2, to: &bytes)
    bytes.append(UInt8(ascii: "-"))
    append(dayOfMonth, digits: 2, to: &bytes)
    bytes.append(UInt8(ascii: "T"))
    append(rest / 3_600_000, digits: 2, to: &bytes)
    bytes.append(UInt8(ascii: ":"))
    append(rest / 60_000 % 60, digits: 2, to: &bytes)
    bytes.append(UInt8(ascii: ":"))
    append(rest / 1000 % 60, digits: 2, to: &bytes)
    if !isShort || rest % 1000 != 0 {
      bytes.append(UInt8(ascii: "."))
      append(rest % 1000, digits: 3, to: &bytes)
    }
    bytes.append(UInt8(ascii: "Z"))
  }

  private static func append(_ value: Int, digits: Int, to bytes: inout [UInt8]) {
    var divisor = 1
    for _ in 1..<digits { divisor *= 10 }
    while divisor > 0 {
      bytes.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: value / divisor % 10))
      divisor /= 10
    }
  }
}
