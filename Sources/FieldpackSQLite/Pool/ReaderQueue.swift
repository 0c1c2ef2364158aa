import FieldpackThreads

/// The readers of a pool at rest, and those who wait for one.
final class ReaderQueue<Session>: Sendable {
  /// What someone who asks for a reader gets.
  enum Claim: Sendable {
    case reader(ConnectionActor<Session>)
    /// The right to open one more.
    case place
    case cancelled
    case closed
  }

  private struct Waiter {
    let number: UInt64
    let continuation: CheckedContinuation<Claim, Never>
  }

  private struct State {
    let maximum: Int
    var idle: [ConnectionActor<Session>] = []
    var placesTaken = 0
    var waiters: [Waiter] = []
    var lastNumber: UInt64 = 0
    var isClosed = false
    var closers: [CheckedContinuation<Void, Never>] = []

    mutating func claimAtOnce() -> Claim? {
      if isClosed { return .closed }
      if let reader = idle.popLast() { return .reader(reader) }
      guard placesTaken < maximum else { return nil }
      placesTaken += 1
      return .place
    }
  }

  // Continuations are resumed outside of the lock.
  private let state: Locked<State>

  init(maximum: Int) {
    state = Locked(State(maximum: maximum))
  }

  func claim() async -> Claim {
    if let claim = state.withLock({ $0.claimAtOnce() }) { return claim }
    let number = state.withLock { state in
      state.lastNumber += 1
      return state.lastNumber
    }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { wait(Waiter(number: number, continuation: $0)) }
    } onCancel: {
      cancel(number)
    }
  }

  /// A reader or a place that nobody will miss: fewer than half are out, and nobody waits.
  func claimSpare() -> Claim? {
    state.withLock { state in
      guard state.waiters.isEmpty, state.placesTaken - state.idle.count < state.maximum / 2 else {
        return nil
      }
      return state.claimAtOnce()
    }
  }

  func release(_ reader: ConnectionActor<Session>) {
    // By itself, because the metadata of continuations takes long to make and is seldom needed.
    let isKept = state.withLock { state in
      guard state.waiters.isEmpty, state.closers.isEmpty else { return false }
      state.idle.append(reader)
      return true
    }
    if !isKept { hand(.reader(reader)) }
  }

  /// The reader could not be opened: somebody else may try.
  func giveUpPlace() {
    hand(.place)
  }

  /// Turns away whoever waits, waits for the readers that are out and hands over all of them.
  func close() async -> [ConnectionActor<Session>] {
    let turnedAway = state.withLock { state in
      state.isClosed = true
      defer { state.waiters.removeAll() }
      return state.waiters
    }
    for waiter in turnedAway { waiter.continuation.resume(returning: .closed) }
    await withCheckedContinuation { continuation in
      let isReady = state.withLock { state in
        if state.idle.count < state.placesTaken { state.closers.append(continuation) }
        return state.idle.count >= state.placesTaken
      }
      if isReady { continuation.resume() }
    }
    return state.withLock { state in
      defer {
        state.idle.removeAll()
        state.placesTaken = 0
      }
      return state.idle
    }
  }

  private func wait(_ waiter: Waiter) {
    let claim: Claim? = state.withLock { state in
      // Cancelled before it came here: nobody else would wake it.
      if Task.isCancelled { return .cancelled }
      if let claim = state.claimAtOnce() { return claim }
      state.waiters.append(waiter)
      return nil
    }
    if let claim { waiter.continuation.resume(returning: claim) }
  }

  private func cancel(_ number: UInt64) {
    let waiter: Waiter? = state.withLock { state in
      guard let index = state.waiters.firstIndex(where: { $0.number == number }) else { return nil }
      return state.waiters.remove(at: index)
    }
    waiter?.continuation.resume(returning: .cancelled)
  }

  /// Gives a reader or a place to who has waited longest, or takes it back.
  private func hand(_ claim: Claim) {
    let (waiter, ready) = state.withLock { state -> (Waiter?, [CheckedContinuation<Void, Never>]) in
      if !state.waiters.isEmpty { return (state.waiters.removeFirst(), []) }
      if case .reader(let reader) = claim {
        state.idle.append(reader)
      } else {
        state.placesTaken -= 1
      }
      guard state.idle.count >= state.placesTaken else { return (nil, []) }
      defer { state.closers.removeAll() }
      return (nil, state.closers)
    }
    waiter?.continuation.resume(returning: claim)
    for closer in ready { closer.resume() }
  }
}
