#if PostGIS && Server
  import FieldpackCore
  import FieldpackHTTP
  import FieldpackTestSupport
  import Testing

  @testable import FieldpackPostGIS
  @testable import FieldpackServer

  /// Features of a database are changed as those of a GeoPackage are.
  @Suite(.programs, .enabled(if: TestCluster.isInstalled, "\(TestCluster.missing)"))
  struct ServedEditsTests {
    private static let place = #""geometry":{"type":"Point","coordinates":[7.5,51.25]}"#

    private static func feature(_ properties: String, _ rest: String = place) -> String {
      #"{"type":"Feature",\#(rest),"properties":{\#(properties)}}"#
    }

    /// Each is made on both sides; the answers are to be the same.
    private static let edits: [(method: String, path: String, body: String?)] = [
      ("POST", "wells/items", feature(#""name":"new""#)),
      ("POST", "wells/items", feature(#""name":"new""#)),
      ("POST", "wells/items", feature(#""name":null"#)),
      ("POST", "wells/items", feature(#""depth":1"#)),
      ("POST", "wells/items", feature(#""name":"a","nothing":1"#)),
      ("POST", "wells/items", feature(#""name":"a","visits":"x""#)),
      ("POST", "wells/items", feature(#""name":"a""#, #""geometry":null"#)),
      (
        "POST", "wells/items",
        feature(#""name":"b""#, #""geometry":{"type":"Point","coordinates":[7.5,99]}"#)
      ),
      (
        "POST", "wells/items",
        feature(#""name":"b""#, #""geometry":{"type":"LineString","coordinates":[[1,2],[3,4]]}"#)
      ),
      (
        "POST", "wells/items",
        #"{"type":"FeatureCollection","features":[\#(feature(#""name":"c""#)),\#(feature(#""name":"c""#))]}"#
      ),
      (
        "POST", "wells/items",
        #"{"type":"FeatureCollection","features":[\#(feature(#""name":"d""#)),\#(feature(#""name":"e""#))]}"#
      ),
      ("POST", "wells/items", "{"), ("POST", "wells/items", "[]"),
      (
        "PUT", "wells/items/3",
        feature(#""name":"put","depth":9.5,"active":true,"drilled":"2024-01-31""#)
      ),
      ("PUT", "wells/items/3", feature(#""name":"well 5""#)),
      ("PUT", "wells/items/999", feature(#""name":"nobody""#)),
      ("PUT", "wells/items/x", feature(#""name":"nobody""#)),
      (
        "PATCH", "wells/items/4",
        #"{"properties":{"depth":null,"seen":"2024-05-01T10:00:00.250Z"}}"#
      ),
      ("PATCH", "wells/items/4", #"{"properties":{"tags":{"a":null,"b":[1]}}}"#),
      ("PATCH", "wells/items/4", #"{"geometry":{"type":"Point","coordinates":[1,2]}}"#),
      ("PATCH", "wells/items/4", #"{"properties":{"fid":9}}"#),
      ("PATCH", "zones/items/2", #"{"properties":{"kind":"c"}}"#),
      ("DELETE", "wells/items/6", nil), ("DELETE", "wells/items/6", nil),
      ("DELETE", "wells/items", nil), ("PUT", "wells/items", feature("")),
      ("OPTIONS", "wells/items", nil), ("OPTIONS", "wells/items/4", nil),
      ("POST", "notes/items", #"{"type":"Feature","geometry":null,"properties":{"text":"x"}}"#),
      ("POST", "notes/items", feature(#""text":"x""#)),
    ]

    @Test func `edits are answered as by a GeoPackage, and leave the same`() async throws {
      let pair = try await ServedPair(isWritable: true)
      for edit in Self.edits {
        let path = "/collections/\(edit.path)"
        let own = try await pair.answer(0, path, edit.method, body: edit.body)
        let other = try await pair.answer(1, path, edit.method, body: edit.body)
        #expect(own == other, "\(edit)")
        // A sequence goes on also where nothing was created.
        try pair.schema.run(
          "SELECT setval(pg_get_serial_sequence('wells', 'fid'), max(fid)) FROM wells")
      }
      for layer in ["wells", "zones", "notes"] {
        let path = "/collections/\(layer)/items?limit=1000"
        let (own, other) = (try await pair.answer(0, path), try await pair.answer(1, path))
        #expect(own == other)
      }
      await pair.close()
    }

    @Test(arguments: [false, true])
    func `conditions and systems of changes are answered as by a GeoPackage`(
      requiresIfMatch: Bool
    ) async throws {
      let pair = try await ServedPair(isWritable: true, requiresIfMatch: requiresIfMatch)
      let (well, zone) = ("/collections/wells/items/2", "/collections/zones/items/3")
      let put = Self.feature(#""name":"well 1","depth":4"#)
      let patch = #"{"properties":{"depth":5}}"#
      let move =
        #"{"geometry":{"type":"Polygon","coordinates":[[[450000,5550000],[450900,5550000],"#
        + #"[450900,5550900],[450000,5550000]]]}}"#
      let tag = try #require(try await pair.ask(0, well).fields["ETag"])
      let zoneTag = try #require(try await pair.ask(0, zone).fields["ETag"])
      let utm = "<http://www.opengis.net/def/crs/EPSG/0/25832>"
      let steps: [(method: String, path: String, fields: HTTPFields, body: String?)] = [
        ("GET", "/conformance", [:], nil), ("PUT", well, [:], put), ("PATCH", well, [:], patch),
        ("PUT", well, ["If-Match": "\"x\""], put),
        ("PUT", "/collections/wells/items/99", ["If-Match": "*"], put),
        ("PUT", well, ["If-None-Match": "*", "If-Match": "*"], put),
        ("PATCH", well, ["If-Match": tag], patch), ("PATCH", well, ["If-Match": tag], patch),
        ("DELETE", well, ["If-Match": tag], nil), ("DELETE", well, ["If-Match": "*"], nil),
        ("DELETE", well, ["If-Match": "*"], nil),
        ("PATCH", zone, ["If-Match": zoneTag, "Content-Crs": utm], move),
        ("PATCH", zone, ["If-Match": "*", "Content-Crs": "<x>"], move),
        ("GET", zone + "?crs=http://www.opengis.net/def/crs/EPSG/0/25832", [:], nil),
      ]
      var statuses: [Int] = []
      for step in steps {
        var answers: [ServedPair.Answer] = []
        for server in 0...1 {
          answers.append(
            try await pair.answer(
              server, step.path, step.method, fields: step.fields, body: step.body))
        }
        #expect(answers[0] == answers[1], "\(step)")
        statuses.append(answers[1].status)
      }
      #expect(
        statuses == [
          200, requiresIfMatch ? 428 : 204, requiresIfMatch ? 428 : 204, 412, 412, 412,
          requiresIfMatch ? 204 : 412, 412, 412, 204, 412, 204, 400, 200,
        ])
      await pair.close()
    }

    @Test func `a change names the state that it changes`() async throws {
      let pair = try await ServedPair(isWritable: true)
      let path = "/collections/wells/items/2"
      let tag = try #require(try await pair.ask(1, path).fields["ETag"])
      try pair.schema.run("UPDATE wells SET depth = 99 WHERE fid = 2")
      let body = #"{"properties":{"visits":7}}"#
      let late = try await pair.ask(1, path, "PATCH", fields: ["If-Match": tag], body: body)
      #expect(late.status == 412)
      let fresh = try #require(try await pair.ask(1, path).fields["ETag"])
      #expect(fresh != tag)
      let made = try await pair.ask(1, path, "PATCH", fields: ["If-Match": fresh], body: body)
      #expect(made.status == 204)
      let new = try await pair.ask(1, path).fields["ETag"]
      #expect(made.fields["ETag"] == new)
      await pair.close()
    }

    @Test func `one of many changes of the same state is made`() async throws {
      let pair = try await ServedPair(isWritable: true)
      let path = "/collections/wells/items/2"
      let tag = try #require(try await pair.ask(1, path).fields["ETag"])
      let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
        for number in 0..<12 {
          group.addTask {
            try await pair.ask(
              1, path, "PATCH", fields: ["If-Match": tag],
              body: #"{"properties":{"visits":\#(100 + number)}}"#
            ).status
          }
        }
        return try await group.reduce(into: [Int]()) { $0.append($1) }
      }
      #expect(statuses.count { $0 == 204 } == 1 && statuses.count { $0 == 412 } == 11)
      await pair.close()
    }

    private static let json: HTTPFields = ["Content-Type": "application/geo+json"]

    @Test func `what a feature leaves out gets the default that only the database can compute`()
      async throws
    {
      let schema = try await TestSchema.make()
      try schema.run(
        """
        CREATE TABLE visits (fid int GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
          name text NOT NULL DEFAULT upper('new'), number int NOT NULL GENERATED BY DEFAULT AS IDENTITY,
          state text NOT NULL DEFAULT 'open', seen timestamptz NOT NULL DEFAULT now(),
          note text DEFAULT lower('N'), depth int NOT NULL);
        INSERT INTO visits (name, number, state, seen, note, depth)
          VALUES ('a', 70, 'shut', '2020-01-01 00:00Z', 'b', 1);
        """)
      try await ServedDatabaseTests.serving(schema, isWritable: true) { ask in
        let described = try await ask("GET", "/collections/visits/schema", nil, [:]).json
        #expect(described["required"] == ["depth"])
        let bare = Self.feature(#""depth":2"#, #""geometry":null"#)
        #expect(try await ask("PUT", "/collections/visits/items/1", bare, Self.json).status == 204)
        #expect(try await ask("POST", "/collections/visits/items", bare, Self.json).status == 201)
        for (id, number, note) in [(1, 1, JSONValue.null), (2, 2, "n")] {
          let path = "/collections/visits/items/\(id)"
          let properties = try await ask("GET", path, nil, [:]).json["properties"]
          #expect(properties?["name"] == "NEW" && properties?["number"] == JSONValue(number))
          #expect(properties?["state"] == "open" && properties?["note"] == note)
          #expect((properties?["seen"]?.string ?? "") > "2024")
        }
        let refused = try await ask(
          "PUT", "/collections/visits/items/1", Self.feature("", #""geometry":null"#), Self.json)
        #expect(refused.status == 422)
        #expect(try refused.json["detail"] == "property 'depth' cannot be null")
      }
    }

    @Test func `a feature of a layer that gives no ids brings its own`() async throws {
      let schema = try await TestSchema.make()
      try schema.run(
        """
        CREATE TABLE sites (code text PRIMARY KEY, name text); INSERT INTO sites VALUES ('A', 'a');
        CREATE TABLE marks (code uuid PRIMARY KEY);
        """)
      try await ServedDatabaseTests.serving(schema, isWritable: true) { ask in
        let items = "/collections/sites/items"
        func post(_ properties: String, _ rest: String = "") async throws -> HTTPResponse {
          try await ask(
            "POST", items, Self.feature(properties, #""geometry":null"# + rest), Self.json)
        }
        let described = try await ask("GET", "/collections/sites/schema", nil, [:]).json
        #expect(described["required"] == ["code"])
        #expect(described["properties"]?["code"]?["readOnly"] == nil)
        let made = try await post(#""name":"b""#, #","id":"B 1""#)
        #expect(made.status == 201)
        #expect(made.fields["Location"]?.hasSuffix(items + "/B%201") == true)
        #expect(try await post(#""name":"c","code":"C""#).status == 201)
        #expect(try await post(#""code":"D""#, #","id":"D""#).status == 201)
        for (properties, rest, status, detail) in [
          (#""name":"c""#, "", 422, "layer 'sites' gives no ids itself"),
          (#""code":null"#, #","id":null"#, 422, "layer 'sites' gives no ids itself"),
          (#""code":"E""#, #","id":"F""#, 400, "the feature has more than one id"),
          (#""code":["E"]"#, "", 400, "the id of a feature is neither a text nor a number"),
          (#""code":"C""#, "", 409, "another feature has that value of property 'code'"),
        ] {
          let refused = try await post(properties, rest)
          let text = try refused.json["detail"]?.string ?? ""
          #expect(refused.status == status && text.hasPrefix(detail), "\(text)")
        }
        let mark = Self.feature("", #""geometry":null,"id":"abc""#)
        let refused = try await ask("POST", "/collections/marks/items", mark, Self.json)
        #expect(refused.status == 422)
        #expect(
          try refused.json["detail"] == "the id 'abc' of a feature is no uuid, as layer 'marks' has"
        )
        let all = try await ask("GET", items, nil, [:]).json["features"]?.items
        #expect(all?.compactMap { $0["id"]?.string } == ["A", "B 1", "C", "D"])
      }
    }

    @Test func `what the role of the server may not do is not offered`() async throws {
      let schema = try await TestSchema.make()
      let role = "r" + schema.name.dropFirst().replacing("-", with: "")
      try schema.run(
        """
        CREATE TABLE wells (fid int PRIMARY KEY, name text, geom geometry(Point, 4326));
        CREATE TABLE posts (fid int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text);
        CREATE TABLE old (fid int PRIMARY KEY, name text);
        INSERT INTO old VALUES (1, 'a'), (2, 'b');
        INSERT INTO wells VALUES (1, 'a', ST_SetSRID(ST_Point(1, 2), 4326));
        CREATE ROLE \(role) LOGIN; GRANT USAGE ON SCHEMA "\(schema.name)" TO \(role);
        GRANT SELECT ON ALL TABLES IN SCHEMA "\(schema.name)" TO \(role);
        GRANT INSERT ON posts TO \(role); GRANT DELETE ON old TO \(role);
        """)
      // The role may not read the log.
      let owner = schema.store()
      try await owner.enableLogs(of: ["wells"])
      await owner.close()
      var address = schema.cluster.address()
      address.keywords = address.keywords.map { $0.0 == "user" ? ("user", role) : $0 }
      let store = PostGISStore(id: "survey", address: address, scope: schema.scope, trusted: .zero)
      var options = FieldServer.Options()
      options.isWritable = true
      let server = FieldServer(ofDatabase: ServedPostGIS(store), options: options)
      let base = "http://\(try server.listen(on: ListenAddress(port: 0)))/collections/"
      let client = try HTTPClient(HTTPConfiguration())
      func ask(
        _ method: String, _ path: String, _ body: String? = nil, match: String? = nil
      ) async throws -> HTTPResponse {
        var fields: HTTPFields = ["Content-Type": "application/geo+json"]
        fields["If-Match"] = match
        return try await client.send(
          HTTPRequest(
            .init(rawValue: method), base + path, fields: fields,
            body: body.map { .bytes(Array($0.utf8)) } ?? .none))
      }
      let plain = #"{"type":"Feature","geometry":null,"properties":{"name":"x"}}"#
      #expect(try await ask("OPTIONS", "wells/items").fields["Allow"] == "GET, HEAD, OPTIONS")
      #expect(try await ask("POST", "wells/items", plain).status == 405)
      #expect(try await ask("DELETE", "wells/items/1").status == 405)
      for path in ["items/1", "items?bbox=0,1,2,3", "items?f=gpkg", "tiles/WebMercatorQuad/0/0/0"] {
        #expect(try await ask("GET", "wells/" + path).status == 200, "\(path)")
      }
      #expect(try await ask("POST", "posts/items", plain).status == 201)
      #expect(try await ask("DELETE", "posts/items/1").status == 405)
      // No row is locked without the right to update.
      let tag = try await ask("GET", "old/items/1").fields["ETag"]
      #expect(try await ask("DELETE", "old/items/2", match: tag).status == 412)
      #expect(try await ask("DELETE", "old/items/1", match: tag).status == 204)
      #expect(try await ask("DELETE", "old/items/2").status == 204)
      await server.close()
      await store.close()
      try schema.run("DROP OWNED BY \(role); DROP ROLE \(role)")
    }
  }
#endif
