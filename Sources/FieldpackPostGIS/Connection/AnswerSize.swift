#if PostGIS
  import CPQ
  import FieldpackCore

  #if canImport(Glibc)
    import Glibc
  #elseif canImport(Darwin)
    import Darwin
  #endif

  /// Counts the bytes of an answer while libpq gathers it: a server may announce any length, and send rows
  /// without end.
  ///
  /// Nothing is asked of the system for the first reading, which is enough for a short answer. What it
  /// takes is not counted: libpq reads at most 32 KiB before it knows how long a message is.
  struct AnswerSize {
    let most: Int
    private let socket: Int32
    /// Whether the system counts what comes on the socket.
    private let isCounted: Bool
    private var readings = 0
    private var sum = 0
    /// The system's count when this one began; `nil` before.
    private var start: Int64?

    init(most: Int, socket: Int32) {
      (self.most, self.socket) = (most, socket)
      isCounted = fieldpack_pq_received(socket) >= 0
    }

    /// Begins to count anew.
    mutating func begin() { (readings, sum, start) = (0, 0, nil) }

    /// Begins to count for the next row of an answer, of which libpq may have read how long it is.
    mutating func beginRow() { (readings, sum, start) = (1, 0, nil) }

    /// Takes what has come by `read`.
    ///
    /// - Returns: whether `read` was successful, and whether the answer may go on.
    mutating func count(_ read: () -> Bool) -> (isRead: Bool, isShort: Bool) {
      readings += 1
      guard readings > 1 else { return (read(), true) }
      if isCounted {
        let received = fieldpack_pq_received(socket)
        let first = start ?? received
        start = first
        let end = first + Int64(most)
        guard received <= end else { return (true, false) }
        return AnswerGuard.shared.guarding(socket, upTo: end, read)
      }
      // A socket that is no TCP: what comes while this reads is not seen.
      let before = Int(fieldpack_pq_waiting(socket))
      let isRead = read()
      sum +=
        before <= Self.leastRead
        ? before : max(before - Int(fieldpack_pq_waiting(socket)), Self.leastRead)
      return (isRead, sum <= most)
    }

    /// The number of bytes that libpq reads at a time.
    private static let leastRead = 8_192
  }

  /// Ends connections whose server sends faster than libpq stops to read: that reads on into a buffer of
  /// the length that was announced, for as long as anything comes.
  private final class AnswerGuard: Sendable {
    static let shared = AnswerGuard()

    private struct State {
      /// How many bytes may have come on a socket that is read now; -1 where more came.
      var ends: [Int32: Int64] = [:]
      var isWatching = false
    }

    private let state = Locked(State())
    private static let pause: UInt32 = 5_000

    func guarding(
      _ socket: Int32, upTo end: Int64, _ read: () -> Bool
    ) -> (isRead: Bool, isShort: Bool) {
      let isFirst = state.withLock { state in
        state.ends[socket] = end
        defer { state.isWatching = true }
        return !state.isWatching
      }
      if isFirst, !SystemThread.start(stackSize: nil, blocksSignals: true, { self.watch() }) {
        state.withLock { $0.isWatching = false }
      }
      let isRead = read()
      // Nobody ends a connection of another that gets the same number.
      return (isRead, state.withLock { $0.ends.removeValue(forKey: socket) } != -1)
    }

    private func watch() {
      var goesOn = true
      while goesOn {
        usleep(Self.pause)
        goesOn = state.withLock { state in
          for (socket, end) in state.ends
          where end >= 0 && fieldpack_pq_received(socket) > end {
            shutdown(socket, Int32(SHUT_RDWR))
            state.ends[socket] = -1
          }
          state.isWatching = !state.ends.isEmpty
          return state.isWatching
        }
      }
    }
  }
#endif
