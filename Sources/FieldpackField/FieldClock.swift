public import FieldpackCore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The time of the day, the time that passes, and waiting, of the machine or of a test.
///
///     let start = clock.uptime
///     try await clock.sleep(until: start + .seconds(5))
public struct FieldClock: Sendable {
  private let wall: @Sendable () -> Duration
  private let monotonic: @Sendable () -> Duration
  private let wait: @Sendable (Duration) async throws -> Void

  /// - Parameters:
  ///   - wall: what has passed since 1970-01-01T00:00:00Z.
  ///   - uptime: what has passed since some moment; never less than before.
  ///   - sleep: comes back once `uptime` has reached what it is given; throws when its task is
  ///     cancelled.
  public init(
    wall: @escaping @Sendable () -> Duration, uptime: @escaping @Sendable () -> Duration,
    sleep: @escaping @Sendable (_ until: Duration) async throws -> Void
  ) {
    self.wall = wall
    monotonic = uptime
    wait = sleep
  }

  /// The clock of the machine. Its ``uptime`` stands while the machine sleeps.
  public static let system = FieldClock(
    wall: { read(CLOCK_REALTIME) }, uptime: { SuspendingClock.now - origin },
    sleep: { try await Task.sleep(until: origin.advanced(by: $0), clock: .suspending) })

  private static let origin = SuspendingClock.now

  private static func read(_ clock: clockid_t) -> Duration {
    var time = timespec()
    clock_gettime(clock, &time)
    return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
  }

  /// The moment that it is. Somebody may set the machine's clock, so that it goes back.
  public var now: Instant {
    Instant(milliseconds: 0).advanced(by: wall())
  }

  /// Seconds since 1970, to the microsecond.
  public var unixSeconds: Double {
    let (seconds, attoseconds) = wall().components
    return Double(seconds) + Double(attoseconds / 1_000_000_000_000) / 1e6
  }

  /// What has passed since some moment; never less than before.
  public var uptime: Duration { monotonic() }

  /// Waits until ``uptime`` is `moment`; one that is past is waited for no longer.
  ///
  /// - Throws: when the task is cancelled.
  public func sleep(until moment: Duration) async throws(CancellationError) {
    do { try await wait(moment) } catch { throw CancellationError() }
  }

  /// Waits for so long.
  ///
  /// - Throws: when the task is cancelled.
  public func sleep(for pause: Duration) async throws(CancellationError) {
    try await sleep(until: uptime + pause)
  }
}

extension Instant {
  /// The moment so much later, to the millisecond.
  package func advanced(by duration: Duration) -> Instant {
    let (seconds, attoseconds) = duration.components
    let later = seconds * 1000 + attoseconds / 1_000_000_000_000_000
    return Instant(milliseconds: milliseconds + later)
  }
}

extension Duration {
  /// So many seconds, but no longer than a clock can count, which is more than 30 years.
  package static func bounded(seconds: Double) -> Duration {
    let longest = 1e9
    return .seconds(min(max(seconds, -longest), longest))
  }

  package var inSeconds: Double { self / .seconds(1) }
}
