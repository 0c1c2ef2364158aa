/// A small JSON document in memory, for conditions and the arrays in columns; files of features are
/// not read with it.
package enum JSONValue: Hashable, Sendable {
  case null
  case boolean(Bool)
  /// A number without fraction and exponent that fits into 64 bits.
  case integer(Int64)
  /// Any other number; infinite where it is out of range.
  case real(Double)
  case text(String)
  case array([JSONValue])
  /// An object's members in order; a name may occur more than once.
  case object([Member])

  package struct Member: Hashable, Sendable {
    package var name: String
    package var value: JSONValue

    package init(name: String, value: JSONValue) {
      self.name = name
      self.value = value
    }
  }

  /// The value of the last member with that name, as in JavaScript.
  package subscript(name: String) -> JSONValue? {
    guard case .object(let members) = self else { return nil }
    return members.last { $0.name.hasSameBytes(as: name) }?.value
  }

  package var string: String? {
    guard case .text(let text) = self else { return nil }
    return text
  }

  /// What kind of node it is, in words, such as `a number`.
  package var kind: String {
    switch self {
    case .null: "null"
    case .boolean: "true or false"
    case .integer, .real: "a number"
    case .text: "a text"
    case .array: "an array"
    case .object: "an object"
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

/// Reads one JSON document (RFC 8259). A limit of depth keeps nested documents from overflowing the
/// stack. Bytes in texts that are not UTF-8 become U+FFFD.
package struct JSONValueReader: ~Copyable {
  private var scanner: JSONScanner

  package static func read(
    _ text: String, maximumDepth: Int = 128
  ) throws(JSONMistake) -> JSONValue {
    var text = text
    let result = text.withUTF8 { bytes in
      Result { () throws(JSONMistake) in try read(bytes, maximumDepth: maximumDepth) }
    }
    return try result.get()
  }

  package static func read(
    _ bytes: UnsafeBufferPointer<UInt8>, maximumDepth: Int = 128
  ) throws(JSONMistake) -> JSONValue {
    var limits = JSONScanner.Limits()
    limits.depth = maximumDepth
    limits.allowsBrokenUTF8 = true
    var reader = JSONValueReader(scanner: JSONScanner(bytes, limits: limits))
    let node = try reader.value()
    guard reader.peek() == 0 else { throw reader.mistake("expected the end") }
    return node
  }

  private func mistake(_ message: String) -> JSONMistake {
    JSONMistake(message: message, offset: scanner.offset)
  }

  /// The next byte but blanks, 0 at the end. A control character, which the scanner refuses, is
  /// like any other byte that nothing begins with.
  private mutating func peek() -> UInt8 { (try? scanner.peek()) ?? 1 }

  private mutating func value() throws(JSONMistake) -> JSONValue {
    switch peek() {
    case UInt8(ascii: "{"): return try object()
    case UInt8(ascii: "["): return try array()
    case UInt8(ascii: "\""): return .text(try string())
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return try number()
    default:
      guard let letter = try? scanner.scanLiteral() else { throw mistake("expected a value") }
      return letter == UInt8(ascii: "n") ? .null : .boolean(letter == UInt8(ascii: "t"))
    }
  }

  private mutating func array() throws(JSONMistake) -> JSONValue {
    try enter()
    var items: [JSONValue] = []
    while try goesOn(items.isEmpty, until: "]") { items.append(try value()) }
    return .array(items)
  }

  private mutating func object() throws(JSONMistake) -> JSONValue {
    try enter()
    var members: [JSONValue.Member] = []
    while try goesOn(members.isEmpty, until: "}") {
      guard peek() == UInt8(ascii: "\"") else { throw mistake("expected a name in quotes") }
      let name = try string()
      guard peek() == UInt8(ascii: ":") else { throw mistake("expected ':'") }
      scanner.takeByte()
      members.append(.init(name: name, value: try value()))
    }
    return .object(members)
  }

  private mutating func enter() throws(JSONMistake) {
    do throws(FieldpackError) { try scanner.enter() } catch {
      throw mistake("nested more than \(scanner.limits.depth) deep")
    }
  }

  /// Takes the comma before all elements but the first, or the closing sign.
  private mutating func goesOn(
    _ isFirst: Bool, until closing: Unicode.Scalar
  ) throws(JSONMistake) -> Bool {
    let byte = peek()
    if byte == UInt8(ascii: closing) {
      scanner.takeByte()
      scanner.depth -= 1
      return false
    }
    if isFirst { return true }
    guard byte == UInt8(ascii: ",") else { throw mistake("expected ',' or '\(closing)'") }
    scanner.takeByte()
    return true
  }

  private mutating func string() throws(JSONMistake) -> String {
    do throws(FieldpackError) {
      return String(decoding: try scanner.scanString(), as: UTF8.self)
    } catch { throw tokenMistake() }
  }

  private mutating func number() throws(JSONMistake) -> JSONValue {
    do throws(FieldpackError) { try scanner.scanNumber() } catch {
      guard case .numberEnd? = scanner.fault?.0 else { throw tokenMistake() }
      // The number is read, and what follows it is for the array or object around it to judge.
      scanner.cursor = scanner.fault?.index ?? scanner.cursor
      let end = scanner.cursor
      while 0x30...0x39 ~= scanner.bytes[scanner.cursor] { scanner.cursor += 1 }
      // Digits follow only a zero that leads.
      if scanner.cursor > end { throw mistake("expected a number") }
    }
    // `-0` is a real, because an integer has no negative zero.
    if let integer = scanner.integer, integer != 0 || !scanner.number.isNegative {
      return .integer(integer)
    }
    return .real(scanner.real)
  }

  /// What is wrong with the string or number at the cursor.
  private func tokenMistake() -> JSONMistake {
    let index = scanner.fault?.index ?? scanner.cursor
    let (message, place) =
      switch scanner.fault?.0 {
      case .control: ("a control character stands in a text: write \\u00…", index)
      case .unknownEscape: (Self.escapes, index)
      // The backslash is the last byte.
      case .openEscape: (Self.escapes, index - 1)
      case .hexadecimalDigits: ("expected four hexadecimal digits", index + 2)
      case .fractionDigit: ("expected a digit", index)
      case .exponentDigit: ("expected an exponent", index)
      case .digit, .numberEnd: ("expected a number", index)
      case .openString, nil:
        ("the text that starts here has no closing quote", scanner.tokenStart)
      }
    return JSONMistake(message: message, offset: scanner.offset(of: place))
  }

  private static let escapes = #"expected one of \" \\ \/ \b \f \n \r \t \u"#
}
