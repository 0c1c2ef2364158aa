/// Numbers as text: shortest decimals that read back to the same double, or fixed decimals.
///
/// Everything is appended to a byte buffer; no `String` is made between 1e-7 and 2^53.
public enum NumberText {
  /// Appends the shortest decimal that reads back as `value`, the closest to it where there are
  /// several.
  ///
  /// No exponent between 1e-7 and 1e21 (both excluded), no trailing `.0`; `-0` keeps its sign.
  /// - Returns: `false`, and nothing is appended, for NaN and the infinities.
  @discardableResult
  public static func append(_ value: Double, to text: inout [UInt8]) -> Bool {
    guard value.isFinite else { return false }
    let magnitude = value.magnitude
    if value.sign == .minus { text.append(UInt8(ascii: "-")) }
    if magnitude < 0x1p53, magnitude == magnitude.rounded(.towardZero) {
      appendDecimal(UInt64(magnitude), scale: 0, to: &text)
    } else if let decimal = Decimal(shortest: magnitude) {
      appendDecimal(decimal.digits, scale: decimal.scale, to: &text)
    } else {
      appendDescription(of: magnitude, to: &text)
    }
    return true
  }

  /// Appends `value` rounded to at most `decimals` decimals, trailing zeros trimmed.
  ///
  /// The exact binary value is rounded, ties to even, as `printf` does; the shortest form is
  /// written where it has no more decimals than that. A result of zero has no sign.
  /// - Parameter decimals: 0 to 20; other values are brought into that range.
  /// - Returns: `false`, and nothing is appended, for NaN and the infinities.
  @discardableResult
  public static func append(_ value: Double, decimals: Int, to text: inout [UInt8]) -> Bool {
    guard value.isFinite else { return false }
    let places = min(max(decimals, 0), 20)
    let magnitude = value.magnitude
    guard let digits = roundedDigits(magnitude, places) else {
      return append(value, to: &text)
    }
    if value.sign == .minus && digits != 0 { text.append(UInt8(ascii: "-")) }
    appendDecimal(digits, scale: places, to: &text)
    return true
  }

  /// Appends an integer.
  public static func append(_ value: some BinaryInteger, to text: inout [UInt8]) {
    if value < 0 { text.append(UInt8(ascii: "-")) }
    if let digits = UInt64(exactly: value.magnitude) {
      appendDecimal(digits, scale: 0, to: &text)
    } else {
      text.append(contentsOf: String(value.magnitude).utf8)
    }
  }

  /// `magnitude * 10^places` rounded to an integer; `nil` where the shortest form serves.
  private static func roundedDigits(_ magnitude: Double, _ places: Int) -> UInt64? {
    let power = powersOfTen[places]
    let product = magnitude * power
    guard product >= 0x1p51 else { return rounded(product, of: magnitude, times: power) }
    guard let shortest = Decimal(shortest: magnitude), shortest.scale > places else { return nil }
    return exactDigits(magnitude, places)
  }

  /// Rounding the product is not rounding the exact value where the product itself was rounded to
  /// a tie; the error of the multiplication then decides.
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

  /// - Precondition: `magnitude` is below 2^53 and no multiple of `10^-places`.
  private static func exactDigits(_ magnitude: Double, _ places: Int) -> UInt64? {
    let shift = -(Decimal.exponent(of: magnitude) + places)
    guard shift > 0, shift < 128 else { return nil }
    let product =
      UInt128(magnitude.significandBitPattern | 1 << 52) * UInt128(powersOfFive[places])
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

  /// 5^0 to 5^27, all that fit into 64 bits.
  static let powersOfFive: [UInt64] = (0...27).map { (0..<$0).reduce(1) { power, _ in power * 5 } }
}
