import FieldpackThreads

/// A connection that a ``ReaderQueue`` lends.
protocol QueuedReader: AnyObject, Sendable {}

/// The idle readers of a pool, and the visitors that wait for one.
///
/// The queue is not generic, because a visitor of a generic one spends more time on finding out its types than
/// on taking a reader.
final class ReaderQueue: Sendable {
  /// The answer to a visitor that asks for a reader.
  enum Claim: Sendable {
    case reader(any QueuedReader)
    /// The visitor may open one more reader.
    case opening
    case cancelled
    case closed
  }

  private struct Waiter {
    let number: UInt64
    let continuation: CheckedContinuation<Claim, Never>
  }

  private struct State {
    let maximum: Int
    /// The reader that was released last comes last, and is taken first.
    var idle: [any QueuedReader] = []
    /// So many readers at the front of `idle` have not been taken since ``ReaderQueue/takeUnused(keeping:)``.
    var unused = 0
    var openCount = 0
    var waiters: [Waiter] = []
    var lastNumber: UInt64 = 0
    var isClosed = false
    var closers: [CheckedContinuation<Void, Never>] = []

    mutating func claimAtOnce() -> Claim? {
      if isClosed { return .closed }
      if let reader = takeIdle() { return .reader(reader) }
      guard openCount < maximum else { return nil }
      openCount += 1
      return .opening
    }

    mutating func takeIdle() -> (any QueuedReader)? {
      defer { unused = min(unused, idle.count) }
      return idle.popLast()
    }
  }

  // Continuations are resumed without the lock.
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

  /// A reader, or the right to open one, where fewer than half are in use and nobody waits.
  func claimSpare() -> Claim? {
    state.withLock { state in
      guard state.waiters.isEmpty, state.openCount - state.idle.count < state.maximum / 2 else {
        return nil
      }
      return state.claimAtOnce()
    }
  }

  /// An idle reader; `nil` where there is none.
  func claimIdle() -> (any QueuedReader)? {
    state.withLock { state in state.isClosed ? nil : state.takeIdle() }
  }

  func release(_ reader: any QueuedReader) {
    // The usual case comes first: the other one makes the metadata of continuations, which takes long.
    let isKept = state.withLock { state in
      guard state.waiters.isEmpty, state.closers.isEmpty else { return false }
      state.idle.append(reader)
      return true
    }
    if !isKept { hand(.reader(reader)) }
  }

  /// Gives the right to open a reader to another visitor, after an opening that failed.
  func giveUpOpening() {
    hand(.opening)
  }

  /// Gives the readers that have been idle since the last call, all but `count` of them. They do not belong to
  /// the queue any more.
  func takeUnused(keeping count: Int) -> [any QueuedReader] {
    state.withLock { state in
      defer { state.unused = state.idle.count }
      let taken = Array(state.idle.prefix(max(0, state.unused - count)))
      state.idle.removeFirst(taken.count)
      state.openCount -= taken.count
      return taken
    }
  }

  /// Turns away all waiting visitors, waits for the readers in use, and gives all readers.
  func close() async -> [any QueuedReader] {
    let turnedAway = state.withLock { state in
      state.isClosed = true
      defer { state.waiters.removeAll() }
      return state.waiters
    }
    for waiter in turnedAway { waiter.continuation.resume(returning: .closed) }
    await withCheckedContinuation { continuation in
      let isReady = state.withLock { state in
        if state.idle.count < state.openCount { state.closers.append(continuation) }
        return state.idle.count >= state.openCount
      }
      if isReady { continuation.resume() }
    }
    return state.withLock { state in
      defer {
        state.idle.removeAll()
        state.openCount = 0
      }
      return state.idle
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

  private func cancel(_ number: UInt64) {
    let waiter: Waiter? = state.withLock { state in
      guard let index = state.waiters.firstIndex(where: { $0.number == number }) else { return nil }
      return state.waiters.remove(at: index)
    }
    waiter?.continuation.resume(returning: .cancelled)
  }

  /// Gives a reader, or the right to open one, to the visitor that has waited longest; takes it
  /// back where nobody waits.
  private func hand(_ claim: Claim) {
    let (waiter, ready) = state.withLock { state -> (Waiter?, [CheckedContinuation<Void, Never>]) in
      if !state.waiters.isEmpty { return (state.waiters.removeFirst(), []) }
      if case .reader(let reader) = claim {
        state.idle.append(reader)
      } else {
        state.openCount -= 1
      }
      guard state.idle.count >= state.openCount else { return (nil, []) }
      defer { state.closers.removeAll() }
      return (nil, state.closers)
    }
    waiter?.continuation.resume(returning: claim)
    for closer in ready { closer.resume() }
  }
}
