/// A number as it stands in the text: ±mantissa × 10^exponent.
@usableFromInline
struct NumberToken {
  @usableFromInline var isNegative = false
  /// Neither point nor exponent.
  @usableFromInline var isWhole = false
  /// The digits as one number, where there are at most 19.
  @usableFromInline var mantissa: UInt64 = 0
  var exponent = 0
  /// More digits than `mantissa` holds.
  @usableFromInline var isLong = false
}

extension JSONScanner {
  /// Takes the number at the cursor; `integer`, `real` and `numberText` then tell what it is.
  package mutating func scanNumber() throws(FieldpackError) {
    tokenStart = cursor
    while true {
      let isWithinWindow = try parseNumber()
      if isWithinWindow { return }
      try refill(keeping: tokenStart)
      cursor = tokenStart
    }
  }

  /// The last number is written without point and exponent.
  @inlinable package var isWhole: Bool { number.isWhole }

  /// The text of the number that was read last.
  @inlinable package var numberText: UnsafeBufferPointer<UInt8> { tokenText }

  /// The string, quotes included, or number that was read last, as it stands.
  @inlinable package var tokenText: UnsafeBufferPointer<UInt8> {
    UnsafeBufferPointer(start: address(tokenStart), count: cursor - tokenStart)
  }

  /// The last number exactly, where it is written as an integer and has 64 bits.
  @inlinable package var integer: Int64? {
    guard number.isWhole, !number.isLong else { return nil }
    if !number.isNegative { return Int64(exactly: number.mantissa) }
    return number.mantissa <= 1 << 63 ? Int64(truncatingIfNeeded: 0 &- number.mantissa) : nil
  }

  /// Takes the number at the cursor and returns what `real` tells of it.
  package mutating func scanReal() throws(FieldpackError) -> Double {
    try scanNumber()
    return real
  }

  /// The double nearest to the last number, infinite where it is out of range.
  @inlinable package var real: Double { Self.real(number, numberText) }

  // Not of `self`, because a call would copy the whole scanner.
  @usableFromInline @inline(__always)
  static func real(_ number: NumberToken, _ text: UnsafeBufferPointer<UInt8>) -> Double {
    let mantissa = number.mantissa
    let exponent = number.exponent
    guard !number.isLong else { return slowReal(text) }
    let magnitude: Double
    if exponent == 0 || mantissa == 0 {
      magnitude = Double(mantissa)
    } else if mantissa <= 1 << 53, exponent >= -22, exponent <= 22 {
      // Both operands are exact, so that IEEE 754 rounds once.
      let power = tensAsReals[abs(exponent)]
      magnitude = exponent < 0 ? Double(mantissa) / power : Double(mantissa) * power
    } else if exponent < 0, exponent >= -19 {
      magnitude = quotient(mantissa, tens[-exponent])
    } else {
      return slowReal(text)
    }
    return number.isNegative ? -magnitude : magnitude
  }

  @inline(never)
  private static func slowReal(_ text: UnsafeBufferPointer<UInt8>) -> Double {
    // The standard library reads digits alike whatever the locale of the process.
    Double(String(decoding: text, as: UTF8.self)) ?? .nan
  }

  /// Reads the number at the cursor; false where it may go on behind the window.
  @inline(__always)
  private mutating func parseNumber() throws(FieldpackError) -> Bool {
    var index = cursor
    var token = NumberToken()
    if bytes[index] == UInt8(ascii: "-") {
      token.isNegative = true
      index += 1
    }
    let first = index
    if bytes[index] == UInt8(ascii: "0") {
      index += 1
    } else {
      index = digits(from: index, into: &token.mantissa)
      if index == first { return try stop(at: index, .digit, "a digit") }
    }
    var digitCount = index - first
    token.isWhole = true
    if bytes[index] == UInt8(ascii: ".") {
      let point = index + 1
      index = digits(from: point, into: &token.mantissa)
      if index == point {
        return try stop(at: index, .fractionDigit, "a digit after the decimal point")
      }
      token.isWhole = false
      token.exponent = point - index
      digitCount += index - point
    }
    if bytes[index] | 0x20 == UInt8(ascii: "e") {
      index = exponent(from: index + 1, into: &token)
      if index < 0 { return try stop(at: -index, .exponentDigit, "a digit in the exponent") }
    }
    token.isLong = digitCount > 19
    number = token
    let end = bytes[index]
    if end == UInt8(ascii: ",") || end == UInt8(ascii: "]") || end == UInt8(ascii: "}")
      || (end <= 0x20 && index < limit)
    {
      cursor = index
      return true
    }
    if index >= limit, isLast {
      cursor = index
      return true
    }
    return try stop(at: index, .numberEnd, "the end of a number")
  }

  @inline(__always)
  private func digits(from start: Int, into mantissa: inout UInt64) -> Int {
    var index = start
    var value = mantissa
    while true {
      let digit = bytes[index] &- UInt8(ascii: "0")
      if digit > 9 { break }
      value = value &* 10 &+ UInt64(digit)
      index += 1
    }
    mantissa = value
    return index
  }

  /// The end of the exponent's digits; its negative where there are none.
  private func exponent(from start: Int, into token: inout NumberToken) -> Int {
    var index = start
    let isNegative = bytes[index] == UInt8(ascii: "-")
    if isNegative || bytes[index] == UInt8(ascii: "+") { index += 1 }
    let first = index
    var value = 0
    while true {
      let digit = bytes[index] &- UInt8(ascii: "0")
      if digit > 9 { break }
      // Far beyond any double; more digits change nothing.
      if value < 100_000 { value = value * 10 + Int(digit) }
      index += 1
    }
    token.isWhole = false
    token.exponent += isNegative ? -value : value
    return index == first ? -index : index
  }

  @inline(never)
  private mutating func stop(
    at index: Int, _ fault: Fault, _ wanted: String
  ) throws(FieldpackError) -> Bool {
    if index >= limit, !isLast { return false }
    let found = index >= limit ? "the end of the text" : describe(bytes[index])
    throw failure(fault, "\(wanted) expected, not \(found)", at: index)
  }
}

/// `a / b`, rounded once.
///
/// Both are shifted until their top bits are set, so that the quotient has at least 63 bits; where
/// a remainder is left, the lowest bit says so, which is all that rounding to 53 bits needs.
private func quotient(_ a: UInt64, _ b: UInt64) -> Double {
  let shiftA = a.leadingZeroBitCount
  let shiftB = b.leadingZeroBitCount
  let top = a << UInt64(shiftA)
  let (quotient, remainder) = (b << UInt64(shiftB)).dividingFullWidth((top >> 1, top << 63))
  let scale = Double(bitPattern: UInt64(1023 - 63 + shiftB - shiftA) << 52)
  return Double(quotient | (remainder == 0 ? 0 : 1)) * scale
}

private let tens: [UInt64] = (1...19).reduce(into: [1]) { powers, _ in
  powers.append(powers[powers.count - 1] * 10)
}

private let tensAsReals: [Double] = [
  1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17,
  1e18, 1e19, 1e20, 1e21, 1e22,
]
