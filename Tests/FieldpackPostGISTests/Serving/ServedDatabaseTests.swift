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

  /// What a database has of its own: keys that are texts, tags without a change log, connections that are
  /// lost.
  @Suite(.programs, .enabled(if: TestCluster.isInstalled, "\(TestCluster.missing)"))
  struct ServedDatabaseTests {
    private static let items = "/collections/wells/items"

    @Test func `a tag stands for one state of the table`() async throws {
      // Each commit to a cluster counts.
      let pair = try await ServedPair(cluster: try TestCluster())
      func tag() async throws -> String {
        try #require(try await pair.ask(1, Self.items).fields["ETag"])
      }
      func status(_ tag: String) async throws -> Int {
        try await pair.ask(1, Self.items, fields: ["If-None-Match": tag]).status
      }
      let first = try await tag()
      #expect(try await status(first) == 304)
      // A transaction that is not committed yet changes nothing that can be seen, and has its end before it.
      let slow = try pair.schema.cluster.connection()
      try slow.execute("BEGIN")
      try slow.execute("UPDATE \"\(pair.schema.name)\".wells SET depth = 1 WHERE fid = 1")
      let second = try await tag()
      try slow.execute("COMMIT")
      #expect(try await status(second) == 200)
      let third = try await tag()
      #expect(try await status(third) == 304)
      try pair.schema.run("ALTER TABLE wells ADD COLUMN more text")
      #expect(try await status(third) == 200)
      try pair.schema.run("CREATE VIEW now AS SELECT fid, name, now() AS moment FROM wells")
      let view = try await pair.askUntilFound("/collections/now/items")
      #expect(view.status == 200 && view.fields["ETag"] == nil)
      await pair.close()
    }

    @Test func `keys may be texts`() async throws {
      let schema = try await TestSchema.make()
      try schema.run(
        """
        CREATE TABLE sites (code text PRIMARY KEY, name text, geom geometry(Point, 4326));
        INSERT INTO sites SELECT c, 'n ' || c, ST_SetSRID(ST_Point(1, 2), 4326)
          FROM unnest(ARRAY['A1', 'a/b', 'B 2', 'é', '10']) AS c;
        CREATE TABLE parts (id uuid PRIMARY KEY DEFAULT gen_random_uuid(), name text);
        """)
      try await Self.serving(schema, isWritable: true) { ask in
        var ids: [String] = []
        var path = "/collections/sites/items?limit=2"
        while true {
          let page = try await ask("GET", path, nil, [:]).json
          ids += page["features"]?.items.compactMap { $0["id"]?.string } ?? []
          guard let next = page["links"]?.items.first(where: { $0["rel"]?.string == "next" })
          else { break }
          path =
            "/"
            + (next["href"]?.string ?? "").split(separator: "/").dropFirst(2).joined(separator: "/")
        }
        #expect(ids == ["10", "A1", "B 2", "a/b", "é"])
        let one = try await ask("GET", "/collections/sites/items/a%2Fb", nil, [:])
        let name = try one.json["properties"]?["name"]
        #expect(one.status == 200 && name == "n a/b")
        let patch = try await ask(
          "PATCH", "/collections/sites/items/B%202", #"{"properties":{"name":"new"}}"#,
          ["Content-Type": "application/merge-patch+json"])
        #expect(patch.status == 204)
        #expect(
          try await ask("GET", "/collections/sites/items?code=B%202", nil, [:])
            .json["features"]?.items.first?["properties"]?["name"] == "new")
        #expect(
          try await ask("GET", "/collections/sites/schema", nil, [:])
            .json["properties"]?["code"]?["type"] == "string")
        let made = try await ask(
          "POST", "/collections/parts/items",
          #"{"type":"Feature","geometry":null,"properties":{"name":"p"}}"#,
          ["Content-Type": "application/geo+json"])
        #expect(made.status == 201, "\(String(decoding: made.body, as: UTF8.self))")
        let own = try #require(made.fields["Location"]?.split(separator: "/").last)
        #expect(try await ask("GET", "/collections/parts/items/\(own)", nil, [:]).status == 200)
        #expect(try await ask("GET", "/collections/parts/items/x", nil, [:]).status == 404)
        #expect(try await ask("DELETE", "/collections/parts/items/\(own)", nil, [:]).status == 204)
      }
    }

    @Test func `features of one millisecond come once each, page by page`() async throws {
      let schema = try await TestSchema.make()
      try schema.run(
        """
        CREATE TABLE wells (fid int PRIMARY KEY, seen timestamptz);
        INSERT INTO wells SELECT n, timestamptz '2024-01-01 00:00Z' + (13 - n) * interval '100 us'
          FROM generate_series(1, 12) AS n;
        """)
      try await Self.serving(schema) { ask in
        var ids: [JSONValue] = []
        var path = "\(Self.items)?limit=5&sortby=seen"
        while true {
          let page = try await ask("GET", path, nil, [:]).json
          ids += page["features"]?.items.compactMap { $0["id"] } ?? []
          guard let next = page["links"]?.items.first(where: { $0["rel"]?.string == "next" })
          else { break }
          path =
            "/"
            + (next["href"]?.string ?? "").split(separator: "/").dropFirst(2).joined(separator: "/")
        }
        #expect(ids.count == 12 && Set(ids).count == 12)
      }
    }

    @Test func `a database that is away is told, and asked again`() async throws {
      let cluster = try TestCluster()
      let schema = try TestSchema(cluster)
      try schema.run(
        "CREATE TABLE wells (fid int PRIMARY KEY, name text); INSERT INTO wells VALUES (1, 'a')")
      let store = schema.store()
      var options = FieldServer.Options()
      options.health = ListenAddress(port: 0)
      let server = FieldServer(ofDatabase: ServedPostGIS(store), options: options)
      let base = "http://\(try server.listen(on: ListenAddress(port: 0)))"
      let health = "http://\(try #require(server.healthAddress))"
      let client = try HTTPClient(HTTPConfiguration())
      func ask(_ address: String) async throws -> (status: Int, text: String) {
        let answer = try await client.send(HTTPRequest(.get, address))
        return (answer.status, String(decoding: answer.body, as: UTF8.self))
      }
      #expect(try await ask(health + "/readyz") == (200, "ready\n"))
      #expect(try await ask(base + Self.items).status == 200)
      let (socket, away) = (cluster.folder + "/.s.PGSQL.5432", cluster.folder + "/away")
      let admin = try cluster.connection()
      try FileManager.default.moveItem(atPath: socket, toPath: away)
      try admin.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()")
      let lost = try await ask(health + "/readyz")
      #expect(lost.status == 503 && lost.text.hasPrefix("not ready: "))
      #expect(lost.text.contains("test/fieldpack") && !lost.text.contains("passfile"))
      let refused = try await ask(base + Self.items)
      #expect(refused.status == 503 && refused.text.contains("Ask again later."))
      #expect(!refused.text.contains(cluster.folder))
      #expect(try await ask(health + "/healthz").status == 200)
      try FileManager.default.moveItem(atPath: away, toPath: socket)
      #expect(try await ask(health + "/readyz") == (200, "ready\n"))
      #expect(try await ask(base + Self.items).status == 200)
      await server.close()
      await store.close()
    }

    @Test func `the command serves a store of a config to clients of other projects`() async throws
    {
      let schema = try await TestSchema.make()
      try schema.run(
        """
        CREATE TABLE wells (fid int PRIMARY KEY, name text, geom geometry(Point, 4326));
        INSERT INTO wells SELECT n, 'well ' || n, ST_SetSRID(ST_Point(n, 1), 4326)
          FROM generate_series(1, 250) AS n;
        """)
      let folder = try TemporaryFolder()
      _ = try folder.write(
        """
        {"stores": [{"id": "survey", "store_type": "postgis", "version": "1",
          "uri": "\(schema.cluster.uri())", "options": {"schema": "\(schema.name)"}}]}
        """, to: "team.scfg")
      let program = try Program(
        Tool.path, ["serve", "team.scfg:survey", "--listen", "127.0.0.1:0"], folder: folder.url)
      try program.block(for: "its address") { program.outputSoFar.hasSuffix("map\n") }
      let start = "serving team.scfg:survey at "
      #expect(program.outputSoFar.hasPrefix(start))
      let address = String(program.outputSoFar.prefix { $0 != "\n" }.dropFirst(start.count))
      if let python = Programs.arrowPython {
        let script = """
          import sys, pyogrio
          info = pyogrio.read_info("OAPIF:" + sys.argv[1], layer="wells", force_feature_count=True)
          print(info["features"], info["geometry_type"], list(info["fields"]))
          meta, ids, shapes, columns = pyogrio.raw.read(
            "OAPIF:" + sys.argv[1], layer="wells", bbox=(9.5, 0, 12.5, 2), return_fids=True)
          print([str(name) for name in columns[0]])
          """
        let run = try await Program.run(python, ["-c", script, address])
        #expect(
          run.output == "250 Point ['name']\n['well 10', 'well 11', 'well 12']\n", "\(run)")
      }
      program.send(SIGTERM)
      let result = try await program.result()
      #expect([result.error, "\(result.status)"] == ["", "0"])
    }

    typealias Ask = (String, String, String?, HTTPFields) async throws -> HTTPResponse

    /// Serves a schema.
    static func serving(
      _ schema: TestSchema, isWritable: Bool = false, _ body: (Ask) async throws -> Void
    ) async throws {
      let store = schema.store()
      var options = FieldServer.Options()
      options.isWritable = isWritable
      let server = FieldServer(ofDatabase: ServedPostGIS(store), options: options)
      let base = "http://\(try server.listen(on: ListenAddress(port: 0)))"
      let client = try HTTPClient(HTTPConfiguration())
      try await body { method, path, text, fields in
        try await client.send(
          HTTPRequest(
            .init(rawValue: method), base + path, fields: fields,
            body: text.map { .bytes(Array($0.utf8)) } ?? .none))
      }
      await server.close()
      await store.close()
    }
  }

  extension HTTPResponse {
    var json: JSONValue {
      get throws { try JSONValueReader.read(String(decoding: body, as: UTF8.self)) }
    }
  }
#endif
