/// Writes digits, eight at a time, into bytes that the caller has reserved.
extension NumberText {
  /// The number of bytes that writing a number may touch; the longest text has 30.
  @usableFromInline package static let room = 40

  @usableFromInline typealias Pointer = UnsafeMutablePointer<UInt8>

  /// The eight digits of a number below 10^8 as bytes, the first digit in the lowest byte; not yet
  /// ASCII.
  ///
  /// Splits the number into two, four and eight parts, all parts of a step at once in lanes of one
  /// word, with a multiplication for each division.
  @inline(__always)
  private static func eightDigits(_ value: UInt64) -> UInt64 {
    let high = value / 10_000
    let merged = high | (value - high * 10_000) << 32
    let top = ((merged &* 10_486) >> 20) & 0x0000_007F_0000_007F
    let hundreds = (merged &- top &* 100) << 16 | top
    let tens = ((hundreds &* 103) >> 10) & 0x000F_000F_000F_000F
    return (hundreds &- tens &* 10) << 8 | tens
  }

  private static let zeros: UInt64 = 0x3030_3030_3030_3030

  @inline(__always)
  private static func store(_ digits: UInt64, at pointer: Pointer) {
    UnsafeMutableRawPointer(pointer).storeBytes(of: (digits | zeros).littleEndian, as: UInt64.self)
  }

  /// Writes all eight digits of a number below 10^8, zeros in front included.
  @inline(__always)
  static func writeEight(_ value: UInt64, at pointer: Pointer) -> Pointer {
    store(eightDigits(value), at: pointer)
    return pointer + 8
  }

  /// Writes a number below 10^8 without zeros in front.
  @inline(__always)
  static func writeUpToEight(_ value: UInt64, at pointer: Pointer) -> Pointer {
    if value < 10 {
      pointer.pointee = UInt8(ascii: "0") | UInt8(truncatingIfNeeded: value)
      return pointer + 1
    }
    let digits = eightDigits(value)
    let leading = digits.trailingZeroBitCount & ~7
    store(digits >> UInt64(leading), at: pointer)
    return pointer + (8 - leading / 8)
  }

  @inline(__always)
  static func write(digits value: UInt64, at pointer: Pointer) -> Pointer {
    value < 100_000_000 ? writeUpToEight(value, at: pointer) : writeMany(value, at: pointer)
  }

  private static func writeMany(_ value: UInt64, at pointer: Pointer) -> Pointer {
    let high = value / 100_000_000
    let low = value - high * 100_000_000
    if high < 100_000_000 { return writeEight(low, at: writeUpToEight(high, at: pointer)) }
    let top = high / 100_000_000
    let middle = writeEight(high - top * 100_000_000, at: writeUpToEight(top, at: pointer))
    return writeEight(low, at: middle)
  }

  /// Writes a point and the eight decimals `value` without zeros at the end; nothing for 0.
  @inline(__always)
  static func writeDecimals(_ value: UInt64, at pointer: Pointer) -> Pointer {
    guard value != 0 else { return pointer }
    pointer.pointee = UInt8(ascii: ".")
    let digits = eightDigits(value)
    store(digits, at: pointer + 1)
    return pointer + (9 - digits.leadingZeroBitCount / 8)
  }

  /// Writes `digits * 10^-scale` without zeros at the end behind the point.
  ///
  /// - Precondition: `scale` is 0 to 27.
  static func writeDecimal(_ digits: UInt64, scale: Int, at pointer: Pointer) -> Pointer {
    guard scale > 0 else { return write(digits: digits, at: pointer) }
    guard scale <= 16 else { return writeLongDecimal(digits, scale: scale, at: pointer) }
    let power = wholePowers[scale]
    let whole = digits / power
    let pointer = write(digits: whole, at: pointer)
    // The first sixteen decimals; the last eight of them may all be zero.
    let decimals = (digits - whole * power) &* wholePowers[16 - scale]
    let high = decimals / 100_000_000
    let low = decimals - high * 100_000_000
    if low == 0 { return writeDecimals(high, at: pointer) }
    pointer.pointee = UInt8(ascii: ".")
    let lower = eightDigits(low)
    store(eightDigits(high), at: pointer + 1)
    store(lower, at: pointer + 9)
    return pointer + (17 - lower.leadingZeroBitCount / 8)
  }

  /// Writes digit by digit from the end, for more than sixteen decimals.
  private static func writeLongDecimal(
    _ digits: UInt64, scale: Int, at pointer: Pointer
  ) -> Pointer {
    var (rest, scale) = (digits, digits == 0 ? 0 : scale)
    while scale > 0, rest % 10 == 0 {
      rest /= 10
      scale -= 1
    }
    let end = 32
    var (start, count) = (end, 0)
    repeat {
      if count == scale, scale > 0 {
        start -= 1
        pointer[start] = UInt8(ascii: ".")
      }
      start -= 1
      pointer[start] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
      rest /= 10
      count += 1
    } while rest > 0 || count <= scale
    pointer.update(from: pointer + start, count: end - start)
    return pointer + (end - start)
  }

  /// The powers 10^0 to 10^16.
  private static let wholePowers: [UInt64] = [
    1, 10, 100, 1000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000, 1_000_000_000,
    10_000_000_000, 100_000_000_000, 1_000_000_000_000, 10_000_000_000_000, 100_000_000_000_000,
    1_000_000_000_000_000, 10_000_000_000_000_000,
  ]
}
