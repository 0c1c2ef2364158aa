package import FieldpackCore
package import FieldpackField

/// A clock that stands until it is moved: by hand, or by who sleeps.
package final class TestClock: Sendable {
  package enum Motion: Sendable {
    case byHand
    /// Whoever sleeps moves the clock to the end of the sleep, or so much later, and does not wait.
    case movedBySleep(late: Duration = .zero)
  }

  private struct Sleeper {
    var end: Duration
    var continuation: CheckedContinuation<Void, any Error>
  }

  private struct State {
    var wall: Duration
    var uptime = Duration.zero
    var sleeps: [Duration] = []
    var sleepers: [Int: Sleeper] = [:]
    var last = 0

    mutating func advance(by duration: Duration) {
      wall += duration
      uptime += duration
    }
  }

  private let motion: Motion
  private let state: Locked<State>

  package init(_ motion: Motion = .byHand, at moment: Instant = Instant(milliseconds: 1_000_000)) {
    self.motion = motion
    state = Locked(State(wall: .milliseconds(moment.milliseconds)))
  }

  package var clock: FieldClock {
    FieldClock(
      wall: { self.state.withLock { $0.wall } }, uptime: { self.state.withLock { $0.uptime } },
      sleep: { try await self.sleep(until: $0) })
  }

  /// How long each sleep was to take, in order.
  package var sleeps: [Duration] { state.withLock { $0.sleeps } }

  /// Lets so much time pass.
  package func advance(by duration: Duration) {
    let due = state.withLock { state in
      state.advance(by: duration)
      let due = state.sleepers.filter { $0.value.end <= state.uptime }
      for number in due.keys { state.sleepers[number] = nil }
      return due.values.sorted { $0.end < $1.end }
    }
    for sleeper in due { sleeper.continuation.resume() }
  }

  /// Sets the time of the day, as a user does.
  package func set(by duration: Duration) { state.withLock { $0.wall += duration } }

  /// Waits until so many tasks sleep.
  package func untilAsleep(_ count: Int) async {
    while state.withLock({ $0.sleepers.count < count }) { await Task.yield() }
  }

  private func sleep(until end: Duration) async throws {
    let number = state.withLock { state in
      state.last += 1
      state.sleeps.append(end - state.uptime)
      if case .movedBySleep(let late) = motion {
        state.advance(by: max(.zero, end - state.uptime) + late)
      }
      return state.last
    }
    await Task.yield()
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let isDue = state.withLock { state in
          if state.uptime < end, !Task.isCancelled {
            state.sleepers[number] = Sleeper(end: end, continuation: continuation)
            return false
          }
          return true
        }
        if isDue { continuation.resume() }
      }
      try Task.checkCancellation()
    } onCancel: {
      state.withLock { $0.sleepers.removeValue(forKey: number) }?.continuation
        .resume(throwing: CancellationError())
    }
  }
}
