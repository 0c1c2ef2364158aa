extension NumberText {
  /// Reads a decimal number at `start`: sign, digits, point, exponent.
  ///
  /// The result is the nearest double. `.5`, `5.` and `+5` are read, as WKT allows them; callers
  /// with a stricter grammar check it themselves.
  /// - Returns: the value and the offset behind it; `nil` where no number starts at `start`. The
  ///   value of a number beyond a double's range is infinite.
  public static func read(_ text: RawSpan, at start: Int) -> (value: Double, end: Int)? {
    var scan = Scan(offset: start)
    let isNegative = scan.sign(in: text)
    scan.digits(in: text, areDecimals: false)
    if scan.take(UInt8(ascii: "."), in: text) { scan.digits(in: text, areDecimals: true) }
    guard scan.count > 0 else { return nil }
    scan.exponent(in: text)
    let magnitude = scan.exactValue ?? slowValue(of: text, start, scan.offset)
    return (isNegative ? -magnitude.magnitude : magnitude.magnitude, scan.offset)
  }

  private static func slowValue(of text: RawSpan, _ start: Int, _ end: Int) -> Double {
    var digits: [UInt8] = []
    digits.append(text.extracting(start..<end))
    if digits.last == UInt8(ascii: ".") { digits.removeLast() }
    return Double(String(decoding: digits, as: UTF8.self)) ?? .nan
  }

  private struct Scan {
    var offset: Int
    /// The number of digits seen, including zeros in front.
    var count = 0
    private var mantissa: UInt64 = 0
    private var power = 0
    private var isExact = true

    init(offset: Int) { self.offset = offset }

    /// Clinger's fast path: where the mantissa and the power of ten are both exact doubles, one
    /// operation gives the nearest double.
    var exactValue: Double? {
      guard isExact, mantissa <= 1 << 53, power >= -22, power <= 22 else { return nil }
      let value = Double(mantissa)
      return power < 0 ? value / powersOfTen[-power] : value * powersOfTen[power]
    }

    mutating func take(_ byte: UInt8, in text: RawSpan) -> Bool {
      guard offset < text.byteCount, text.byte(at: offset) == byte else { return false }
      offset += 1
      return true
    }

    mutating func sign(in text: RawSpan) -> Bool {
      if take(UInt8(ascii: "-"), in: text) { return true }
      _ = take(UInt8(ascii: "+"), in: text)
      return false
    }

    mutating func digits(in text: RawSpan, areDecimals: Bool) {
      while offset < text.byteCount {
        let digit = text.byte(at: offset) &- UInt8(ascii: "0")
        guard digit <= 9 else { return }
        if mantissa < 1_000_000_000_000_000_000 {
          mantissa = mantissa * 10 + UInt64(digit)
          if areDecimals { power -= 1 }
        } else {
          isExact = false
        }
        offset += 1
        count += 1
      }
    }

    /// Reads an exponent. An `e` without digits behind it is not part of the number.
    mutating func exponent(in text: RawSpan) {
      var ahead = self
      guard ahead.take(UInt8(ascii: "e"), in: text) || ahead.take(UInt8(ascii: "E"), in: text)
      else { return }
      let isNegative = ahead.sign(in: text)
      var value = 0
      let first = ahead.offset
      while ahead.offset < text.byteCount {
        let digit = text.byte(at: ahead.offset) &- UInt8(ascii: "0")
        guard digit <= 9 else { break }
        value = min(value * 10 + Int(digit), 100_000)
        ahead.offset += 1
      }
      guard ahead.offset > first else { return }
      offset = ahead.offset
      power += isNegative ? -value : value
    }
  }
}
