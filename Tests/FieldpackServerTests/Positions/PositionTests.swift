import FieldpackCore
import FieldpackGeoPackage
import FieldpackGeometry
import FieldpackHTTP
import FieldpackMonitoring
import FieldpackTestSupport
import FieldpackTracks
import Testing

@testable import FieldpackServer

#if Server
  /// Devices send their positions.
  @Suite struct PositionTests {
    /// A server with a region around 8, 50.
    private func server() async throws -> TestServer {
      var positions = PositionOptions()
      positions.regions = "zones"
      return try await TestServer(
        isWritable: true, positions: positions,
        preparing: {
          (writer) throws(FieldpackError) in
          try writer.createLayer(Schema(layer: "zones", geometry: GeometryColumn(type: .polygon)))
          let area = CQL2.rectangle(west: 7.9, south: 49.9, east: 8.1, north: 50.1)
          try writer.create(Feature(geometry: area), in: "zones")
        })
    }

    private func kinds(_ server: TestServer) async throws -> [String] {
      try await server.store.detections(ofRun: "positions").map { "\($0.kind) \($0.device)" }
    }

    private static func line(_ longitude: Double, _ second: Int) -> String {
      #"{"lon":\#(longitude),"lat":50,"time":"2024-05-01T10:00:\#(second)Z","device":"car"}"#
    }

    @Test func `lines are watched, kept and told, and the same again changes nothing`() async throws
    {
      let server = try await server()
      let client = try await EventClient(server, "/events?last=1&events=entered,left,position")
      try await client.begin()
      let lines = [Self.line(7, 10), "nonsense", Self.line(8, 20)].joined(separator: "\n")
      let answer = try await server.post("/fixes", "application/x-ndjson", lines)
      #expect(answer.status == 200)
      let mistake = try #require(
        JSONValueReader.read(answer.text).items[1]["mistake"]?.string)
      #expect(mistake.contains("JSON"))
      #expect(
        answer.text.replacing(mistake, with: "…")
          == #"[{"line":1,"taken":1},{"line":2,"taken":0,"mistake":"…"},{"line":3,"taken":1}]"#)
      #expect(try await kinds(server) == ["enter car"])
      let again = try await server.post("/fixes", "application/x-ndjson", lines)
      #expect(again.text.contains(#"{"line":3,"taken":0,"known":1}"#))
      #expect(try await kinds(server) == ["enter car"])
      _ = try await server.post("/fixes", "application/json", Self.line(9, 30))
      #expect(try await kinds(server) == ["enter car", "exit car"])

      var events: [EventClient.Event] = []
      while events.last?.name != "position" || !events.contains(where: { $0.name == "left" }),
        let event = try await client.next()
      { events.append(event) }
      let detections = events.filter { $0.name != "position" }
      #expect(detections.map(\.short) == ["entered 1", "left 2"])
      let data = detections[0].json["data"]
      #expect(data?["properties"]?["device"] == "car")
      #expect(data?["properties"]?["region"] == 1)
      #expect(data?["geometry"]?["coordinates"] == [8, 50])
      #expect(events.last?.json["data"]?["geometry"]?["coordinates"] == [9, 50])

      // Whoever comes now sees where the devices are.
      let late = try await EventClient(server, "/events?last=1")
      let position = try #require(try await late.next())
      #expect(position.name == "position")
      #expect(position.json["data"]?["properties"]?["device"] == "car")
      await server.close()
    }

    @Test func `the state goes on after a restart`() async throws {
      let server = try await server()
      _ = try await server.post("/fixes", "application/json", Self.line(8, 20))
      await server.server.close()
      var options = FieldServer.Options()
      options.isWritable = true
      options.positions.regions = "zones"
      let second = FieldServer(of: server.store, options: options)
      let address = try second.listen(on: ListenAddress(port: 0))
      let client = try HTTPClient()
      for line in [Self.line(8, 20), Self.line(9, 30)] {
        let answer = try await client.send(
          HTTPRequest(
            .post, "http://\(address)/fixes", fields: ["Content-Type": "application/json"],
            body: .bytes(Array(line.utf8))))
        #expect(answer.status == 200)
      }
      #expect(try await kinds(server) == ["enter car", "exit car"])
      await second.close()
      await server.store.close()
    }

    /// By the documentation of OwnTracks (JSON, HTTP mode).
    @Test func `OwnTracks is answered by an empty list`() async throws {
      let server = try await server()
      let body = """
        {"_type":"location","acc":13,"alt":120,"batt":85,"bs":1,"conn":"w","created_at":1714557600,
        "lat":50.0,"lon":8.0,"m":1,"tid":"ne","topic":"owntracks/jane/nexus5","tst":1714557600,"vac":1,"vel":36}
        """
      let first = try await server.post("/fixes", "application/json", body)
      #expect(first.status == 200)
      #expect(first.text == "[]")
      _ = try await server.post(
        "/fixes", "application/json", body.replacing("1714557600", with: "1714557700"),
        fields: ["X-Limit-U": "jane", "X-Limit-D": "phone"])
      #expect(try await kinds(server) == ["enter jane/nexus5", "enter jane/phone"])
      let other = try await server.post(
        "/fixes", "application/json", #"{"_type":"lwt","tst":1714557600}"#)
      #expect([other.text, "\(other.status)"] == ["[]", "200"])
      await server.close()
    }

    /// By the documentation of Traccar: position forwarding as JSON, and the protocol OsmAnd.
    @Test func `Traccar's bodies and queries are read`() async throws {
      let server = try await server()
      let forwarded = """
        {"position":{"id":7,"deviceId":3,"protocol":"osmand","serverTime":"2024-05-01T10:00:02.000+00:00",
        "deviceTime":"2024-05-01T10:00:00.000+00:00","fixTime":"2024-05-01T10:00:00.000+00:00","outdated":false,
        "valid":true,"latitude":50.0,"longitude":8.0,"altitude":99.0,"speed":10.0,"course":90.0,"address":null,
        "accuracy":5.0,"network":null,"attributes":{"batteryLevel":80.0}},
        "device":{"id":3,"attributes":{},"groupId":0,"name":"Van","uniqueId":"123456","status":"online"}}
        """
      let first = try await server.post("/fixes", "application/json", forwarded)
      #expect([first.text, "\(first.status)"] == ["", "200"])
      let query =
        "/fixes?id=app&lat=50&lon=8&timestamp=1714557600&speed=1.5&bearing=90&altitude=9&batt=5"
      let second = try await server.post(query, "text/plain", "")
      #expect([second.text, "\(second.status)"] == ["", "200"])
      let sent = """
        {"location":{"timestamp":"2024-05-01T10:00:00.000Z","coords":{"latitude":50,"longitude":8,"accuracy":4,
        "speed":1,"heading":80,"altitude":100},"is_moving":true,"odometer":0,"event":"motionchange",
        "battery":{"level":0.8,"is_charging":false},"activity":{"type":"still"},"extras":{}},"device_id":"new"}
        """
      #expect(try await server.post("/fixes", "application/json", sent).status == 200)
      #expect(try await kinds(server) == ["enter 123456", "enter app", "enter new"])
      let bad = try await server.post("/fixes?id=app&lat=500&lon=8", "text/plain", "")
      #expect(bad.status == 400)
      #expect(bad.text.contains("no position on Earth"))
      await server.close()
    }

    /// How many fixes of a line the server takes.
    private func take(_ line: String, at server: TestServer) async throws -> Int {
      let answer = try await server.post("/fixes", "application/json", line)
      #expect(answer.status == 200)
      return try JSONValueReader.read(answer.text).items[0]["taken"] == 1 ? 1 : 0
    }

    /// A client sends again what it is not sure of, and may send two fixes at once.
    @Test func `of fixes that come at the same time each counts once, and no older one later`()
      async throws
    {
      var positions = PositionOptions()
      positions.distance = 1
      let server = try await TestServer(isWritable: true, positions: positions)
      var taken = 0
      for round in 0..<20 {
        let times = [2 * round + 10, 2 * round + 11]
        let lines = times.map { Self.line(Double($0 % 10), $0) }
        async let newer = (take(lines[1], at: server), take(lines[1], at: server))
        async let older = (take(lines[0], at: server), take(lines[0], at: server))
        let counts = try await [newer.0 + newer.1, older.0 + older.1]
        // The newer one is taken once, whichever request is read first, and the older one at most once.
        #expect(counts[0] == 1 && counts[1] <= 1)
        taken += counts[0] + counts[1]
        // What is answered is kept.
        let kept = try await server.store.detections(ofRun: "positions")
        #expect(kept.count == taken)
        #expect(kept.last?.time == Instant("2024-05-01T10:00:\(times[1])Z"))
      }
      let times = try await server.store.detections(ofRun: "positions").compactMap(\.time)
      #expect(zip(times, times.dropFirst()).allSatisfy { $0 < $1 })
      await server.close()
    }

    @Test func `sentences of NMEA are read`() async throws {
      let server = try await server()
      let answer = try await server.post(
        "/fixes", "text/plain",
        "$GPRMC,100000.00,A,5000.000,N,00800.000,E,0.0,0.0,010524,,,A*50\r\n")
      #expect(answer.status == 200, "\(answer.text)")
      #expect(try await kinds(server) == ["enter "])
      await server.close()
    }

    @Test func `fixes of the future and readers are refused`() async throws {
      let server = try await server()
      let future = try await server.post(
        "/fixes", "application/json", #"{"lon":8,"lat":50,"time":"2999-01-01T00:00:00Z"}"#)
      #expect(future.status == 400)
      #expect(future.text == #"[{"line":1,"taken":0,"mistake":"the fix lies in the future"}]"#)
      let foreign = try await server.post(
        "/fixes", "application/json", Self.line(8, 20), fields: ["Origin": "https://other.example"])
      #expect(foreign.status == 403)
      #expect(try await server.get("/fixes").status == 405)
      await server.close()
      let reader = try await TestServer()
      #expect(try await reader.post("/fixes", "application/json", Self.line(8, 20)).status == 403)
      await reader.close()
    }
  }
#endif
