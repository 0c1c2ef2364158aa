#if PostGIS
  import Fieldpack
  import FieldpackCore
  import FieldpackGeometry
  import FieldpackTestSupport
  import Foundation
  import Testing

  @testable import FieldpackPostGIS

  /// Rows that come to tables which other programs made.
  @Suite(.programs, .enabled(if: TestCluster.isInstalled, "\(TestCluster.missing)"))
  struct PostGISAppendTests {
    private typealias Target = PostGISLoadTests.Target
    private static let point = """
      {"type": "FeatureCollection", "features": [{"type": "Feature", "properties": {},
       "geometry": {"type": "Point", "coordinates": [9, 52]}}]}
      """

    @Test func `appended rows get the reference system in which the layer reads`() async throws {
      let target = try await Target()
      try target.schema.run(
        """
        CREATE TABLE drawn AS SELECT 1 AS fid,
          ST_SetSRID(ST_MakePoint(400000, 5700000), 25832) AS geom;
        CREATE TABLE stated (id serial PRIMARY KEY,
          geom geometry CHECK (ST_SRID(geom) = 25832));
        CREATE TABLE globe (id serial PRIMARY KEY, geog geography)
        """)
      for layer in ["drawn", "stated"] {
        _ = try await target.load(Self.point, "\(layer).geojson", .append)
        #expect(
          try target.text(
            """
            SELECT string_agg(concat_ws(' ', ST_SRID(geom), round(ST_X(geom)::numeric, 3)), ', '
              ORDER BY ST_X(geom)) FROM \(target.table(layer))
            """) == (layer == "drawn" ? "25832 400000.000, " : "") + "25832 500000.000")
      }
      _ = try await target.load("x,y\n500000,5761038.212\n", "globe.csv", .append) {
        $0.sourceSRS = SRS("EPSG", 25832)
      }
      #expect(
        try target.text(
          "SELECT round(ST_X(geog::geometry)::numeric, 6) || ' ' || "
            + "round(ST_Y(geog::geometry)::numeric, 6) FROM \(target.table("globe"))")
          == "9.000000 52.000000")
    }

    @Test func `an edit gets the SRID that the layer has`() async throws {
      let target = try await Target()
      try target.schema.run(
        """
        CREATE TABLE drawn (id int PRIMARY KEY, geom geometry);
        INSERT INTO drawn VALUES (1, ST_SetSRID(ST_MakePoint(400000, 5700000), 25832))
        """)
      _ = try await target.store.write { (writer) throws(FieldpackError) in
        try writer.create(Feature(id: 2, geometry: .point(x: 1, y: 2)), in: "drawn")
      }
      #expect(
        try target.text("SELECT ST_AsEWKT(geom) FROM \(target.table("drawn")) WHERE id = 2")
          == "SRID=25832;POINT(1 2)")
    }

    @Test func `rows do not go into a system whose SRID has no authority`() async throws {
      let target = try await Target()
      try target.schema.run(
        """
        INSERT INTO spatial_ref_sys (srid, proj4text) VALUES (950123, '+proj=utm +zone=32')
          ON CONFLICT DO NOTHING;
        CREATE TABLE own (id serial PRIMARY KEY, geom geometry(Point, 950123))
        """)
      let error = await #expect(throws: FieldpackError.self) {
        try await target.load(Self.point, "own.geojson", .append)
      }
      #expect(error != nil)
      #expect(try target.text("SELECT count(*)::text FROM \(target.table("own"))") == "0")
    }

    @Test func `layers that would get one name are told`() async throws {
      let target = try await Target()
      let path = target.folder.file("two.gpkg").path
      let files = try ["a", "b"].map { try target.folder.write("v\n1\n", to: "\($0).csv").path }
      _ = try await FileImport().run(files, into: path)
      let workspace = try await Workspace.open(file: path)
      let error = await #expect(throws: FieldpackError.self) {
        try await StoreImport(ImportOptions(layer: "one", mode: .replace))
          .run(workspace, into: target.store)
      }
      #expect(error?.code == .invalidArgument)
      #expect(error?.message.contains("several layers would be called 'one'") == true)
      #expect(try await target.store.layers() == [])
      await workspace.close()
    }

    @Test func `columns that PostgreSQL has itself stay when rows are added`() async throws {
      let target = try await Target()
      _ = try await target.load("xmin,v\n1,3\n", "t.csv")
      _ = try await target.load("xmin,v,cmax\n2,4,6\n", "t.csv", .append)
      _ = try await target.load("xmin,v,cmax\n2,5,7\n", "t.csv", .upsert) {
        $0.matchColumn = "xmin"
      }
      #expect(
        try await target.rows("t").map(\.attributes) == [
          ["xmin_2": 1, "v": 3, "cmax_2": .null], ["xmin_2": 2, "v": 5, "cmax_2": 7],
        ])
    }

    @Test func `a sequence never gives lower ids, and a dry run leaves it`() async throws {
      let target = try await Target()
      try target.schema.run(
        """
        CREATE TABLE wells (fid bigserial PRIMARY KEY, geom geometry(Point, 4326));
        SELECT setval('wells_fid_seq', 100)
        """)
      let last = "SELECT last_value::text FROM \(target.table("wells_fid_seq"))"
      let high = PostGISLoadTests.wells.replacingOccurrences(of: "\"id\": 8", with: "\"id\": 800")
      for isDryRun in [true, false] {
        _ = try await target.load(
          isDryRun ? high : PostGISLoadTests.wells, "wells.geojson", .append
        ) { $0.isDryRun = isDryRun }
        #expect(try target.text(last) == "100")
      }
      // By way of a temporary table, too.
      let trial = try await target.load(high, "wells.geojson", .append) { $0.isDryRun = true }
      #expect(trial.layers.map(\.renumberedCount) == [1])
      #expect(try target.text(last) == "100")
      #expect(try await target.rows().map(\.id) == [3, 8])
    }

    @Test func `a quote before an accent in a table's name ends no text`() async throws {
      let target = try await Target()
      let name = "a'\u{301}||pg_sleep(0)||'x"
      try target.schema.run(
        """
        CREATE TABLE \(quotedUnchecked(name)) (fid bigserial PRIMARY KEY, geom geometry(Point, 4326));
        INSERT INTO \(quotedUnchecked(name)) (fid) VALUES (3)
        """)
      let report = try await target.load(
        PostGISLoadTests.wells, "wells.geojson", .append
      ) { $0.layer = LayerID(name) }
      #expect(report.layers.map(\.renumberedCount) == [1])
      #expect(try await target.rows(LayerID(name)).map(\.id) == [3, 8, 9])
    }

    @Test func `a key of whole numerics is written as it reads`() async throws {
      let target = try await Target()
      try target.schema.run(
        "CREATE TABLE t (id numeric(10,0) PRIMARY KEY, v int, geom geometry(Point, 4326)); "
          + "INSERT INTO t VALUES (4, 1)")
      let ids = try await target.store.write { (writer) throws(FieldpackError) in
        try writer.update(4, in: "t", set: ["v": 2])
        return [
          try writer.create(Feature(attributes: ["v": 3]), in: "t"),
          try writer.create(Feature(id: 9, attributes: ["v": 4]), in: "t"),
        ]
      }
      #expect(ids == [5, 9])
      _ = try await target.load(PostGISLoadTests.wells, "t.geojson", .append) {
        $0.isDryRun = true
      }
      #expect(try await target.rows("t").map { $0.attributes["v"] } == [2, 3, 4])
    }

    @Test func `a table that the config names is replaced`() async throws {
      let target = try await Target()
      try target.schema.run("CREATE TABLE t (code int PRIMARY KEY, old text)")
      let store = target.schema.store(tables: [.init("t", id: "code")])
      let file = try target.folder.write("v\n1\n2\n", to: "t.csv")
      _ = try await StoreImport(ImportOptions(mode: .replace))
        .run([ImportSource(file.path)], into: store)
      #expect(try await target.rows("t").map(\.attributes) == [["v": 1], ["v": 2]])
      #expect(try await store.schemas().map(\.idColumn) == ["code"])
    }

    @Test func `a role without rights on the sequence can choose ids`() async throws {
      let target = try await Target()
      let role = quotedUnchecked("role_" + target.schema.name)
      try target.schema.run(
        """
        CREATE TABLE t (fid bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, v int);
        CREATE ROLE \(role) LOGIN;
        GRANT USAGE ON SCHEMA \(quotedUnchecked(target.schema.name)) TO \(role);
        GRANT SELECT, INSERT ON t TO \(role)
        """)
      var address = target.schema.cluster.address()
      address.keywords = address.keywords.map {
        $0.0 == "user" ? ("user", "role_" + target.schema.name) : $0
      }
      let store = PostGISStore(
        id: "survey", address: address, scope: target.schema.scope, limits: PostgresLimits(),
        trusted: .zero)
      let id = try await store.write { (writer) throws(FieldpackError) in
        try writer.create(Feature(id: 5, attributes: ["v": 1]), in: "t")
      }
      #expect(id == 5)
      #expect(try await target.rows("t").map(\.id) == [5])
      await store.close()
      try target.schema.run("DROP OWNED BY \(role); DROP ROLE \(role)")
    }

    @Test func `rows that replace others are left out where a constraint refuses them`()
      async throws
    {
      let target = try await Target()
      try target.schema.run(
        """
        CREATE TABLE t (fid bigserial PRIMARY KEY, code text UNIQUE, v int CHECK (v > 0));
        INSERT INTO t (code, v) VALUES ('a', 1), ('b', 1)
        """)
      let report = try await target.load(
        "code,v\na,-1\nb,2\nc,-3\nd,4\ne,5\n", "t.csv", .upsert
      ) {
        $0.matchColumn = "code"
        $0.skipsErrors = true
      }
      #expect(report.layers.map(\.count) == [3])
      #expect(report.layers.map(\.updatedCount) == [1])
      #expect(report.skipped.listed.count == 2)
      #expect(
        try await target.rows("t").map(\.attributes) == [
          ["code": "a", "v": 1], ["code": "b", "v": 2], ["code": "d", "v": 4],
          ["code": "e", "v": 5],
        ])
    }

    @Test func `a view's row without an id reads the same by COPY`() async throws {
      let target = try await Target()
      try target.schema.run(
        """
        CREATE VIEW numbers AS SELECT NULL::int AS id, 'x'::text AS v;
        CREATE VIEW names AS SELECT NULL::text AS id, 'x'::text AS v
        """)
      let store = target.schema.store(
        tables: [.init("numbers", id: "id"), .init("names", id: "id")])
      for layer in [LayerID("numbers"), "names"] {
        var read: [Feature] = []
        for try await feature in try await store.query(Query(layer)).features {
          read.append(feature)
        }
        var copied: [Feature] = []
        for try await piece in try await store.pieces(of: Query(layer), into: { Gathering() }) {
          copied += try piece.features
        }
        #expect(copied == read)
        #expect(copied.map(\.id) == [layer == "numbers" ? 0 : ""])
      }
    }
  }

  extension PostGISLoadTests.Target {
    /// A table in SQL.
    fileprivate func table(_ name: String) -> String {
      "\(quotedUnchecked(schema.name)).\(quotedUnchecked(name))"
    }
  }
#endif
