import FieldpackCore

/// The events that meet one ``EventQuery``, as bytes for all clients that ask it.
///
/// The bytes are kept in a ring of chunks with sequence numbers, not in a queue for each client. A
/// client that has fallen behind the ring is told so.
final class EventChannel: Sendable {
  /// The events of one look at the file.
  struct Chunk: Sendable {
    let bytes: [UInt8]
    /// How far a client has read that has taken the chunk.
    let place: EventPlace
  }

  enum Taken {
    case chunk(Chunk)
    /// There is nothing yet; the client is woken once there is.
    case nothing
    /// The ring does not have the chunk any more.
    case lost
    case end
  }

  private struct State {
    var chunks: [Chunk] = []
    /// The sequence number of the first chunk that is kept.
    var first = 0
    var length = 0
    /// How far the hub has read.
    var place: EventPlace
    var sleepers: [Int: @Sendable () -> Void] = [:]
    var followers: Set<Int> = []
    var last = 0
    var isEnded = false

    var next: Int { first + chunks.count }
  }

  let test: EventTest
  private let capacity: Int
  private let state: Locked<State>

  /// - Parameters:
  ///   - place: how far the hub has read.
  ///   - capacity: how many bytes are kept.
  init(_ test: EventTest, at place: EventPlace, capacity: Int = 1 << 20) {
    self.test = test
    self.capacity = capacity
    state = Locked(State(place: place))
  }

  // MARK: The hub's end

  var isFollowed: Bool { state.withLock { !$0.followers.isEmpty } }

  /// - Parameter bytes: may be none, where nothing met the query.
  func append(_ bytes: [UInt8], upTo place: EventPlace) {
    let sleepers = state.withLock { state in
      state.place = place
      guard !bytes.isEmpty else { return [Int: @Sendable () -> Void]() }
      state.chunks.append(Chunk(bytes: bytes, place: place))
      state.length += bytes.count
      if state.length > capacity { Self.shorten(&state, to: capacity / 2) }
      return Self.takeSleepers(&state)
    }
    for wake in sleepers.values { wake() }
  }

  private static func shorten(_ state: inout State, to capacity: Int) {
    var count = 0
    while state.length > capacity, count < state.chunks.count - 1 {
      state.length -= state.chunks[count].bytes.count
      count += 1
    }
    state.chunks.removeFirst(count)
    state.first += count
  }

  /// Appends a comment, which keeps the connections open, and the place of clients that have taken
  /// all.
  func beat() {
    let place = state.withLock { $0.place }
    append(Array(":\nid: \(place.text)\n\n".utf8), upTo: place)
  }

  func end() {
    let sleepers = state.withLock { state in
      state.isEnded = true
      return Self.takeSleepers(&state)
    }
    for wake in sleepers.values { wake() }
  }

  private static func takeSleepers(_ state: inout State) -> [Int: @Sendable () -> Void] {
    defer { state.sleepers = [:] }
    return state.sleepers
  }

  // MARK: The clients' end

  /// The number of a new client.
  func join() -> Int {
    state.withLock { state in
      state.last += 1
      state.followers.insert(state.last)
      return state.last
    }
  }

  func leave(_ client: Int) {
    state.withLock { state in
      state.followers.remove(client)
      state.sleepers[client] = nil
    }
  }

  /// How far the hub has read, and the number of the chunk that comes next.
  var position: (next: Int, place: EventPlace) { state.withLock { ($0.next, $0.place) } }

  /// The chunk of that number.
  ///
  /// - Parameter pause: called where there is nothing yet, while nobody can append; gives what wakes
  ///   the client.
  func take(
    _ number: Int, for client: Int, orPause pause: () -> @Sendable () -> Void
  ) -> Taken {
    state.withLock { state in
      if number < state.first { return .lost }
      if number < state.next { return .chunk(state.chunks[number - state.first]) }
      if state.isEnded { return .end }
      state.sleepers[client] = pause()
      return .nothing
    }
  }
}
