/// Writes text into XML.
package enum XMLText {
  /// Appends `bytes`, valid UTF-8, as character data.
  ///
  /// What XML 1.0 cannot hold, control characters and U+FFFE, U+FFFF, becomes U+FFFD.
  package static func append(
    _ bytes: UnsafeBufferPointer<UInt8>, inAttribute: Bool = false, to target: inout [UInt8]
  ) {
    var start = 0
    for (index, byte) in bytes.enumerated() {
      guard
        let (replacement, length) = replacement(
          for: byte, at: index, in: bytes, inAttribute: inAttribute)
      else { continue }
      target.append(contentsOf: UnsafeBufferPointer(rebasing: bytes[start..<index]))
      target.append(contentsOf: replacement)
      start = index + length
    }
    target.append(contentsOf: UnsafeBufferPointer(rebasing: bytes[start...]))
  }

  package static func append(_ text: String, inAttribute: Bool = false, to target: inout [UInt8]) {
    var text = text
    text.withUTF8 { append($0, inAttribute: inAttribute, to: &target) }
  }

  /// `text` as the content of an element or of an attribute in double quotes.
  package static func escaped(_ text: String) -> String {
    var bytes: [UInt8] = []
    append(text, inAttribute: true, to: &bytes)
    return String(decoding: bytes, as: UTF8.self)
  }

  private static func replacement(
    for byte: UInt8, at index: Int, in bytes: UnsafeBufferPointer<UInt8>, inAttribute: Bool
  ) -> (text: String.UTF8View, length: Int)? {
    switch byte {
    case UInt8(ascii: "&"): return ("&amp;".utf8, 1)
    case UInt8(ascii: "<"): return ("&lt;".utf8, 1)
    case UInt8(ascii: ">"): return ("&gt;".utf8, 1)
    case UInt8(ascii: "\""): return inAttribute ? ("&quot;".utf8, 1) : nil
    // Parsers turn a bare CR into LF, and blanks of attributes into spaces.
    case 0x0D: return ("&#13;".utf8, 1)
    case 0x09: return inAttribute ? ("&#9;".utf8, 1) : nil
    case 0x0A: return inAttribute ? ("&#10;".utf8, 1) : nil
    case 0x00..<0x20: return ("\u{FFFD}".utf8, 1)
    case 0xEF where index + 2 < bytes.count && bytes[index + 1] == 0xBF && bytes[index + 2] >= 0xBE:
      return ("\u{FFFD}".utf8, 3)
    default: return nil
    }
  }

  /// The name with every character outside ASCII's and Latin-1's name characters made `_`, and `_`
  /// before a start that a name cannot have. Colons go, too.
  ///
  /// XML 1.0's fifth edition allows more, but parsers that follow the fourth refuse it.
  package static func name(_ text: String) -> String {
    var result = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      if result.isEmpty, !isNameStart(scalar), isName(scalar) { result.append("_") }
      result.append(isName(scalar) ? scalar : "_")
    }
    return result.isEmpty ? "_" : String(result)
  }

  private static func isNameStart(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x41...0x5A, 0x5F, 0x61...0x7A, 0xC0...0xD6, 0xD8...0xF6, 0xF8...0xFF: true
    default: false
    }
  }

  private static func isName(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x2D, 0x2E, 0x30...0x39, 0xB7: true
    default: isNameStart(scalar)
    }
  }
}
