/// Reads the words, numbers and marks of WKT one after another.
struct WKTLexer {
  private var offset = 0

  /// The offset of the next token.
  func nextOffset(in text: RawSpan) -> Int {
    var next = offset
    while next < text.byteCount, Self.isBlank(text.byte(at: next)) { next += 1 }
    return next
  }

  func expected(_ what: String, in text: RawSpan) -> GeometryError {
    let start = nextOffset(in: text)
    guard start < text.byteCount else {
      return GeometryError(.syntax, at: start, "expected \(what), found the end of the text")
    }
    return GeometryError(
      .syntax, at: start, "expected \(what), found \(token(in: text, at: start))")
  }

  mutating func take(_ mark: UInt8, in text: RawSpan) -> Bool {
    let start = nextOffset(in: text)
    guard start < text.byteCount, text.byte(at: start) == mark else { return false }
    offset = start + 1
    return true
  }

  mutating func expect(
    _ mark: UInt8, in text: RawSpan, _ what: String
  ) throws(GeometryError) {
    guard take(mark, in: text) else { throw expected(what, in: text) }
  }

  /// `true` for EMPTY, `false` for an opening parenthesis.
  mutating func takeEmpty(in text: RawSpan, orExpect what: String) throws(GeometryError) -> Bool {
    if take(UInt8(ascii: "("), in: text) { return false }
    let (word, end) = word(in: text)
    guard word == "EMPTY" else { throw expected(what, in: text) }
    offset = end
    return true
  }

  /// Whether a member without a type name begins at the next token.
  func isAtBody(in text: RawSpan) -> Bool {
    let start = nextOffset(in: text)
    guard start < text.byteCount, text.byte(at: start) != UInt8(ascii: "(") else {
      return start < text.byteCount
    }
    return word(in: text).word == "EMPTY"
  }

  /// Reads a type's name and its tag, as two words or one.
  mutating func takeType(
    in text: RawSpan
  ) throws(GeometryError) -> (type: GeometryType, tag: Dimensions?) {
    let (word, end) = word(in: text)
    guard let (type, tag) = Self.type(named: word), type.isConcrete else {
      throw expected("a geometry type", in: text)
    }
    offset = end
    if let tag { return (type, tag) }
    let (next, nextEnd) = self.word(in: text)
    guard let tag = Self.tag(next) else { return (type, nil) }
    offset = nextEnd
    return (type, tag)
  }

  /// Reads the number of `SRID=n;`; `nil` where the text does not begin with it.
  mutating func takeSRID(in text: RawSpan) throws(GeometryError) -> Int32? {
    let (word, end) = word(in: text)
    guard word == "SRID" else { return nil }
    offset = end
    try expect(UInt8(ascii: "="), in: text, "'='")
    let start = nextOffset(in: text)
    let number = try takeNumber(in: text)
    guard let srid = Int32(exactly: number) else {
      throw GeometryError(.syntax, at: start, "expected a whole number as SRID")
    }
    try expect(UInt8(ascii: ";"), in: text, "';'")
    return srid
  }

  mutating func takeNumber(in text: RawSpan) throws(GeometryError) -> Double {
    let start = nextOffset(in: text)
    if let (value, end) = NumberText.read(text, at: start), Self.isBorder(text, end) {
      offset = end
      return value
    }
    let isNegative = start < text.byteCount && text.byte(at: start) == UInt8(ascii: "-")
    var ahead = self
    ahead.offset = start + (isNegative ? 1 : 0)
    let (word, end) = ahead.word(in: text)
    guard let value = Self.special(word) else { throw expected("a number", in: text) }
    offset = end
    return isNegative ? -value : value
  }

  /// Whether the next token is a number. The first letters of `NaN` and `Infinity` begin no name of
  /// WKT.
  func isAtNumber(in text: RawSpan) -> Bool {
    let start = nextOffset(in: text)
    guard start < text.byteCount else { return false }
    switch text.byte(at: start) {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "+"),
      UInt8(ascii: "."), UInt8(ascii: "n"), UInt8(ascii: "N"), UInt8(ascii: "i"), UInt8(ascii: "I"):
      return true
    default: return false
    }
  }

  /// The dimensions of a geometry without a tag: those of the first tag or position inside it.
  func dimensionsAhead(in text: RawSpan) -> Dimensions {
    var ahead = self
    while ahead.nextOffset(in: text) < text.byteCount {
      if ahead.isAtNumber(in: text) {
        var count = 0
        while count < 5, (try? ahead.takeNumber(in: text)) != nil { count += 1 }
        return count > 3 ? .xyzm : count == 3 ? .xyz : .xy
      }
      let (word, end) = ahead.word(in: text)
      if let tag = Self.tag(word) ?? Self.type(named: word)?.tag { return tag }
      ahead.offset = max(end, ahead.nextOffset(in: text) + 1)
    }
    return .xy
  }
}

extension WKTLexer {
  /// The letters of the next token in capitals, and the offset behind them.
  private func word(in text: RawSpan) -> (word: String, end: Int) {
    let start = nextOffset(in: text)
    var end = start
    // The longest word of WKT is GEOMETRYCOLLECTIONZM.
    while end < text.byteCount, end - start <= 20, Self.isLetter(text.byte(at: end)) { end += 1 }
    var letters: [UInt8] = []
    for index in start..<end { letters.append(text.byte(at: index) & 0xDF) }
    return (String(decoding: letters, as: UTF8.self), end)
  }

  /// The token at `start`, for an error.
  private func token(in text: RawSpan, at start: Int) -> String {
    var end = start + 1
    while end < text.byteCount, end - start < 20, !Self.isBorder(text, end) { end += 1 }
    var bytes: [UInt8] = []
    bytes.append(text.extracting(start..<end))
    return "'\(String(decoding: bytes, as: UTF8.self))'"
  }

  private static func type(named word: String) -> (type: GeometryType, tag: Dimensions?)? {
    if let type = GeometryType(name: word) { return (type, nil) }
    for (suffix, tag) in [("ZM", Dimensions.xyzm), ("Z", .xyz), ("M", .xym)]
    where word.hasSuffix(suffix) {
      return GeometryType(name: String(word.dropLast(suffix.count))).map { ($0, tag) }
    }
    return nil
  }

  private static func tag(_ word: String) -> Dimensions? {
    switch word {
    case "Z": .xyz
    case "M": .xym
    case "ZM": .xyzm
    default: nil
    }
  }

  private static func special(_ word: String) -> Double? {
    switch word {
    case "NAN": .nan
    case "INF", "INFINITY": .infinity
    default: nil
    }
  }

  private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || (byte >= 9 && byte <= 13) }

  private static func isLetter(_ byte: UInt8) -> Bool {
    byte & 0xDF >= UInt8(ascii: "A") && byte & 0xDF <= UInt8(ascii: "Z")
  }

  /// Whether a number or a word may end before `offset`.
  private static func isBorder(_ text: RawSpan, _ offset: Int) -> Bool {
    guard offset < text.byteCount else { return true }
    let byte = text.byte(at: offset)
    return isBlank(byte) || byte == UInt8(ascii: ",") || byte == UInt8(ascii: ")")
      || byte == UInt8(ascii: "(") || byte == UInt8(ascii: ";") || byte == UInt8(ascii: "=")
  }
}
