import FieldpackCore
import FieldpackField
import FieldpackFieldTestSupport
import FieldpackMotion
import FieldpackTestSupport
import Testing

@Suite struct MotionPauseTests {
  private static func reading(_ number: Int) -> MotionReading {
    MotionReading(acceleration: .init(x: 0, y: 0, z: Double(number)))
  }

  /// What the clock does while the program samples: it is set by so much, or the program is stopped
  /// for so long.
  @Test(arguments: [(0.0, 0.0, 20), (3600, 0, 20), (-3600, 0, 20), (0, 3600, 19)])
  func `sampling goes on at its pace whatever the clock is set to`(
    set: Double, stopped: Double, waits: Int
  ) async throws {
    let loopback = try LoopbackServer { _ in .text(200, "s") }
    let time = TestClock(.movedBySleep())
    let client = try MotionClient(
      MotionServer(loopback.address), device: MadeMotion.device(1), clock: time.clock)
    let source = MotionGenerator { number in
      if number == 10 {
        time.set(by: .seconds(set))
        time.advance(by: .seconds(stopped))
      }
      return number < 20 ? Self.reading(number) : nil
    }
    let report = try await client.run(source)
    #expect(report.readings == 20 && report.sent == 4)
    let waited = time.sleeps.map { ($0.inSeconds * 1000).rounded() }
    #expect(waited == Array(repeating: 20, count: waits))
  }

  @Test(.timeLimit(.minutes(10)))
  func `a client that was cancelled runs again`() async throws {
    let server = IngestServer()
    let loopback = try LoopbackServer { server.answer($0) }
    let client = try MotionClient(
      MotionServer(loopback.address), device: MadeMotion.device(1),
      clock: TestClock(.movedBySleep()).clock)
    let first = Task { try await client.run(Stuck()) }
    while await client.report.starts == 0 { try await Task.sleep(for: .milliseconds(5)) }
    first.cancel()
    await #expect(throws: FieldpackError.self) { try await first.value }
    let report = try await client.run(MotionReplay((0..<500).map { Self.reading($0) }))
    #expect(report.sent == 100 && report.lost == 0)
    #expect(server.readings(of: "s1").map { $0[.az] } == (0..<500).map { Double($0) })
  }

  @Test(arguments: [false, true])
  func `a batch that waits is not sent while posting is paused`(isLive: Bool) async throws {
    let server = IngestServer([nil, 503])
    let loopback = try LoopbackServer { server.answer($0) }
    let (isWaiting, goesOn) = (Locked(false), Locked(false))
    let clock = FieldClock(
      wall: { .seconds(1000) }, uptime: { .zero },
      sleep: { end in
        guard end >= .milliseconds(250) else { return }
        isWaiting.withLock { $0 = true }
        while !goesOn.withLock({ $0 }) { try await Task.sleep(for: .milliseconds(1)) }
      })
    var options = MotionClient.Options()
    options.unsentLimit = 1
    let client = try MotionClient(
      MotionServer(loopback.address), device: MadeMotion.device(1), options: options, clock: clock)
    let source = Stepping(isLive: isLive) { number in
      guard number >= 5 else { return Self.reading(number) }
      if number == 5 {
        // The first batch has failed once, and is about to be sent again.
        while !isWaiting.withLock({ $0 }) { try? await Task.sleep(for: .milliseconds(1)) }
        await client.setShouldPostData(false)
        goesOn.withLock { $0 = true }
        try? await Task.sleep(for: .milliseconds(50))
      }
      return number < 10 ? Self.reading(number) : nil
    }
    let run = Task { try await client.run(source) }
    while await client.report.readings < 10 { try await Task.sleep(for: .milliseconds(1)) }
    #expect(server.seen == ["start", "s1 0"])
    if !isLive { await client.setShouldPostData(true) }
    let report = try await run.value
    #expect(report.sent == (isLive ? 0 : 1) && report.lost == (isLive ? 2 : 1))
    #expect(server.seen == ["start", "s1 0"] + (isLive ? [] : ["s1 0"]))
  }
}

/// A source that gives nothing until its task is cancelled.
private struct Stuck: MotionSource {
  let isLive = true

  func next() async throws(FieldpackError) -> MotionReading? {
    try? await Task.sleep(for: .seconds(3600))
    throw FieldpackError(.interrupted, "stopped")
  }
}

/// Readings that a function makes, in its time.
private final class Stepping: MotionSource {
  let isLive: Bool
  private let given = Locked(0)
  private let make: @Sendable (Int) async -> MotionReading?

  init(isLive: Bool, make: @escaping @Sendable (Int) async -> MotionReading?) {
    self.isLive = isLive
    self.make = make
  }

  func next() async throws(FieldpackError) -> MotionReading? {
    await make(
      given.withLock { given in
        defer { given += 1 }
        return given
      })
  }
}
