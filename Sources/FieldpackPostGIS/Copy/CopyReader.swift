import FieldpackCore

/// Reads what `COPY … TO STDOUT (FORMAT binary)` sends, in pieces of any size, and gives each row while
/// its bytes lie in memory.
///
/// Nothing is believed of what comes: a wrong signature, flags, counts of fields and lengths are errors.
/// No memory is taken for a length before its bytes have come.
struct CopyReader {
  /// The number of fields of each row.
  private let fieldCount: Int
  private var pending: [UInt8] = []
  private var hasHeader = false
  /// Whether the trailer came, after which nothing may follow.
  private(set) var isComplete = false
  private var fields: [Range<Int>?] = []

  /// PostgreSQL has no longer field.
  private static let longestField = 1 << 30
  /// A longer row that comes in pieces is refused.
  private let longestRow: Int

  init(fieldCount: Int, longestRow: Int = 256 << 20) {
    (self.fieldCount, self.longestRow) = (fieldCount, longestRow)
  }

  /// Reads on with the next bytes.
  ///
  /// - Parameter body: gets each row that is whole: its bytes, and where its fields lie in them; `nil`
  ///   for NULL.
  mutating func read(
    _ bytes: UnsafeRawBufferPointer,
    _ body: (UnsafeRawBufferPointer, [Range<Int>?]) throws(FieldpackError) -> Void
  ) throws(FieldpackError) {
    guard !pending.isEmpty else {
      let used = try consume(bytes, body)
      if used < bytes.count { unsafe pending.append(contentsOf: bytes[used...]) }
      return
    }
    unsafe pending.append(contentsOf: bytes)
    var whole: [UInt8] = []
    swap(&whole, &pending)
    let used = try consumeAll(of: whole, body)
    whole.removeFirst(used)
    pending = whole
    guard pending.count <= longestRow else {
      throw FieldpackError(
        .unsupported,
        "a row of the server is longer than \(longestRow >> 20) MiB. Try: fewer columns, or a "
          + "condition that leaves out the largest features")
    }
  }

  private mutating func consumeAll(
    of bytes: [UInt8],
    _ body: (UnsafeRawBufferPointer, [Range<Int>?]) throws(FieldpackError) -> Void
  ) throws(FieldpackError) -> Int {
    // `withUnsafeBytes` has no typed throws for bodies that mutate.
    var failure: FieldpackError?
    var used = 0
    bytes.withUnsafeBytes { buffer in
      do throws(FieldpackError) { used = try consume(buffer, body) } catch { failure = error }
    }
    if let failure { throw failure }
    return used
  }

  /// To be called when the server has sent everything.
  func finish() throws(FieldpackError) {
    guard isComplete, pending.isEmpty else { throw mistake("the rows end without their end mark") }
  }

  /// The number of bytes that were used.
  private mutating func consume(
    _ bytes: UnsafeRawBufferPointer,
    _ body: (UnsafeRawBufferPointer, [Range<Int>?]) throws(FieldpackError) -> Void
  ) throws(FieldpackError) -> Int {
    var offset = 0
    if !hasHeader {
      guard let end = try headerEnd(bytes) else { return 0 }
      hasHeader = true
      offset = end
    }
    while offset < bytes.count {
      guard !isComplete else { throw mistake("bytes follow the end mark") }
      guard let end = try row(bytes, at: offset) else { break }
      if !isComplete { try body(bytes, fields) }
      offset = end
    }
    return offset
  }

  private func headerEnd(_ bytes: UnsafeRawBufferPointer) throws(FieldpackError) -> Int? {
    let signature = CopyEncoder.header.prefix(11)
    guard signature.starts(with: bytes.prefix(11)) else {
      throw mistake("the signature is missing")
    }
    guard let flags: UInt32 = bytes.big(at: 11), let extra: UInt32 = bytes.big(at: 15) else {
      return nil
    }
    guard flags & 0xFFFF_0000 == 0 else { throw mistake("flags \(flags) are not known") }
    guard extra <= 1 << 16 else { throw mistake("the header is too long") }
    let end = 19 + Int(extra)
    return bytes.count >= end ? end : nil
  }

  /// The end of the row at `offset`; `nil` where not all of it is there.
  private mutating func row(
    _ bytes: UnsafeRawBufferPointer, at start: Int
  ) throws(FieldpackError) -> Int? {
    guard let count: Int16 = bytes.big(at: start) else { return nil }
    if count == -1 {
      isComplete = true
      return start + 2
    }
    guard Int(count) == fieldCount else {
      throw mistake("a row has \(count) fields in place of \(fieldCount)")
    }
    fields.removeAll(keepingCapacity: true)
    var offset = start + 2
    for _ in 0..<fieldCount {
      guard let length: Int32 = bytes.big(at: offset) else { return nil }
      offset += 4
      if length == -1 {
        fields.append(nil)
        continue
      }
      guard length >= 0, Int(length) <= Self.longestField else {
        throw mistake("a field has the length \(length)")
      }
      guard bytes.count - offset >= Int(length) else { return nil }
      fields.append(offset..<offset + Int(length))
      offset += Int(length)
    }
    return offset
  }

  private func mistake(_ what: String) -> FieldpackError {
    FieldpackError(.invalidData, "the server's COPY cannot be read: \(what)")
  }
}
