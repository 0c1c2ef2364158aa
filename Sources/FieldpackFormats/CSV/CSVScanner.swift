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
  /// What makes UTF-8 of the file; `nil` where it is in UTF-8.
  private let decoder: TextDecoder?
  private var buffer: [UInt8]
  /// What is decoded into `buffer`; empty where the file is in UTF-8.
  private var encoded: [UInt8] = []
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
  /// What to do about the problem.
  private(set) var advice: FieldpackError.Advice?
  private(set) var bytesRead = 0

  /// Whether the record's fields are all empty, but for blanks.
  var isBlank: Bool {
    text.allSatisfy { $0 == 0x20 || $0 == 0x09 } && fields.allSatisfy { !$0.isQuoted }
  }

  /// The record's fields as texts.
  var texts: [String] { fields.map { String(decoding: text[$0.range], as: UTF8.self) } }

  /// Whether an unquoted field of the record holds a quote.
  var hasInnerQuote: Bool {
    fields.contains { !$0.isQuoted && text[$0.range].contains(UInt8(ascii: "\"")) }
  }

  private enum State { case fieldStart, unquoted, quoted, afterQuote }
  private var state = State.fieldStart
  private var isQuoted = false
  private var fieldStart = 0

  /// - Parameter encoding: what the file is in, `nil` for UTF-8.
  init(
    _ input: ByteInput, delimiter: UInt8, encoding: String? = nil
  ) throws(FieldpackError) {
    self.input = input
    self.delimiter = delimiter
    buffer = [UInt8](repeating: 0, count: input.room(upTo: 1 << 18))
    decoder = try encoding.map(Self.decoder)
    if decoder != nil { swap(&buffer, &encoded) }
    input.rewind()
    try refill()
    let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
    if buffer[..<end].starts(with: mark) { next = mark.count }
  }

  private static func decoder(_ encoding: String) throws(FieldpackError) -> TextDecoder {
    if let decoder = TextDecoder(encoding) { return decoder }
    throw FieldpackError(
      .invalidArgument, "the encoding '\(encoding)' is not known", advice: .nameEncoding)
  }

  /// Reads the next record; `false` at the end of the file.
  mutating func nextRecord() throws(FieldpackError) -> Bool {
    repeat {
      guard try readRecord() else { return false }
    } while fields.count == 1 && fields[0].range.isEmpty && !fields[0].isQuoted && problem == nil
    if problem == nil, !isUTF8 {
      problem = "the row is not UTF-8"
      advice = .nameEncoding
    }
    return true
  }

  private var isUTF8: Bool {
    text.allSatisfy { $0 < 0x80 } || String(validating: text, as: UTF8.self) != nil
  }

  private mutating func refill() throws(FieldpackError) {
    next = 0
    guard let decoder else {
      end = try Self.read(input, &buffer)
      bytesRead += end
      return
    }
    repeat {
      let count = try Self.read(input, &encoded)
      bytesRead += count
      do throws(FieldpackError) {
        buffer = try decoder.decode(encoded[..<count], isLast: count == 0)
      } catch { throw error.adding(position: FilePosition(file: input.name, line: line)) }
      end = buffer.count
      if count == 0 { return }
    } while end == 0
  }

  private static func read(
    _ input: ByteInput, _ buffer: inout [UInt8]
  ) throws(FieldpackError) -> Int {
    var failure: FieldpackError?
    let count = buffer.withUnsafeMutableBytes { bytes in
      do throws(FieldpackError) {
        return try input.read(into: bytes)
      } catch {
        failure = error
        return 0
      }
    }
    if let failure { throw failure }
    return count
  }

  private mutating func readRecord() throws(FieldpackError) -> Bool {
    text.removeAll(keepingCapacity: text.capacity < 1 << 22)
    fields.removeAll(keepingCapacity: true)
    (problem, advice) = (nil, nil)
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
