import FieldpackArchive
package import FieldpackCore

/// The bytes of a response, from who makes them to the client.
///
/// What the client has not taken yet is kept: the first 4 MiB in memory, more in an unnamed file, as far as
/// there is room for it. So a slow client keeps nobody waiting who reads the store.
package final class ResponseStream: Sendable {
  /// What is there for the client.
  enum Piece: Hashable {
    case bytes(Int)
    /// Nothing yet; `wake` is called once there is.
    case nothing
    case end
    case failure
  }

  private struct State {
    var chunks: [[UInt8]] = []
    /// The first chunk that is not taken, and how much of it is.
    var first = 0
    var taken = 0
    var count = 0
    var file = SpillFile()
    var fileStart = 0
    var isEnded = false
    var isFailed = false
    var isAbandoned = false
    var wake: (@Sendable () -> Void)?
  }

  private let mostInMemory: Int
  private let state: Locked<State>
  /// The room of the file; `nil` for as much as the disk has.
  private let place: SpillRoom.Place?
  /// Packs the bytes; `nil` where the bytes are sent as they are.
  private let packer: Locked<GzipPacker>?
  private let source: (any ByteSource)?
  /// Kept as long as this value, such as what keeps the file of the bytes.
  private let companion: (any Sendable)?
  /// The number of bytes; `nil` where it is known only at the end.
  let length: Int?

  package init() {
    (state, packer, source, companion) = (Locked(State()), nil, nil, nil)
    (length, place, mostInMemory) = (nil, nil, Self.usualMemory)
  }

  /// - Parameters:
  ///   - length: how many bytes will be sent.
  ///   - place: the room for all of them; `nil` for few bytes, which are kept in memory.
  init(length: Int, in place: SpillRoom.Place?) {
    (state, packer, source, companion) = (Locked(State()), nil, nil, nil)
    (self.length, self.place, mostInMemory) = (length, place, Self.fewBytes)
  }

  /// So many bytes of a response of known length are kept in memory.
  static let fewBytes = 256 << 10

  /// - Parameters:
  ///   - packs: whether the client gets the bytes as gzip.
  ///   - room: where there is room for what the client has not taken.
  init(packs: Bool, in room: SpillRoom) throws(FieldpackError) {
    (state, source, companion, length) = (Locked(State()), nil, nil, nil)
    packer = packs ? Locked(try GzipPacker()) : nil
    (place, mostInMemory) = (room.place(for: 0), Self.usualMemory)
  }

  /// A response that goes on for as long as its client stays.
  ///
  /// - Parameter room: where there is room for what the client has not taken.
  init(in room: SpillRoom) {
    (state, packer, source, companion) = (Locked(State()), nil, nil, nil)
    (length, place, mostInMemory) = (nil, room.place(for: 0), Self.usualMemory)
  }

  /// The bytes of a file, which is closed with this value.
  ///
  /// - Parameter companion: released with this value.
  init(of file: sending SpillFile, keeping companion: any Sendable) {
    (packer, source, place, mostInMemory) = (nil, nil, nil, Self.usualMemory)
    self.companion = companion
    length = file.end
    var state = State()
    (state.file, state.isEnded) = (file, true)
    self.state = Locked(state)
  }

  /// A response whose bytes come from `source` when the client can take them; ``send(_:)`` is not called.
  init(_ source: any ByteSource) {
    (state, packer, companion, length) = (Locked(State()), nil, nil, nil)
    (place, mostInMemory) = (nil, Self.usualMemory)
    self.source = source
  }

  private static let usualMemory = 4 << 20

  var isPacked: Bool { packer != nil }
  /// How many bytes the client is to be given at a time.
  var pieceSize: Int { source?.pieceSize ?? 64 << 10 }

  // MARK: Making

  /// Appends bytes.
  ///
  /// - Throws: `.interrupted` where the client has gone, `.full` where they fit neither in memory nor on
  ///   the disk.
  package func send(_ bytes: [UInt8]) throws(FieldpackError) {
    guard let packer else { return try give(bytes) }
    try give(packer.withLock { $0.pack(bytes) })
  }

  private func give(_ bytes: [UInt8]) throws(FieldpackError) {
    guard !bytes.isEmpty else { return }
    let wake = try state.withLock { (state) throws(FieldpackError) -> (@Sendable () -> Void)? in
      guard !state.isAbandoned else {
        throw FieldpackError(.interrupted, "the client has closed its connection")
      }
      if state.count + bytes.count > mostInMemory || state.fileStart < state.file.end {
        try place?.grow(to: state.file.end + bytes.count)
        var failure: FieldpackError?
        bytes.withUnsafeBytes { bytes in
          do throws(FieldpackError) { try state.file.append(bytes) } catch { failure = error }
        }
        if let failure { throw failure }
      } else {
        state.chunks.append(bytes)
        state.count += bytes.count
      }
      return Self.takeWake(&state)
    }
    wake?()
  }

  /// Ends the response.
  package func finish() {
    if let packer {
      do throws(FieldpackError) {
        try give(packer.withLock { $0.finish() })
      } catch { return fail() }
    }
    end { $0.isEnded = true }
  }

  /// Ends the response so that the client sees that it is not whole.
  package func fail() {
    source?.stop()
    end { $0.isFailed = true }
  }

  private func end(_ mark: (inout State) -> Void) {
    let wake = state.withLock { state in
      mark(&state)
      return Self.takeWake(&state)
    }
    wake?()
  }

  private static func takeWake(_ state: inout State) -> (@Sendable () -> Void)? {
    defer { state.wake = nil }
    return state.wake
  }

  // MARK: Taking

  /// Copies the next bytes into `buffer`.
  ///
  /// - Parameter pause: called where there is nothing yet, while nobody can send; gives what wakes the
  ///   client.
  func take(
    into buffer: UnsafeMutableRawBufferPointer, orPause pause: () -> @Sendable () -> Void
  ) -> Piece {
    if let source { return source.take(into: buffer, orPause: pause) }
    return state.withLock { state in
      if state.isFailed { return .failure }
      if state.first < state.chunks.count { return .bytes(Self.takeChunk(&state, into: buffer)) }
      if state.fileStart < state.file.end {
        let piece = Self.takeFromFile(&state, into: buffer)
        // What comes next has the memory and the room again.
        if state.fileStart == state.file.end, !state.isEnded {
          (state.file, state.fileStart) = (SpillFile(), 0)
          if length == nil { place?.empty() }
        }
        return piece
      }
      if state.isEnded { return .end }
      state.wake = pause()
      return .nothing
    }
  }

  private static func takeChunk(
    _ state: inout State, into buffer: UnsafeMutableRawBufferPointer
  ) -> Int {
    let count = state.chunks[state.first].withUnsafeBytes { chunk in
      let count = min(buffer.count, chunk.count - state.taken)
      buffer.copyMemory(from: .init(rebasing: chunk[state.taken..<state.taken + count]))
      return count
    }
    state.taken += count
    if state.taken == state.chunks[state.first].count {
      state.count -= state.taken
      (state.chunks[state.first], state.taken) = ([], 0)
      state.first += 1
      if state.first == state.chunks.count { (state.chunks, state.first) = ([], 0) }
    }
    return count
  }

  private static func takeFromFile(
    _ state: inout State, into buffer: UnsafeMutableRawBufferPointer
  ) -> Piece {
    let count = min(buffer.count, state.file.end - state.fileStart)
    do throws(FieldpackError) {
      try state.file.read(into: .init(rebasing: buffer[..<count]), at: state.fileStart)
    } catch { return .failure }
    state.fileStart += count
    return .bytes(count)
  }

  /// Whoever makes the bytes learns from its next call that nobody wants them.
  func abandon() {
    source?.abandon()
    state.withLock { state in
      state.isAbandoned = true
      (state.chunks, state.first, state.wake) = ([], 0, nil)
    }
  }
}

/// Gives the bytes of a response when the client can take them.
protocol ByteSource: Sendable {
  /// How many bytes the client is to be given at a time.
  var pieceSize: Int { get }
  /// Does the work of ``ResponseStream/take(into:orPause:)``.
  func take(
    into buffer: UnsafeMutableRawBufferPointer, orPause pause: () -> @Sendable () -> Void
  ) -> ResponseStream.Piece
  /// Ends the response so that the client sees that it is not whole.
  func stop()
  /// Ends the response because the client has closed the connection.
  func abandon()
}

extension ByteSource {
  // Small, because many clients wait for events, and events are short.
  var pieceSize: Int { 1 << 10 }
}
