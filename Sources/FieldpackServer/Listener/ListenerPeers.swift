import FieldpackCore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The connections of a listener. Beyond the limit, the connection that has been idle longest is broken
/// off, and so is each one that takes too long to send a request.
///
/// A connection is in the table from before its first byte until before its socket is closed, so no number
/// of a socket in the table means another connection.
final class ListenerPeers: Sendable {
  private enum Stage {
    /// The head of a request has not come, or only a part of it.
    case waiting(turn: Int, since: Duration)
    /// The head is here, and `count` bytes of the body.
    case reading(since: Duration, count: Int)
    case answering
    /// Broken off; libmicrohttpd has not closed the socket yet.
    case ending
  }

  private struct State {
    var peers: [Int32: Stage] = [:]
    /// How many peers are in the stage `ending`.
    var ending = 0
    /// The connections in the order in which they became idle. An entry is valid while its turn is that of
    /// the connection's stage.
    var idle: [(socket: Int32, turn: Int)] = []
    /// The index of the first entry of `idle` that has not been looked at.
    var first = 0
    var turn = 0
  }

  private let limit: Int
  private let patience: Duration
  private let isEncrypted: Bool
  private let uptime: @Sendable () -> Duration
  private let state = Locked(State())
  /// The fewest bytes of a body in a second: each of them gives the body more time.
  private static let slowest = 1024.0

  /// - Parameter patience: how long a head may take, and a body beyond what its length allows.
  init(
    limit: Int, patience: Duration, isEncrypted: Bool, uptime: @escaping @Sendable () -> Duration
  ) {
    (self.limit, self.patience, self.isEncrypted) = (limit, patience, isEncrypted)
    self.uptime = uptime
  }

  var count: Int { state.withLock { $0.peers.count - $0.ending } }
  /// Whether there is none, not even one that has been broken off.
  var isEmpty: Bool { state.withLock { $0.peers.isEmpty } }

  // MARK: Changes

  func begin(_ socket: Int32) {
    state.withLock { state in
      wait(socket, &state)
      while state.peers.count - state.ending > limit, let oldest = Self.oldest(&state) {
        breakOff(oldest, saying: nil, &state)
      }
    }
  }

  func end(_ socket: Int32) {
    state.withLock { state in
      if case .ending? = state.peers.removeValue(forKey: socket) { state.ending -= 1 }
    }
  }

  /// The head of a request has come, where `count` is 0, or so many more bytes of its body.
  func read(_ socket: Int32, _ count: Int) {
    state.withLock { state in
      switch state.peers[socket] {
      case .waiting: state.peers[socket] = .reading(since: uptime(), count: count)
      case .reading(let since, let read):
        state.peers[socket] = .reading(since: since, count: read + count)
      default: break
      }
    }
  }

  /// The request has come, and is being answered.
  func answer(_ socket: Int32) {
    state.withLock { state in
      switch state.peers[socket] {
      case nil, .ending: break
      default: state.peers[socket] = .answering
      }
    }
  }

  /// The client has its answer.
  func wait(_ socket: Int32) {
    state.withLock { state in
      if case .ending? = state.peers[socket] { return }
      wait(socket, &state)
    }
  }

  private func wait(_ socket: Int32, _ state: inout State) {
    state.turn += 1
    state.peers[socket] = .waiting(turn: state.turn, since: uptime())
    state.idle.append((socket, state.turn))
    // A connection that sends many requests has many entries, of which only the last is valid.
    if state.idle.count - state.first > 2 * state.peers.count + 1024 || state.first > 1024 {
      state.idle = state.idle[state.first...].filter { Self.isIdle($0, state) }
      state.first = 0
    }
  }

  // MARK: Breaking off

  private static func isIdle(_ entry: (socket: Int32, turn: Int), _ state: State) -> Bool {
    if case .waiting(let turn, _)? = state.peers[entry.socket] { turn == entry.turn } else { false }
  }

  private static func oldest(_ state: inout State) -> Int32? {
    while state.first < state.idle.count {
      let entry = state.idle[state.first]
      state.first += 1
      if isIdle(entry, state) { return entry.socket }
    }
    return nil
  }

  /// Breaks off the connections that take too long.
  func sweep() {
    let now = uptime()
    state.withLock { state in
      for (socket, stage) in state.peers {
        switch stage {
        case .waiting(_, let since) where now - since > patience:
          breakOff(socket, saying: Self.timeout, &state)
        case .reading(let since, let count)
        where now - since > patience + .seconds(Double(count) / Self.slowest):
          breakOff(socket, saying: Self.timeout, &state)
        default: break
        }
      }
    }
  }

  private static let timeout =
    "HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"

  /// Ends a connection that waits for no answer. libmicrohttpd notices that, and closes the socket.
  private func breakOff(_ socket: Int32, saying text: String?, _ state: inout State) {
    if let text, !isEncrypted {
      var text = text
      _ = text.withUTF8 { send(socket, $0.baseAddress, $0.count, Self.sendFlags) }
    }
    shutdown(socket, Self.both)
    state.peers[socket] = .ending
    state.ending += 1
  }

  #if canImport(Glibc)
    private static let sendFlags = Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL)
    private static let both = Int32(SHUT_RDWR)
  #else
    private static let sendFlags = MSG_DONTWAIT
    private static let both = SHUT_RDWR
  #endif
}
