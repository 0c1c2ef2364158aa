#if PostGIS
  import CPQ
  import FieldpackCore
  import Synchronization

  /// Cancels the work of a connection from any thread.
  ///
  /// A run is a visit of the connection. The server cancels whatever a connection does when the request
  /// comes, so a request is only sent while its run goes on, and a run ends after the request was sent.
  final class PostgresCanceller: Sendable {
    private struct State {
      var handle: OpaquePointer?
      var currentRun: UInt64 = 0
      var lastRun: UInt64 = 0
    }

    private let state: Locked<State>
    private let requested = Atomic<Bool>(false)

    /// - Parameter handle: `nil` for a connection that could not be made.
    init(_ handle: OpaquePointer?) {
      // PQcancel may be called from any thread.
      nonisolated(unsafe) let state = State(handle: handle)
      self.state = Locked(state)
    }

    /// Whether the current run was cancelled; each further statement of it throws.
    var isRequested: Bool { requested.load(ordering: .relaxed) }

    func beginRun() -> (run: UInt64, outer: UInt64) {
      state.withLock {
        let outer = $0.currentRun
        $0.lastRun += 1
        $0.currentRun = $0.lastRun
        requested.store(false, ordering: .relaxed)
        return ($0.lastRun, outer)
      }
    }

    func endRun(outer: UInt64) {
      state.withLock {
        $0.currentRun = outer
        requested.store(false, ordering: .relaxed)
      }
    }

    /// Cancels the run with this number and no other. The request goes to the server from a thread of
    /// its own, because it needs a new connection.
    func cancel(run: UInt64) {
      requestOnly(run)
      _ = SystemThread.start(stackSize: nil, blocksSignals: true) { self.send(run) }
    }

    private func requestOnly(_ run: UInt64) {
      state.withLock { if run == $0.currentRun { requested.store(true, ordering: .relaxed) } }
    }

    private func send(_ run: UInt64) {
      state.withLock { if run == $0.currentRun { Self.cancel($0.handle) } }
    }

    private static func cancel(_ handle: OpaquePointer?) {
      guard let handle else { return }
      var reason: [CChar] = Array(repeating: 0, count: 256)
      _ = PQcancel(handle, &reason, 256)
    }

    /// Cancels the statement that runs now, from the thread of its connection.
    func cancelStatement() {
      state.withLock { Self.cancel($0.handle) }
    }

    func invalidate() {
      state.withLock {
        PQfreeCancel($0.handle)
        $0.handle = nil
      }
    }
  }
#endif
