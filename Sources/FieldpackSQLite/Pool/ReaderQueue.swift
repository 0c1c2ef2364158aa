/// The readers of a pool at rest, and those who wait for one.
final class ReaderQueue<Session>: @unchecked Sendable {
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

  // Everything below is guarded by `lock`; continuations are resumed outside of it.
  private let lock = PlatformLock()
  private let maximum: Int
  private var idle: [ConnectionActor<Session>] = []
  private var placesTaken = 0
  private var waiters: [Waiter] = []
  private var lastNumber: UInt64 = 0
  private var isClosed = false
  private var closers: [CheckedContinuation<Void, Never>] = []

  init(maximum: Int) {
    self.maximum = maximum
  }

  func claim() async -> Claim {
    if let claim = lock.withLock({ claimAtOnce() }) { return claim }
    let number = lock.withLock {
      lastNumber += 1
      return lastNumber
    }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { wait(Waiter(number: number, continuation: $0)) }
    } onCancel: {
      cancel(number)
    }
  }

  /// A reader or a place that nobody will miss: fewer than half are out, and nobody waits.
  func claimSpare() -> Claim? {
    lock.withLock {
      guard waiters.isEmpty, placesTaken - idle.count < maximum / 2 else { return nil }
      return claimAtOnce()
    }
  }

  func release(_ reader: ConnectionActor<Session>) {
    // By itself, because the metadata of continuations takes long to make and is seldom needed.
    let isKept = lock.withLock {
      guard waiters.isEmpty, closers.isEmpty else { return false }
      idle.append(reader)
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
    let turnedAway = lock.withLock {
      isClosed = true
      defer { waiters.removeAll() }
      return waiters
    }
    for waiter in turnedAway { waiter.continuation.resume(returning: .closed) }
    await withCheckedContinuation { continuation in
      let isReady = lock.withLock {
        if idle.count < placesTaken { closers.append(continuation) }
        return idle.count >= placesTaken
      }
      if isReady { continuation.resume() }
    }
    return lock.withLock {
      defer {
        idle.removeAll()
        placesTaken = 0
      }
      return idle
    }
  }

  private func claimAtOnce() -> Claim? {
    if isClosed { return .closed }
    if let reader = idle.popLast() { return .reader(reader) }
    guard placesTaken < maximum else { return nil }
    placesTaken += 1
    return .place
  }

  private func wait(_ waiter: Waiter) {
    let claim: Claim? = lock.withLock {
      // Cancelled before it came here: nobody else would wake it.
      if Task.isCancelled { return .cancelled }
      if let claim = claimAtOnce() { return claim }
      waiters.append(waiter)
      return nil
    }
    if let claim { waiter.continuation.resume(returning: claim) }
  }

  private func cancel(_ number: UInt64) {
    let waiter: Waiter? = lock.withLock {
      guard let index = waiters.firstIndex(where: { $0.number == number }) else { return nil }
      return waiters.remove(at: index)
    }
    waiter?.continuation.resume(returning: .cancelled)
  }

  /// Gives a reader or a place to who has waited longest, or takes it back.
  private func hand(_ claim: Claim) {
    let (waiter, ready) = lock.withLock { () -> (Waiter?, [CheckedContinuation<Void, Never>]) in
      if !waiters.isEmpty { return (waiters.removeFirst(), []) }
      if case .reader(let reader) = claim { idle.append(reader) } else { placesTaken -= 1 }
      guard idle.count >= placesTaken else { return (nil, []) }
      defer { closers.removeAll() }
      return (nil, closers)
    }
    waiter?.continuation.resume(returning: claim)
    for closer in ready { closer.resume() }
  }
}
