import FieldpackCore
import FieldpackField
import FieldpackFieldTestSupport
import FieldpackGeoPackage
import FieldpackGeometry
import FieldpackMotion
import FieldpackSQLite
import FieldpackTestSupport
import Foundation
import Testing

@Suite(.programs) struct MotionSourceTests {
  private static func all(_ source: any TimedMotionSource) async throws -> [MotionSample] {
    var samples: [MotionSample] = []
    while let sample = try await source.nextSample() { samples.append(sample) }
    return samples
  }

  private static func rising(_ times: [Double]) -> [MotionSample] {
    times.enumerated().map { index, time in
      MotionSample(
        time: time, reading: .init(acceleration: .init(x: 0, y: 0, z: Double(index))))
    }
  }

  private static func lines(_ samples: [MotionSample]) -> String {
    samples.map { sample in
      #"{"time":\#(sample.time),"ax":0,"ay":0,"az":\#(sample.reading[.az] ?? 0)}"# + "\n"
    }.joined()
  }

  @Test func `a stored session gives its samples by time, at their pace`() async throws {
    let package = try FieldFile()
    let bodies = [
      try MadeMotion.rising(session: "a", at: 20.8, from: 5),
      try MadeMotion.rising(session: "b", at: 15, from: 90),
      try MadeMotion.rising(session: "a", at: 10.8, from: 0),
    ]
    let log = try package.file(
      "log", bodies.map { String(decoding: $0, as: UTF8.self) }.joined(separator: "\n"))
    try await package.withStore { store in
      _ = try await store.importMotion(from: [log], rate: 5)
      let time = TestClock(.movedBySleep())
      let slow = try await Self.all(
        RecordedMotion(store, session: "a", speed: 2, clock: time.clock))
      #expect(slow == (try await store.motionSamples(ofSession: "a")))
      #expect(slow.map { $0.reading[.az] } == (0..<10).map { Double($0) })
      let sleeps = time.sleeps.map { ($0.inSeconds * 1000).rounded() }
      #expect(sleeps == [100, 100, 100, 100, 4600, 100, 100, 100, 100])
      let quick = TestClock(.movedBySleep())
      let all = try await Self.all(RecordedMotion(store, session: "a", clock: quick.clock))
      #expect(all == slow && quick.sleeps.isEmpty)
      #expect(try await Self.all(RecordedMotion(store, session: "c")).isEmpty)
    }
  }

  @Test func `lines of JSON are samples`() async throws {
    let package = try FieldFile()
    let path = try package.file(
      "lines",
      """
      {"time":10.5,"ax":1,"ay":-2.5e0,"az":0,"note":[1]}

      {"t_unix":11,"rx":1,"ry":2,"rz":3,"pitch":null,"ax":0.1,"ay":0.2,"az":0.3}
      {"pitch":1,"roll":2,"yaw":3}
      """)
    let samples = try await Self.all(
      MotionLines(path: path, clock: TestClock(.movedBySleep()).clock))
    #expect(
      samples == [
        MotionSample(time: 10.5, reading: .init(acceleration: .init(x: 1, y: -2.5, z: 0))),
        MotionSample(
          time: 11,
          reading: .init(
            acceleration: .init(x: 0.1, y: 0.2, z: 0.3), rotation: .init(x: 1, y: 2, z: 3))),
        MotionSample(time: 1000, reading: .init(attitude: .init(pitch: 1, roll: 2, yaw: 3))),
      ])
  }

  static let mistakes: [(String, String)] = [
    ("[]", "the line is an array, not an object"),
    ("{}", "the line has no channel (pitch, roll, yaw, ax … rz)"),
    (#"{"ax":1,"az":2}"#, "the line has some of acceleration, but no ay"),
    (#"{"ax":1,"ay":"2","az":2}"#, "ay is a text, not a number"),
    (#"{"ax":1e999,"ay":2,"az":2}"#, "ax is beyond all numbers"),
    (#"{"ax":nan,"ay":2,"az":2}"#, "the line is not JSON: byte 6: expected a value"),
    (#"{"time":-1,"ax":1,"ay":2,"az":2}"#, "time is no moment of the years 1970 to 9999"),
    (#"{"time":"now","ax":1,"ay":2,"az":2}"#, "time is a text, not a number"),
    (String(repeating: "[", count: 5000), "the line is not JSON: byte 8: nested more than 8 deep"),
    (String(repeating: "x", count: 20_000), "the line is longer than 16384 bytes"),
  ]

  @Test(arguments: mistakes)
  func `a line that is no sample ends them, or is passed over`(
    line: String, message: String
  ) async throws {
    let package = try FieldFile()
    let good = #"{"time":1,"ax":1,"ay":2,"az":3}"#
    let path = try package.file("lines", "\(good)\n\(line)\n\(good)\n")
    let strict = MotionLines(path: path)
    #expect(try await strict.nextSample()?.time == 1)
    do throws(FieldpackError) {
      _ = try await strict.nextSample()
      Issue.record("nothing was thrown")
    } catch {
      #expect(error.code == .invalidData && error.message == message)
      #expect(error.position?.line == 2)
    }
    let lenient = MotionLines(path: path, skipsErrors: true)
    #expect(try await Self.all(lenient).map(\.time) == [1, 1])
    #expect(lenient.report.current.skipped.listed.map(\.reason) == [message])
  }

  @Test func `lines that never come are given up when the task is cancelled`() async throws {
    let package = try FieldFile()
    let pipe = package.folder.file("pipe").path
    _ = try await Program.run("mkfifo", [pipe])
    let source = MotionLines(path: pipe)
    let task = Task { try await Self.all(source) }
    try await Task.sleep(nanoseconds: 20_000_000)
    task.cancel()
    await #expect(throws: FieldpackError.self) { try await task.value }
    await #expect(throws: FieldpackError.self) {
      _ = try await MotionLines(path: package.folder.file("none").path).nextSample()
    }
  }

  @Test func `samples that know their times keep them, in batches without gaps`() async throws {
    let package = try FieldFile()
    let times = [10, 10.02, 10.04, 10.06, 10.08, 10.1, 10.12, 15, 15.02]
    let samples = Self.rising(times)
    let path = try package.file("lines", Self.lines(samples))
    let server = IngestServer()
    let loopback = try LoopbackServer { server.answer($0) }
    let client = try MotionClient(
      MotionServer(loopback.address), device: MadeMotion.device(1),
      clock: TestClock(.movedBySleep()).clock)
    let report = try await client.run(MotionLines(path: path))
    #expect(report.readings == 9 && report.sent == 3 && report.posts == 3)
    let batches = server.bodies.withLock { bodies in
      bodies.compactMap { body in if case .data(let data) = body { data } else { nil } }
    }
    #expect(batches.map(\.timestamp) == [10.08, 10.12, 15.02])
    #expect(batches.map(\.readings.count) == [5, 2, 2])
    // As the server takes them to be.
    let received = server.records.withLock { records in
      records.flatMap { record -> [MotionSample] in
        if case .received(let batch) = record { batch.samples } else { [] }
      }
    }
    #expect(zip(received, samples).allSatisfy { abs($0.time - $1.time) < 1e-9 })
    #expect(received.map(\.reading) == samples.map(\.reading))
  }

  private static func batches(_ server: IngestServer) -> [MotionRequest.Data] {
    server.bodies.withLock { bodies in
      bodies.compactMap { body in if case .data(let data) = body { data } else { nil } }
    }
  }

  @Test(arguments: [MotionSections.all, .acceleration])
  func `a batch ends where the sections change`(wanted: MotionSections) async throws {
    let package = try FieldFile()
    let lines = (0..<4).map { number in
      let names = number % 2 == 0 ? ["ax", "ay", "az"] : ["rx", "ry", "rz"]
      let values = names.map { #""\#($0)":\#(number)"# }.joined(separator: ",")
      return #"{"time":\#(10 + Double(number) / 50),\#(values)}"#
    }
    let path = try package.file("lines", lines.joined(separator: "\n"))
    let server = IngestServer()
    let loopback = try LoopbackServer { server.answer($0) }
    var options = MotionClient.Options()
    options.sections = wanted
    let client = try MotionClient(
      MotionServer(loopback.address), device: MadeMotion.device(1), options: options,
      clock: TestClock(.movedBySleep()).clock)
    let report = try await client.run(MotionLines(path: path))
    let isAll = wanted == .all
    #expect(report.readings == 4 && report.sent == (isAll ? 4 : 2))
    #expect(report.lost == (isAll ? 0 : 2))
    let sections: [MotionSections] =
      isAll
      ? [.acceleration, .rotation, .acceleration, .rotation] : [.acceleration, .acceleration]
    #expect(Self.batches(server).map(\.sections) == sections)
  }

  @Test func `many samples in batches that overlap come by time`() async throws {
    let package = try FieldFile()
    let bodies = try (0..<12).map { number in
      let readings = (0..<250).map { MadeMotion.reading(number, $0) }
      return String(
        decoding: try MadeMotion.data(
          session: "a", at: 100 + Double((number * 5) % 12) * 2.5, readings), as: UTF8.self)
    }
    let log = try package.file("log", bodies.joined(separator: "\n"))
    try await package.withStore { store in
      _ = try await store.importMotion(from: [log])
      let samples = try await Self.all(RecordedMotion(store, session: "a"))
      #expect(samples.count == 3000)
      #expect(samples == (try await store.motionSamples(ofSession: "a")))
      let points = [0.0, 1000].map {
        TimedPath.Point(time: $0, position: Position(x: $0 / 100, y: 0))
      }
      let report = try await store.joinMotion(
        to: TimedPath(legs: [points]), maximumGap: 1000)
      #expect(report.sessions == [.init(id: "a", samples: 3000, placed: 3000)])
    }
    let plan = try package.rows("EXPLAIN QUERY PLAN \(RecordedMotion.sampleSQL)")
    #expect(
      plan.map { $0.split(separator: "|").last ?? "" }
        == ["SEARCH daco_sample USING INTEGER PRIMARY KEY (rowid=?)"])
  }

  @Test(arguments: ["0", "-50", "9e999", "1e-300", "'fast'"])
  func `a stored rate that nothing comes at is the standard one`(rate: String) async throws {
    let package = try FieldFile()
    let body = try MadeMotion.rising(session: "a", at: 10, from: 0)
    let log = try package.file("log", String(decoding: body, as: UTF8.self))
    try await package.withStore { store in
      _ = try await store.importMotion(from: [log], rate: 5)
    }
    try Connection(path: package.path, mode: .readWrite)
      .execute("UPDATE daco_session SET sample_rate_hz = \(rate)")
    let sessions = try await package.withStore { try await $0.motionSessions() }
    #expect(sessions.map(\.session.rate) == [50])
  }

  @Test func `samples may be read at a rate as if they were made now`() async throws {
    let package = try FieldFile()
    let path = try package.file("lines", Self.lines(Self.rising([10, 11, 12, 13, 14])))
    let server = IngestServer()
    let loopback = try LoopbackServer { server.answer($0) }
    var options = MotionClient.Options()
    options.keepsTimes = false
    let time = TestClock(.movedBySleep())
    let client = try MotionClient(
      MotionServer(loopback.address), device: MadeMotion.device(1), options: options,
      clock: time.clock)
    let report = try await client.run(MotionLines(path: path))
    #expect(report.sent == 1)
    guard case .data(let data)? = server.bodies.withLock({ $0.last }) else {
      Issue.record("no readings")
      return
    }
    #expect(data.readings.count == 5 && 1000..<1001 ~= data.timestamp)
  }
}
