#if PostGIS && Server
  import FieldpackCore
  import FieldpackGeoPackage
  import FieldpackHTTP
  import FieldpackServices
  import FieldpackTestSupport
  import Foundation
  import Testing

  @testable import FieldpackPostGIS
  @testable import FieldpackServer

  /// What happens in a database is told, and copies of it are brought up to date.
  @Suite(.programs, .enabled(if: TestCluster.isInstalled, "\(TestCluster.missing)"))
  struct ServedLogsTests {
    /// The texts of a stream of events, as they come.
    private final class Listener {
      private let stream: HTTPStream
      private var rest: [UInt8] = []
      private(set) var lastID = ""

      init(_ address: String, after id: String? = nil) async throws {
        var configuration = HTTPConfiguration()
        configuration.timeout = nil
        configuration.lowSpeed = 0
        var fields: HTTPFields = ["Accept": "text/event-stream"]
        if let id { fields["Last-Event-ID"] = id }
        var request = HTTPRequest(.get, address, fields: fields)
        request.maximumLength = .max
        stream = try await HTTPClient(configuration).stream(request)
      }

      /// The next block of lines that has data, or only an id where `isStart`.
      func next(isStart: Bool = false) async throws -> [String: String] {
        while true {
          while let end = rest.firstRange(of: Array("\n\n".utf8)) {
            let block = String(decoding: rest[..<end.lowerBound], as: UTF8.self)
            rest.removeSubrange(..<end.upperBound)
            var lines: [String: String] = [:]
            for line in block.split(separator: "\n") {
              guard let colon = line.firstRange(of: ": ") else { continue }
              lines[String(line[..<colon.lowerBound])] = String(line[colon.upperBound...])
            }
            if let id = lines["id"] { lastID = id }
            if lines["data"] != nil || isStart && lines["id"] != nil { return lines }
          }
          guard let bytes = try await stream.next() else {
            throw FieldpackError(.invalidData, "the stream has ended")
          }
          rest += bytes
        }
      }

      /// The kind of the next event, with the id and one property of its feature.
      func short(_ property: String) async throws -> String {
        let lines = try await next()
        let json = try JSONValueReader.read(lines["data"] ?? "")
        let id = json["data"]?["id"].map { "\($0.text)" } ?? "-"
        return
          "\(lines["event"] ?? "") \(id) \(json["data"]?["properties"]?[property]?.text ?? "-")"
      }
    }

    @Test func `events are told as they happen, and again by the id of the last`() async throws {
      let pair = try await ServedPair(isWritable: true)
      try await pair.database.enableLogs(of: ["wells", "zones"])
      let address = pair.addresses[1] + "/collections/wells/events"
      let listener = try await Listener(address)
      _ = try await listener.next(isStart: true)
      try pair.schema.run("UPDATE wells SET depth = 77 WHERE fid = 3")
      #expect(try await listener.short("depth") == "updated 3 77")
      let place = listener.lastID
      let answer = try await pair.ask(
        1, "/collections/wells/items", "POST",
        body: #"{"type":"Feature","geometry":null,"properties":{"name":"new"}}"#)
      #expect(answer.status == 201)
      try pair.schema.run(
        "BEGIN; DELETE FROM wells WHERE fid = 2; UPDATE zones SET kind = 'x' WHERE fid = 1; COMMIT;"
      )
      #expect(try await listener.short("name") == #"created 41 "new""#)
      #expect(try await listener.short("name") == #"deleted 2 "well 1""#)
      let again = try await Listener(address, after: place)
      #expect(try await again.short("name") == #"created 41 "new""#)
      #expect(try await again.short("name") == #"deleted 2 "well 1""#)
      #expect(again.lastID == listener.lastID)
      // The zones are in a system of metres, and events in longitude and latitude.
      let zones = try await Listener(
        pair.addresses[1] + "/collections/zones/events?since=2020-01-01T00:00:00Z")
      let lines = try await zones.next()
      let json = try JSONValueReader.read(lines["data"] ?? "")
      guard
        case .real(let x)? = json["data"]?["geometry"]?["coordinates"]?.items.first?.items.first?
          .items.first
      else {
        Issue.record("no geometry: \(lines)")
        return
      }
      #expect(lines["event"] == "updated" && (8.2...8.4).contains(x))
      await pair.close()
    }

    @Test func `a box of events counts where a feature was, too`() async throws {
      let pair = try await ServedPair()
      try await pair.database.enableLogs(of: ["wells"])
      let listener = try await Listener(
        pair.addresses[1] + "/collections/wells/events?bbox=0.9,0.4,1.1,0.6")
      _ = try await listener.next(isStart: true)
      try pair.schema.run(
        "UPDATE wells SET geom = ST_SetSRID(ST_Point(50, 50), 4326) WHERE fid > 2")
      #expect(try await listener.short("name") == #"updated 3 "well 2""#)
      await pair.close()
    }

    @Test func `what happens in regions is told, as these are at the time`() async throws {
      let pair = try await ServedPair()
      try await pair.database.enableLogs(of: ["wells"])
      let listener = try await Listener(
        pair.addresses[1] + "/collections/wells/events?regions=zones")
      _ = try await listener.next(isStart: true)
      func place(_ x: Double) -> String {
        "ST_Transform(ST_SetSRID(ST_Point(\(x), 5550500), 25832), 4326)"
      }
      try pair.schema.run(
        """
        UPDATE wells SET depth = 1 WHERE fid = 2;
        UPDATE wells SET geom = \(place(450_500)) WHERE fid = 3;
        """)
      #expect(try await listener.short("name") == #"updated 3 "well 2""#)
      // The layer of the zones has no log.
      try pair.schema.run("UPDATE zones SET geom = ST_Translate(geom, 20000, 0)")
      try pair.schema.run("UPDATE wells SET depth = 2 WHERE fid = 3")
      try pair.schema.run("UPDATE wells SET geom = \(place(470_500)) WHERE fid = 4")
      #expect(try await listener.short("name") == #"updated 4 "well 3""#)
      let none = try await pair.ask(1, "/events?regions=notes")
      #expect(none.status == 400)
      await pair.close()
    }

    @Test func `a copy of a whole layer is synchronised with the database`() async throws {
      let pair = try await ServedPair(isWritable: true)
      try await pair.database.enableLogs(of: ["wells"])
      try pair.schema.run("UPDATE wells SET depth = 5 WHERE fid = 1")
      let path = pair.folder.file("copy.gpkg").path
      let answer = try await pair.ask(1, "/collections/wells/items?f=gpkg")
      #expect(answer.status == 200)
      #expect(answer.fields["Content-Type"] == "application/geopackage+sqlite3")
      try Data(answer.body).write(to: URL(fileURLWithPath: path))
      try pair.schema.run("UPDATE wells SET depth = 6 WHERE fid = 4")
      var profile = OpeningProfile.foreign
      profile.editor = Editor(author: "Grace", device: "laptop")
      let copy = try await GeoPackageStore(path: path, id: "copy", profile: profile)
      try await copy.write { (writer: GeoPackageWriter) throws(FieldpackError) in
        try writer.update(5, in: "wells", set: ["depth": .real(7)])
        try writer.create(Feature(attributes: ["name": .text("from the copy")]), in: "wells")
      }
      let report = try await SyncRun(
        of: copy, with: try HTTPSyncPeer(pair.addresses[1] + "/sync")
      ).run()
      #expect(report.layers.map(\.sent) == [2] && report.layers.map(\.received) == [1], "\(report)")
      for id: Int64 in [1, 4, 5, 41] {
        let here = try await copy.feature(.integer(id), in: "wells")
        let there = try await pair.database.feature(.integer(id), in: "wells")
        #expect(here?.attributes["depth"] == there?.attributes["depth"])
        #expect(here?.attributes["name"] == there?.attributes["name"] && there != nil)
      }
      await copy.close()
      await pair.close()
    }

    @Test func `a part of a layer comes as a GeoPackage without a log`() async throws {
      let pair = try await ServedPair()
      try pair.schema.run(
        "CREATE TABLE sites (code text PRIMARY KEY, name text); INSERT INTO sites VALUES ('b', '1'), ('a', '2')"
      )
      for (path, ids, column) in [
        ("/collections/wells/items?f=gpkg&bbox=1,0,2,9", ["3", "4", "5", "40"], "name"),
        ("/collections/sites/items?f=gpkg", ["1", "2"], "code"),
      ] {
        let answer = try await pair.askUntilFound(path)
        #expect(answer.status == 200, "\(String(decoding: answer.body, as: UTF8.self))")
        let file = pair.folder.file("\(column).gpkg")
        try Data(answer.body).write(to: file)
        let store = try await GeoPackageStore(path: file.path, id: "copy")
        let layer = LayerID(path.contains("sites") ? "sites" : "wells")
        var found: [String] = []
        for try await batch in try await store.query(Query(layer)) {
          for index in 0..<batch.count {
            let feature = try batch.feature(at: index)
            found.append(feature.id?.description ?? "")
            #expect(feature.attributes[column] != nil)
          }
        }
        #expect(found == ids)
        #expect(
          try await store.read { (snapshot: GeoPackageSnapshot) throws(FieldpackError) in
            try snapshot.loggedLayers()
          } == [])
        await store.close()
      }
      await pair.close()
    }
  }
#endif
