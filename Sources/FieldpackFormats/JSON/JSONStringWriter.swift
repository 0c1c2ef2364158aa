import FieldpackCore
import FieldpackGeometry

/// JSON strings written into a byte buffer.
package enum JSONStringWriter {
  /// Appends `text` in quotes, with the escapes that RFC 8259 asks for and no others.
  ///
  /// Bytes that are not UTF-8 become U+FFFD.
  package static func append(_ text: UnsafeBufferPointer<UInt8>, to bytes: inout [UInt8]) {
    append(text, after: UnsafeBufferPointer(start: nil, count: 0), to: &bytes)
  }

  /// Appends `name` as it is, then `text` as ``append(_:to:)`` does.
  static func append(
    _ text: UnsafeBufferPointer<UInt8>, after name: UnsafeBufferPointer<UInt8>,
    to bytes: inout [UInt8]
  ) {
    let plain = plainPrefix(of: text, from: 0)
    if plain == text.count {
      return bytes.appendRun(upTo: name.count + text.count + 2) { run in
        run.append(name)
        run.append(UInt8(ascii: "\""))
        run.append(text)
        run.append(UInt8(ascii: "\""))
      }
    }
    bytes.append(contentsOf: name)
    bytes.append(UInt8(ascii: "\""))
    bytes.append(contentsOf: text[..<plain])
    appendEscaping(text, from: plain, to: &bytes)
    bytes.append(UInt8(ascii: "\""))
  }

  private static func appendEscaping(
    _ text: UnsafeBufferPointer<UInt8>, from start: Int, to bytes: inout [UInt8]
  ) {
    var (plain, index) = (start, start)
    while index < text.count {
      let byte = text[index]
      let length = byte < 0x80 ? 0 : wellFormedLength(text, at: index)
      if length > 0 {
        index = plainPrefix(of: text, from: index + length)
        continue
      }
      bytes.append(contentsOf: text[plain..<index])
      appendEscape(of: byte, to: &bytes)
      plain = index + 1
      index = plainPrefix(of: text, from: plain)
    }
    bytes.append(contentsOf: text[plain...])
  }

  /// Where the first byte stands that is not ASCII or needs an escape; eight bytes a step.
  private static func plainPrefix(of text: UnsafeBufferPointer<UInt8>, from start: Int) -> Int {
    var index = start
    let words = UnsafeRawBufferPointer(text)
    while index + 8 <= text.count {
      let word = words.loadUnaligned(fromByteOffset: index, as: UInt64.self)
      guard needsCare(word) == 0 else { break }
      index += 8
    }
    while index < text.count {
      let byte = text[index]
      guard byte >= 0x20, byte < 0x80, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\") else {
        return index
      }
      index += 1
    }
    return index
  }

  /// Not 0 where any of eight bytes is a control character, a quote, a backslash or not ASCII.
  @inline(__always)
  private static func needsCare(_ word: UInt64) -> UInt64 {
    let ones: UInt64 = 0x0101_0101_0101_0101
    let quote = word ^ ones &* 0x22
    let backslash = word ^ ones &* 0x5C
    let controls = word &- ones &* 0x20
    return (word | controls | (quote &- ones) | (backslash &- ones)) & (ones &* 0x80)
  }

  package static func append(_ text: String, to bytes: inout [UInt8]) {
    var text = text
    text.withUTF8 { append($0, to: &bytes) }
  }

  private static func appendEscape(of byte: UInt8, to bytes: inout [UInt8]) {
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
    case 0x08: bytes += Array("\\b".utf8)
    case 0x09: bytes += Array("\\t".utf8)
    case 0x0A: bytes += Array("\\n".utf8)
    case 0x0C: bytes += Array("\\f".utf8)
    case 0x0D: bytes += Array("\\r".utf8)
    case 0x80...: bytes += Array("\u{FFFD}".utf8)
    default:
      bytes += Array("\\u00\(String(hex: [byte]))".utf8)
    }
  }
}

/// The length of the character of two to four bytes at `index`, 0 where it is not well-formed after
/// RFC 3629 section 4.
@inline(__always)
func wellFormedLength(_ text: UnsafeBufferPointer<UInt8>, at index: Int) -> Int {
  let first = text[index]
  let length: Int
  var range: ClosedRange<UInt8> = 0x80...0xBF
  switch first {
  case 0xC2...0xDF: length = 2
  case 0xE0...0xEF:
    length = 3
    if first == 0xE0 { range = 0xA0...0xBF }
    if first == 0xED { range = 0x80...0x9F }
  case 0xF0...0xF4:
    length = 4
    if first == 0xF0 { range = 0x90...0xBF }
    if first == 0xF4 { range = 0x80...0x8F }
  default: return 0
  }
  guard index + length <= text.count, range.contains(text[index + 1]) else { return 0 }
  for place in 2..<max(length, 2) where text[index + place] & 0xC0 != 0x80 { return 0 }
  return length
}
