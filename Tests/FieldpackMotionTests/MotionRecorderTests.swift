import FieldpackCore
import FieldpackFieldTestSupport
import FieldpackGeoPackage
import FieldpackMotion
import FieldpackSQLite
import FieldpackTestSupport
import Testing

@Suite struct MotionRecorderTests {
  private static let readings = (0..<60).map { MadeMotion.reading(1, $0) }

  /// A live source of these readings.
  private static var live: MotionGenerator {
    MotionGenerator(isLive: true) { $0 < readings.count ? readings[$0] : nil }
  }

  private static func client(
    _ address: String, _ recorder: MotionRecorder
  ) throws -> MotionClient {
    var options = MotionClient.Options()
    options.keep = { (samples) throws(FieldpackError) in try await recorder.keep(samples) }
    return try MotionClient(
      MotionServer(address), device: MadeMotion.device(1), options: options,
      clock: TestClock(.movedBySleep()).clock)
  }

  private static func samples(_ count: Int) -> [MotionSample] {
    (0..<count).map { MotionSample(time: 10 + Double($0) / 50, reading: readings[$0]) }
  }

  @Test(arguments: ["failing", "paused"])
  func `every sample is kept while posts fail or are paused`(state: String) async throws {
    let package = try FieldFile()
    let loopback = try LoopbackServer { _ in .text(state == "failing" ? 503 : 200, "s") }
    try await package.withStore { store in
      let recorder = MotionRecorder(store, device: MadeMotion.device(1), session: "mine")
      let client = try Self.client(loopback.address, recorder)
      if state == "paused" { await client.setShouldPostData(false) }
      let report = try await client.run(Self.live)
      try await recorder.finish()
      #expect(report.readings == 60 && report.sent == 0 && report.lost == 12)
      #expect(await recorder.stored == 60)
      let samples = try await store.motionSamples(ofSession: "mine")
      #expect(samples.map(\.reading) == Self.readings)
      let sessions = try await store.motionSessions()
      #expect(sessions.map(\.session.device) == [MadeMotion.device(1)])
      #expect(sessions.map(\.sampleCount) == [60] && sessions[0].session.rate == 50)
    }
    #expect(try package.findings() == [])
  }

  @Test func `samples that wait together are one transaction`() async throws {
    let package = try FieldFile()
    let stored = Locked<[Int]>([])
    try await package.withStore { store in
      let recorder = MotionRecorder(
        store, device: MadeMotion.device(1), session: "mine",
        onStored: { count in stored.withLock { $0.append(count) } })
      let samples = Self.samples(40)
      try await recorder.keep(Array(samples[..<15]))
      try await recorder.keep(Array(samples[15..<30]))
      try await recorder.finish()
      try await recorder.keep(Array(samples[30...]))
      try await recorder.finish()
      #expect(try await store.motionSamples(ofSession: "mine") == samples)
    }
    #expect(stored.withLock { $0 } == [30, 40])
    #expect(
      try package.rows("SELECT session_id, sent_at_unix, sample_count, sections FROM daco_batch")
        == ["1|10.58|30|15", "1|10.78|10|15"])
  }

  @Test func `a run that is cancelled has kept what was read`() async throws {
    let package = try FieldFile()
    let loopback = try LoopbackServer { _ in .text(503, "") }
    try await package.withStore { store in
      let recorder = MotionRecorder(store, device: MadeMotion.device(1), session: "mine")
      let client = try Self.client(loopback.address, recorder)
      let source = MotionGenerator(isLive: true) { MadeMotion.reading(1, $0) }
      let task = Task {
        do { _ = try await client.run(source) } catch {}
        try await recorder.finish()
      }
      while await client.report.readings < 123 { await Task.yield() }
      task.cancel()
      try await task.value
      let count = await client.report.readings
      let samples = try await store.motionSamples(ofSession: "mine")
      #expect(samples.map(\.reading) == (0..<count).map { MadeMotion.reading(1, $0) })
    }
  }

  @Test func `what cannot be stored ends the run`() async throws {
    let package = try FieldFile()
    let loopback = try LoopbackServer { _ in .text(200, "s") }
    try await package.withStore { store in
      let first = MotionRecorder(store, device: MadeMotion.device(1), session: "mine")
      try await first.keep(Self.samples(5))
      try await first.finish()
      let second = MotionRecorder(
        store, device: MadeMotion.device(1), session: "mine",
        clock: TestClock(.movedBySleep()).clock)
      let client = try Self.client(loopback.address, second)
      let source = MotionGenerator(isLive: true) { MadeMotion.reading(1, $0) }
      do throws(FieldpackError) {
        _ = try await client.run(source)
        Issue.record("nothing was thrown")
      } catch {
        #expect(error.code == .constraint)
      }
      await #expect(throws: FieldpackError.self) { try await second.finish() }
      #expect(await second.stored == 0)
    }
    #expect(try package.rows("SELECT count(*) FROM daco_sample") == ["5"])
  }

  @Test func `samples wait while another program writes`() async throws {
    let package = try FieldFile()
    let store = try await GeoPackageStore(
      path: package.path, id: "field", busyTimeout: .milliseconds(10))
    let recorder = MotionRecorder(
      store, device: MadeMotion.device(1), session: "mine", clock: TestClock(.movedBySleep()).clock)
    try await recorder.keep(Self.samples(5))
    try await recorder.finish()
    let other = try Connection(path: package.path, mode: .readWrite)
    try other.executeScript("BEGIN IMMEDIATE")
    try await recorder.keep(Self.samples(10).suffix(5))
    try await Task.sleep(nanoseconds: 100_000_000)
    #expect(await recorder.stored == 5)
    try other.executeScript("ROLLBACK")
    try await recorder.finish()
    #expect(try await store.motionSamples(ofSession: "mine") == Self.samples(10))
    await store.close()
  }
}
