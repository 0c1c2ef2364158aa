import FieldpackCore
import FieldpackGeoPackage
import FieldpackGeometry
import FieldpackSQLite
import FieldpackTestSupport
import Testing

@testable import FieldpackServer

#if Server
  /// No gap and no repetition, whatever happens to clients.
  @Suite struct FollowingTests {
    @Test func `what JSON cannot hold is told without its place`() throws {
      var event = LiveEvent(kind: .created, id: "1", layer: "wells")
      event.feature = Feature(geometry: .point(x: .infinity, y: 0), attributes: [:])
      event.schema = Schema(layer: "wells", geometry: GeometryColumn(type: .point), columns: [])
      let json = try JSONValueReader.read(String(decoding: event.json(), as: UTF8.self))
      #expect(json["data"] == nil)
      #expect(json["type"]?.string == LiveEvent.Kind.created.type)
    }

    /// Edits by a writer beside a client that goes away and comes back at random places.
    @Test(arguments: [1, 2, 3] as [UInt64])
    func `reconnects lose nothing and repeat nothing`(seed: UInt64) async throws {
      var random = FilterGenerator.SplitMix(state: seed)
      let server = try await TestServer.logged()
      let store = server.store
      let count = 300
      let writing = Task {
        for index in 1...count {
          try await store.write { (writer: GeoPackageWriter) throws(FieldpackError) in
            try writer.update(
              .integer(Int64(index % 20 + 1)), in: "wells", set: ["name": .text("edit \(index)")])
          }
        }
      }
      var seen: [String] = []
      var last: String?
      while seen.count < count {
        let client = try await EventClient(
          server, last == nil ? "/events?since=2000-01-01T00:00:00Z" : "/events", after: last)
        for event in try await client.next(min(Int(random.next() % 40) + 1, count - seen.count)) {
          seen.append(event.json["data"]?["properties"]?["name"]?.string ?? "")
          last = event.id
        }
      }
      try await writing.value
      #expect(seen == (1...count).map { "edit \($0)" })
      await server.close()
    }

    @Test func `a hundred clients get each event once`() async throws {
      let server = try await TestServer.logged()
      var clients: [EventClient] = []
      for _ in 0..<100 {
        let client = try await EventClient(server, "/events")
        try await client.begin()
        clients.append(client)
      }
      for index in 1...20 { try await server.set("all \(index)", of: Int64(index)) }
      for client in clients {
        #expect(try await client.next(20).map(\.feature) == (1...20).map { $0 })
      }
      await server.close()
    }

    @Test func `who waits holds no state of the file`() async throws {
      let server = try await TestServer.logged()
      let client = try await EventClient(server, "/events")
      try await client.begin()
      try await server.set("told", of: 1)
      _ = try await client.next()
      let connection = try Connection(path: server.store.path, mode: .readWrite)
      // The first number is 1 where a reader keeps the log from being emptied.
      let rows = try connection.scalar("PRAGMA wal_checkpoint(TRUNCATE)")
      #expect(rows == .integer(0))
      await server.close()
    }

    @Test func `the end of the server ends the streams`() async throws {
      let server = try await TestServer.logged()
      let client = try await EventClient(server, "/events")
      try await client.begin()
      await server.server.close()
      #expect(try await client.next() == nil)
      await server.store.close()
    }

    /// The ring has room for some events only; the client reads the rest from the log.
    @Test func `a slow client is given from the log what the ring has lost`() async throws {
      let server = try await TestServer.logged()
      let hub = EventHub(of: server.store)
      let (shared, client) = try await hub.follow(EventQuery())
      let place = shared.position.place
      let small = EventChannel(EventTest(EventQuery(), regions: nil), at: place, capacity: 600)
      let stream = EventStream(
        small, client: small.join(), head: [], from: nil, at: small.position
      ) {
        (place, channel) in await hub.missedBytes(after: place, in: channel)
      }
      var given = taken(from: stream)
      for index in 1...10 {
        try await server.set("slow \(index)", of: Int64(index))
        let before = small.position.place
        let (events, next) = try await server.store.read {
          (snapshot: GeoPackageSnapshot) throws(FieldpackError) -> ([LiveEvent], EventPlace) in
          var next = before
          let events = try EventReading(file: snapshot, store: "field").events(
            after: &next, upTo: nil, limit: 10)
          return (events, next)
        }
        small.append(try events.flatMap { (event) throws in event.lines() }, upTo: next)
      }
      // Its task reads what was lost.
      while !given.contains("slow 10") {
        given += taken(from: stream)
        await Task.yield()
      }
      let names = given.split(separator: "\n").filter { $0.hasPrefix("data: ") }.map { line in
        let json = try? JSONValueReader.read(String(line.dropFirst(6)))
        return json?["data"]?["properties"]?["name"]?.string
      }
      #expect(names == (1...10).map { "slow \($0)" })
      #expect(given.contains(": too slow: what happened in layers without a change log is lost"))
      shared.leave(client)
      await hub.close()
      await server.close()
    }

    private func taken(from stream: EventStream) -> String {
      var text = ""
      while true {
        var bytes = [UInt8](repeating: 0, count: 100)
        let piece = bytes.withUnsafeMutableBytes { stream.take(into: $0) { {} } }
        guard case .bytes(let count) = piece else { return text }
        text += String(decoding: bytes[..<count], as: UTF8.self)
      }
    }
  }
#endif
