import FieldpackCore

/// How dates are written, in the letters of `strftime`: `%d.%m.%Y` or `%d/%m/%y %H:%M`.
struct CSVDateForm {
  private enum Part: Hashable {
    case year, shortYear, month, day, hour, minute, second
    case sign(UInt8)

    var isSign: Bool {
      if case .sign = self { true } else { false }
    }

    init?(letter: UInt8) {
      switch letter {
      case UInt8(ascii: "Y"): self = .year
      case UInt8(ascii: "y"): self = .shortYear
      case UInt8(ascii: "m"): self = .month
      case UInt8(ascii: "d"): self = .day
      case UInt8(ascii: "H"): self = .hour
      case UInt8(ascii: "M"): self = .minute
      case UInt8(ascii: "S"): self = .second
      default: return nil
      }
    }
  }

  private var parts: [Part] = []
  private let hasTime: Bool

  /// - Throws: `.invalidArgument` for other letters, and without day, month and year.
  init(_ format: String) throws(FieldpackError) {
    var bytes = Array(format.utf8)[...]
    while let byte = bytes.popFirst() {
      guard byte == UInt8(ascii: "%") else {
        parts.append(.sign(byte))
        continue
      }
      guard let part = bytes.popFirst().flatMap(Part.init(letter:)), !parts.contains(part) else {
        throw FieldpackError(
          .invalidArgument,
          "the date format '\(format)' may have %d, %m, %Y or %y, %H, %M and %S, each once")
      }
      parts.append(part)
    }
    hasTime = parts.contains(.hour)
    let years = parts.count { $0 == .year || $0 == .shortYear }
    guard years == 1, parts.contains(.month), parts.contains(.day),
      hasTime || !parts.contains(.minute) && !parts.contains(.second)
    else {
      throw FieldpackError(
        .invalidArgument,
        "the date format '\(format)' needs day, month and year, and hours where it has minutes. "
          + "Try: %d.%m.%Y")
    }
  }

  /// Appends the date as `YYYY-MM-DD`, with a time as `YYYY-MM-DDTHH:MM:SSZ`; nothing, and `false`,
  /// where `bytes` do not have the form.
  func append(_ bytes: UnsafeBufferPointer<UInt8>, to text: inout [UInt8]) -> Bool {
    var numbers = (year: 0, month: 0, day: 0, hour: 0, minute: 0, second: 0)
    var next = 0
    for (index, part) in parts.enumerated() {
      if case .sign(let sign) = part {
        guard next < bytes.count, bytes[next] == sign else { return false }
        next += 1
        continue
      }
      let most = part == .year ? 4 : 2
      let isBeforeDigits = index + 1 < parts.count && !parts[index + 1].isSign
      let least = part == .year || part == .shortYear || isBeforeDigits ? most : 1
      guard let number = Self.digits(bytes, &next, least...most) else { return false }
      switch part {
      case .year: numbers.year = number
      // As POSIX has it.
      case .shortYear: numbers.year = number < 69 ? 2000 + number : 1900 + number
      case .month: numbers.month = number
      case .day: numbers.day = number
      case .hour: numbers.hour = number
      case .minute: numbers.minute = number
      case .second: numbers.second = number
      case .sign: break
      }
    }
    guard next == bytes.count else { return false }
    Self.append(numbers.year, width: 4, to: &text)
    Self.append("-", numbers.month, to: &text)
    Self.append("-", numbers.day, to: &text)
    guard hasTime else { return true }
    Self.append("T", numbers.hour, to: &text)
    Self.append(":", numbers.minute, to: &text)
    Self.append(":", numbers.second, to: &text)
    text.append(UInt8(ascii: "Z"))
    return true
  }

  private static func digits(
    _ bytes: UnsafeBufferPointer<UInt8>, _ next: inout Int, _ count: ClosedRange<Int>
  ) -> Int? {
    let start = next
    var number = 0
    while next < bytes.count, next - start < count.upperBound,
      bytes[next] &- UInt8(ascii: "0") <= 9
    {
      number = number * 10 + Int(bytes[next] - UInt8(ascii: "0"))
      next += 1
    }
    return next - start >= count.lowerBound ? number : nil
  }

  private static func append(_ sign: StaticString, _ number: Int, to text: inout [UInt8]) {
    text.append(sign.utf8Start.pointee)
    append(number, width: 2, to: &text)
  }

  private static func append(_ number: Int, width: Int, to text: inout [UInt8]) {
    let digits = String(number)
    text.append(contentsOf: repeatElement(UInt8(ascii: "0"), count: max(0, width - digits.count)))
    text.append(contentsOf: digits.utf8)
  }
}
