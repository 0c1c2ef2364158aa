import FieldpackCore
import FieldpackField
import FieldpackServices

/// What a broker sent and nobody has taken so far, within limits: of more the oldest messages are
/// dropped and counted.
final class MQTTInbox: Sendable {
  private struct State {
    var events: [BrokerEvent] = []
    /// The first of `events` that nobody has taken.
    var first = 0
    var bytes = 0
    var missed = 0
    var isFinished = false
  }

  private let state = Locked(State())
  private let signal = Signal()
  private let maximumCount: Int
  private let maximumBytes: Int

  init(maximumCount: Int, maximumBytes: Int) {
    (self.maximumCount, self.maximumBytes) = (maximumCount, maximumBytes)
  }

  /// The events in their order, each once.
  var stream: AsyncStream<BrokerEvent> { AsyncStream { await self.next() } }

  func put(_ event: BrokerEvent) {
    state.withLock { state in
      guard !state.isFinished else { return }
      state.events.append(event)
      state.bytes += event.size
      let isFull =
        state.events.count - state.first > maximumCount || state.bytes > maximumBytes
      if isFull { makeRoom(in: &state) }
    }
    signal.give()
  }

  func finish() {
    state.withLock { $0.isFinished = true }
    signal.finish()
  }

  /// Drops the older half of what waits, so that each message is moved once, on the whole; what is
  /// told of the connection stays.
  private func makeRoom(in state: inout State) {
    var kept: [BrokerEvent] = []
    var waiting = state.events.count - state.first
    for event in state.events[state.first...] {
      let isTooMuch = waiting > maximumCount / 2 || state.bytes > maximumBytes / 2
      waiting -= 1
      if isTooMuch, case .message = event {
        state.bytes -= event.size
        state.missed += 1
      } else {
        kept.append(event)
      }
    }
    (state.events, state.first) = (kept, 0)
  }

  private func next() async -> BrokerEvent? {
    var wakes = signal.stream.makeAsyncIterator()
    while true {
      let (event, isFinished) = state.withLock { (take(from: &$0), $0.isFinished) }
      if let event { return event }
      if isFinished { return nil }
      // `nil` also where the task is cancelled.
      guard await wakes.next(isolation: nil) != nil || !Task.isCancelled else { return nil }
    }
  }

  private func take(from state: inout State) -> BrokerEvent? {
    if state.missed > 0 {
      defer { state.missed = 0 }
      return .missed(state.missed)
    }
    guard state.first < state.events.count else { return nil }
    let event = state.events[state.first]
    state.bytes -= event.size
    state.first += 1
    if state.first == state.events.count || state.first > maximumCount {
      state.events.removeFirst(state.first)
      state.first = 0
    }
    return event
  }
}

extension BrokerEvent {
  /// In bytes.
  fileprivate var size: Int {
    if case .message(let message) = self {
      message.bytes.count + message.topic.utf8.count
    } else {
      0
    }
  }
}
