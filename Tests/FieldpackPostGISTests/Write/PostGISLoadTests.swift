#if PostGIS
  import Fieldpack
  import FieldpackCore
  import FieldpackGeoPackage
  import FieldpackGeometry
  import FieldpackTestSupport
  import Foundation
  import Testing

  @testable import FieldpackPostGIS

  @Suite(.programs, .enabled(if: TestCluster.isInstalled, "\(TestCluster.missing)"))
  struct PostGISLoadTests {
    static let wells = """
      {"type": "FeatureCollection", "features": [
      {"type": "Feature", "id": 3, "geometry": {"type": "Point", "coordinates": [13, 52]},
       "properties": {"name": "Mitte", "depth": 12.5, "seen": "2024-02-29T12:00:00Z", "tags": [1, "a"]}},
      {"type": "Feature", "id": 8, "geometry": null,
       "properties": {"name": null, "depth": 3, "seen": null, "tags": null}}]}
      """

    struct Target {
      let schema: TestSchema
      let store: PostGISStore
      let folder: TemporaryFolder

      init() async throws {
        schema = try await TestSchema.make()
        store = schema.store()
        folder = try TemporaryFolder()
      }

      func load(
        _ text: String, _ name: String = "wells.geojson", _ mode: ImportMode = .create,
        _ change: (inout ImportOptions) -> Void = { _ in }
      ) async throws -> ImportReport {
        let file = try folder.write(text, to: name)
        var options = ImportOptions(mode: mode)
        change(&options)
        return try await StoreImport(options).run([ImportSource(file.path)], into: store)
      }

      func rows(_ layer: LayerID = "wells") async throws -> [Feature] {
        var features: [Feature] = []
        for try await feature in try await store.query(Query(layer)).features {
          features.append(feature)
        }
        return features
      }

      func text(_ sql: String) throws -> String? {
        try schema.cluster.connection().execute(sql, [.text(schema.name)]).text(0, 0)
      }
    }

    @Test func `a file becomes a table that PostGIS knows`() async throws {
      let target = try await Target()
      let report = try await target.load(Self.wells)
      #expect(report.layers.map(\.count) == [2])
      #expect(report.layers.first?.ids == 3...8)
      #expect(try await target.store.layers().map(\.id) == ["wells"])
      let rows = try await target.rows()
      #expect(rows.map(\.id) == [3, 8])
      #expect(rows.map(\.geometry) == [.point(x: 13, y: 52), nil])
      let seen = try #require(Instant("2024-02-29T12:00:00Z"))
      #expect(
        rows.first?.attributes == [
          "name": "Mitte", "depth": 12.5, "seen": .dateTime(seen), "tags": "[1,\"a\"]",
        ])
      #expect(
        try target.text(
          """
          SELECT string_agg(concat_ws(' ', f_geometry_column, coord_dimension, srid, type), ',')
          FROM geometry_columns WHERE f_table_schema = $1
          """) == "geom 2 4326 POINT")
      #expect(
        try target.text(
          """
          SELECT string_agg(amname || ' (' || attname || ')', ', ' ORDER BY amname DESC)
          FROM pg_index JOIN pg_class i ON i.oid = indexrelid JOIN pg_am m ON m.oid = i.relam
          JOIN pg_namespace n ON n.oid = i.relnamespace
          JOIN pg_attribute a ON a.attrelid = indrelid AND attnum = indkey[0] WHERE nspname = $1
          """) == "gist (geom), btree (fid)")
      let id = try await target.store.write { (writer) throws(FieldpackError) in
        try writer.create(Feature(), in: "wells")
      }
      #expect(id == 9)
    }

    @Test func `each mode does with a layer that exists what it does elsewhere`() async throws {
      let target = try await Target()
      _ = try await target.load(Self.wells)
      let error = await #expect(throws: FieldpackError.self) { try await target.load(Self.wells) }
      #expect(error?.code == .cannotCreate)
      let more = """
        {"type": "FeatureCollection", "features": [
        {"type": "Feature", "id": 8, "geometry": {"type": "Point", "coordinates": [1, 2]},
         "properties": {"name": "neu", "owner": "me"}},
        {"type": "Feature", "id": 20, "geometry": null, "properties": {"name": "weit", "owner": null}}]}
        """
      let appended = try await target.load(more, "wells.geojson", .append)
      #expect(appended.layers.map(\.renumberedCount) == [1])
      #expect(try await target.rows().map(\.id) == [3, 8, 20, 21])
      #expect(try await target.store.feature(21, in: "wells")?.attributes["owner"] == "me")
      for _ in 0..<2 {
        let changed = try await target.load(more, "wells.geojson", .upsert)
        #expect(changed.layers.map(\.updatedCount) == [2])
        #expect(try await target.rows().map(\.id) == [3, 8, 20, 21])
      }
      let eight = try await target.store.feature(8, in: "wells")
      #expect(eight?.attributes["name"] == "neu" && eight?.geometry == .point(x: 1, y: 2))
      #expect(eight?.attributes["depth"] == 3.0)
      _ = try await target.load(more, "wells.geojson", .replace)
      #expect(try await target.rows().map(\.id) == [8, 20])
      let trial = try await target.load(Self.wells, "wells.geojson", .replace) {
        $0.isDryRun = true
      }
      #expect(trial.count == 2 && trial.isDryRun)
      #expect(try await target.rows().map(\.id) == [8, 20])
    }

    @Test func `rows find features by a column`() async throws {
      let target = try await Target()
      _ = try await target.load("code,v\na,1\nb,2\n", "t.csv")
      let changed = try await target.load("code,v\nb,20\nc,30\nb,21\n", "t.csv", .upsert) {
        $0.matchColumn = "code"
      }
      #expect(changed.layers.map(\.updatedCount) == [1])
      #expect(
        try await target.rows("t").map(\.attributes) == [
          ["code": "a", "v": 1], ["code": "b", "v": 21], ["code": "c", "v": 30],
        ])
      _ = try await target.load("code,v\nb,5\n", "t.csv", .append)
      let doubled = await #expect(throws: FieldpackError.self) {
        try await target.load("code,v\nb,6\n", "t.csv", .upsert) { $0.matchColumn = "code" }
      }
      #expect(doubled?.code == .constraint)
    }

    @Test func `bad rows end the import, or are left out and listed`() async throws {
      let target = try await Target()
      try target.schema.run(
        """
        CREATE TABLE t (fid bigserial PRIMARY KEY, code varchar(3) UNIQUE, v integer CHECK (v > 0));
        INSERT INTO t (code, v) VALUES ('a', 1)
        """)
      let rows = "code,v\nb,2\na,3\ntoolong,4\nc,-5\nd,6\n"
      let error = await #expect(throws: FieldpackError.self) {
        try await target.load(rows, "t.csv", .append)
      }
      #expect(error?.code == .constraint)
      #expect(error?.location.layer == "t")
      #expect(try await target.rows("t").count == 1)
      let report = try await target.load(rows, "t.csv", .append) { $0.skipsErrors = true }
      #expect(report.skipped.listed.map(\.location.feature) == [3, 2, 4])
      #expect(report.layers.map(\.count) == [2])
      #expect(try await target.rows("t").compactMap { $0.attributes["code"] } == ["a", "b", "d"])
    }

    @Test func `a new layer whose bad rows are left out has its key`() async throws {
      let target = try await Target()
      let report = try await target.load(Self.wells) { $0.skipsErrors = true }
      #expect(report.layers.map(\.count) == [2])
      #expect(
        try target.text(
          "SELECT string_agg(attname, ',') FROM pg_index JOIN pg_class t ON t.oid = indrelid "
            + "JOIN pg_namespace n ON n.oid = relnamespace JOIN pg_attribute a ON a.attrelid = t.oid "
            + "AND attnum = indkey[0] WHERE nspname = $1 AND indisprimary") == "fid")
    }

    @Test func `columns that PostgreSQL has itself get other names`() async throws {
      let target = try await Target()
      let report = try await target.load("xmin,xmax,v\n1,2,3\n", "t.csv")
      #expect(
        try await target.rows("t").map(\.attributes) == [["xmin_2": 1, "xmax_2": 2, "v": 3]])
      #expect(report.notes.count { $0.text.contains("every table") } == 2)
    }

    @Test func `layers of a GeoPackage come back from the database as they were`() async throws {
      let target = try await Target()
      let path = target.folder.file("all.gpkg").path
      let features = try Self.shapes.map { try WKT.read($0) }
      let store = try await Self.geoPackage(path)
      try await store.write { (writer) throws(FieldpackError) in
        try writer.createLayer(
          Schema(
            layer: "shapes",
            geometry: GeometryColumn(
              type: .geometry, srs: SRS("EPSG", 25833), z: .optional, m: .optional),
            columns: [ColumnDefinition("name", .text())]))
        for geometry in features {
          try writer.create(
            Feature(geometry: geometry, attributes: ["name": .text(geometry.type.name)]),
            in: "shapes")
        }
      }
      await store.close()
      _ = try await StoreImport().run([ImportSource(path)], into: target.store)
      let rows = try await target.rows("shapes")
      #expect(rows.map(\.geometry) == features.map(Optional.some))
      #expect(rows.map { $0.attributes["name"] } == features.map { .text($0.type.name) })
      // By COPY, and in another reference system.
      for query in [Query("shapes"), Query("shapes").transformed(to: .wgs84)] {
        var copied: [Feature] = []
        let pieces = try await target.store.pieces(of: query) { Gathering() }
        for try await piece in pieces { copied += try piece.features }
        var expected: [Feature] = []
        for try await feature in try await target.store.query(query).features {
          expected.append(feature)
        }
        #expect(copied == expected)
      }
    }

    private static func geoPackage(_ path: String) async throws -> GeoPackageStore {
      let writer = try GeoPackageBulkWriter(creating: path, store: "all")
      _ = try writer.commit()
      return try await GeoPackageStore(path: path, id: "all")
    }

    private static let shapes = [
      "POINT (1 2)", "POINT Z (1 2 3)", "POINT M (1 2 3)", "POINT ZM (1 2 3 4)", "POINT EMPTY",
      "LINESTRING (1 2,3 4)", "LINESTRING EMPTY", "POLYGON ((0 0,1 0,1 1,0 0))",
      "MULTIPOINT Z ((1 2 3),(4 5 6))", "MULTILINESTRING ((1 2,3 4))",
      "MULTIPOLYGON (((0 0,1 0,1 1,0 0)))", "GEOMETRYCOLLECTION ZM (POINT ZM (1 2 3 4))",
      "CIRCULARSTRING (0 0,1 1,2 0)", "COMPOUNDCURVE ((0 0,1 1),CIRCULARSTRING (1 1,2 2,3 1))",
      "CURVEPOLYGON (CIRCULARSTRING (0 0,4 0,4 4,0 4,0 0))", "MULTICURVE ((0 0,1 1))",
      "MULTISURFACE (((0 0,1 0,1 1,0 0)))",
    ]
  }

  /// A piece that keeps its features.
  struct Gathering: PieceSink {
    private var batch: FeatureBatch?
    var features: [Feature] {
      get throws {
        guard let batch else { return [] }
        return try (0..<batch.count).map { try batch.feature(at: $0) }
      }
    }
    var isFull: Bool { (batch?.count ?? 0) >= 5 }

    mutating func begin(_ schema: Schema) { batch = FeatureBatch(store: "survey", schema: schema) }
    mutating func feature(_ row: borrowing some FeatureRow & ~Copyable) { batch?.append(row) }
  }
#endif
