import FieldpackCore
import FieldpackGeoPackage
import FieldpackGeometry
import FieldpackHTTP
import FieldpackSQLite
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackServer

#if Server
  /// Clients follow what happens in the file.
  @Suite(.programs) struct EventTests {
    @Test func `edits come as CloudEvents with features`() async throws {
      let server = try await TestServer.logged()
      let client = try await EventClient(server, "/events")
      try await client.begin()
      try await server.store.write { (writer: GeoPackageWriter) throws(FieldpackError) in
        try writer.create(
          Feature(geometry: .point(x: 7, y: 50), attributes: ["name": "new"]), in: "wells")
        try writer.update(21, in: "wells", set: ["depth": 4.5])
        try writer.delete(21, in: "wells")
      }
      let events = try await client.next(3)
      #expect(events.map(\.short) == ["created 21", "updated 21", "deleted 21"])
      let key = KeyTuple(store: "field", layer: "wells", feature: 21).description
      let json = events[1].json
      #expect(json["time"]?.string.flatMap { Instant($0) } != nil)
      guard case .object(var members) = json else { throw TestFailure() }
      members.removeAll { ["time", "id"].contains($0.name) }
      #expect(
        JSONValue.object(members).text
          == #"{"specversion":"1.0","source":"/collections/wells","type":"fieldpack.feature.updated","#
          + #""subject":"\#(key)","datacontenttype":"application/geo+json","#
          + #""data":{"type":"Feature","id":21,"properties":{"name":"new","depth":4.5,"seen":null},"#
          + #""geometry":{"type":"Point","coordinates":[7,50]}}}"#)
      #expect(Set(events.compactMap { $0.json["id"]?.string }).count == 3)
      #expect(events[2].json["data"]?["geometry"]?["type"] == "Point")
      await server.close()
    }

    @Test func `a client that comes back gets what it missed, and goes on`() async throws {
      let server = try await TestServer.logged()
      let first = try await EventClient(server, "/collections/wells/events")
      try await first.begin()
      let start = first.lastID
      for index in 1...5 { try await server.set("a \(index)", of: Int64(index)) }
      let events = try await first.next(5)
      #expect(events.map(\.feature) == [1, 2, 3, 4, 5])
      let second = try await EventClient(server, "/events", after: events[1].id)
      let third = try await EventClient(server, "/events?since=\(start)")
      let all = try await EventClient(server, "/events?since=2000-01-01T00:00:00Z")
      let none = try await EventClient(server, "/events?since=2999-01-01T00:00:00Z")
      try await none.begin()
      try await server.set("b", of: 9)
      #expect(try await second.next(4).map(\.feature) == [3, 4, 5, 9])
      #expect(try await third.next(6).map(\.feature) == [1, 2, 3, 4, 5, 9])
      #expect(try await all.next(6).map(\.feature) == [1, 2, 3, 4, 5, 9])
      #expect(try await none.next(1).map(\.feature) == [9])
      // The field counts, because a browser that comes back asks for the address of before.
      let again = try await EventClient(
        server, "/events?since=2000-01-01T00:00:00Z", after: events[4].id)
      #expect(try await again.next(1).map(\.feature) == [9])
      await server.close()
    }

    @Test(.enabled(if: Programs.sqlite3 != nil, Comment(rawValue: Programs.noSQLite)))
    func `changes of other programs come, too`() async throws {
      let server = try await TestServer.logged()
      let client = try await EventClient(server, "/events")
      try await client.begin()
      let shell = Programs.sqlite3 ?? ""
      let result = try await Program.run(
        // It lacks the functions that the triggers of an R-tree call for other changes.
        shell, [server.store.path, "DELETE FROM wells WHERE fid = 7"])
      #expect(result.status == 0)
      let event = try #require(try await client.next())
      #expect(event.short == "deleted 7")
      #expect(event.json["data"]?["properties"]?["name"] == "well 6")
      await server.close()
    }

    @Test func `layers without a log are told now, and never again`() async throws {
      let server = try await TestServer()
      let client = try await EventClient(server, "/events")
      try await client.begin()
      #expect(client.comments == [" not told again, for want of a change log: wells"])
      let start = client.lastID
      try await server.set("mine", of: 3)
      #expect(try await client.next()?.short == "updated 3")
      try Connection(path: server.store.path, mode: .readWrite)
        .executeScript("DELETE FROM wells WHERE fid = 4")
      let event = try #require(try await client.next())
      #expect(event.name == "changed")
      #expect(event.json["source"] == "/collections/wells")
      #expect(event.json["data"] == nil)
      #expect(event.id == start)
      await server.close()
    }

    @Test(arguments: [
      ("events=deleted,created", ["created 21", "deleted 21"]),
      ("collections=wells&events=updated", ["updated 2", "updated 5"]),
      ("filter=name%3D'north'", ["updated 5"]),
      ("filter=depth%20IS%20NULL%20AND%20fid%3C20", []),
      // Wells 2 and 5 lie at 1, 0.5 and 4, 2.
      ("bbox=0,0,1,1", ["updated 2"]),
      ("bbox=0,0,1,1&filter=name%3D'north'", []),
      ("filter=S_INTERSECTS(geom,BBOX(1,1,5,3))", ["updated 5"]),
      ("regions=zones", ["created 21", "updated 2", "deleted 21"]),
    ])
    func `parameters choose events`(query: String, expected: [String]) async throws {
      let server = try await TestServer.logged()
      try await server.store.write { (writer: GeoPackageWriter) throws(FieldpackError) in
        try writer.createLayer(Schema(layer: "zones", geometry: GeometryColumn(type: .polygon)))
        try writer.create(
          Feature(geometry: CQL2.rectangle(west: 0, south: 0, east: 2, north: 2)), in: "zones")
        try writer.create(
          Feature(geometry: CQL2.rectangle(west: 7, south: 50, east: 8, north: 51)), in: "zones")
      }
      let client = try await EventClient(server, "/events?\(query)")
      try await client.begin()
      try await server.store.write { (writer: GeoPackageWriter) throws(FieldpackError) in
        try writer.create(Feature(geometry: .point(x: 7, y: 50)), in: "wells")
        try writer.update(2, in: "wells", set: ["name": "south"])
        try writer.update(5, in: "wells", set: ["name": "north"])
        try writer.delete(21, in: "wells")
        // The end of the test: it meets every query but that of kinds.
        try writer.update(
          2, in: "wells", set: ["name": "north", "depth": .null], geometry: .set(.point(x: 1, y: 1))
        )
        try writer.delete(2, in: "wells")
      }
      var found: [String] = []
      while let event = try await client.next(), found.count < 10 {
        if event.json["data"]?["geometry"]?["coordinates"] == [1, 1] { break }
        found.append(event.short)
      }
      #expect(found == expected)
      await server.close()
    }

    @Test func `a feature that leaves the box is told`() async throws {
      let server = try await TestServer.logged()
      let client = try await EventClient(server, "/events?bbox=0,0,1,1")
      try await client.begin()
      try await server.store.write { (writer: GeoPackageWriter) throws(FieldpackError) in
        try writer.update(2, in: "wells", set: [:], geometry: .set(.point(x: 9, y: 9)))
        try writer.update(2, in: "wells", set: [:], geometry: .set(.point(x: 8, y: 8)))
        try writer.update(1, in: "wells", set: ["name": "end"])
      }
      let events = try await client.next(2)
      #expect(events.map(\.short) == ["updated 2", "updated 1"])
      #expect(events[0].json["data"]?["geometry"]?["coordinates"] == [9, 9])
      await server.close()
    }

    @Test(arguments: [
      ("/events?since=yesterday", 400), ("/events?colour=red", 400), ("/events?last=2", 400),
      ("/events?events=burnt", 400), ("/events?bbox=1,2,3", 400), ("/events?bbox=0,5,1,1", 400),
      ("/events?filter=nothing%3D1", 400), ("/events?filter=((", 400),
      ("/events?regions=nothing", 400), ("/events?collections=nothing", 400),
      ("/collections/nothing/events", 404), ("/events/more", 404),
    ])
    func `what cannot be followed is refused`(path: String, status: Int) async throws {
      let server = try await TestServer()
      let answer = try await server.get(path)
      #expect(answer.status == status)
      #expect(answer.fields["Content-Type"] == "application/problem+json")
      await server.close()
    }

    @Test func `an id of an event is read as it was written`() {
      var place = EventPlace()
      #expect(place.text == "d0")
      place.detection = 71
      place.logs = ["b": 36, "a": 5]
      #expect(place.text == "d1z.a-5.b-10")
      #expect(EventPlace(place.text) == place)
      for text in ["", "x", "d", "d-1", "d+1", "d1.", "d1.a", "d1.a-", "d1.-1", "d1.a-1-2"] {
        #expect(EventPlace(text) == nil, "\(text)")
      }
    }

    @Test func `methods besides reading are refused, and heads are empty`() async throws {
      let server = try await TestServer()
      let head = try await server.get("/events", "HEAD")
      #expect(head.status == 200)
      #expect(head.body.isEmpty)
      #expect(head.fields["Content-Type"] == "text/event-stream")
      let post = try await server.get("/events", "POST")
      #expect(post.status == 405)
      #expect(post.fields["Allow"] == "GET, HEAD, OPTIONS")
      await server.close()
    }

    @Test(.enabled(if: Programs.curl != nil, Comment(rawValue: Programs.noCurl)))
    func `curl follows until the server ends`() async throws {
      let server = try await TestServer.logged()
      let curl = try Program(
        Programs.curl ?? "", ["-sN", server.address + "/events"], folder: server.folder.url)
      try await curl.wait(for: "the start") { curl.outputSoFar.contains("\nid: d0.") }
      try await server.set("told", of: 1)
      try await curl.wait(for: "the event") {
        curl.outputSoFar.contains("\n\nevent: updated\nid: ")
      }
      // The stream ends as it should, and at once: nothing waits for the client.
      await server.close()
      let result = try await curl.result()
      #expect(result.status == 0)
      #expect(result.output.hasPrefix("retry: 1000\n\nid: d0."))
    }
  }
#endif
