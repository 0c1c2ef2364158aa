extension JSONScanner {
  private static let ones: UInt64 = 0x0101_0101_0101_0101
  private static let highs: UInt64 = 0x8080_8080_8080_8080

  /// Reads the string that opens at the cursor and lends its text, escapes undone.
  package mutating func scanString() throws(FieldpackError) -> UnsafeBufferPointer<UInt8> {
    let hasEscapes = try scanRawString()
    let text = UnsafeBufferPointer(start: address(tokenStart) + 1, count: cursor - tokenStart - 2)
    guard hasEscapes else { return text }
    try unescape(text)
    return unescaped.bytes
  }

  /// Takes the string at the cursor as it stands and says whether there are escapes in it.
  ///
  /// The whole of it, quotes included, then lies from `tokenStart` to `cursor`.
  mutating func scanRawString() throws(FieldpackError) -> Bool {
    guard bytes[cursor] == UInt8(ascii: "\"") else { throw unexpected("a string") }
    tokenStart = cursor
    var index = cursor + 1
    var hasEscapes = false
    while true {
      index = plainEnd(from: index)
      let byte = bytes[index]
      if byte == UInt8(ascii: "\"") {
        cursor = index + 1
        return hasEscapes
      }
      if byte >= 0x80 {
        index = try multibyteEnd(at: index)
      } else if byte == UInt8(ascii: "\\") {
        hasEscapes = true
        index = try skipEscape(at: index)
      } else {
        index = try continueString(at: index)
      }
    }
  }

  /// The first byte from `index` that is a quote, a backslash, a control or not ASCII.
  @inline(__always)
  private func plainEnd(from start: Int) -> Int {
    var index = start
    // Loads may reach into the padding; the 0 at the limit stops them there.
    while true {
      let word = UInt64(
        littleEndian: UnsafeRawPointer(address(index)).loadUnaligned(as: UInt64.self))
      let quotes = word ^ (Self.ones &* 0x22)
      let slashes = word ^ (Self.ones &* 0x5C)
      let found =
        ((quotes &- Self.ones) & ~quotes) | ((slashes &- Self.ones) & ~slashes)
        | ((word &- Self.ones &* 0x20) & ~word) | word
      let stops = found & Self.highs
      if stops != 0 { return index + stops.trailingZeroBitCount / 8 }
      index += 8
      if index >= limit { return limit }
    }
  }

  /// A control character or the end of the window: an error, or more to read.
  private mutating func continueString(at index: Int) throws(FieldpackError) -> Int {
    if index >= limit {
      guard !isLast else {
        throw failure(.openString, "the text ends within a string", at: limit)
      }
      return index - (try refill(keeping: tokenStart))
    }
    throw failure(
      .control, "\(describe(bytes[index])) must be escaped in a string", at: index)
  }

  private mutating func skipEscape(at index: Int) throws(FieldpackError) -> Int {
    var index = index
    while index + 1 >= limit, !isLast { index -= try refill(keeping: tokenStart) }
    guard index + 1 < limit else {
      throw failure(.openEscape, "the text ends within a string", at: limit)
    }
    // The letter after the backslash is judged when the escapes are undone; raw text needs it, too.
    switch bytes[index + 1] {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"),
      UInt8(ascii: "f"), UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
      return index + 2
    case UInt8(ascii: "u"):
      while index + 5 >= limit, !isLast { index -= try refill(keeping: tokenStart) }
      guard hexadecimal(at: index + 2) != nil else {
        throw failure(.hexadecimalDigits, "\\u needs four hexadecimal digits", at: index)
      }
      return index + 6
    default: throw failure(.unknownEscape, "no such escape in JSON", at: index)
    }
  }

  private func hexadecimal(at index: Int) -> UInt32? {
    guard index + 4 <= limit else { return nil }
    return hexadecimalValue(address(index))
  }

  /// Checks the character that begins at `index` against the table of RFC 3629 section 4.
  private mutating func multibyteEnd(at start: Int) throws(FieldpackError) -> Int {
    var index = start
    while index + 4 > limit, !isLast { index -= try refill(keeping: tokenStart) }
    let length = wellFormedLength(UnsafeBufferPointer(rebasing: bytes[..<limit]), at: index)
    guard length > 0 || limits.allowsBrokenUTF8 else {
      throw failure("the text is not UTF-8", at: index)
    }
    return index + max(length, 1)
  }

  /// Undoes the escapes of a string whose form is known to be right.
  private mutating func unescape(_ text: UnsafeBufferPointer<UInt8>) throws(FieldpackError) {
    unescaped.removeAll()
    unescaped.reserve(text.count)
    guard let start = text.baseAddress else { return }
    let end = start + text.count
    var from = start
    while from < end {
      var to = from
      while to < end, to.pointee != UInt8(ascii: "\\") { to += 1 }
      unescaped.append(UnsafeBufferPointer(start: from, count: to - from))
      from = to < end ? appendEscape(at: to, end: end) : to
    }
  }

  private mutating func appendEscape(
    at slash: UnsafePointer<UInt8>, end: UnsafePointer<UInt8>
  ) -> UnsafePointer<UInt8> {
    switch slash[1] {
    case UInt8(ascii: "b"): unescaped.append(0x08)
    case UInt8(ascii: "f"): unescaped.append(0x0C)
    case UInt8(ascii: "n"): unescaped.append(0x0A)
    case UInt8(ascii: "r"): unescaped.append(0x0D)
    case UInt8(ascii: "t"): unescaped.append(0x09)
    case UInt8(ascii: "u"): return appendCodePoint(at: slash, end: end)
    default: unescaped.append(slash[1])
    }
    return slash + 2
  }

  private mutating func appendCodePoint(
    at slash: UnsafePointer<UInt8>, end: UnsafePointer<UInt8>
  ) -> UnsafePointer<UInt8> {
    let unit = hexadecimalValue(slash + 2) ?? 0xFFFD
    var scalar = unit
    var next = slash + 6
    if unit >> 10 == 0x36, end - next >= 6, next[0] == UInt8(ascii: "\\"),
      next[1] == UInt8(ascii: "u"), let low = hexadecimalValue(next + 2), low >> 10 == 0x37
    {
      scalar = 0x10000 + (unit & 0x3FF) << 10 + (low & 0x3FF)
      next += 6
    }
    for byte in String(UnicodeScalar(scalar) ?? "\u{FFFD}").utf8 { unescaped.append(byte) }
    return next
  }
}

/// The value of four hexadecimal digits.
private func hexadecimalValue(_ digits: UnsafePointer<UInt8>) -> UInt32? {
  var value: UInt32 = 0
  for place in 0..<4 {
    let byte = digits[place]
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): value = value << 4 | UInt32(byte - 48)
    case UInt8(ascii: "a")...UInt8(ascii: "f"): value = value << 4 | UInt32(byte - 87)
    case UInt8(ascii: "A")...UInt8(ascii: "F"): value = value << 4 | UInt32(byte - 55)
    default: return nil
    }
  }
  return value
}
