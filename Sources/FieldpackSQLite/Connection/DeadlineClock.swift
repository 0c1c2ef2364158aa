#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// What tells the time for the deadlines of connections: the system, the processor, or a test, whose time
/// goes on as it likes.
package final class DeadlineClock: Sendable, Hashable {
  package static let system = DeadlineClock { .now }

  /// Goes on while a processor works for the thread that asks. Deadlines by it are for work that one
  /// thread begins and ends, such as the views of a file.
  ///
  /// A machine that sleeps, a program that is stopped and a slow disk do not bring a deadline nearer.
  package static let thread = DeadlineClock {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return origin + .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
  }

  private static let origin = ContinuousClock.now

  private let time: @Sendable () -> ContinuousClock.Instant

  package init(_ time: @escaping @Sendable () -> ContinuousClock.Instant) { self.time = time }

  package var now: ContinuousClock.Instant { time() }

  package static func == (a: DeadlineClock, b: DeadlineClock) -> Bool { a === b }

  package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
