import FieldpackCore
import FieldpackFormats

/// A request of a recorded log: a body of the protocol, or an object that holds one as `body`, an
/// object or a text, beside `time` (Unix seconds), `status` and `response` of the answer.
struct MotionLogEntry {
  var request: MotionRequest
  /// When it came, in seconds since 1970.
  var time: Double?
  /// `nil` where no answer came.
  var status: Int64? = 200
  /// What was answered, of a start the session's id.
  var response: String?

  init(_ bytes: [UInt8]) throws(FieldpackError) {
    guard bytes.count <= MotionLog.lineLimit else {
      throw FieldpackError(
        .invalidData, "a request has more than \(MotionLog.lineLimit) bytes")
    }
    let node = try MotionRequest.document(bytes)
    guard let body = node["body"] else {
      request = try MotionRequest(node: node)
      return
    }
    if case .text(let text) = body {
      request = try MotionRequest(body: Array(text.utf8))
    } else {
      request = try MotionRequest(node: body)
    }
    time = node["time"]?.number
    if let time, !MotionRequest.timestamps.contains(time) {
      throw FieldpackError(.invalidData, "time is no moment of the years 1970 to 9999")
    }
    switch node["status"] {
    case nil: break
    case .integer(let status)?: self.status = status
    case .null?: status = nil
    case .some(let value):
      throw FieldpackError(.invalidData, "status is \(value.kind), not a whole number")
    }
    if case .text(let text)? = node["response"] {
      guard text.utf8.count <= MotionRequest.maximumTextLength else {
        throw FieldpackError(.invalidData, "response is too long")
      }
      response = text
    }
  }
}

/// The requests of a file: one JSON document, or one a line.
struct MotionLog {
  /// The longest request with what stands beside its body, in bytes.
  static let lineLimit = MotionRequest.maximumLength * 2

  let path: String

  /// Gives each request to `body` with its line; a request that cannot be read is a failure.
  func read(
    _ body: (Result<MotionLogEntry, FieldpackError>, Int) throws(FieldpackError) -> Void
  ) throws(FieldpackError) {
    let input = try ByteInput(path: path)
    if input.size <= Self.lineLimit {
      let whole = try input.head(input.size)
      if (try? MotionRequest.document(whole)) != nil {
        return try body(Result { () throws(FieldpackError) in try MotionLogEntry(whole) }, 1)
      }
    }
    var lines = LineBuffer(limit: Self.lineLimit)
    while try lines.fill({ (room) throws(FieldpackError) in try input.read(into: room) }) > 0 {
      while let line = lines.next() { try give(line, of: lines, to: body) }
      guard !Task.isCancelled else { throw FieldpackError(.interrupted, "interrupted") }
    }
    if let line = lines.last() { try give(line, of: lines, to: body) }
  }

  private func give(
    _ line: LineBuffer.Line, of lines: LineBuffer,
    to body: (Result<MotionLogEntry, FieldpackError>, Int) throws(FieldpackError) -> Void
  ) throws(FieldpackError) {
    guard case .text(let range) = line else {
      let error = FieldpackError(
        .invalidData, "a line has more than \(Self.lineLimit) bytes")
      return try body(.failure(error), lines.number)
    }
    let bytes = lines.withBytes(range) { Array($0) }
    guard !bytes.allSatisfy({ $0 == 0x20 || $0 == 0x09 }) else { return }
    try body(Result { () throws(FieldpackError) in try MotionLogEntry(bytes) }, lines.number)
  }
}
