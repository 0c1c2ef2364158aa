/// Text in addresses (RFC 3986).
package enum PercentText {
  /// Leaves the signs that may stand anywhere in an address; all other bytes become escapes such as
  /// `%20`.
  package static func encode(_ text: String, digits: String = "0123456789ABCDEF") -> String {
    // Nearly all texts are plain, and are looked through for every link of every answer.
    let isAllPlain = text.utf8.withContiguousStorageIfAvailable { $0.allSatisfy(isPlain) }
    if isAllPlain ?? text.utf8.allSatisfy(isPlain) { return text }
    let digits = Array(digits.utf8)
    var bytes: [UInt8] = []
    for byte in text.utf8 {
      if isPlain(byte) {
        bytes.append(byte)
      } else {
        bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  @inline(__always)
  private static func isPlain(_ byte: UInt8) -> Bool {
    let signs = byte < 0x40 ? plainBelow64 : plainFrom64
    return byte < 0x80 && signs >> UInt64(byte & 0x3F) & 1 == 1
  }

  // A bit for each byte: digits and `-.`, then letters and `_~`.
  private static let plainBelow64: UInt64 = 0x03FF_6000_0000_0000
  private static let plainFrom64: UInt64 = 0x47FF_FFFE_87FF_FFFE

  /// Undoes the escapes of a part of a query, in which a plus sign is a blank.
  ///
  /// - Returns: `nil` for a broken escape, and for bytes that are not UTF-8.
  package static func decodeQuery(_ text: some StringProtocol) -> String? {
    decode(text, blank: UInt8(ascii: "+"))
  }

  /// The names and values of a query, or of the body of a form. A part without an equals sign has an empty
  /// value.
  ///
  /// - Returns: `nil` for a broken escape, and for bytes that are not UTF-8.
  package static func decodePairs(_ text: Substring) -> [(name: String, value: String)]? {
    var pairs: [(String, String)] = []
    // Bytes are compared, not characters, which takes a tenth of the time.
    for pair in text.utf8.split(separator: UInt8(ascii: "&")) {
      let middle = pair.firstIndex(of: UInt8(ascii: "=")) ?? pair.endIndex
      guard let name = decodeQuery(Substring(pair[..<middle])),
        let value = decodeQuery(Substring(pair[middle...].dropFirst()))
      else { return nil }
      pairs.append((name, value))
    }
    return pairs
  }

  /// Undoes the escapes of a part of a path.
  package static func decodePath(_ text: some StringProtocol) -> String? {
    decode(text, blank: nil)
  }

  private static func decode(_ text: some StringProtocol, blank: UInt8?) -> String? {
    if !text.utf8.contains(where: { $0 == UInt8(ascii: "%") || $0 == blank }) {
      return String(text)
    }
    var bytes: [UInt8] = []
    var rest = text.utf8[...]
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "%") else {
        bytes.append(byte == blank ? UInt8(ascii: " ") : byte)
        continue
      }
      guard let high = rest.popFirst().flatMap(hex), let low = rest.popFirst().flatMap(hex) else {
        return nil
      }
      bytes.append(high << 4 | low)
    }
    return String(validating: bytes, as: UTF8.self)
  }

  private static func hex(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
    default: nil
    }
  }
}
