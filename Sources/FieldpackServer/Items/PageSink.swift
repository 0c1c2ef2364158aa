import FieldpackCore
import FieldpackFormats

/// Takes the features of a page and writes them.
///
/// A page up to 64 KiB is kept until it is whole, so that its length can be told. A longer one is sent
/// while it is made, where there is a start; by then the first row has shown that it can be read.
struct PageSink<Writer: FeatureTextWriter>: FeatureSink {
  var writer: Writer
  let output: ByteOutput
  /// How many features are written; `nil` for all.
  let limit: Int?
  let start: PageStart?
  /// A page that grows beyond this is not finished.
  var mostBytes = Int.max
  private(set) var count = 0
  private(set) var lastID: FeatureID?
  /// Whether there is a feature behind the last.
  private(set) var hasMore = false

  init(_ limit: Int?, start: PageStart?, writer: (ByteOutput) -> Writer) {
    output = ByteOutput()
    self.limit = limit
    self.start = start
    self.writer = writer(output)
  }

  mutating func begin(_ schema: Schema) throws(FieldpackError) { try writer.begin(schema) }

  mutating func feature(
    _ row: borrowing some FeatureRow & ~Copyable
  ) throws(FieldpackError) {
    guard count < limit ?? .max else {
      hasMore = true
      return
    }
    try writer.feature(row)
    count += 1
    lastID = row.id
    if output.buffer.count >= 64 << 10 { try start?.send(&output.buffer) }
    guard output.buffer.count <= mostBytes else {
      throw FieldpackError(.full, "the page is too long to be made as a whole")
    }
  }
}

/// Where a page goes: to whoever waits for it as a whole, or from its 64th KiB on to a stream.
final class PageStart: Sendable {
  enum Outcome: Sendable {
    case whole([UInt8])
    case stream(ResponseStream)
    case failure(FieldpackError)
  }

  private struct State {
    var outcome: Outcome?
    var waiting: CheckedContinuation<Outcome, Never>?
    var stream: ResponseStream?
  }

  private let state = Locked(State())
  private let packs: Bool
  private let room: SpillRoom

  /// - Parameters:
  ///   - packs: whether a stream is packed as gzip.
  ///   - room: for what the client of a stream takes slowly.
  init(packs: Bool, in room: SpillRoom) { (self.packs, self.room) = (packs, room) }

  /// Sends what `bytes` holds, and empties it.
  func send(_ bytes: inout [UInt8]) throws(FieldpackError) {
    let stream = try state.withLock { (state) throws(FieldpackError) in
      if let stream = state.stream { return stream }
      let stream = try ResponseStream(packs: packs, in: self.room)
      state.stream = stream
      return stream
    }
    let room = bytes.count
    let part = bytes
    bytes = []
    bytes.reserveCapacity(room + room / 4)
    try stream.send(part)
    tell(.stream(stream))
  }

  func finish(_ rest: [UInt8]) {
    guard let stream = state.withLock({ $0.stream }) else { return tell(.whole(rest)) }
    do throws(FieldpackError) {
      try stream.send(rest)
      stream.finish()
    } catch {
      stream.fail()
    }
  }

  func fail(_ error: FieldpackError) {
    guard let stream = state.withLock({ $0.stream }) else { return tell(.failure(error)) }
    stream.fail()
  }

  private func tell(_ outcome: Outcome) {
    let waiting = state.withLock { state in
      guard state.outcome == nil else { return nil as CheckedContinuation<Outcome, Never>? }
      state.outcome = outcome
      defer { state.waiting = nil }
      return state.waiting
    }
    waiting?.resume(returning: outcome)
  }

  /// Waits until the page is whole, or its first part is there.
  var outcome: Outcome {
    get async {
      await withCheckedContinuation { continuation in
        let outcome = state.withLock { state in
          if state.outcome == nil { state.waiting = continuation }
          return state.outcome
        }
        if let outcome { continuation.resume(returning: outcome) }
      }
    }
  }
}
