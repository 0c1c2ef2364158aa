import FieldpackCore
import FieldpackField
import FieldpackFieldTestSupport
import FieldpackSensors
import FieldpackTestSupport
import Testing

/// Sensors that do what none should: each gives an error of its kind, and the link goes on.
@Suite struct HostileSensorTests {
  static let hostile: [(name: String, reply: LoopbackServer.Reply, code: FieldpackError.Code)] = [
    ("another page", .text(200, "<html><body>hello</body></html>"), .invalidData),
    ("a redirect", .text(302, "", fields: [["Location", "http://192.0.2.1/"]]), .invalidData),
    ("a redirect to itself", .text(307, "", fields: [["Location", "/x"]]), .invalidData),
    ("not found", .text(404, ""), .notFound), ("unavailable", .text(503, ""), .unavailable),
    (
      "a length that is too long",
      .raw(Array("HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n<result>".utf8)), .unavailable
    ),
    (
      "a length that is too short",
      .raw(
        Array(
          "HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\n<result><status>success</status>".utf8)),
      .invalidData
    ),
    ("no HTTP", .raw(Array("hello\r\n\r\n".utf8)), .invalidData),
    ("no answer", .nothing, .unavailable),
    (
      "white space without an end",
      .pieces(length: 1 << 40) { _ in [UInt8](repeating: 32, count: 65_536) }, .invalidData
    ),
    (
      "a capture without an end",
      .pieces(length: 1 << 20) { number in
        number == 0
          ? Array("<result><status>success</status><sensorData>".utf8)
          : [UInt8](repeating: 65, count: 65_536)
      }, .invalidData
    ),
    (
      "entities",
      .text(
        200, "<!DOCTYPE r [<!ENTITY a 'b'>]><result><status>&a;</status></result>"), .invalidData
    ),
    ("entities of entities", .text(200, bomb), .invalidData),
  ]

  /// It would be a gigabyte.
  private static let bomb =
    "<!DOCTYPE r [<!ENTITY a0 'ha'>"
    + (1..<30).map { "<!ENTITY a\($0) '&a\($0 - 1);&a\($0 - 1);'>" }.joined()
    + "]><result><status>&a29;</status></result>"

  @Test(arguments: 0..<hostile.count)
  func `each gives an error of its kind, and nothing half`(index: Int) async throws {
    let (name, reply, code) = Self.hostile[index]
    let simulator = try ServedSensor()
    let server = try LoopbackServer { _ in reply }
    var options = SensorClient.Options()
    options.mostBytes = 600_000
    let client = try SensorClient(server.address, options: options)
    let id = ServiceBench.unknown
    let error = await #expect(throws: FieldpackError.self, "\(name)") {
      try await client.perform(SensorRequest(.download, capture: id))
    }
    #expect(error?.code == code, "\(name): \(error as Any)")
    // The link of a good sensor that answers so once stores what comes after that.
    let good = try SensorClient(simulator.uri, options: options)
    let faulty = FaultyOnce(good: good, bad: client)
    let journal = MemoryJournal()
    let clock = TestClock(.movedBySleep())
    let link = SensorLink(
      SensorAddress(uri: simulator.uri), service: faulty, journal: journal,
      events: Broadcast(capacity: 100), clock: clock.clock)
    #expect(await link.capture([:], for: LinkedSensor.item).isCompleted)
    #expect(await Array(journal.stored.values) == [SimulatedPicture().make(1, 128)])
  }
}

/// Its first download goes to a bad sensor.
private actor FaultyOnce: BiometricSensor {
  let good: SensorClient
  let bad: SensorClient
  private var hasFailed = false

  init(good: SensorClient, bad: SensorClient) { (self.good, self.bad) = (good, bad) }

  func perform(_ request: SensorRequest) async throws(FieldpackError) -> SensorAnswer {
    if request.operation == .thriftyDownload, !hasFailed {
      hasFailed = true
      return try await bad.perform(request)
    }
    return try await good.perform(request)
  }
}
