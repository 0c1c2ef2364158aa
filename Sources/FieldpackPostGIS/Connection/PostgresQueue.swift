#if PostGIS
  import FieldpackCore

  /// The idle connections of a pool, and the visitors that wait for one.
  final class PostgresQueue: Sendable {
    /// The answer to a visitor that asks for a connection.
    enum Claim: Sendable {
      case connection(PostgresActor)
      /// The visitor may open one more connection.
      case opening
      case cancelled
      case closed
      /// The visitor has waited for as long as it may.
      case late
    }

    private struct Waiter {
      let number: UInt64
      let continuation: CheckedContinuation<Claim, Never>
    }

    private struct State {
      let maximum: Int
      var idle: [PostgresActor] = []
      var openCount = 0
      var waiters: [Waiter] = []
      var lastNumber: UInt64 = 0
      var isClosed = false

      mutating func claimAtOnce() -> Claim? {
        if isClosed { return .closed }
        if let actor = idle.popLast() { return .connection(actor) }
        guard openCount < maximum else { return nil }
        openCount += 1
        return .opening
      }
    }

    // Continuations are resumed without the lock.
    private let state: Locked<State>

    init(maximum: Int) { state = Locked(State(maximum: maximum)) }

    var isClosed: Bool { state.withLock { $0.isClosed } }

    func claim(within limit: Duration) async -> Claim {
      if Task.isCancelled { return .cancelled }
      if let claim = state.withLock({ $0.claimAtOnce() }) { return claim }
      let number = state.withLock { state in
        state.lastNumber += 1
        return state.lastNumber
      }
      let alarm = Task { [weak self] in
        guard (try? await Task.sleep(for: limit)) != nil else { return }
        self?.end(number, with: .late)
      }
      defer { alarm.cancel() }
      return await withTaskCancellationHandler {
        await withCheckedContinuation { wait(Waiter(number: number, continuation: $0)) }
      } onCancel: {
        end(number, with: .cancelled)
      }
    }

    private func wait(_ waiter: Waiter) {
      let claim: Claim? = state.withLock { state in
        // A task cancelled before its waiter stands here would never be woken.
        if Task.isCancelled { return .cancelled }
        if let claim = state.claimAtOnce() { return claim }
        state.waiters.append(waiter)
        return nil
      }
      if let claim { waiter.continuation.resume(returning: claim) }
    }

    private func end(_ number: UInt64, with claim: Claim) {
      let waiter: Waiter? = state.withLock { state in
        guard let index = state.waiters.firstIndex(where: { $0.number == number }) else {
          return nil
        }
        return state.waiters.remove(at: index)
      }
      waiter?.continuation.resume(returning: claim)
    }

    /// Takes a connection back, or gives it to the visitor that has waited longest.
    func release(_ actor: PostgresActor) {
      let (waiter, isKept) = state.withLock { state -> (Waiter?, Bool) in
        if state.isClosed {
          state.openCount -= 1
          return (nil, false)
        }
        if !state.waiters.isEmpty { return (state.waiters.removeFirst(), true) }
        state.idle.append(actor)
        return (nil, true)
      }
      waiter?.continuation.resume(returning: .connection(actor))
      if !isKept { Task { await actor.close() } }
    }

    /// A connection is gone: a waiting visitor may open another one.
    func drop() {
      let waiter: Waiter? = state.withLock { state in
        if !state.isClosed, !state.waiters.isEmpty { return state.waiters.removeFirst() }
        state.openCount -= 1
        return nil
      }
      waiter?.continuation.resume(returning: .opening)
    }

    /// Turns waiting visitors away and closes idle connections; those in use are closed when they come
    /// back.
    func close() async {
      let (turnedAway, idle) = state.withLock { state in
        state.isClosed = true
        let found = (state.waiters, state.idle)
        state.openCount -= state.idle.count
        state.waiters.removeAll()
        state.idle.removeAll()
        return found
      }
      for waiter in turnedAway { waiter.continuation.resume(returning: .closed) }
      for actor in idle { await actor.close() }
    }
  }
#endif
