import FieldpackCore

/// PostgreSQL's `numeric` in its binary form: digits to the base 10,000 and the place of the point
/// (`numeric_send` in src/backend/utils/adt/numeric.c).
enum BinaryNumeric {
  private static let negative: UInt16 = 0x4000
  private static let notANumber: UInt16 = 0xC000
  private static let infinity: UInt16 = 0xD000
  private static let negativeInfinity: UInt16 = 0xF000
  /// `NUMERIC_MAX_PRECISION` before and behind the point, with room for any double.
  private static let mostDigits = 2_000

  /// Appends the binary form of a decimal; `false`, with nothing appended, where the text is none.
  static func append(_ text: UnsafeBufferPointer<UInt8>, to bytes: inout [UInt8]) -> Bool {
    switch String(decoding: text.prefix(10), as: UTF8.self) {
    case "NaN": return append(special: notANumber, to: &bytes)
    case "Infinity": return append(special: infinity, to: &bytes)
    case "-Infinity": return append(special: negativeInfinity, to: &bytes)
    default: break
    }
    guard let decimal = Decimal(text) else { return false }
    // The point stands between groups of four digits.
    let whole = decimal.digits.count - decimal.scale
    let lead = (4 - (whole % 4 + 4) % 4) % 4
    var digits = Array(repeating: UInt8(0), count: lead) + decimal.digits
    while digits.count % 4 != 0 { digits.append(0) }
    var groups: [UInt16] = []
    for start in stride(from: 0, to: digits.count, by: 4) {
      groups.append(digits[start..<start + 4].reduce(0) { $0 * 10 + UInt16($1) })
    }
    var weight = (whole + lead) / 4 - 1
    while groups.first == 0 {
      groups.removeFirst()
      weight -= 1
    }
    while groups.last == 0 { groups.removeLast() }
    if groups.isEmpty { weight = 0 }
    bytes.append(big: Int16(groups.count))
    bytes.append(big: Int16(weight))
    bytes.append(big: decimal.isNegative && !groups.isEmpty ? negative : 0)
    bytes.append(big: Int16(max(0, decimal.scale)))
    for group in groups { bytes.append(big: group) }
    return true
  }

  private static func append(special sign: UInt16, to bytes: inout [UInt8]) -> Bool {
    bytes.append(big: Int32(0))
    bytes.append(big: sign)
    // As the server writes them.
    bytes.append(big: Int16(sign == notANumber ? 0 : 32))
    return true
  }

  /// The digits of a decimal, and how many of them stand behind the point.
  private struct Decimal {
    var digits: [UInt8] = []
    var scale = 0
    var isNegative = false

    init?(_ text: UnsafeBufferPointer<UInt8>) {
      var index = 0
      if let sign = text.first, sign == UInt8(ascii: "-") || sign == UInt8(ascii: "+") {
        isNegative = sign == UInt8(ascii: "-")
        index = 1
      }
      var isBehindPoint = false
      while index < text.count {
        let byte = text[index]
        if byte == UInt8(ascii: "."), !isBehindPoint {
          isBehindPoint = true
        } else if (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) {
          digits.append(byte - UInt8(ascii: "0"))
          if isBehindPoint { scale += 1 }
        } else {
          break
        }
        index += 1
      }
      guard !digits.isEmpty else { return nil }
      if index < text.count {
        guard text[index] | 0x20 == UInt8(ascii: "e"),
          let exponent = NumberParser.integer(.init(rebasing: text[(index + 1)...])),
          exponent.magnitude <= UInt64(BinaryNumeric.mostDigits)
        else { return nil }
        scale -= Int(exponent)
      }
      if scale < 0 {
        digits += Array(repeating: 0, count: -scale)
        scale = 0
      } else if scale > digits.count {
        digits = Array(repeating: 0, count: scale - digits.count) + digits
      }
      guard digits.count <= BinaryNumeric.mostDigits else { return nil }
    }
  }

  /// Appends the decimal that a field holds; `false`, with nothing appended, where it holds none.
  static func appendText(of field: UnsafeRawBufferPointer, to bytes: inout [UInt8]) -> Bool {
    guard let count: UInt16 = field.big(at: 0), let weight: Int16 = field.big(at: 2),
      let sign: UInt16 = field.big(at: 4), let scale: UInt16 = field.big(at: 6),
      field.count == 8 + 2 * Int(count), scale <= 16_383
    else { return false }
    switch sign {
    case notANumber: bytes.append(contentsOf: "NaN".utf8)
    case infinity: bytes.append(contentsOf: "Infinity".utf8)
    case negativeInfinity: bytes.append(contentsOf: "-Infinity".utf8)
    case 0, negative:
      for index in 0..<Int(count) {
        guard let group: UInt16 = field.big(at: 8 + 2 * index), group < 10_000 else { return false }
      }
      func group(_ index: Int) -> Int {
        let number: UInt16? = index < 0 ? 0 : field.big(at: 8 + 2 * index)
        return Int(number ?? 0)
      }
      if sign == negative { bytes.append(UInt8(ascii: "-")) }
      append(
        whole: weight < 0 ? 0 : Int(weight) + 1, scale: Int(scale),
        to: &bytes
      ) { group($0 + (weight < 0 ? Int(weight) + 1 : 0)) }
    default: return false
    }
    return true
  }

  /// - Parameters:
  ///   - whole: the number of groups before the point.
  ///   - group: the group of an index; the first of them is the first before the point, or behind it
  ///     where `whole` is 0.
  private static func append(
    whole: Int, scale: Int, to bytes: inout [UInt8], _ group: (Int) -> Int
  ) {
    var isFirst = true
    for index in 0..<whole {
      let number = group(index)
      if isFirst {
        guard number != 0 || index == whole - 1 else { continue }
        bytes.append(contentsOf: String(number).utf8)
      } else {
        append(four: number, prefix: 4, to: &bytes)
      }
      isFirst = false
    }
    if whole == 0 { bytes.append(UInt8(ascii: "0")) }
    guard scale > 0 else { return }
    bytes.append(UInt8(ascii: "."))
    var (left, index) = (scale, whole)
    while left > 0 {
      append(four: group(index), prefix: min(4, left), to: &bytes)
      left -= 4
      index += 1
    }
  }

  private static func append(four number: Int, prefix: Int, to bytes: inout [UInt8]) {
    var power = 1000
    for _ in 0..<prefix {
      bytes.append(UInt8(ascii: "0") + UInt8(number / power % 10))
      power /= 10
    }
  }
}
