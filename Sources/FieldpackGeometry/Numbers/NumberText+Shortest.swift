extension NumberText {
  /// The number `digits * 10^-scale`.
  struct Decimal {
    var digits: UInt64
    var scale: Int

    /// The shortest decimal that reads back as `magnitude`; `nil` outside (1e-7, 2^53).
    ///
    /// Up to 15 digits are found in floating point: both factors of `digits / 10^scale` are exact,
    /// and decimals of 15 digits are further apart than doubles, so a match is unique. For 16 and
    /// 17 digits the rounding interval of the double is compared in integers of 128 bits.
    init?(shortest magnitude: Double) {
      guard magnitude > 1e-7, magnitude < 0x1p53 else { return nil }
      // The decimal exponent, estimated from the binary one times log10(2); it is at most one too
      // small.
      let estimate = (Self.binaryExponent(of: magnitude) * 78_913) >> 18
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
      // Adding 2^52 rounds to an integer, whose bits are then the low bits; a tie never reads back.
      let rounded = magnitude * power + 0x1p52
      let digits = rounded - 0x1p52
      guard digits <= 1e15, digits / power == magnitude else { return nil }
      return Decimal(digits: rounded.bitPattern & 0x000F_FFFF_FFFF_FFFF, scale: scale)
    }

    /// The integer closest to `magnitude * 10^scale`, where it reads back as `magnitude`.
    private static func exact(_ magnitude: Double, scale: Int, isLast: Bool) -> Decimal? {
      guard scale >= 0, scale < powersOfFive.count else { return nil }
      let significand = magnitude.significandBitPattern | 1 << 52
      // The value and its two borders are in units of a quarter of the double's last binary digit.
      let shift = 2 - (exponent(of: magnitude) + scale)
      guard shift > 1, shift < 128 else { return nil }
      let power = UInt128(powersOfFive[scale])
      let value = UInt128(significand) * 4 * power
      let half: UInt128 = 1 &<< UInt128(shift - 1)
      var digits = (value + half) &>> UInt128(shift)
      if value + half == digits &<< UInt128(shift), digits & 1 == 1 { digits -= 1 }
      if !isLast {
        let isClosed = significand & 1 == 0
        let below = value - (magnitude.significandBitPattern == 0 ? power : 2 * power)
        let above = value + 2 * power
        let candidate = digits &<< UInt128(shift)
        guard candidate > below || (isClosed && candidate == below),
          candidate < above || (isClosed && candidate == above)
        else { return nil }
      }
      return Decimal(digits: UInt64(digits), scale: scale)
    }

    /// The exponent of a normal number's last binary digit: the value is significand * 2^exponent.
    static func exponent(of magnitude: Double) -> Int { binaryExponent(of: magnitude) - 52 }

    private static func binaryExponent(of magnitude: Double) -> Int {
      Int(truncatingIfNeeded: magnitude.bitPattern >> 52) - 1023
    }
  }

  /// The digits of the standard library's shortest text; outside 2^-13 … 2^54 that text has an `e`
  /// and is rewritten.
  static func description(of magnitude: Double) -> [UInt8] {
    var digits: [UInt8] = []
    var (exponent, decimals, seesPoint) = (0, 0, false)
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
        decimals += seesPoint ? 1 : 0
      }
    }
    return text(of: digits, exponent: exponent - decimals)
  }

  /// The text of `digits * 10^exponent`: in full between 1e-7 and 1e21, else as `d.ddde±n`.
  private static func text(of written: [UInt8], exponent: Int) -> [UInt8] {
    let zero = UInt8(ascii: "0")
    let leading = written.prefix { $0 == zero }.count
    let trailing = written.reversed().prefix { $0 == zero }.count
    guard leading < written.count else { return [zero] }
    let digits = written[leading..<written.count - trailing]
    let exponent = exponent + trailing
    // The exponent of ten of the first digit.
    let first = exponent + digits.count - 1
    if exponent >= 0 && first < 21 {
      return digits + Array(repeating: zero, count: exponent)
    }
    let rest = digits.count > 1 ? [UInt8(ascii: ".")] + digits.dropFirst() : []
    return [digits[digits.startIndex]] + rest + Array("e\(first)".utf8)
  }
}
