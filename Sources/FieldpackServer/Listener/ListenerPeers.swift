import FieldpackCore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The connections of a listener: beyond the limit the one goes that has been idle longest, and those go
/// that take too long over a request.
///
/// A connection is in the table from before its first byte until before its socket is closed, so that no
/// number of a socket in it means another connection.
final class ListenerPeers: Sendable {
  private enum Stage {
    /// For the head of a request, whole or in parts.
    case waiting(turn: Int, since: Duration)
    /// For the body of one.
    case reading(since: Duration, count: Int)
    case answering
    case leaving
  }

  private struct State {
    var peers: [Int32: Stage] = [:]
    var leaving = 0
    /// Those that have become idle, in that order; an entry counts while its turn is that of the stage.
    var idle: [(socket: Int32, turn: Int)] = []
    var first = 0
    var turn = 0
  }

  private let limit: Int
  private let patience: Duration
  private let isEncrypted: Bool
  private let uptime: @Sendable () -> Duration
  private let state = Locked(State())
  /// A body may take longer the longer it is, as long as so many bytes come in a second.
  private static let slowest = 1024.0

  /// - Parameter patience: how long a head may take, and a body beyond what its length allows.
  init(
    limit: Int, patience: Duration, isEncrypted: Bool, uptime: @escaping @Sendable () -> Duration
  ) {
    (self.limit, self.patience, self.isEncrypted) = (limit, patience, isEncrypted)
    self.uptime = uptime
  }

  var count: Int { state.withLock { $0.peers.count - $0.leaving } }

  // MARK: Changes

  func begin(_ socket: Int32) {
    state.withLock { state in
      wait(socket, &state)
      while state.peers.count - state.leaving > limit, let oldest = Self.oldest(&state) {
        dismiss(oldest, saying: nil, &state)
      }
    }
  }

  func end(_ socket: Int32) {
    state.withLock { state in
      if case .leaving? = state.peers.removeValue(forKey: socket) { state.leaving -= 1 }
    }
  }

  /// The head of a request is there.
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

  func answer(_ socket: Int32) { set(socket) { _ in .answering } }

  /// The client has its answer.
  func wait(_ socket: Int32) {
    state.withLock { state in
      if case .leaving? = state.peers[socket] { return }
      wait(socket, &state)
    }
  }

  private func set(_ socket: Int32, _ stage: (inout State) -> Stage) {
    state.withLock { state in
      guard let old = state.peers[socket] else { return }
      if case .leaving = old { return }
      state.peers[socket] = stage(&state)
    }
  }

  private func wait(_ socket: Int32, _ state: inout State) {
    state.turn += 1
    state.peers[socket] = .waiting(turn: state.turn, since: uptime())
    state.idle.append((socket, state.turn))
    // A connection that is used again and again leaves many entries that count no longer.
    if state.idle.count - state.first > 2 * state.peers.count + 1024 || state.first > 1024 {
      state.idle = state.idle[state.first...].filter { Self.isIdle($0, state) }
      state.first = 0
    }
  }

  // MARK: Leaving

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

  /// Breaks off those that take too long.
  func sweep() {
    let now = uptime()
    state.withLock { state in
      for (socket, stage) in state.peers {
        switch stage {
        case .waiting(_, let since) where now - since > patience:
          dismiss(socket, saying: Self.timeout, &state)
        case .reading(let since, let count)
        where now - since > patience + .seconds(Double(count) / Self.slowest):
          dismiss(socket, saying: Self.timeout, &state)
        default: break
        }
      }
    }
  }

  private static let timeout =
    "HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"

  /// Ends a connection that has no answer under way; libmicrohttpd sees its end, and closes it.
  private func dismiss(_ socket: Int32, saying text: String?, _ state: inout State) {
    if let text, !isEncrypted {
      var text = text
      _ = text.withUTF8 { send(socket, $0.baseAddress, $0.count, Self.sendFlags) }
    }
    shutdown(socket, Self.both)
    state.peers[socket] = .leaving
    state.leaving += 1
  }

  #if canImport(Glibc)
    private static let sendFlags = Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL)
    private static let both = Int32(SHUT_RDWR)
  #else
    private static let sendFlags = MSG_DONTWAIT
    private static let both = SHUT_RDWR
  #endif
}
