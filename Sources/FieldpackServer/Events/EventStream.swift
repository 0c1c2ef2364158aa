import FieldpackCore

/// The events that one client gets: those that the client missed, read from the file a batch at a
/// time, then those of a channel.
final class EventStream: ByteSource {
  private enum Mode {
    case missed
    /// The number of the next chunk of the channel.
    case live(Int)
  }

  private struct State {
    var bytes: [UInt8]
    var taken = 0
    /// How far the client has read with the bytes.
    var place: EventPlace
    var mode: Mode
    var isReading = false
    var isEnded = false
    var isFailed = false
    var wake: (@Sendable () -> Void)?
  }

  /// Reads the next events that a client missed; `nil` where that cannot be done any more.
  typealias Read = @Sendable (EventPlace, EventChannel) async -> MissedEvents?

  private let channel: EventChannel
  private let client: Int
  private let read: Read
  private let isStillAllowed: (@Sendable () -> Bool)?
  private let state: Locked<State>

  /// - Parameters:
  ///   - client: the number of the client in the channel.
  ///   - head: the first bytes.
  ///   - place: how far the client has read; `nil` for a client that begins now.
  ///   - position: where the channel was before the head was read.
  ///   - isStillAllowed: whether the client may read on; `nil` for always.
  init(
    _ channel: EventChannel, client: Int, head: [UInt8], from place: EventPlace?,
    at position: (next: Int, place: EventPlace), isStillAllowed: (@Sendable () -> Bool)? = nil,
    read: @escaping Read
  ) {
    self.channel = channel
    self.client = client
    self.isStillAllowed = isStillAllowed
    self.read = read
    state = Locked(
      State(
        bytes: head + (place == nil ? Array("id: \(position.place.text)\n\n".utf8) : []),
        place: place ?? position.place, mode: place == nil ? .live(position.next) : .missed))
  }

  deinit { channel.leave(client) }

  // MARK: Taking

  func take(
    into buffer: UnsafeMutableRawBufferPointer, orPause pause: () -> @Sendable () -> Void
  ) -> ResponseStream.Piece {
    state.withLock { state in
      var count = 0
      while count < buffer.count {
        if state.isFailed { return .failure }
        if state.taken < state.bytes.count {
          count += Self.copy(&state, into: .init(rebasing: buffer[count...]))
          continue
        }
        guard count == 0 else { break }
        if let piece = next(&state, pause) { return piece }
      }
      return .bytes(count)
    }
  }

  private static func copy(
    _ state: inout State, into buffer: UnsafeMutableRawBufferPointer
  ) -> Int {
    state.bytes.withUnsafeBytes { bytes in
      let count = min(buffer.count, bytes.count - state.taken)
      buffer.copyMemory(from: .init(rebasing: bytes[state.taken..<state.taken + count]))
      state.taken += count
      return count
    }
  }

  /// Has more bytes in the state; gives what the client is told where there are none now.
  private func next(
    _ state: inout State, _ pause: () -> @Sendable () -> Void
  ) -> ResponseStream.Piece? {
    if state.isEnded || isStillAllowed?() == false { return .end }
    if case .live(let number) = state.mode {
      switch channel.take(number, for: client, orPause: pause) {
      case .chunk(let chunk):
        (state.bytes, state.taken, state.place) = (chunk.bytes, 0, chunk.place)
        state.mode = .live(number + 1)
        return nil
      case .nothing: return .nothing
      case .end: return .end
      case .lost:
        state.mode = .missed
        (state.bytes, state.taken) = (Self.lostNote, 0)
        return nil
      }
    }
    state.wake = pause()
    if !state.isReading {
      state.isReading = true
      let place = state.place
      Task { [self] in
        let missed = await read(place, channel)
        take(missed)
      }
    }
    return .nothing
  }

  private static let lostNote = Array(
    ": too slow: what happened in layers without a change log is lost\n\n".utf8)

  private func take(_ missed: MissedEvents?) {
    change { state in
      state.isReading = false
      guard let missed else {
        state.isEnded = true
        return
      }
      (state.bytes, state.taken, state.place) = (missed.bytes, 0, missed.place)
      if let next = missed.next { state.mode = .live(next) }
    }
  }

  private func change(_ body: (inout State) -> Void) {
    let wake = state.withLock { state in
      body(&state)
      defer { state.wake = nil }
      return state.wake
    }
    wake?()
  }

  // MARK: End

  func stop() { change { $0.isFailed = true } }

  func abandon() {
    channel.leave(client)
    state.withLock { state in
      state.isFailed = true
      state.wake = nil
    }
  }
}

/// Events that a client missed.
struct MissedEvents: Sendable {
  var bytes: [UInt8]
  /// How far the client has read with them.
  var place: EventPlace
  /// The number of the channel's chunk that comes next, where no more was missed.
  var next: Int?
}
