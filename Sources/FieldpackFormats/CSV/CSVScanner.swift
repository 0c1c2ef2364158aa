import FieldpackCore

/// Cuts a file into records and fields after RFC 4180, in memory bounded by the longest record.
///
/// LF, CRLF and CR end a record; blank lines and a UTF-8 byte order mark are passed over. A quote
/// inside an unquoted field is a character like others.
struct CSVScanner {
  struct Field {
    var range: Range<Int>
    var isQuoted: Bool
  }

  /// Records beyond are refused.
  static let maximumRecordLength = 64 << 20

  private let input: ByteInput
  private let delimiter: UInt8
  private var buffer: [UInt8]
  private var next = 0
  private var end = 0
  private var line = 1
  private var isAfterCR = false

  /// The bytes of the record's fields, quotes taken off, one after the other.
  private(set) var text: [UInt8] = []
  private(set) var fields: [Field] = []
  /// The line that the record begins at, 1-based.
  private(set) var recordLine = 1
  /// What is wrong with the record; the one after it is read all the same.
  private(set) var problem: String?
  private(set) var bytesRead = 0

  /// Whether an unquoted field of the record holds a quote.
  var hasInnerQuote: Bool {
    fields.contains { !$0.isQuoted && text[$0.range].contains(UInt8(ascii: "\"")) }
  }

  private enum State { case fieldStart, unquoted, quoted, afterQuote }
  private var state = State.fieldStart
  private var isQuoted = false
  private var fieldStart = 0

  init(_ input: ByteInput, delimiter: UInt8) throws(FieldpackError) {
    self.input = input
    self.delimiter = delimiter
    buffer = [UInt8](repeating: 0, count: input.room(upTo: 1 << 18))
    input.rewind()
    let mark = try input.head(3)
    if mark == [0xEF, 0xBB, 0xBF] {
      input.seek(to: mark.count)
      bytesRead = mark.count
    }
    if mark.starts(with: [0xFF, 0xFE]) || mark.starts(with: [0xFE, 0xFF]) {
      throw FieldpackError(
        .invalidData, "the file is UTF-16. Try: convert it to UTF-8 first",
        position: FilePosition(file: input.name, line: 1))
    }
    try refill()
  }

  /// Reads the next record; `false` at the end of the file.
  mutating func nextRecord() throws(FieldpackError) -> Bool {
    repeat {
      guard try readRecord() else { return false }
    } while fields.count == 1 && fields[0].range.isEmpty && !fields[0].isQuoted && problem == nil
    if problem == nil, !isUTF8 { problem = "the row is not UTF-8" }
    return true
  }

  private var isUTF8: Bool {
    text.allSatisfy { $0 < 0x80 } || String(validating: text, as: UTF8.self) != nil
  }

  private mutating func refill() throws(FieldpackError) {
    var failure: FieldpackError?
    next = 0
    end = 0
    buffer.withUnsafeMutableBytes { bytes in
      do throws(FieldpackError) {
        end = try input.read(into: bytes)
      } catch { failure = error }
    }
    if let failure { throw failure }
    bytesRead += end
  }

  private mutating func readRecord() throws(FieldpackError) -> Bool {
    text.removeAll(keepingCapacity: text.capacity < 1 << 22)
    fields.removeAll(keepingCapacity: true)
    problem = nil
    recordLine = line
    fieldStart = 0
    state = .fieldStart
    isQuoted = false
    while true {
      if next == end {
        try refill()
        if end == 0 { return closeLast() }
      }
      if isAfterCR {
        isAfterCR = false
        if buffer[next] == UInt8(ascii: "\n") { next += 1 }
        continue
      }
      if take(buffer[next]) { return true }
      guard text.count <= Self.maximumRecordLength else {
        throw FieldpackError(
          .invalidData, "a row is longer than \(Self.maximumRecordLength >> 20) MiB",
          position: FilePosition(file: input.name, line: recordLine))
      }
    }
  }

  /// Ends the record that the file ends in; `false` where there is none.
  private mutating func closeLast() -> Bool {
    if state == .quoted { problem = "a quoted field is not closed" }
    guard state != .fieldStart || !fields.isEmpty else { return false }
    closeField()
    return true
  }

  private mutating func closeField() {
    fields.append(Field(range: fieldStart..<text.count, isQuoted: isQuoted))
    fieldStart = text.count
    isQuoted = false
    state = .fieldStart
  }

  /// Takes `byte`, and the run of plain bytes behind it; `true` at the end of the record.
  private mutating func take(_ byte: UInt8) -> Bool {
    if state == .quoted {
      takeQuoted(byte)
      return false
    }
    switch byte {
    case delimiter:
      next += 1
      closeField()
    case UInt8(ascii: "\n"), UInt8(ascii: "\r"):
      next += 1
      line += 1
      isAfterCR = byte == UInt8(ascii: "\r")
      closeField()
      return true
    case UInt8(ascii: "\"") where state != .unquoted:
      // Right behind a closing quote it was no closing quote, but half of an escaped one.
      if state == .afterQuote { text.append(byte) }
      next += 1
      isQuoted = true
      state = .quoted
    default:
      if state == .afterQuote { problem = "text follows a closing quote" }
      state = .unquoted
      takeRun { [delimiter] in
        $0 == delimiter || $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r")
      }
    }
    return false
  }

  private mutating func takeQuoted(_ byte: UInt8) {
    if byte == UInt8(ascii: "\"") {
      next += 1
      state = .afterQuote
      return
    }
    let start = text.count
    takeRun { $0 == UInt8(ascii: "\"") }
    for byte in text[start...] where byte == UInt8(ascii: "\n") { line += 1 }
  }

  private mutating func takeRun(until isEnd: (UInt8) -> Bool) {
    var stop = next
    while stop < end, !isEnd(buffer[stop]) { stop += 1 }
    text.append(contentsOf: buffer[next..<stop])
    next = stop
  }
}
