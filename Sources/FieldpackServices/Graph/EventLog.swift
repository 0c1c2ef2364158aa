import FieldpackCore
package import FieldpackField

/// What a subscriber of events gets.
public enum EventBatch<Event: Sendable>: Sendable {
  /// Events in the order in which they came, each once.
  case events([Event])
  /// So many events came that they were not kept for this subscriber. Those from this number on can be
  /// asked for again, as far back as they are kept for all.
  case missed(from: Int)
}

/// Events in their order, for any number of subscribers, each at its own pace.
///
/// A subscriber is woken at most once in an interval, and gets all that came meanwhile. Nobody waits
/// for a subscriber: one that is too far behind is told what it missed. Events are numbered from 0 on.
package final class EventLog<Event: Sendable>: Sendable {
  private struct State {
    /// The last events; the first of them has the number `first`.
    var kept: [Event] = []
    var first = 0
    var waiting: [Int: Signal] = [:]
    var lastSubscriber = 0
    var isWaking = false
    var isFinished = false

    var end: Int { first + kept.count }
  }

  private let state = Locked(State())
  /// How many events a subscriber may be behind.
  private let bound: Int
  /// How many events are kept for those who ask again.
  private let capacity: Int
  private let interval: Duration
  private let clock: FieldClock

  package init(
    bound: Int = 1024, capacity: Int = 8192, interval: Duration = .milliseconds(10),
    clock: FieldClock = .system
  ) {
    self.bound = bound
    self.capacity = max(capacity, bound)
    self.interval = interval
    self.clock = clock
  }

  deinit { finish() }

  package func send(_ event: Event) {
    let isFirst = state.withLock { state in
      guard !state.isFinished else { return false }
      state.kept.append(event)
      // Cut now and then, so that each event is moved once.
      if state.kept.count >= 2 * capacity {
        state.first += state.kept.count - capacity
        state.kept.removeFirst(state.kept.count - capacity)
      }
      guard !state.waiting.isEmpty, !state.isWaking else { return false }
      state.isWaking = true
      return true
    }
    guard isFirst else { return }
    Task { [self] in
      wake()
      try? await clock.sleep(for: interval)
      let isMore = state.withLock { state in
        state.isWaking = false
        return !state.waiting.isEmpty
      }
      // What came during the sleep woke nobody.
      if isMore { wake() }
    }
  }

  private func wake() {
    for signal in state.withLock({ Array($0.waiting.values) }) { signal.give() }
  }

  /// How many subscribe.
  package var subscriberCount: Int { state.withLock { $0.waiting.count } }

  /// Ends all subscriptions, once their subscribers have taken what is there.
  package func finish() {
    let waiting = state.withLock { state in
      state.isFinished = true
      return Array(state.waiting.values)
    }
    for signal in waiting { signal.finish() }
  }

  /// The events from now on, or from one that came before; see ``EventBatch``.
  package func batches(from number: Int? = nil) -> EventBatches<Event> {
    let signal = Signal()
    let (id, start, isFinished) = state.withLock { state in
      state.lastSubscriber += 1
      if !state.isFinished { state.waiting[state.lastSubscriber] = signal }
      return (state.lastSubscriber, min(number ?? state.end, state.end), state.isFinished)
    }
    // Looks once without being woken: for events of before.
    signal.give()
    if isFinished { signal.finish() }
    let ending = Ending { [weak self] in
      _ = self?.state.withLock { $0.waiting.removeValue(forKey: id) }
    }
    let cursor = Locked(start)
    return EventBatches(signal: signal, ending: ending) { [state, bound, isAsked = number != nil] in
      Self.take(state, cursor, bound, isAsked)
    }
  }

  /// - Parameter isAsked: whether the subscriber asked for events of before, which it may be behind by.
  private static func take(
    _ state: Locked<State>, _ cursor: Locked<Int>, _ bound: Int, _ isAsked: Bool
  ) -> EventBatch<Event>? {
    cursor.withLock { cursor in
      state.withLock { state in
        let behind = state.end - cursor
        guard behind > 0 else { return nil }
        let from = cursor
        if from < state.first || (behind > bound && !isAsked) {
          // The newest are kept for it, as many as it may be behind.
          cursor = isAsked ? state.first : state.end - min(bound, state.kept.count)
          return .missed(from: from)
        }
        cursor = state.end
        return .events(Array(state.kept[(from - state.first)...]))
      }
    }
  }
}

/// Runs a function when it goes.
private final class Ending: Sendable {
  private let body: @Sendable () -> Void
  init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  deinit { body() }
}

/// Events in batches, to be iterated once; see ``EventBatch``. It ends with what sends the events, or
/// with the task that iterates.
public struct EventBatches<Event: Sendable>: AsyncSequence, Sendable {
  public typealias Element = EventBatch<Event>
  public typealias Failure = Never

  private let signal: Signal
  private let ending: any Sendable
  private let take: @Sendable () -> EventBatch<Event>?

  fileprivate init(
    signal: Signal, ending: any Sendable, take: @escaping @Sendable () -> EventBatch<Event>?
  ) {
    (self.signal, self.ending, self.take) = (signal, ending, take)
  }

  public struct Iterator: AsyncIteratorProtocol {
    fileprivate var wakes: AsyncStream<Void>.Iterator
    fileprivate let batches: EventBatches

    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async -> EventBatch<Event>? {
      while true {
        if let batch = batches.take() { return batch }
        guard await wakes.next(isolation: actor) != nil else { return batches.take() }
      }
    }
  }

  public func makeAsyncIterator() -> Iterator {
    Iterator(wakes: signal.stream.makeAsyncIterator(), batches: self)
  }
}
