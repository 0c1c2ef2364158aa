/// Pieces of JSON text, for the tool's documents and for log lines.
package enum JSONText {
  /// Appends `text` as a JSON string.
  ///
  /// Control characters beyond ASCII are escaped too, so that no line controls a terminal.
  package static func append(_ text: String, to bytes: inout [UInt8]) {
    bytes.append(UInt8(ascii: "\""))
    var isPlain = true
    for byte in text.utf8 where byte < 0x20 || byte >= 0x7F || byte == 0x22 || byte == 0x5C {
      isPlain = false
      break
    }
    if isPlain {
      bytes.append(contentsOf: text.utf8)
    } else {
      for scalar in text.unicodeScalars { append(scalar, to: &bytes) }
    }
    bytes.append(UInt8(ascii: "\""))
  }

  private static func append(_ scalar: Unicode.Scalar, to bytes: inout [UInt8]) {
    switch scalar {
    case "\"": bytes.append(contentsOf: #"\""#.utf8)
    case "\\": bytes.append(contentsOf: #"\\"#.utf8)
    case "\n": bytes.append(contentsOf: #"\n"#.utf8)
    case "\r": bytes.append(contentsOf: #"\r"#.utf8)
    case "\t": bytes.append(contentsOf: #"\t"#.utf8)
    default:
      let value = scalar.value
      guard value < 0x20 || 0x7F..<0xA0 ~= value else {
        bytes.append(contentsOf: Character(scalar).utf8)
        return
      }
      let hex = String(value, radix: 16)
      bytes.append(contentsOf: "\\u".utf8)
      for _ in hex.utf8.count..<4 { bytes.append(UInt8(ascii: "0")) }
      bytes.append(contentsOf: hex.utf8)
    }
  }

  /// Appends the shortest decimal that reads back as `value`; `null` where it is not finite.
  package static func append(_ value: Double, to bytes: inout [UInt8]) {
    guard value.isFinite else {
      bytes.append(contentsOf: "null".utf8)
      return
    }
    let text = value.description.utf8
    let isWhole = text.suffix(2).elementsEqual(".0".utf8)
    bytes.append(contentsOf: isWhole ? text.dropLast(2) : text[...])
  }
}
