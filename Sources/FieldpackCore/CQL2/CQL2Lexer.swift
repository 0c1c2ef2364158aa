/// A lexical element of CQL2 Text.
struct CQL2Token {
  enum Kind: Equatable {
    /// An unquoted name, which may be a keyword.
    case word(String)
    /// A name in double quotes.
    case name(String)
    case text(String)
    /// An integer without its sign.
    case integer
    /// A real without its sign.
    case real
    case comparison(Comparison)
    /// `+ - * / % ^`.
    case arithmetic(Arithmetic)
    case leftParenthesis
    case rightParenthesis
    case comma
    case end
  }

  var kind: Kind
  /// The bytes of the token in the text.
  var range: Range<Int>

  /// Whether the token is the unquoted word `keyword`, given in capitals.
  func isWord(_ keyword: String) -> Bool {
    guard case .word(let word) = kind else { return false }
    return word.uppercasedASCII == keyword
  }
}

/// Cuts CQL2 Text into tokens, one token a call.
struct CQL2Lexer {
  let bytes: [UInt8]
  private var index = 0

  init(_ text: String) { bytes = Array(text.utf8) }

  mutating func next() throws(FieldpackError) -> CQL2Token {
    while index < bytes.count, Self.isBlank(bytes[index]) { index += 1 }
    let start = index
    guard start < bytes.count else { return CQL2Token(kind: .end, range: start..<start) }
    let kind = try kind(of: bytes[start])
    return CQL2Token(kind: kind, range: start..<index)
  }

  private mutating func kind(of byte: UInt8) throws(FieldpackError) -> CQL2Token.Kind {
    switch byte {
    case UInt8(ascii: "("): return single(.leftParenthesis)
    case UInt8(ascii: ")"): return single(.rightParenthesis)
    case UInt8(ascii: ","): return single(.comma)
    case UInt8(ascii: "="): return single(.comparison(.equal))
    case UInt8(ascii: "<"), UInt8(ascii: ">"): return .comparison(inequality())
    case UInt8(ascii: "'"): return .text(try string())
    case UInt8(ascii: "\""): return .name(try quotedName())
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."): return try number()
    default: break
    }
    if let operation = Arithmetic(rawValue: String(Unicode.Scalar(byte))) {
      return single(.arithmetic(operation))
    }
    guard let scalar = scalar(at: index), Self.startsName(scalar) else {
      throw strayCharacter(byte)
    }
    return .word(word())
  }

  private mutating func single(_ kind: CQL2Token.Kind) -> CQL2Token.Kind {
    index += 1
    return kind
  }

  private mutating func inequality() -> Comparison {
    let first = bytes[index]
    index += 1
    let second = index < bytes.count ? bytes[index] : 0
    switch (first, second) {
    case (UInt8(ascii: "<"), UInt8(ascii: ">")): index += 1
    case (_, UInt8(ascii: "=")): index += 1
    default: return first == UInt8(ascii: "<") ? .less : .greater
    }
    if second == UInt8(ascii: ">") { return .notEqual }
    return first == UInt8(ascii: "<") ? .lessOrEqual : .greaterOrEqual
  }

  private func strayCharacter(_ byte: UInt8) -> FieldpackError {
    let hint =
      switch byte {
      case UInt8(ascii: "!"): " (write <> for not equal)"
      case UInt8(ascii: "["), UInt8(ascii: "]"): " (an array stands in parentheses)"
      default: " (a name with such a character stands in double quotes)"
      }
    let shown = scalar(at: index).map { String(Character($0)) } ?? "?"
    return failure("unexpected character '\(shown)'\(hint)", at: index)
  }

  /// An error that points at a byte of the text by line and column.
  func failure(_ message: String, at offset: Int) -> FieldpackError {
    FieldpackError(.invalidArgument, message, position: FilePosition(of: offset, in: bytes))
  }
}

extension CQL2Lexer {
  private static func isBlank(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: " ") || (9...13).contains(byte)
  }

  private func byte(at offset: Int) -> UInt8 { offset < bytes.count ? bytes[offset] : 0 }

  /// Reads a text in quotes, in which `''` and `\'` are a quote. Backslashes before a quote count
  /// in pairs, a pair being one backslash, so that every text can be written; any other backslash
  /// is itself.
  private mutating func string() throws(FieldpackError) -> String {
    let start = index
    var content: [UInt8] = []
    index += 1
    while index < bytes.count {
      switch bytes[index] {
      case UInt8(ascii: "'"):
        index += 1
        guard byte(at: index) == UInt8(ascii: "'") else {
          return String(decoding: content, as: UTF8.self)
        }
        content.append(UInt8(ascii: "'"))
        index += 1
      case UInt8(ascii: "\\"): backslashes(into: &content)
      default:
        content.append(bytes[index])
        index += 1
      }
    }
    throw failure("the text that starts here has no closing quote", at: start)
  }

  private mutating func backslashes(into content: inout [UInt8]) {
    let backslash = UInt8(ascii: "\\")
    let start = index
    while byte(at: index) == backslash { index += 1 }
    let count = index - start
    guard byte(at: index) == UInt8(ascii: "'") else {
      content += Array(repeating: backslash, count: count)
      return
    }
    content += Array(repeating: backslash, count: count / 2)
    if count % 2 == 1 {
      content.append(UInt8(ascii: "'"))
      index += 1
    }
  }

  private mutating func quotedName() throws(FieldpackError) -> String {
    let start = index
    var content: [UInt8] = []
    index += 1
    while index < bytes.count {
      if bytes[index] == UInt8(ascii: "\"") {
        index += 1
        guard byte(at: index) == UInt8(ascii: "\"") else {
          let name = String(decoding: content, as: UTF8.self)
          do throws(CQL2.Mistake) {
            try CQL2.checkColumn(name)
          } catch {
            throw failure(error.message, at: start)
          }
          return name
        }
      }
      content.append(bytes[index])
      index += 1
    }
    throw failure("the name that starts here has no closing double quote", at: start)
  }

  private mutating func word() -> String {
    let start = index
    while let scalar = scalar(at: index), Self.continuesName(scalar) {
      index += UTF8.width(scalar)
    }
    return String(decoding: bytes[start..<index], as: UTF8.self)
  }

  private mutating func number() throws(FieldpackError) -> CQL2Token.Kind {
    let start = index
    var digits = skipDigits()
    var isInteger = true
    if byte(at: index) == UInt8(ascii: ".") {
      isInteger = false
      index += 1
      digits += skipDigits()
    }
    guard digits > 0 else { throw failure("expected a number", at: start) }
    if byte(at: index) | 0x20 == UInt8(ascii: "e") {
      isInteger = false
      index += 1
      if byte(at: index) == UInt8(ascii: "+") || byte(at: index) == UInt8(ascii: "-") {
        index += 1
      }
      guard skipDigits() > 0 else { throw failure("expected an exponent", at: index) }
    }
    if let scalar = scalar(at: index), Self.continuesName(scalar) {
      throw failure("a number ends here but text follows it", at: index)
    }
    return isInteger ? .integer : .real
  }

  /// The number of a token, negative where a minus sign stands before it.
  func value(of token: CQL2Token, isNegative: Bool) throws(FieldpackError) -> Value {
    let source = (isNegative ? "-" : "") + String(decoding: bytes[token.range], as: UTF8.self)
    if token.kind == .integer, let integer = Int64(source) { return .integer(integer) }
    guard let real = Double(source), real.isFinite else {
      throw failure("the number is out of range", at: token.range.lowerBound)
    }
    return .real(real)
  }

  private mutating func skipDigits() -> Int {
    let start = index
    while (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte(at: index)) { index += 1 }
    return index - start
  }

  private func scalar(at offset: Int) -> Unicode.Scalar? {
    guard offset < bytes.count else { return nil }
    if bytes[offset] < 0x80 { return Unicode.Scalar(bytes[offset]) }
    var decoder = UTF8()
    var source = bytes[offset..<min(offset + 4, bytes.count)].makeIterator()
    guard case .scalarValue(let scalar) = decoder.decode(&source) else { return nil }
    return scalar
  }

  private static func startsName(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar {
    case "a"..."z", "A"..."Z", "_", ":": true
    default: !scalar.isASCII && scalar.properties.isAlphabetic
    }
  }

  private static func continuesName(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar {
    case "0"..."9", ".": true
    default: startsName(scalar) || !scalar.isASCII && scalar.properties.isIDContinue
    }
  }
}
