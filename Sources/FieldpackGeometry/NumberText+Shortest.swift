extension NumberText {
  /// `digits * 10^-scale`.
  struct Decimal {
    var digits: UInt64
    var scale: Int

    /// The shortest decimal that reads back as `magnitude`; `nil` outside (1e-7, 2^53).
    ///
    /// Up to 15 digits floating point decides: both factors of `digits / 10^scale` are exact then
    /// and decimals of 15 digits are further apart than doubles, so a match is the only one. For 16
    /// and 17 digits the rounding interval of the double is compared in integers of 128 bits.
    init?(shortest magnitude: Double) {
      guard magnitude > 1e-7, magnitude < 0x1p53 else { return nil }
      // The decimal exponent from the binary one, at most one too small.
      let estimate = Int((Double(magnitude.exponent) * 0.30102999566398120).rounded(.down))
      let exponent =
        magnitude >= Self.power(estimate + 1) ? estimate + 1 : estimate
      if let decimal = Self.fifteenDigits(magnitude, scale: 14 - exponent) {
        self = decimal
      } else if let decimal = Self.exact(magnitude, scale: 15 - exponent, isLast: false)
        ?? Self.exact(magnitude, scale: 16 - exponent, isLast: true)
      {
        self = decimal
      } else {
        return nil
      }
    }

    private init(digits: UInt64, scale: Int) {
      self.digits = digits
      self.scale = scale
    }

    private static func power(_ exponent: Int) -> Double {
      exponent >= 0 ? powersOfTen[exponent] : 1 / powersOfTen[-exponent]
    }

    private static func fifteenDigits(_ magnitude: Double, scale: Int) -> Decimal? {
      guard scale >= 0, scale <= 22 else { return nil }
      let power = powersOfTen[scale]
      let digits = (magnitude * power).rounded()
      guard digits <= 1e15, digits / power == magnitude else { return nil }
      return Decimal(digits: UInt64(digits), scale: scale)
    }

    /// The integer closest to `magnitude * 10^scale`, if it reads back as `magnitude`.
    private static func exact(_ magnitude: Double, scale: Int, isLast: Bool) -> Decimal? {
      guard scale >= 0, scale < powersOfFive.count else { return nil }
      let significand = magnitude.significandBitPattern | 1 << 52
      // In units of a quarter of the double's last place: the value and its two borders.
      let shift = 2 - (exponent(of: magnitude) + scale)
      guard shift > 1, shift < 128 else { return nil }
      let power = UInt128(powersOfFive[scale])
      let value = UInt128(significand) * 4 * power
      let half: UInt128 = 1 << UInt128(shift - 1)
      var digits = (value + half) >> UInt128(shift)
      if value + half == digits << UInt128(shift), digits & 1 == 1 { digits -= 1 }
      if !isLast {
        let isClosed = significand & 1 == 0
        let below = value - (magnitude.significandBitPattern == 0 ? power : 2 * power)
        let above = value + 2 * power
        let candidate = digits << UInt128(shift)
        guard candidate > below || (isClosed && candidate == below),
          candidate < above || (isClosed && candidate == above)
        else { return nil }
      }
      return Decimal(digits: UInt64(digits), scale: scale)
    }

    /// The exponent of the last place of a normal number: the value is significand * 2^exponent.
    static func exponent(of magnitude: Double) -> Int { Int(magnitude.exponent) - 52 }
  }

  /// Appends `digits * 10^-scale` without trailing zeros behind the point.
  static func appendDecimal(_ digits: UInt64, scale: Int, to text: inout [UInt8]) {
    var (digits, scale) = (digits, scale)
    if digits == 0 { scale = 0 }
    while scale >= 4, digits % 10_000 == 0 {
      digits /= 10_000
      scale -= 4
    }
    while scale > 0, digits % 10 == 0 {
      digits /= 10
      scale -= 1
    }
    appendTrimmed(digits, scale: scale, to: &text)
  }

  private static func appendTrimmed(_ value: UInt64, scale: Int, to text: inout [UInt8]) {
    // 20 digits of an UInt64, or a leading zero, the point and up to 27 places.
    text.append(addingCapacity: 32) { output in
      output.withUnsafeMutableBufferPointer { buffer, count in
        var (rest, place, start) = (value, 0, 32)
        repeat {
          if place == scale && scale > 0 {
            start -= 1
            buffer[start] = UInt8(ascii: ".")
          }
          start -= 1
          buffer[start] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
          rest /= 10
          place += 1
        } while rest > 0 || place <= scale
        count = 32 - start
        for index in 0..<count { buffer[index] = buffer[start + index] }
      }
    }
  }

  /// Rewrites the standard library's shortest digits, which come with `e` outside 2^-13 … 2^54.
  static func appendDescription(of magnitude: Double, to text: inout [UInt8]) {
    var digits: [UInt8] = []
    var (exponent, places, seesPoint) = (0, 0, false)
    let description = magnitude.description.utf8
    for (index, byte) in zip(description.indices, description) {
      if byte == UInt8(ascii: "e") {
        exponent = Int(String(description[description.index(after: index)...]) ?? "") ?? 0
        break
      }
      if byte == UInt8(ascii: ".") {
        seesPoint = true
      } else {
        digits.append(byte)
        places += seesPoint ? 1 : 0
      }
    }
    appendDigits(digits, exponent: exponent - places, to: &text)
  }

  /// Appends `digits * 10^exponent` in full between 1e-7 and 1e21, else as `d.ddde±n`.
  private static func appendDigits(
    _ written: [UInt8], exponent: Int, to text: inout [UInt8]
  ) {
    let zero = UInt8(ascii: "0")
    let leading = written.prefix { $0 == zero }.count
    let trailing = written.reversed().prefix { $0 == zero }.count
    guard leading < written.count else { return text.append(zero) }
    let digits = written[leading..<written.count - trailing]
    let exponent = exponent + trailing
    // The power of ten of the first digit.
    let first = exponent + digits.count - 1
    if exponent >= 0 && first < 21 {
      text.append(contentsOf: digits)
      text.append(contentsOf: repeatElement(zero, count: exponent))
    } else {
      text.append(digits[digits.startIndex])
      if digits.count > 1 {
        text.append(UInt8(ascii: "."))
        text.append(contentsOf: digits.dropFirst())
      }
      text.append(UInt8(ascii: "e"))
      append(first, to: &text)
    }
  }
}
