/// Reads numbers from ASCII bytes, correctly rounded and whatever the locale.
package enum NumberParser {
  /// `[+-] digits [. digits] [e [+-] digits]`, all of the bytes; one side of the point may be
  /// empty. `nil` for anything else and for what is no finite double, so never NaN or infinity.
  package static func double(_ bytes: UnsafeBufferPointer<UInt8>) -> Double? {
    guard let decimal = Decimal(bytes) else { return nil }
    if let exact = decimal.exactValue { return exact }
    let value = slow(bytes)
    return value.isFinite ? value : nil
  }

  /// `[-] digits` without leading zeros, nor `-0`: an integer that would print the same.
  package static func canonicalInteger(_ bytes: UnsafeBufferPointer<UInt8>) -> Int64? {
    guard let first = bytes.first else { return nil }
    let digits = first == UInt8(ascii: "-") ? 1 : 0
    guard bytes.count > digits, bytes[digits] != UInt8(ascii: "0") || bytes.count == 1 else {
      return nil
    }
    return integer(bytes)
  }

  /// `[+-] digits`, all of the bytes; `nil` for anything else and beyond 64 bits.
  package static func integer(_ bytes: UnsafeBufferPointer<UInt8>) -> Int64? {
    guard let first = bytes.first else { return nil }
    let isNegative = first == UInt8(ascii: "-")
    var index = isNegative || first == UInt8(ascii: "+") ? 1 : 0
    guard index < bytes.count else { return nil }
    var value: Int64 = 0
    while index < bytes.count {
      let digit = bytes[index] &- UInt8(ascii: "0")
      guard digit <= 9 else { return nil }
      // Negative, because the smallest integer has no positive twin.
      let (scaled, overflowed) = value.multipliedReportingOverflow(by: 10)
      let (sum, carried) = scaled.subtractingReportingOverflow(Int64(digit))
      guard !overflowed, !carried else { return nil }
      value = sum
      index += 1
    }
    guard !isNegative else { return value }
    return value == .min ? nil : -value
  }

  /// The standard library reads as `strtod` does in the C locale.
  private static func slow(_ bytes: UnsafeBufferPointer<UInt8>) -> Double {
    Double(String(decoding: bytes, as: UTF8.self)) ?? .nan
  }
}

/// A number in text taken apart: at most 19 digits of the mantissa and the decimal exponent.
private struct Decimal {
  private var isNegative = false
  private var mantissa: UInt64 = 0
  private var exponent = 0
  private var isCut = false

  init?(_ bytes: UnsafeBufferPointer<UInt8>) {
    var index = 0
    if let first = bytes.first, first == UInt8(ascii: "-") || first == UInt8(ascii: "+") {
      isNegative = first == UInt8(ascii: "-")
      index = 1
    }
    let whole = readDigits(bytes, &index, isFraction: false)
    var fraction = 0
    if index < bytes.count, bytes[index] == UInt8(ascii: ".") {
      index += 1
      fraction = readDigits(bytes, &index, isFraction: true)
    }
    guard whole + fraction > 0 else { return nil }
    if index < bytes.count {
      guard bytes[index] | 0x20 == UInt8(ascii: "e"), readExponent(bytes, index + 1) else {
        return nil
      }
    }
  }

  private mutating func readDigits(
    _ bytes: UnsafeBufferPointer<UInt8>, _ index: inout Int, isFraction: Bool
  ) -> Int {
    let start = index
    while index < bytes.count {
      let digit = bytes[index] &- UInt8(ascii: "0")
      guard digit <= 9 else { break }
      if mantissa < 1_000_000_000_000_000_000 {
        mantissa = mantissa * 10 + UInt64(digit)
        if isFraction { exponent -= 1 }
      } else {
        isCut = true
      }
      index += 1
    }
    return index - start
  }

  private mutating func readExponent(
    _ bytes: UnsafeBufferPointer<UInt8>, _ start: Int
  ) -> Bool {
    var index = start
    var isNegative = false
    if index < bytes.count, bytes[index] == UInt8(ascii: "-") || bytes[index] == UInt8(ascii: "+") {
      isNegative = bytes[index] == UInt8(ascii: "-")
      index += 1
    }
    guard index < bytes.count else { return false }
    var value = 0
    while index < bytes.count {
      let digit = bytes[index] &- UInt8(ascii: "0")
      guard digit <= 9 else { return false }
      value = min(value * 10 + Int(digit), 100_000)
      index += 1
    }
    exponent += isNegative ? -value : value
    return true
  }

  /// The value where mantissa and power of ten are both exact doubles, so that one correctly
  /// rounded operation gives the nearest double (Clinger, "How to read floating point numbers
  /// accurately", 1990).
  var exactValue: Double? {
    guard !isCut, mantissa <= 1 << 53, exponent >= -22, exponent <= 22 else { return nil }
    let magnitude = Double(mantissa)
    let value =
      exponent < 0
      ? magnitude / Self.powersOfTen[-exponent] : magnitude * Self.powersOfTen[exponent]
    return isNegative ? -value : value
  }

  private static let powersOfTen: [Double] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
  ]
}
