import FieldpackCore
import FieldpackField
import FieldpackFieldTestSupport
import Testing

@Suite struct FieldClockTests {
  private static func clock(at wall: Duration) -> FieldClock {
    FieldClock(wall: { wall }, uptime: { .zero }, sleep: { _ in })
  }

  @Test func `a moment is cut to the millisecond, and seconds to the microsecond`() {
    let clock = Self.clock(at: .seconds(1_714_978_230) + .nanoseconds(750_999_999))
    #expect(clock.now == Instant(milliseconds: 1_714_978_230_750))
    #expect(clock.unixSeconds == 1_714_978_230.750999)
  }

  @Test func `the system's clock tells the time of the day`() {
    let before = Instant.now
    let moment = FieldClock.system.now
    #expect(before <= moment && moment <= Instant.now)
    #expect(abs(FieldClock.system.unixSeconds - before.unixSeconds) < 3600)
  }

  @Test func `the system's clock sleeps until a moment, and not for one that is past`() async throws
  {
    let start = FieldClock.system.uptime
    try await FieldClock.system.sleep(for: .milliseconds(20))
    #expect(FieldClock.system.uptime - start >= .milliseconds(20))
    try await FieldClock.system.sleep(until: start - .seconds(3600))
  }

  @Test func `cancelling ends a sleep, however long`() async {
    let sleeping = Task {
      try await FieldClock.system.sleep(for: .bounded(seconds: .infinity))
    }
    sleeping.cancel()
    await #expect(throws: CancellationError.self) { try await sleeping.value }
  }

  @Test func `a clock that is advanced by hand wakes who is due`() async throws {
    let test = TestClock()
    let start = test.clock.uptime
    let woken = Locked<[Int]>([])
    let tasks = [30, 10, 20].map { seconds in
      Task {
        try await test.clock.sleep(until: start + .seconds(seconds))
        woken.withLock { $0.append(seconds) }
      }
    }
    await test.untilAsleep(3)
    test.advance(by: .seconds(15))
    try await tasks[1].value
    #expect(woken.withLock { $0 } == [10])
    test.advance(by: .seconds(15))
    for task in tasks { try await task.value }
    #expect(Set(woken.withLock { $0 }) == [10, 20, 30])
    #expect(test.clock.uptime - start == .seconds(30))
  }

  @Test func `cancelling wakes who sleeps by a clock that stands`() async {
    let test = TestClock()
    let sleeping = Task { try await test.clock.sleep(for: .seconds(1)) }
    await test.untilAsleep(1)
    sleeping.cancel()
    await #expect(throws: CancellationError.self) { try await sleeping.value }
    await #expect(throws: CancellationError.self) {
      try await Task {
        withUnsafeCurrentTask { $0?.cancel() }
        try await test.clock.sleep(for: .seconds(1))
      }.value
    }
  }

  @Test func `a clock that sleep moves waits for nobody`() async throws {
    let test = TestClock(.movedBySleep(late: .seconds(1)))
    try await test.clock.sleep(for: .seconds(5))
    try await test.clock.sleep(for: .seconds(7))
    #expect(test.sleeps == [.seconds(5), .seconds(7)])
    #expect(test.clock.uptime == .seconds(14) && test.clock.unixSeconds == 1014)
  }
}
