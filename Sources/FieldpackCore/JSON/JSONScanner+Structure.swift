extension JSONScanner {
  /// Takes the opening brace or bracket at the cursor.
  @inlinable @inline(__always)
  package mutating func enter() throws(FieldpackError) {
    if depth >= limits.depth { throw failure("arrays and objects are nested too deeply") }
    depth += 1
    cursor += 1
  }

  /// Goes to the next member of the object entered and lends its name, which even `peek` may
  /// overwrite; `nil` closes the object.
  ///
  /// `isFirst` is true before the first call. The cursor is then before the value.
  package mutating func nextMember(
    _ isFirst: inout Bool
  ) throws(FieldpackError) -> UnsafeBufferPointer<UInt8>? {
    guard try advance(&isFirst, closing: UInt8(ascii: "}")) else { return nil }
    let name = try scanString()
    if bytes[cursor] == UInt8(ascii: ":") {
      cursor += 1
      return name
    }
    // Looking for the colon may move the window, and the name with it.
    if name.baseAddress != UnsafePointer(unescaped.base) {
      unescaped.removeAll()
      unescaped.append(name)
    }
    try takeColon()
    return unescaped.bytes
  }

  private mutating func takeColon() throws(FieldpackError) {
    guard try peek() == UInt8(ascii: ":") else { throw unexpected("':'") }
    cursor += 1
  }

  /// Goes to the next element of the array entered; false closes the array.
  @inlinable @inline(__always)
  package mutating func nextElement(_ isFirst: inout Bool) throws(FieldpackError) -> Bool {
    try advance(&isFirst, closing: UInt8(ascii: "]"))
  }

  @inlinable @inline(__always)
  mutating func advance(
    _ isFirst: inout Bool, closing: UInt8
  ) throws(FieldpackError) -> Bool {
    let byte = try peek()
    if byte == closing {
      cursor += 1
      depth -= 1
      return false
    }
    if isFirst {
      isFirst = false
    } else {
      guard byte == UInt8(ascii: ",") else {
        throw unexpected(closing == UInt8(ascii: "}") ? "',' or '}'" : "',' or ']'")
      }
      cursor += 1
      _ = try peek()
    }
    return true
  }

  /// Takes `true`, `false` or `null` at the cursor and returns its first letter.
  package mutating func scanLiteral() throws(FieldpackError) -> UInt8 {
    let first = bytes[cursor]
    let word: StaticString
    switch first {
    case UInt8(ascii: "t"): word = "true"
    case UInt8(ascii: "f"): word = "false"
    case UInt8(ascii: "n"): word = "null"
    default: throw unexpected("a value")
    }
    while limit - cursor < word.utf8CodeUnitCount, !isLast { try refill(keeping: cursor) }
    for place in 0..<word.utf8CodeUnitCount
    where bytes[cursor + place] != (word.utf8Start + place).pointee {
      throw failure("'\(word)' expected", at: cursor)
    }
    cursor += word.utf8CodeUnitCount
    return first
  }

  // MARK: Whole values

  /// Takes the value at the cursor, whatever it is, and checks it.
  package mutating func skipValue() throws(FieldpackError) {
    try walk(copies: false)
  }

  /// Takes the value at the cursor and lends its text without blanks between tokens.
  package mutating func compactValue() throws(FieldpackError) -> UnsafeBufferPointer<UInt8> {
    compacted.removeAll()
    try walk(copies: true)
    return compacted.bytes
  }

  /// The limit of depth bounds the recursion.
  private mutating func walk(copies: Bool) throws(FieldpackError) {
    let byte = try peek()
    switch byte {
    case UInt8(ascii: "{"), UInt8(ascii: "["): try walkElements(of: byte, copies: copies)
    case UInt8(ascii: "\""): _ = try scanRawString()
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): try scanNumber()
    default:
      let word = try scanLiteral()
      tokenStart = cursor - (word == UInt8(ascii: "f") ? 5 : 4)
    }
    if copies, byte != UInt8(ascii: "{"), byte != UInt8(ascii: "[") { try copyToken() }
  }

  private mutating func walkElements(
    of opening: UInt8, copies: Bool
  ) throws(FieldpackError) {
    try enter()
    if copies { compacted.append(opening) }
    // `[` and `{` are two below their closing signs.
    let closing = opening + 2
    var isFirst = true
    var hasElements = false
    while try advance(&isFirst, closing: closing) {
      if copies, hasElements { compacted.append(UInt8(ascii: ",")) }
      hasElements = true
      if opening == UInt8(ascii: "{") { try name(copies: copies) }
      try walk(copies: copies)
    }
    if copies { compacted.append(closing) }
  }

  private mutating func name(copies: Bool) throws(FieldpackError) {
    _ = try peek()
    _ = try scanRawString()
    if copies { try copyToken() }
    try takeColon()
    if copies { compacted.append(UInt8(ascii: ":")) }
  }

  private mutating func copyToken() throws(FieldpackError) {
    guard compacted.count + cursor - tokenStart <= limits.token else {
      throw failure("a nested value is longer than \(limits.token) bytes")
    }
    compacted.append(UnsafeBufferPointer(start: address(tokenStart), count: cursor - tokenStart))
  }

  /// Checks that the text is one JSON value and nothing else.
  package mutating func validateDocument() throws(FieldpackError) {
    try begin()
    if try peek() == 0 { throw unexpected("a value") }
    try skipValue()
    guard try peek() == 0 else { throw unexpected("the end of the text") }
  }
}
