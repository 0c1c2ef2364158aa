import FieldpackCore
import FieldpackField
import FieldpackFieldTestSupport
import FieldpackHTTP
import FieldpackMotion
import FieldpackTestSupport
import Testing

@Suite struct MotionClientTests {
  private static let device = MadeMotion.device(1)

  private static func rising(_ count: Int) -> [MotionReading] {
    (0..<count).map { MotionReading(acceleration: .init(x: 0, y: 0, z: Double($0))) }
  }

  private static func address(_ server: LoopbackServer) throws -> MotionServer {
    try MotionServer(server.address + "/motion", headers: ["X-Key": "k"])
  }

  @Test func `a session is started and readings are posted in batches of five`() async throws {
    let server = IngestServer()
    let loopback = try LoopbackServer { server.answer($0) }
    let client = try MotionClient(
      try Self.address(loopback), device: Self.device, clock: TestClock(.movedBySleep()).clock)
    let readings = (0..<12).map { MadeMotion.reading(1, $0) }
    let report = try await client.run(MotionReplay(readings))
    #expect(report.readings == 12 && report.sent == 3 && report.lost == 0 && report.starts == 1)
    #expect(server.readings(of: "s1") == readings)
    #expect(await client.latest == Array(readings[10...]))
    #expect(await client.rotation == readings[10...].compactMap(\.rotation))
    #expect(await client.serverData == Array("taken".utf8))
    let requests = loopback.requests
    #expect(requests.map(\.method) == ["POST", "POST", "POST", "POST"])
    #expect(requests.allSatisfy { $0.target == "/motion" && $0["X-Key"] == "k" })
    #expect(requests.allSatisfy { $0["Content-Type"] == "application/json" })
    guard case .start(let start)? = server.bodies.withLock({ $0.first }) else {
      Issue.record("no start")
      return
    }
    #expect(start.device == Self.device && 1000..<1001 ~= start.timestamp)
  }

  /// Samples with times of their own.
  private struct TimedSamples: TimedMotionSource {
    let samples: Locked<[MotionSample]>
    let isLive = false

    init(_ times: [Double]) {
      samples = Locked(
        times.map {
          MotionSample(time: $0, reading: MotionReading(acceleration: .init(x: 0, y: 0, z: $0)))
        })
    }

    func nextSample() async throws(FieldpackError) -> MotionSample? {
      samples.withLock { $0.isEmpty ? nil : $0.removeFirst() }
    }
  }

  private static let paces: [(times: [Double], batches: [Int])] = [
    // 100 Hz, exact and with some jitter.
    ((0..<20).map { Double($0) / 100 }, [5, 5, 5, 5]),
    ((0..<20).map { Double($0) / 100 + ($0 % 3 == 1 ? 0.004 : 0) }, [5, 5, 5, 5]),
    // 10 Hz is known after a gap.
    ((0..<11).map { Double($0) / 10 }, [1, 5, 5]),
    // A pause, and a clock that was set back.
    ([0, 0.02, 0.04, 9, 9.02, 9.04, 9.06, 9.08, 1, 1.02], [3, 5, 2]),
  ]

  @Test(arguments: paces)
  func `samples with times are posted at the interval that is measured`(
    times: [Double], batches: [Int]
  ) async throws {
    let server = IngestServer()
    let loopback = try LoopbackServer { server.answer($0) }
    let client = try MotionClient(
      try Self.address(loopback), device: Self.device, clock: TestClock(.movedBySleep()).clock)
    let report = try await client.run(TimedSamples(times))
    #expect(report.readings == times.count && report.lost == 0)
    let sizes = server.bodies.withLock { bodies in
      bodies.compactMap { if case .data(let data) = $0 { data.readings.count } else { nil } }
    }
    #expect(sizes == batches)
  }

  @Test func `faults give their waits, starts and callbacks in order`() async throws {
    let server = IngestServer([503, 503, 503, nil, nil, 401, nil, nil, 500])
    let loopback = try LoopbackServer { server.answer($0) }
    let pauses = Locked<[Double]>([])
    let client = try MotionClient(
      try Self.address(loopback), device: Self.device, options: .noting(pauses),
      clock: TestClock(.movedBySleep()).clock)
    let calls = Locked<[Bool]>([])
    await client.setOnServerActiveChange { isActive in calls.withLock { $0.append(isActive) } }
    var changes = client.serverActiveChanges().makeAsyncIterator()
    let report = try await client.run(MotionReplay(Self.rising(20)))
    #expect(
      server.seen == [
        "start", "start", "start", "start", "s1 0", "s1 5", "start", "s2 5", "s2 10", "s2 10",
        "s2 15",
      ])
    #expect(pauses.withLock { $0 } == [0.5, 1, 2, 0.5])
    let expected = [true, false, true, false, true]
    #expect(calls.withLock { $0 } == expected)
    for isActive in expected { #expect(await changes.next() == isActive) }
    #expect(await client.serverActive)
    #expect(report.sent == 4 && report.lost == 0 && report.starts == 2)
  }

  @Test func `all that happens is told in order`() async throws {
    let server = IngestServer([503, nil, nil, 401, nil, 500])
    let loopback = try LoopbackServer { server.answer($0) }
    let events = Locked<[MotionClient.Event]>([])
    var options = MotionClient.Options()
    options.backOff.jitter = 0
    options.onEvent = { event in events.withLock { $0.append(event) } }
    let client = try MotionClient(
      try Self.address(loopback), device: Self.device, options: options,
      clock: TestClock(.movedBySleep()).clock)
    let report = try await client.run(MotionReplay(Self.rising(10)))
    #expect(report.posts == 4 && report.sent == 2)
    #expect(
      events.withLock { $0 } == [
        .failed("the server answered 503"), .waiting(0.5), .started(session: "s1"), .active(true),
        .serverData(Array("taken".utf8)), .active(false), .failed("the session is over"),
        .started(session: "s2"), .active(true), .serverData([]), .active(false),
        .failed("the server answered 500"), .waiting(1), .serverData(Array("taken".utf8)),
        .active(true),
      ])
  }

  @Test(arguments: [301, 302, 303, 307, 308])
  func `no redirect is followed`(status: Int) async throws {
    let loopback = try LoopbackServer { request in
      request.target == "/motion"
        ? .text(status, "", fields: [["Location", "/other"]]) : .text(200, "s")
    }
    let events = Locked<[MotionClient.Event]>([])
    var options = MotionClient.Options()
    options.attempts = 1
    options.onEvent = { event in events.withLock { $0.append(event) } }
    let client = try MotionClient(
      try Self.address(loopback), device: Self.device, options: options,
      clock: TestClock(.movedBySleep()).clock)
    await #expect(throws: FieldpackError.self) {
      try await client.run(MotionReplay(Self.rising(5)))
    }
    #expect(loopback.requests.map(\.target) == ["/motion"])
    guard case .failed(let reason)? = events.withLock({ $0.first }) else {
      Issue.record("nothing failed")
      return
    }
    #expect(reason.contains("the answer is a redirect, and none is followed"), "\(reason)")
  }

  @Test func `a live source goes on while posts fail, and every sample is kept`() async throws {
    let loopback = try LoopbackServer { _ in .text(503, "") }
    let kept = Locked<[MotionSample]>([])
    var options = MotionClient.Options()
    options.keep = { (samples) throws(FieldpackError) in kept.withLock { $0 += samples } }
    let client = try MotionClient(
      try Self.address(loopback), device: Self.device, options: options,
      clock: TestClock(.movedBySleep()).clock)
    let readings = Self.rising(50)
    let source = MotionGenerator(isLive: true) { $0 < 50 ? readings[$0] : nil }
    let report = try await client.run(source)
    #expect(report.readings == 50 && report.sent == 0 && report.lost == 10)
    #expect(kept.withLock { $0.map(\.reading) } == readings)
    #expect(await !client.serverActive)
  }

  @Test func `paused posting leaves the start and the samples`() async throws {
    let server = IngestServer()
    let loopback = try LoopbackServer { server.answer($0) }
    let client = try MotionClient(
      try Self.address(loopback), device: Self.device, clock: TestClock(.movedBySleep()).clock)
    await client.setShouldPostData(false)
    let report = try await client.run(MotionReplay(Self.rising(10)))
    #expect(server.seen == ["start"])
    #expect(report.readings == 10 && report.lost == 2)
    #expect(await client.acceleration.map(\.z) == [5, 6, 7, 8, 9])
  }

  @Test func `sections that are not wanted or hold no numbers are absent`() async throws {
    let server = IngestServer()
    let loopback = try LoopbackServer { server.answer($0) }
    var options = MotionClient.Options()
    options.sections = [.acceleration, .magneticField, .rotation]
    let client = try MotionClient(
      try Self.address(loopback), device: Self.device, options: options,
      clock: TestClock(.movedBySleep()).clock)
    var readings = (0..<5).map { MadeMotion.reading(0, $0) }
    readings[2].rotation?.y = .nan
    _ = try await client.run(MotionReplay(readings))
    let expected = readings.enumerated().map { index, reading in
      reading.keeping(
        index == 2
          ? [.acceleration, .magneticField] : [.acceleration, .magneticField, .rotation])
    }
    #expect(server.readings(of: "s1") == expected)
  }

  @Test func `a new server gets a start and all that comes after`() async throws {
    let (first, second) = (IngestServer(), IngestServer())
    let loopbacks = [
      try LoopbackServer { first.answer($0) }, try LoopbackServer { second.answer($0) },
    ]
    let client = try MotionClient(
      try Self.address(loopbacks[0]), device: Self.device, clock: TestClock(.movedBySleep()).clock)
    let other = try Self.address(loopbacks[1])
    let source = Switching(Self.rising(40)) { index in
      if index == 20 { try? await client.updateServer(other) }
    }
    let calls = Locked<[Bool]>([])
    await client.setOnServerActiveChange { isActive in calls.withLock { $0.append(isActive) } }
    let report = try await client.run(source)
    #expect(report.lost == 0)
    #expect(second.seen.first == "start")
    #expect(second.readings(of: "s1").last?[.az] == 39)
    let all = first.readings(of: "s1") + second.readings(of: "s1")
    #expect(Set(all.compactMap { $0[.az] }) == Set((0..<40).map { Double($0) }))
    #expect(calls.withLock { $0.last } == true)
  }

  @Test func `a client gives up after the attempts it is allowed`() async throws {
    let loopback = try LoopbackServer { _ in .text(500, "") }
    let pauses = Locked<[Double]>([])
    var options = MotionClient.Options.noting(pauses)
    options.attempts = 8
    let client = try MotionClient(
      try Self.address(loopback), device: Self.device, options: options,
      clock: TestClock(.movedBySleep()).clock)
    do {
      _ = try await client.run(MotionReplay(Self.rising(10)))
      Issue.record("nothing was thrown")
    } catch {
      #expect(error.code == .unavailable)
      #expect(
        error.message == "the server at http://127.0.0.1:\(loopback.port) failed 8 times")
    }
    #expect(pauses.withLock { $0 } == [0.5, 1, 2, 4, 8, 16, 30])
  }

  @Test func `a server is not asked again before it wants to be`() async throws {
    let answers = Locked<[LoopbackServer.Reply]>([
      .text(503, "", fields: [["Retry-After", "40"]]),
      .text(429, "", fields: [["Retry-After", "0"]]),
      .text(200, "s"), .text(503, "", fields: [["Retry-After", "7"]]),
      .text(503, "", fields: [["Retry-After", "86400"]]), .text(200, ""),
    ])
    let loopback = try LoopbackServer { _ in answers.withLock { $0.removeFirst() } }
    let pauses = Locked<[Double]>([])
    let client = try MotionClient(
      try Self.address(loopback), device: Self.device, options: .noting(pauses),
      clock: TestClock(.movedBySleep()).clock)
    let report = try await client.run(MotionReplay(Self.rising(5)))
    #expect(report.sent == 1)
    #expect(pauses.withLock { $0 } == [40, 1, 7, 3_600])
  }

  @Test func `a server that ends every session is given up`() async throws {
    let count = Locked(0)
    let loopback = try LoopbackServer { request in
      if case .start? = try? MotionRequest(body: request.body) { return .text(200, "s") }
      count.withLock { $0 += 1 }
      return .text(401, "")
    }
    let pauses = Locked<[Double]>([])
    var options = MotionClient.Options.noting(pauses)
    options.attempts = 3
    let client = try MotionClient(
      try Self.address(loopback), device: Self.device, options: options,
      clock: TestClock(.movedBySleep()).clock)
    do throws(FieldpackError) {
      _ = try await client.run(MotionReplay(Self.rising(10)))
      Issue.record("nothing was thrown")
    } catch {
      #expect(error.code == .unavailable)
    }
    #expect(count.withLock { $0 } == 3 && pauses.withLock { $0 } == [0.5])
  }

  @Test func `a client that is cancelled ends`() async throws {
    let loopback = try LoopbackServer { _ in .silence }
    let client = try MotionClient(
      try Self.address(loopback), device: Self.device, clock: TestClock(.movedBySleep()).clock)
    let task = Task { try await client.run(MotionReplay(Self.rising(1000))) }
    while loopback.requests.isEmpty { try await Task.sleep(for: .milliseconds(5)) }
    task.cancel()
    await #expect(throws: FieldpackError.self) { try await task.value }
  }

  @Test func `twenty devices send sixty thousand samples in order, bit by bit`() async throws {
    let server = IngestServer()
    let loopback = try LoopbackServer { server.answer($0) }
    let http = try HTTPClient()
    let address = try Self.address(loopback)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<20 {
        group.addTask {
          let client = try MotionClient(
            address, device: MadeMotion.device(number), http: http,
            clock: TestClock(.movedBySleep()).clock)
          let source = MotionGenerator { $0 < 3000 ? MadeMotion.reading(number, $0) : nil }
          let report = try await client.run(source)
          #expect(report.sent == 600 && report.lost == 0)
        }
      }
      try await group.waitForAll()
    }
    let sessions = server.records.withLock { records in
      records.compactMap { record -> MotionSession? in
        if case .started(let session) = record { session } else { nil }
      }
    }
    #expect(sessions.count == 20)
    for session in sessions {
      let number = try #require(session.device.name.split(separator: " ").last.flatMap { Int($0) })
      let expected = (0..<3000).map { MadeMotion.reading(number, $0) }
      #expect(server.readings(of: session.id) == expected)
    }
  }

  @Test(arguments: [
    ("http://h", "http://h:80/"), ("https://h/a/b?c", "https://h:443/a/b?c"),
    ("http://[::1]:65535/x", "http://[::1]:65535/x"),
  ])
  func `an address is taken apart`(text: String, whole: String) throws {
    let server = try MotionServer(text)
    #expect("\(server.scheme)://\(server.host):\(server.port)/\(server.endPoint)" == whole)
  }

  @Test(arguments: [
    "", "h", "ftp://h", "http://", "http://u@h", "http://h:0", "http://h:65536", "http://h/ x",
    "http://h/ü",
  ])
  func `what is no address of a server is refused`(text: String) {
    #expect(failure { _ = try MotionServer(text) }?.code == .invalidArgument)
  }
}

/// Readings, with something done before each.
private final class Switching: MotionSource {
  let isLive = false
  private let readings: [MotionReading]
  private let given = Locked(0)
  private let before: @Sendable (Int) async -> Void

  init(_ readings: [MotionReading], before: @escaping @Sendable (Int) async -> Void) {
    self.readings = readings
    self.before = before
  }

  func next() async throws(FieldpackError) -> MotionReading? {
    let index = given.withLock { given in
      defer { given += 1 }
      return given
    }
    await before(index)
    return index < readings.count ? readings[index] : nil
  }
}
