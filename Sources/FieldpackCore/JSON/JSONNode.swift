/// A small JSON document in memory, for conditions and the arrays in columns; files of features are
/// not read with it.
package indirect enum JSONNode: Hashable, Sendable {
  case null
  case boolean(Bool)
  /// A number without fraction and exponent that fits into 64 bits.
  case integer(Int64)
  /// Any other number; infinite where it is out of range.
  case real(Double)
  case text(String)
  case list([JSONNode])
  /// An object's members in order; a name may occur more than once.
  case members([Member])

  package struct Member: Hashable, Sendable {
    package var name: String
    package var value: JSONNode

    package init(name: String, value: JSONNode) {
      self.name = name
      self.value = value
    }
  }

  /// The value of the last member with that name, as in JavaScript.
  package subscript(name: String) -> JSONNode? {
    guard case .members(let members) = self else { return nil }
    return members.last { $0.name.hasSameBytes(as: name) }?.value
  }

  /// What kind of node it is, in words, such as `a number`.
  package var kind: String {
    switch self {
    case .null: "null"
    case .boolean: "true or false"
    case .integer, .real: "a number"
    case .text: "a text"
    case .list: "an array"
    case .members: "an object"
    }
  }

  package var number: Double? {
    switch self {
    case .integer(let value): Double(value)
    case .real(let value): value
    default: nil
    }
  }
}

/// What is wrong with a JSON text, and at which byte.
package struct JSONMistake: Error {
  package var message: String
  /// The offset in bytes.
  package var offset: Int
}

/// Reads one JSON document (RFC 8259) of UTF-8. A limit of depth keeps nested documents from
/// overflowing the stack.
package struct JSONNodeReader {
  private let bytes: UnsafeBufferPointer<UInt8>
  private let maximumDepth: Int
  private var index = 0
  private var depth = 0

  package static func read(
    _ text: String, maximumDepth: Int = 128
  ) throws(JSONMistake) -> JSONNode {
    var text = text
    let result = text.withUTF8 { bytes in
      Result { () throws(JSONMistake) in try read(bytes, maximumDepth: maximumDepth) }
    }
    return try result.get()
  }

  package static func read(
    _ bytes: UnsafeBufferPointer<UInt8>, maximumDepth: Int = 128
  ) throws(JSONMistake) -> JSONNode {
    var reader = JSONNodeReader(bytes: bytes, maximumDepth: maximumDepth)
    let node = try reader.value()
    reader.skipBlanks()
    if reader.index < bytes.count { throw reader.mistake("expected the end") }
    return node
  }

  private init(bytes: UnsafeBufferPointer<UInt8>, maximumDepth: Int) {
    self.bytes = bytes
    self.maximumDepth = maximumDepth
  }

  private func mistake(_ message: String) -> JSONMistake {
    JSONMistake(message: message, offset: index)
  }

  private var byte: UInt8 { index < bytes.count ? bytes[index] : 0 }

  private mutating func skipBlanks() {
    while [0x20, 0x09, 0x0A, 0x0D].contains(byte) { index += 1 }
  }

  private mutating func value() throws(JSONMistake) -> JSONNode {
    skipBlanks()
    switch byte {
    case UInt8(ascii: "{"): return try nested { (r) throws(JSONMistake) in try r.object() }
    case UInt8(ascii: "["): return try nested { (r) throws(JSONMistake) in try r.array() }
    case UInt8(ascii: "\""): return .text(try string())
    case UInt8(ascii: "t"): return try word("true", .boolean(true))
    case UInt8(ascii: "f"): return try word("false", .boolean(false))
    case UInt8(ascii: "n"): return try word("null", .null)
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return try number()
    default: throw mistake("expected a value")
    }
  }

  private mutating func nested(
    _ body: (inout Self) throws(JSONMistake) -> JSONNode
  ) throws(JSONMistake) -> JSONNode {
    guard depth < maximumDepth else { throw mistake("nested more than \(maximumDepth) deep") }
    depth += 1
    index += 1
    defer { depth -= 1 }
    return try body(&self)
  }

  private mutating func array() throws(JSONMistake) -> JSONNode {
    var items: [JSONNode] = []
    skipBlanks()
    if accept(UInt8(ascii: "]")) { return .list(items) }
    while true {
      items.append(try value())
      skipBlanks()
      if accept(UInt8(ascii: "]")) { return .list(items) }
      guard accept(UInt8(ascii: ",")) else { throw mistake("expected ',' or ']'") }
    }
  }

  private mutating func object() throws(JSONMistake) -> JSONNode {
    var members: [JSONNode.Member] = []
    skipBlanks()
    if accept(UInt8(ascii: "}")) { return .members(members) }
    while true {
      skipBlanks()
      guard byte == UInt8(ascii: "\"") else { throw mistake("expected a name in quotes") }
      let name = try string()
      skipBlanks()
      guard accept(UInt8(ascii: ":")) else { throw mistake("expected ':'") }
      members.append(.init(name: name, value: try value()))
      skipBlanks()
      if accept(UInt8(ascii: "}")) { return .members(members) }
      guard accept(UInt8(ascii: ",")) else { throw mistake("expected ',' or '}'") }
    }
  }

  private mutating func accept(_ wanted: UInt8) -> Bool {
    guard index < bytes.count, bytes[index] == wanted else { return false }
    index += 1
    return true
  }

  private mutating func word(_ word: StaticString, _ node: JSONNode) throws(JSONMistake) -> JSONNode
  {
    let count = word.utf8CodeUnitCount
    guard bytes.count - index >= count,
      (0..<count).allSatisfy({ bytes[index + $0] == word.utf8Start[$0] })
    else { throw mistake("expected a value") }
    index += count
    return node
  }
}

extension JSONNodeReader {
  private mutating func number() throws(JSONMistake) -> JSONNode {
    let start = index
    _ = accept(UInt8(ascii: "-"))
    let isZero = byte == UInt8(ascii: "0")
    guard skipDigits() == 1 || !isZero, index > start, Self.isDigit(bytes[index - 1]) else {
      throw mistake("expected a number")
    }
    var isWhole = true
    if accept(UInt8(ascii: ".")) {
      isWhole = false
      guard skipDigits() > 0 else { throw mistake("expected a digit") }
    }
    if byte | 0x20 == UInt8(ascii: "e") {
      isWhole = false
      index += 1
      if !accept(UInt8(ascii: "+")) { _ = accept(UInt8(ascii: "-")) }
      guard skipDigits() > 0 else { throw mistake("expected an exponent") }
    }
    let source = String(decoding: bytes[start..<index], as: UTF8.self)
    // `-0` is a real, because an integer has no negative zero.
    if isWhole, source != "-0", let integer = Int64(source) { return .integer(integer) }
    return .real(Double(source) ?? .nan)
  }

  private static func isDigit(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
  }

  private mutating func skipDigits() -> Int {
    let start = index
    while Self.isDigit(byte) { index += 1 }
    return index - start
  }

  private mutating func string() throws(JSONMistake) -> String {
    let start = index
    index += 1
    var content: [UInt8] = []
    while index < bytes.count {
      let byte = bytes[index]
      index += 1
      switch byte {
      case UInt8(ascii: "\""): return String(decoding: content, as: UTF8.self)
      case UInt8(ascii: "\\"): try escape(into: &content)
      case 0..<0x20:
        index -= 1
        throw mistake("a control character stands in a text: write \\u00…")
      default: content.append(byte)
      }
    }
    throw JSONMistake(message: "the text that starts here has no closing quote", offset: start)
  }

  private mutating func escape(into content: inout [UInt8]) throws(JSONMistake) {
    let escaped = byte
    index += 1
    switch escaped {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): content.append(escaped)
    case UInt8(ascii: "b"): content.append(8)
    case UInt8(ascii: "t"): content.append(9)
    case UInt8(ascii: "n"): content.append(10)
    case UInt8(ascii: "f"): content.append(12)
    case UInt8(ascii: "r"): content.append(13)
    case UInt8(ascii: "u"): content += try unicodeEscape()
    default:
      index -= 2
      throw mistake("expected one of \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\u")
    }
  }

  /// Reads the digits of `\u`; half a pair of surrogates becomes U+FFFD.
  private mutating func unicodeEscape() throws(JSONMistake) -> [UInt8] {
    var code = UInt32(try fourDigits())
    if (0xD800..<0xDC00).contains(code), byte == UInt8(ascii: "\\"),
      index + 1 < bytes.count, bytes[index + 1] == UInt8(ascii: "u")
    {
      let start = index
      index += 2
      let low = UInt32(try fourDigits())
      if (0xDC00..<0xE000).contains(low) {
        code = 0x10000 + (code - 0xD800) << 10 + (low - 0xDC00)
      } else {
        index = start
      }
    }
    return Array(Character(Unicode.Scalar(code) ?? "\u{FFFD}").utf8)
  }

  private mutating func fourDigits() throws(JSONMistake) -> UInt16 {
    guard bytes.count - index >= 4,
      bytes[index..<index + 4].allSatisfy({ Unicode.Scalar($0).properties.isASCIIHexDigit }),
      let code = UInt16(
        String(decoding: bytes[index..<index + 4], as: UTF8.self), radix: 16)
    else { throw mistake("expected four hexadecimal digits") }
    index += 4
    return code
  }
}
