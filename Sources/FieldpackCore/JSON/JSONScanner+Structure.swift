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

  private mutating func walk(copies: Bool) throws(FieldpackError) {
    let floor = depth
    repeat {
      let byte = try peek()
      switch byte {
      case UInt8(ascii: "{"), UInt8(ascii: "["):
        try open(byte, copies: copies)
        // `[` and `{` are two below their closing signs.
        if try peek() != byte + 2 {
          if byte == UInt8(ascii: "{") { try name(copies: copies) }
          continue
        }
      case UInt8(ascii: "\""):
        _ = try scanRawString()
        if copies { try copyToken() }
      case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
        try scanNumber()
        if copies { try copyToken() }
      default:
        let word = try scanLiteral()
        tokenStart = cursor - (word == UInt8(ascii: "f") ? 5 : 4)
        if copies { try copyToken() }
      }
      try closeOrContinue(downTo: floor, copies: copies)
    } while depth > floor
  }

  private mutating func open(_ byte: UInt8, copies: Bool) throws(FieldpackError) {
    try enter()
    if copies { compacted.append(byte) }
    let bit: UInt64 = 1 << UInt64(depth & 63)
    if byte == UInt8(ascii: "{") {
      kinds[depth >> 6] |= bit
    } else {
      kinds[depth >> 6] &= ~bit
    }
  }

  /// Takes the closing signs that follow, then the comma and, in an object, the next name.
  private mutating func closeOrContinue(
    downTo floor: Int, copies: Bool
  ) throws(FieldpackError) {
    while depth > floor {
      let isObject = kinds[depth >> 6] >> UInt64(depth & 63) & 1 == 1
      let byte = try peek()
      if byte == (isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) {
        cursor += 1
        depth -= 1
        if copies { compacted.append(byte) }
        continue
      }
      guard byte == UInt8(ascii: ",") else {
        throw unexpected(isObject ? "',' or '}'" : "',' or ']'")
      }
      cursor += 1
      if copies { compacted.append(byte) }
      if isObject { try name(copies: copies) }
      return
    }
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
