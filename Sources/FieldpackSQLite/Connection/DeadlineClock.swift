/// What tells the time for the deadlines of connections: the system, or a test, whose time goes on as it
/// likes.
package final class DeadlineClock: Sendable, Hashable {
  package static let system = DeadlineClock { .now }

  private let time: @Sendable () -> ContinuousClock.Instant

  package init(_ time: @escaping @Sendable () -> ContinuousClock.Instant) { self.time = time }

  package var now: ContinuousClock.Instant { time() }

  package static func == (a: DeadlineClock, b: DeadlineClock) -> Bool { a === b }

  package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
