/// The idle readers of a pool, and the visitors that wait for one.
final class ReaderQueue<Session>: @unchecked Sendable {
  /// The answer to a visitor that asks for a reader.
  enum Claim: Sendable {
    case reader(ConnectionActor<Session>)
    /// The visitor may open one more reader.
    case opening
    case cancelled
    case closed
  }

  private struct Waiter {
    let number: UInt64
    let continuation: CheckedContinuation<Claim, Never>
  }

  // `lock` guards all that follows; continuations are resumed without the lock.
  private let lock = PlatformLock()
  private let maximum: Int
  private var idle: [ConnectionActor<Session>] = []
  private var openCount = 0
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

  /// A reader, or the right to open one, where fewer than half are in use and nobody waits.
  func claimSpare() -> Claim? {
    lock.withLock {
      guard waiters.isEmpty, openCount - idle.count < maximum / 2 else { return nil }
      return claimAtOnce()
    }
  }

  func release(_ reader: ConnectionActor<Session>) {
    // The usual case comes first: the other one makes the metadata of continuations, which takes
    // long.
    let isKept = lock.withLock {
      guard waiters.isEmpty, closers.isEmpty else { return false }
      idle.append(reader)
      return true
    }
    if !isKept { hand(.reader(reader)) }
  }

  /// Gives the right to open a reader to another visitor, after an opening that failed.
  func giveUpOpening() {
    hand(.opening)
  }

  /// Turns away all waiting visitors, waits for the readers in use, and gives all readers.
  func close() async -> [ConnectionActor<Session>] {
    let turnedAway = lock.withLock {
      isClosed = true
      defer { waiters.removeAll() }
      return waiters
    }
    for waiter in turnedAway { waiter.continuation.resume(returning: .closed) }
    await withCheckedContinuation { continuation in
      let isReady = lock.withLock {
        if idle.count < openCount { closers.append(continuation) }
        return idle.count >= openCount
      }
      if isReady { continuation.resume() }
    }
    return lock.withLock {
      defer {
        idle.removeAll()
        openCount = 0
      }
      return idle
    }
  }

  private func claimAtOnce() -> Claim? {
    if isClosed { return .closed }
    if let reader = idle.popLast() { return .reader(reader) }
    guard openCount < maximum else { return nil }
    openCount += 1
    return .opening
  }

  private func wait(_ waiter: Waiter) {
    let claim: Claim? = lock.withLock {
      // A task cancelled before its waiter stands here would never be woken.
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

  /// Gives a reader, or the right to open one, to the visitor that has waited longest; takes it
  /// back where nobody waits.
  private func hand(_ claim: Claim) {
    let (waiter, ready) = lock.withLock { () -> (Waiter?, [CheckedContinuation<Void, Never>]) in
      if !waiters.isEmpty { return (waiters.removeFirst(), []) }
      if case .reader(let reader) = claim { idle.append(reader) } else { openCount -= 1 }
      guard idle.count >= openCount else { return (nil, []) }
      defer { closers.removeAll() }
      return (nil, closers)
    }
    waiter?.continuation.resume(returning: claim)
    for closer in ready { closer.resume() }
  }
}
