#if PostGIS
  import CPQ
  import FieldpackCore
  import Synchronization

  #if canImport(Glibc)
    import Glibc
  #elseif canImport(Darwin)
    import Darwin
  #endif

  /// Cancels the work of a connection from any thread.
  ///
  /// A run is a visit of the connection. The server cancels whatever a connection does when the request
  /// comes, so a request is only sent while its run goes on, and a run ends after the request was sent. A
  /// request waits until the server closes its connection, which a wrong server may never do: it has a
  /// thread of its own, and who waits for it gives up after a time.
  final class PostgresCanceller: Sendable {
    private struct State {
      var handle: OpaquePointer?
      var currentRun: UInt64 = 0
      var lastRun: UInt64 = 0
      var isSending = false
      var isInvalid = false

      mutating func beginRun() -> (run: UInt64, outer: UInt64) {
        let outer = currentRun
        lastRun += 1
        currentRun = lastRun
        return (currentRun, outer)
      }

      /// The handle is freed when nobody sends any more.
      mutating func freeIfUnused() {
        guard isInvalid, !isSending else { return }
        PQfreeCancel(handle)
        handle = nil
      }
    }

    private let state: Locked<State>
    private let requested = Atomic<Bool>(false)

    /// How long a server has to take a request.
    private let patience: Duration

    /// That of the connection whose work this one helps with: its cancelling is for both.
    private let leader: PostgresCanceller?

    /// - Parameter handle: `nil` for a connection that could not be made.
    init(_ handle: OpaquePointer?, patience: Duration, leader: PostgresCanceller? = nil) {
      (self.patience, self.leader) = (patience, leader)
      // PQcancel may be called from any thread.
      nonisolated(unsafe) let state = State(handle: handle)
      self.state = Locked(state)
    }

    /// Whether the current run was cancelled; each further statement of it throws.
    var isRequested: Bool {
      requested.load(ordering: .relaxed) || leader?.isRequested == true
    }

    func beginRun() -> (run: UInt64, outer: UInt64) {
      state.withLock {
        requested.store(false, ordering: .relaxed)
        return $0.beginRun()
      }
    }

    /// Begins a run in the current one that nobody can cancel.
    ///
    /// - Returns: the current one; `nil` where it was cancelled, so that a request may be on its way.
    func beginKeptRun() -> UInt64? {
      state.withLock { isRequested ? nil : $0.beginRun().outer }
    }

    /// - Returns: `false` where a request is still on its way, so that nobody may use the connection.
    func endRun(outer: UInt64) -> Bool {
      let isSent = waitUntilSent()
      state.withLock {
        $0.currentRun = outer
        requested.store(false, ordering: .relaxed)
      }
      return isSent
    }

    /// Cancels the run with this number and no other.
    func cancel(run: UInt64) {
      state.withLock { if run == $0.currentRun { requested.store(true, ordering: .relaxed) } }
      send { $0.currentRun == run }
    }

    /// Cancels the statement that runs now, from the thread of its connection.
    ///
    /// - Returns: `false` where the server does not take the request.
    func cancelStatement() -> Bool {
      send { _ in true }
      return waitUntilSent()
    }

    /// Asks the own server for what the leader was asked, without waiting until the server takes that.
    func passOn() { if leader != nil { send { _ in true } } }

    private func send(where isWanted: (State) -> Bool) {
      let isStarted = state.withLock { state in
        guard state.handle != nil, !state.isInvalid, !state.isSending, isWanted(state) else {
          return false
        }
        state.isSending = true
        return true
      }
      guard isStarted else { return }
      if !SystemThread.start(stackSize: nil, blocksSignals: true, { self.sendNow() }) { sendNow() }
    }

    private func sendNow() {
      nonisolated(unsafe) let handle = state.withLock { $0.handle }
      var reason: [CChar] = Array(repeating: 0, count: 256)
      if let handle { _ = PQcancel(handle, &reason, 256) }
      state.withLock { state in
        state.isSending = false
        state.freeIfUnused()
      }
    }

    private func waitUntilSent() -> Bool {
      let end = ContinuousClock.now + patience
      while state.withLock({ $0.isSending }) {
        if ContinuousClock.now > end { return false }
        usleep(500)
      }
      return true
    }

    func invalidate() {
      state.withLock { state in
        state.isInvalid = true
        state.freeIfUnused()
      }
    }
  }
#endif
