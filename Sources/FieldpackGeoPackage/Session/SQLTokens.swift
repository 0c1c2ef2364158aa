/// The tokens of a piece of SQL without its comments. Texts, quoted names, words and single bytes
/// are told apart; no more.
package struct SQLTokens: Sequence, IteratorProtocol {
  package enum Token {
    /// A text with its quotes.
    case text(ArraySlice<UInt8>)
    /// A name in `"`, `` ` `` or `[]`, with its quotes.
    case name(ArraySlice<UInt8>)
    /// A run of letters, digits, `_`, `$`, `.` and bytes beyond ASCII: names and numbers.
    case word(ArraySlice<UInt8>)
    case other(UInt8)
  }

  private var rest: ArraySlice<UInt8>

  package init(_ sql: String) { rest = Array(sql.utf8)[...] }

  /// Where the next token, or the white space before it, begins in the text's UTF-8.
  var position: Int { rest.startIndex }

  package mutating func next() -> Token? {
    while let byte = rest.first {
      switch byte {
      case UInt8(ascii: "'"): return .text(takeQuoted(byte))
      case UInt8(ascii: "\""), UInt8(ascii: "`"): return .name(takeQuoted(byte))
      case UInt8(ascii: "["): return .name(takeBracketed())
      case UInt8(ascii: "-") where rest.starts(with: "--".utf8): rest = rest.drop { $0 != 10 }
      case UInt8(ascii: "/") where rest.starts(with: "/*".utf8): dropComment()
      case _ where Self.isWordByte(byte): return .word(take(while: Self.isWordByte))
      default:
        rest.removeFirst()
        return .other(byte)
      }
    }
    return nil
  }

  /// The content of a text or name: without its quotes, with a doubled quote as one.
  package static func unquoted(_ token: ArraySlice<UInt8>) -> [UInt8] {
    guard let quote = token.first else { return [] }
    if quote == UInt8(ascii: "[") { return token.dropFirst().filter { $0 != UInt8(ascii: "]") } }
    var rest = token.dropFirst()
    var content: [UInt8] = []
    while let byte = rest.popFirst() {
      if byte == quote, rest.popFirst() != quote { break }
      content.append(byte)
    }
    return content
  }

  private mutating func take(while isTaken: (UInt8) -> Bool) -> ArraySlice<UInt8> {
    let taken = rest.prefix(while: isTaken)
    rest = rest.dropFirst(taken.count)
    return taken
  }

  private mutating func takeQuoted(_ quote: UInt8) -> ArraySlice<UInt8> {
    let start = rest
    rest.removeFirst()
    while let byte = rest.popFirst() {
      guard byte == quote else { continue }
      guard rest.first == quote else { break }
      rest.removeFirst()
    }
    return start.dropLast(rest.count)
  }

  private mutating func takeBracketed() -> ArraySlice<UInt8> {
    let end = rest.firstIndex(of: UInt8(ascii: "]")).map { $0 + 1 } ?? rest.endIndex
    defer { rest = rest[end...] }
    return rest[..<end]
  }

  private mutating func dropComment() {
    rest = rest.dropFirst(2)
    while !rest.isEmpty, !rest.starts(with: "*/".utf8) { rest.removeFirst() }
    rest = rest.dropFirst(2)
  }

  private static func isWordByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "$"),
      UInt8(ascii: "."), 0x80...0xFF:
      true
    default: false
    }
  }
}
