#if PostGIS
  import Fieldpack
  import FieldpackCore
  import FieldpackGeoPackage
  import FieldpackGeometry
  import FieldpackTestSupport
  import Foundation
  import Testing

  @testable import FieldpackPostGIS

  /// Imports into layers that are divided over four servers.
  @Suite(.programs, .enabled(if: TestCluster.isInstalled, "\(TestCluster.missing)"))
  struct ShardLoadTests {
    /// The layer `points` with 401 features, in a divided and in a plain table.
    struct Pair {
      let divided: PostGISStore
      let plain: PostGISStore
      let servers: ShardServers
      /// Keeps the schema of the plain table.
      private let other: TestSchema
      let folder: TemporaryFolder

      /// - Parameter script: what is run in both schemas before the layer is divided.
      init(_ script: String? = nil) async throws {
        servers = try await ShardServers.make()
        other = try await TestSchema.make()
        for servers in [servers, ShardServers(schema: other, others: [])] {
          try servers.fill(ShardServers.points, count: 400)
          if let script { try servers.schema.run(script) }
        }
        divided = servers.store()
        plain = other.store()
        // The same features, with random places the same, too.
        folder = try TemporaryFolder()
        #expect(try await features(divided) == features(plain))
        _ = try await Sharding(of: divided).apply("points")
      }

      func features(_ store: PostGISStore) async throws -> [Feature] {
        var found: [Feature] = []
        for try await feature in try await store.query(Query("points")).features {
          found.append(feature)
        }
        return found
      }

      /// Imports the same into both, and compares them.
      func load(_ lines: [String], _ options: ImportOptions) async throws -> [ImportReport] {
        let file = try folder.write(lines.joined(separator: "\n") + "\n", to: "points.geojsonl")
        var options = options
        options.layer = "points"
        var reports: [ImportReport] = []
        for store in [divided, plain] {
          reports.append(
            try await StoreImport(options).run([ImportSource(file.path)], into: store))
        }
        #expect(try await features(divided) == features(plain))
        #expect(try await divided.schemas() == plain.schemas())
        return reports
      }

      /// Notes on each other server by which statements rows come into its tables.
      func watch() async throws {
        let schema = quotedUnchecked(servers.schema.name)
        for other in servers.others {
          let connection = try other.connection()
          try connection.run(
            script: """
              CREATE TABLE \(schema).seen (statement text);
              CREATE FUNCTION \(schema).see() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                INSERT INTO \(schema).seen VALUES (left(current_query(), 4)); RETURN NULL; END $$
              """)
          for table in try servers.tables(on: other) where table != "seen" {
            try connection.execute(
              "CREATE TRIGGER see AFTER INSERT ON \(schema).\(table) EXECUTE FUNCTION \(schema).see()"
            )
          }
        }
      }

      /// The statements that were seen since the last time, on all of the other servers.
      func seen() throws -> Set<String> {
        var found: Set<String> = []
        for other in servers.others {
          let rows = try other.connection().execute(
            "DELETE FROM \(quotedUnchecked(servers.schema.name)).seen RETURNING statement")
          for row in 0..<rows.count { found.insert(rows.text(row, 0) ?? "") }
        }
        return found
      }

      func close() async {
        await divided.close()
        await plain.close()
      }
    }

    static func line(
      _ id: Int, _ x: Double, _ y: Double, _ properties: String
    ) -> String {
      """
      {"type":"Feature","id":\(id),"properties":{\(properties)},\
      "geometry":{"type":"Point","coordinates":[\(x),\(y)]}}
      """
    }

    @Test func `an upsert replaces features where they are, and where they move to`() async throws {
      let pair = try await Pair()
      let lines = (0..<300).map { index in
        let id = 1 + index * 2
        return Self.line(
          id, Double(index % 36) * 10 - 175, Double(index % 17) * 10 - 80,
          "\"name\":\"new \(id)\"")
      }
      let reports = try await pair.load(lines, ImportOptions(mode: .upsert))
      for report in reports {
        #expect(report.layers.map(\.updatedCount) == [201])
        #expect(report.layers.map(\.count) == [300])
      }
      // What the rows do not bring stays.
      let kept = try #require(try await pair.divided.feature(7, in: "points"))
      #expect(kept.attributes["name"] == "new 7" && kept.attributes["depth"] == 7)
      // Once more nothing changes.
      let again = try await pair.load(lines, ImportOptions(mode: .upsert))
      #expect(again.map { $0.layers.map(\.updatedCount) } == [[300], [300]])
      // Each is in the table of its place, where boxes find it.
      for feature in try await pair.features(pair.divided) {
        guard let box = feature.geometry?.envelope else { continue }
        let found = try await pair.divided.count(Query("points", where: .intersects(box)))
        #expect(try await pair.plain.count(Query("points", where: .intersects(box))) == found)
      }
      await pair.close()
    }

    @Test func `a feature that moves to another server gets the defaults that are asked for`()
      async throws
    {
      let pair = try await Pair("ALTER TABLE points ALTER name SET DEFAULT upper('new')")
      let name = [ColumnDefinition("name", .text())]
      for store in [pair.divided, pair.plain] {
        try await store.writing { (writer) throws(FieldpackError) in
          try writer.update(
            7, in: "points", set: ["depth": .integer(3)], toDefault: name,
            geometry: .set(.point(x: 170, y: -80)))
          try writer.update(8, in: "points", set: [:], toDefault: name, geometry: .keep)
        }
        for id: Int64 in [7, 8] {
          #expect(try await store.feature(.integer(id), in: "points")?.attributes["name"] == "NEW")
        }
      }
      #expect(try await pair.features(pair.divided) == pair.features(pair.plain))
      await pair.close()
    }

    @Test func `an upsert keeps a second geometry`() async throws {
      let pair = try await Pair(
        "ALTER TABLE points ADD COLUMN centre geometry(Point, 4326); UPDATE points SET centre = geom"
      )
      let lines = (1...40).map { Self.line($0, Double($0), 50, "\"name\":\"moved\"") }
      _ = try await pair.load(lines, ImportOptions(mode: .upsert))
      for schema in [pair.servers.schema.name, pair.plain.scope.schema] {
        let rows = try pair.servers.schema.cluster.connection().execute(
          "SELECT count(*) FROM \(quotedUnchecked(schema)).points WHERE name = 'moved' "
            + "AND (centre IS NOT NULL) = (fid % 50 <> 0)")
        #expect(rows.integer(0, 0) == 40)
      }
      await pair.close()
    }

    @Test func `an upsert by another column leaves out what a server refuses`() async throws {
      let pair = try await Pair()
      for schema in [pair.servers.schema.name, pair.plain.scope.schema] {
        let connection = try pair.servers.schema.cluster.connection()
        try connection.execute("UPDATE \(quotedUnchecked(schema)).points SET name = 'key ' || fid")
      }
      var options = ImportOptions(mode: .upsert)
      (options.matchColumn, options.skipsErrors) = ("name", true)
      let lines = (1...40).map { index in
        let depth = index == 9 ? "\"deep\"" : "\(index * 100)"
        return Self.line(
          9_000 + index, Double(index), 50, "\"name\":\"key \(index * 11)\",\"depth\":\(depth)")
      }
      let reports = try await pair.load(lines, options)
      #expect(reports[0].layers.map(\.updatedCount) == reports[1].layers.map(\.updatedCount))
      #expect(reports[0].skipped.count == reports[1].skipped.count)
      await pair.close()
    }

    @Test func `new columns are added on all servers`() async throws {
      let pair = try await Pair()
      let lines = (0..<60).map { index in
        Self.line(
          5_000 + index, Double(index * 6) - 175, 10,
          "\"depth\":1,\"colour\":\"c\(index)\",\"checked\":\(index % 2 == 0)")
      }
      let reports = try await pair.load(lines, ImportOptions(mode: .append))
      for report in reports { #expect(report.layers.map(\.count) == [60]) }
      for store in [pair.divided, pair.plain] {
        try await store.write { (writer) throws(FieldpackError) in
          try writer.addColumns([ColumnDefinition("height", .double)], to: "points")
          try writer.update(3, in: "points", set: ["height": 1.5, "colour": "red"])
        }
      }
      #expect(try await pair.features(pair.divided) == pair.features(pair.plain))
      let query = Query("points", where: Column<Double>("height") > 1)
      #expect(try await pair.divided.count(query) == 1)
      // The layer is as divided as before, and can be balanced.
      _ = try await Sharding(of: pair.divided).rebalance("points", ranges: 6)
      #expect(try await pair.features(pair.divided) == pair.features(pair.plain))
      let unique = await #expect(throws: FieldpackError.self) {
        try await pair.divided.write { (writer) throws(FieldpackError) in
          try writer.addColumns(
            [ColumnDefinition("number", .integer, isUnique: true)], to: "points")
        }
      }
      #expect(unique?.code == .unsupported)
      await pair.close()
    }

    @Test func `a dry run adds no column to any server`() async throws {
      let pair = try await Pair()
      let file = try pair.folder.write(
        Self.line(5_000, 1, 50, "\"height\":1") + "\n", to: "points.geojsonl")
      var options = ImportOptions(mode: .append)
      (options.layer, options.isDryRun) = ("points", true)
      let error = await #expect(throws: FieldpackError.self) {
        try await StoreImport(options).run([ImportSource(file.path)], into: pair.divided)
      }
      #expect(error?.code == .unsupported)
      _ = try await pair.load(
        [Self.line(5_000, 1, 50, "\"height\":\"tall\"")], ImportOptions(mode: .append))
      await pair.close()
    }

    @Test(arguments: [nil, "'old'"])
    func `a column that a try has left is made anew, but not one with values`(
      _ value: String?
    ) async throws {
      let pair = try await Pair()
      let layer = try #require(try await pair.divided.catalogue().layer("points"))
      let part = try #require(layer.shards?.parts.first { $0.server != nil })
      let number = try #require(
        pair.divided.servers.firstIndex { $0.name == part.server })
      try pair.servers.others[number].connection().execute(
        "ALTER TABLE \(quotedUnchecked(pair.servers.schema.name)).\(quotedUnchecked(part.table)) "
          + "ADD COLUMN colour bytea DEFAULT \(value ?? "NULL")")
      func add(_ store: PostGISStore) async throws(FieldpackError) {
        try await store.write { (writer) throws(FieldpackError) in
          try writer.addColumns([ColumnDefinition("colour", .text())], to: "points")
        }
      }
      if value == nil {
        for store in [pair.divided, pair.plain] { try await add(store) }
      } else {
        let error = await #expect(throws: FieldpackError.self) { try await add(pair.divided) }
        #expect(error?.code == .cannotCreate)
        #expect(error?.message.hasPrefix("server '\(part.server ?? "")': ") == true)
      }
      #expect(try await pair.divided.schemas() == pair.plain.schemas())
      #expect(try await pair.features(pair.divided) == pair.features(pair.plain))
      await pair.close()
    }
  }
#endif
