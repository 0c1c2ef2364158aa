import FieldpackCore

/// Hands each value to all who have subscribed, in the same order to all.
///
/// A subscriber takes values at its own pace, out of a buffer of its own; nobody waits for it. A full
/// buffer loses its oldest value for each new one, and the subscription counts those.
package final class Broadcast<Element: Sendable>: Sendable {
  private struct Entry {
    let subscriber: Subscriber<Element>
    let wants: @Sendable (Element) -> Bool
  }

  private struct State {
    var entries: [Int: Entry] = [:]
    var last = 0
    var present: Element?
    var isFinished = false
  }

  private let capacity: Int
  private let state: Locked<State>

  /// - Parameters:
  ///   - capacity: how many values are kept for a subscriber.
  ///   - present: the value that each subscriber gets first, until another one is sent.
  package init(capacity: Int, present: Element? = nil) {
    self.capacity = capacity
    state = Locked(State(present: present))
  }

  deinit { finish() }

  package var isFinished: Bool { state.withLock { $0.isFinished } }

  /// Begins a subscription: to the present value, where there is one, and to those that are sent from
  /// now on, until ``finish()`` or the end of the task that takes them.
  ///
  /// - Parameters:
  ///   - wants: whether the subscriber gets a value.
  ///   - begin: gets the end that values are put into, for what only this subscriber is told; the
  ///     function that it gives is called at the end of the subscription.
  package func subscribe(
    wants: @escaping @Sendable (Element) -> Bool = { _ in true },
    begin: (Subscriber<Element>) -> (@Sendable () -> Void)? = { _ in nil }
  ) -> Subscription<Element> {
    let (stream, continuation) = AsyncStream.makeStream(
      of: Element.self, bufferingPolicy: .bufferingNewest(capacity))
    let subscriber = Subscriber(continuation: continuation, lost: Locked(0))
    let onEnd = begin(subscriber)
    let number = state.withLock { state in
      state.last += 1
      return state.last
    }
    continuation.onTermination = { [state] _ in
      onEnd?()
      // Dropped after the lock is given back: what goes may end a stream, which comes here again.
      _ = state.withLock { $0.entries.removeValue(forKey: number) }
    }
    let isFinished = state.withLock { state in
      // In the lock, so that the present value comes before all others.
      if let present = state.present { subscriber.send(present) }
      if !state.isFinished { state.entries[number] = Entry(subscriber: subscriber, wants: wants) }
      return state.isFinished
    }
    if isFinished { subscriber.finish() }
    return Subscription(stream: stream, lost: subscriber.lost)
  }

  package func send(_ value: Element) { send(CollectionOfOne(value)) }

  /// Sends values, one after the other.
  ///
  /// - Parameter untold: how many more there are that nobody is told of: they count as lost for those
  ///   who want the first value.
  package func send(_ values: some Collection<Element>, untold: Int = 0) {
    guard let first = values.first else { return }
    state.withLock { state in
      if state.present != nil { state.present = values.reduce(first) { $1 } }
      for entry in state.entries.values {
        if untold > 0, entry.wants(first) { entry.subscriber.lose(untold) }
        for value in values where entry.wants(value) { entry.subscriber.send(value) }
      }
    }
  }

  /// Whether anybody has subscribed.
  package var hasSubscribers: Bool { state.withLock { !$0.entries.isEmpty } }

  /// Ends all subscriptions, once their subscribers have taken what is kept for them.
  package func finish() {
    let entries = state.withLock { state in
      state.isFinished = true
      return Array(state.entries.values)
    }
    for entry in entries { entry.subscriber.finish() }
  }
}

/// The end of a subscription that values are put into.
package struct Subscriber<Element: Sendable>: Sendable {
  fileprivate let continuation: AsyncStream<Element>.Continuation
  fileprivate let lost: Locked<Int>

  package func send(_ value: Element) {
    if case .dropped = continuation.yield(value) { lose(1) }
  }

  fileprivate func lose(_ count: Int) { lost.withLock { $0 += count } }

  package func finish() { continuation.finish() }
}

/// The end of a subscription that values are taken from.
package struct Subscription<Element: Sendable>: Sendable {
  package let stream: AsyncStream<Element>
  fileprivate let lost: Locked<Int>

  /// How many values were lost since this was asked last.
  package func takeLost() -> Int {
    lost.withLock { lost in
      defer { lost = 0 }
      return lost
    }
  }
}

/// Wakes one task that waits; a wake that nobody waits for is kept, once.
package struct Signal: Sendable {
  package let stream: AsyncStream<Void>
  private let continuation: AsyncStream<Void>.Continuation

  package init() {
    (stream, continuation) = AsyncStream.makeStream(
      of: Void.self, bufferingPolicy: .bufferingNewest(1))
  }

  package func give() { continuation.yield() }

  package func finish() { continuation.finish() }
}
