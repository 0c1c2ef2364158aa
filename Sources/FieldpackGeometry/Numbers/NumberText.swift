/// Numbers as text: shortest decimals that read back to the same double, or fixed decimals.
///
/// Everything is appended to a byte buffer; between 1e-7 and 2^53 no `String` is made.
public enum NumberText {
  /// Appends the shortest decimal that reads back as `value`; of several such decimals the closest.
  ///
  /// No exponent between 1e-7 and 1e21 (both excluded), no trailing `.0`; `-0` keeps its sign.
  /// - Returns: `false`, and nothing is appended, for NaN and the infinities.
  @discardableResult
  public static func append(_ value: Double, to text: inout [UInt8]) -> Bool {
    var isWritten = false
    text.appendRun(upTo: room) { isWritten = $0.append(value) }
    return isWritten
  }

  /// Appends `value` rounded to at most `decimals` decimals, trailing zeros trimmed.
  ///
  /// The exact binary value is rounded, ties to even, as in `printf`; where the shortest form has
  /// no more decimals, it is written instead. A result of zero has no sign.
  /// - Parameter decimals: 0 to 20; other values are clamped to this range.
  /// - Returns: `false`, and nothing is appended, for NaN and the infinities.
  @discardableResult
  public static func append(_ value: Double, decimals: Int, to text: inout [UInt8]) -> Bool {
    var isWritten = false
    text.appendRun(upTo: room) { isWritten = $0.append(value, decimals: decimals) }
    return isWritten
  }

  /// Appends an integer.
  public static func append(_ value: some BinaryInteger, to text: inout [UInt8]) {
    if let value = Int64(exactly: value) {
      text.appendRun(upTo: room) { $0.append(value) }
    } else {
      text.append(contentsOf: String(value).utf8)
    }
  }

  /// Whether the text of `value` has no point and no exponent.
  package static func isWritten(whole value: Double) -> Bool {
    let magnitude = value.magnitude
    // From 2^53 on every double is an integer, and from 1e21 on its text has an exponent.
    return magnitude < 0x1p53 ? Double(UInt64(magnitude)) == magnitude : magnitude < 1e21
  }

  // MARK: Into reserved bytes

  /// Writes the shortest text of `value` and returns the pointer behind it; `nil` for a value that
  /// is not finite.
  ///
  /// - Precondition: ``room`` bytes are reserved.
  @usableFromInline
  static func write(_ value: Double, at pointer: Pointer) -> Pointer? {
    let magnitude = value.magnitude
    pointer.pointee = UInt8(ascii: "-")
    let first = pointer + (value.sign == .minus ? 1 : 0)
    // For up to seven decimals in 15 digits: adding 2^52 rounds to an integer, whose bits are then
    // the low bits. A decimal of so few digits that reads back is unique, so it is the shortest.
    if magnitude <= 1e8, magnitude > 1e-7 || magnitude == 0 {
      let rounded = magnitude * 1e7 + 0x1p52
      if (rounded - 0x1p52) / 1e7 == magnitude {
        let digits = rounded.bitPattern & 0x000F_FFFF_FFFF_FFFF
        let whole = digits / 10_000_000
        let decimals = (digits - whole * 10_000_000) * 10
        return writeDecimals(decimals, at: write(digits: whole, at: first))
      }
    }
    return writeLong(magnitude, at: first)
  }

  /// - Parameter magnitude: not negative, or not finite.
  private static func writeLong(_ magnitude: Double, at pointer: Pointer) -> Pointer? {
    guard magnitude.isFinite else { return nil }
    if magnitude < 0x1p53, magnitude == magnitude.rounded(.towardZero) {
      return write(digits: UInt64(magnitude), at: pointer)
    }
    if let decimal = Decimal(shortest: magnitude) {
      return writeDecimal(decimal.digits, scale: decimal.scale, at: pointer)
    }
    let text = description(of: magnitude)
    text.withUnsafeBufferPointer { pointer.update(from: $0.baseAddress!, count: $0.count) }
    return pointer + text.count
  }

  /// Writes `value` rounded to `decimals` decimals; see ``write(_:at:)``.
  @usableFromInline
  static func write(_ value: Double, decimals: Int, at pointer: Pointer) -> Pointer? {
    guard value.isFinite else { return nil }
    let scale = min(max(decimals, 0), 20)
    guard let digits = roundedDigits(value.magnitude, scale) else {
      return write(value, at: pointer)
    }
    pointer.pointee = UInt8(ascii: "-")
    let first = pointer + (value.sign == .minus && digits != 0 ? 1 : 0)
    return writeDecimal(digits, scale: scale, at: first)
  }

  /// Writes an integer; see ``write(_:at:)``.
  @usableFromInline
  static func write(_ value: Int64, at pointer: Pointer) -> Pointer {
    pointer.pointee = UInt8(ascii: "-")
    return write(digits: value.magnitude, at: pointer + (value < 0 ? 1 : 0))
  }

  /// `magnitude * 10^scale` rounded to an integer; `nil` where the shortest form has no more
  /// decimals.
  private static func roundedDigits(_ magnitude: Double, _ scale: Int) -> UInt64? {
    let power = powersOfTen[scale]
    let product = magnitude * power
    guard product >= 0x1p51 else { return rounded(product, of: magnitude, times: power) }
    guard let shortest = Decimal(shortest: magnitude), shortest.scale > scale else { return nil }
    return exactDigits(magnitude, scale)
  }

  /// Rounds a product, correcting the error of the multiplication: where the product itself was
  /// rounded to a tie, that error decides the direction.
  private static func rounded(
    _ product: Double, of magnitude: Double, times power: Double
  ) -> UInt64 {
    let floor = UInt64(product)
    let fraction = product - Double(floor)
    if fraction != 0.5 { return fraction > 0.5 ? floor + 1 : floor }
    let error = (-product).addingProduct(magnitude, power)
    if error != 0 { return error > 0 ? floor + 1 : floor }
    return floor + (floor & 1)
  }

  /// - Precondition: `magnitude` is below 2^53 and not a multiple of `10^-scale`.
  private static func exactDigits(_ magnitude: Double, _ scale: Int) -> UInt64? {
    let shift = -(Decimal.exponent(of: magnitude) + scale)
    guard shift > 0, shift < 128 else { return nil }
    let product =
      UInt128(magnitude.significandBitPattern | 1 << 52) * UInt128(powersOfFive[scale])
    let floor = product >> UInt128(shift)
    let rest = product & (1 << UInt128(shift) - 1)
    let half: UInt128 = 1 << UInt128(shift - 1)
    let roundsUp = rest > half || (rest == half && floor & 1 == 1)
    return UInt64(exactly: floor + (roundsUp ? 1 : 0))
  }

  static let powersOfTen: [Double] = [
    1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
  ]

  /// The powers 5^0 to 5^27, which are all that fit into 64 bits.
  static let powersOfFive: [UInt64] = [
    1, 5, 25, 125, 625, 3_125, 15_625, 78_125, 390_625, 1_953_125, 9_765_625, 48_828_125,
    244_140_625, 1_220_703_125, 6_103_515_625, 30_517_578_125, 152_587_890_625, 762_939_453_125,
    3_814_697_265_625, 19_073_486_328_125, 95_367_431_640_625, 476_837_158_203_125,
    2_384_185_791_015_625, 11_920_928_955_078_125, 59_604_644_775_390_625,
    298_023_223_876_953_125, 1_490_116_119_384_765_625, 7_450_580_596_923_828_125,
  ]
}
