import CXML2

/// Counts the attributes of a start tag whose end has not come yet.
///
/// libxml2 waits for the end of a tag and then holds each attribute against all others, which takes
/// time by the square of their number.
struct XMLOpenTag {
  /// Shorter tags are not worth a look.
  private static let shortestLength = 4 << 10

  /// Where the tag begins, in bytes of UTF-8 from the start of the document.
  private var start = -1
  private var length = 0
  private var quote: UInt8 = 0
  private var count = 0

  /// The attributes and namespaces of the tag that the parser waits in, as far as its bytes are
  /// there; 0 where it waits in none, or in a short one.
  mutating func attributeCount(in context: xmlParserCtxtPtr) -> Int {
    guard context.pointee.instate == XML_PARSER_START_TAG, let input = context.pointee.input,
      let first = input.pointee.cur, let base = input.pointee.base, let end = input.pointee.end,
      end - first >= Self.shortestLength
    else { return 0 }
    let offset = Int(input.pointee.consumed) + (first - base)
    if offset != start { self = XMLOpenTag(start: offset) }
    for index in length..<max(length, end - first) { take(first[index]) }
    length = end - first
    return count
  }

  private init(start: Int) { self.start = start }
  init() {}

  /// One equals sign outside of quotes stands for each attribute.
  private mutating func take(_ byte: UInt8) {
    switch byte {
    case quote where quote != 0: quote = 0
    case UInt8(ascii: "\""), UInt8(ascii: "'"): if quote == 0 { quote = byte }
    case UInt8(ascii: "="): if quote == 0 { count += 1 }
    default: break
    }
  }
}
