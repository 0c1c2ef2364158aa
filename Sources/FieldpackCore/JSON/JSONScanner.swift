/// Reads JSON (RFC 8259) from bytes through one reused window, token by token, without building
/// values.
///
/// The caller asks for what it expects: `peek` tells the first byte of what comes next, then
/// `nextMember`, `nextElement`, `scanString`, `scanNumber`, `scanLiteral` or `skipValue` take it.
/// What a call lends (a string, the text of a number) is valid until the next call.
///
/// Strict: no trailing commas, comments, control characters or bytes that are not UTF-8. A UTF-8
/// byte order mark is skipped. The escape of a lone surrogate, of which RFC 8259 section 8.2 says
/// only that it is unpredictable, reads as U+FFFD.
@usableFromInline
package struct JSONScanner: ~Copyable {
  /// Limits of what a scanner holds in memory.
  @usableFromInline
  package struct Limits: Sendable {
    package var window = 1 << 20
    /// The longest string or number, in bytes.
    package var token = 256 << 20
    /// The deepest nesting of arrays and objects.
    @usableFromInline package var depth = 512
    /// Lets bytes in strings pass that are not UTF-8.
    var allowsBrokenUTF8 = false

    package init() {}
  }

  @usableFromInline let limits: Limits
  package let input: ByteInput?
  /// The window and its padding; debug builds check every index into it.
  @usableFromInline private(set) var bytes: UnsafeMutableBufferPointer<UInt8>
  /// The next byte in the window; the byte at `limit` is always 0, so that loops need not compare.
  @usableFromInline var cursor = 0
  private(set) var limit = 0
  @usableFromInline private(set) var windowOffset = 0
  private(set) var isLast: Bool
  /// Arrays and objects that are open.
  @usableFromInline package var depth = 0
  var unescaped = GrowingBytes()
  var compacted = GrowingBytes()
  @usableFromInline var number = NumberToken()
  /// The fault of the last token that could not be taken, and its index in the window.
  var fault: (Fault, index: Int)?
  /// Where the last string or number began in the window.
  @usableFromInline var tokenStart = 0
  /// Treats the record separators of RFC 8142 as white space between documents.
  package var allowsRecordSeparators = false
  package private(set) var hasRecordSeparators = false
  /// The feature being read, for errors.
  package var feature: Int?
  package var progress: (@Sendable (Int) throws(FieldpackError) -> Void)?

  /// Bytes behind the window that a load of a word may touch.
  private static let padding = 16

  private init(_ input: ByteInput?, limits: Limits, capacity: Int) {
    self.input = input
    self.limits = limits
    isLast = input == nil
    bytes = .allocate(capacity: capacity + Self.padding)
    bytes.initialize(repeating: 0)
  }

  /// Reads a file from its start.
  package init(_ input: ByteInput, limits: Limits = Limits()) {
    input.rewind()
    self.init(input, limits: limits, capacity: max(input.room(upTo: limits.window), 64))
  }

  /// Reads bytes in memory.
  package init(_ bytes: some Collection<UInt8>, limits: Limits = Limits()) {
    self.init(nil, limits: limits, capacity: max(bytes.count, 1))
    limit = self.bytes.update(fromContentsOf: bytes)
  }

  deinit { bytes.deallocate() }

  /// Where the next byte lies in the file.
  @inlinable package var offset: Int { windowOffset + cursor }

  func offset(of index: Int) -> Int { windowOffset + index }

  /// Where the last string or number began in the file.
  @inlinable package var tokenOffset: Int { windowOffset + tokenStart }

  // MARK: The window

  /// Bytes of the file that the window can hold.
  private var capacity: Int { bytes.count - Self.padding }

  @inlinable @inline(__always)
  func address(_ index: Int) -> UnsafeMutablePointer<UInt8> {
    bytes.baseAddress.unsafelyUnwrapped + index
  }

  /// Reads on, keeping the bytes of the window from `start`, and returns how far they moved.
  @inline(never)
  @discardableResult
  mutating func refill(keeping start: Int) throws(FieldpackError) -> Int {
    guard let input, !isLast else { return 0 }
    let kept = limit - start
    if limit == capacity, kept > capacity / 2 {
      try grow(keeping: start)
    } else {
      address(0).update(from: address(start), count: kept)
    }
    windowOffset += start
    cursor -= start
    tokenStart -= start
    let room = UnsafeMutableRawBufferPointer(start: address(kept), count: capacity - kept)
    let count = try input.read(into: room)
    limit = kept + count
    bytes[limit] = 0
    isLast = count == 0
    try progress?(windowOffset + limit)
    return start
  }

  private mutating func grow(keeping start: Int) throws(FieldpackError) {
    let kept = limit - start
    guard kept < limits.token else {
      throw failure("a string or number is longer than \(limits.token) bytes", at: start)
    }
    let wanted = max(capacity * 2, kept * 2)
    let larger = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: wanted + Self.padding)
    larger.initialize(repeating: 0)
    larger.baseAddress.unsafelyUnwrapped.update(from: address(start), count: kept)
    bytes.deallocate()
    bytes = larger
  }

  /// Goes to a byte of the file, out of every array and object.
  package mutating func seek(to offset: Int) throws(FieldpackError) {
    depth = 0
    if offset >= windowOffset, offset <= windowOffset + limit {
      cursor = offset - windowOffset
      return
    }
    guard let input else { return }
    input.seek(to: offset)
    (windowOffset, cursor, limit, isLast) = (offset, 0, 0, false)
    try refill(keeping: 0)
  }

  /// Goes on where reading stopped, after another has read from the same input.
  package func resume() { input?.seek(to: windowOffset + limit) }

  /// Skips to behind the next `byte`; false where there is none and the end is reached.
  @discardableResult
  package mutating func skip(past byte: UInt8) throws(FieldpackError) -> Bool {
    depth = 0
    while true {
      while cursor < limit {
        cursor += 1
        if bytes[cursor - 1] == byte { return true }
      }
      if isLast { return false }
      try refill(keeping: cursor)
    }
  }

  // MARK: What comes next

  /// The first byte of the next token, which stays where it is; 0 at the end.
  @inlinable @inline(__always)
  package mutating func peek() throws(FieldpackError) -> UInt8 {
    let byte = bytes[cursor]
    return byte > 0x20 ? byte : try skipBlanks()
  }

  /// Takes the byte that `peek` showed.
  @inlinable package mutating func takeByte() { cursor += 1 }

  @usableFromInline @inline(never)
  mutating func skipBlanks() throws(FieldpackError) -> UInt8 {
    while true {
      let byte = bytes[cursor]
      switch byte {
      case 0x20, 0x0A, 0x0D, 0x09:
        cursor += 1
        skipSpaces()
      case 0 where cursor >= limit:
        if isLast { return 0 }
        try refill(keeping: cursor)
      case 0x1E where allowsRecordSeparators && depth == 0:
        cursor += 1
        hasRecordSeparators = true
      case 0x00...0x1F:
        throw failure("\(describe(byte)) is not allowed here")
      default: return byte
      }
    }
  }

  /// Indentation comes in runs: eight blanks at a time.
  @inline(__always)
  private mutating func skipSpaces() {
    while limit - cursor >= 8,
      UnsafeRawPointer(address(cursor)).loadUnaligned(as: UInt64.self) == 0x2020_2020_2020_2020
    {
      cursor += 8
    }
  }

  /// Takes the byte order mark, and says so where the text is not UTF-8.
  package mutating func begin() throws(FieldpackError) {
    while limit < 4, !isLast { try refill(keeping: 0) }
    let first = (bytes[0], bytes[1], bytes[2])
    switch first {
    case (0xEF, 0xBB, 0xBF): cursor = 3
    case (0xFE, 0xFF, _), (0xFF, 0xFE, _):
      throw failure("the text is UTF-16. Try: save it as UTF-8")
    case (0, _, _) where limit >= 2, (_, 0, _) where limit >= 2:
      throw failure("the text looks like UTF-16 or UTF-32. Try: save it as UTF-8")
    default: break
    }
  }
}
