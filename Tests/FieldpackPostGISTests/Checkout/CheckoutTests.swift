#if PostGIS
  import FieldpackCore
  import FieldpackGeoPackage
  import FieldpackGeometry
  import FieldpackServices
  import FieldpackSQLite
  import FieldpackTestSupport
  import Foundation
  import Testing

  @testable import FieldpackPostGIS

  /// Field copies go out of a database and their edits come back.
  @Suite(.programs, .enabled(if: TestCluster.isInstalled, "\(TestCluster.missing)"))
  struct CheckoutTests {
    @Test func `edits of both sides come together`() async throws {
      let survey = try await CheckedOutSurvey(features: 3)
      let report = try await survey.checkOut("a")
      #expect(report.layers.map(\.name) == ["wells"] && report.layers.map(\.count) == [3])
      let a = try await survey.open("a")
      #expect(try await survey.contents(of: a) == survey.contents())
      try await a.write { (writer: GeoPackageWriter) throws(FieldpackError) in
        try writer.update(.integer(1), in: "wells", set: ["name": "field"], geometry: .keep)
        try writer.update(.integer(2), in: "wells", set: ["note": "here"], geometry: .keep)
        try writer.create(
          Feature(geometry: .point(x: 7, y: 8), attributes: ["name": "new", "depth": 2.5]),
          in: "wells")
        try writer.delete(.integer(3), in: "wells")
      }
      try survey.schema.run("UPDATE wells SET name = 'office' WHERE fid = 1")
      try survey.schema.run("UPDATE wells SET state = 5 WHERE fid = 2")
      try survey.schema.run("INSERT INTO wells (name) VALUES ('other')")
      let done = try await FieldCheckin.run(of: a, with: survey.store).run()
      #expect(done.layers.map(\.sent) == [4] && done.layers.map(\.parked) == [0])
      #expect(done.layers.map(\.conflicts) == [1] && done.notes == [])
      #expect(try await survey.contents(of: a) == survey.contents())
      #expect(
        try survey.rows("SELECT name, note, state, ST_AsText(geom) FROM wells ORDER BY fid") == [
          "(office,,0,\"POINT(1 0)\")", "(\"well 2\",here,5,\"POINT(2 0)\")", "(other,,,)",
          "(new,,,\"POINT(7 8)\")",
        ])
      #expect(
        try survey.rows("SELECT kind, column_name, lost, kept, author FROM conflict") == [
          "(column,name,\"\"\"field\"\"\",\"\"\"office\"\"\",\"author a\")"
        ])
      #expect(
        try survey.rows(
          "SELECT DISTINCT author, device FROM wells_audit WHERE received IS NOT NULL")
          == [#"("author a",a)"#])
      let again = try await FieldCheckin.run(of: a, with: survey.store).run()
      #expect(again.layers.map(\.sent) == [0] && again.layers.map(\.received) == [0])
      await a.close()
    }

    @Test func `a copy of a part gets what comes into it, and nothing else`() async throws {
      let survey = try await CheckedOutSurvey(features: 6)
      try await survey.checkOut("a") { record in
        record.box = Envelope(minX: 0.5, minY: -1, maxX: 2.5, maxY: 1)
        record.condition = "depth > 1"
      }
      let a = try await survey.open("a")
      #expect(try await a.rows("SELECT fid FROM wells") == [[.integer(1)], [.integer(2)]])
      try survey.schema.run(
        """
        UPDATE wells SET name = 'outside' WHERE fid = 5;
        UPDATE wells SET geom = ST_SetSRID(ST_Point(2, 0.5), 4326) WHERE fid = 4;
        UPDATE wells SET geom = ST_SetSRID(ST_Point(9, 9), 4326) WHERE fid = 1;
        INSERT INTO wells (name, depth, geom) VALUES ('in', 3, ST_SetSRID(ST_Point(1, 0), 4326)),
          ('shallow', 0, ST_SetSRID(ST_Point(1, 0), 4326));
        DELETE FROM wells WHERE fid IN (2, 6);
        """)
      let report = try await FieldCheckin.run(of: a, with: survey.store).run()
      #expect(report.layers.map(\.received) == [4])
      #expect(
        try await a.rows("SELECT name FROM wells ORDER BY name") == [
          [.text("in")], [.text("well 1")], [.text("well 4")],
        ])
      let quiet = try await FieldCheckin.run(of: a, with: survey.store).run()
      #expect(quiet.layers.map(\.received) == [0])
      await a.close()
    }

    @Test func `every type of column comes back as it was`() async throws {
      let schema = try await TestSchema.make()
      let folder = try TemporaryFolder()
      let path = folder.file("a.gpkg").path
      try schema.run(Self.allTypes)
      let store = schema.store()
      let record = CheckoutRecord(config: "team.scfg", store: "survey")
      _ = try await FieldCheckout(of: store, record).run(into: path)
      let a = try await GeoPackageStore(path: path, id: "survey")
      let columns = "small, whole, large, single, double, exact, flag, name, short, raw, day, "
      let others = "seen, plain, doc, code, tags, numbers, kind, ST_AsEWKT(geom)"
      let all = "SELECT \(columns)\(others) FROM things ORDER BY id"
      let before = try Self.rows(schema, all)
      let read = try await a.rows("SELECT * FROM things WHERE id = 1")
      // A copy of the row, and the row itself written anew, by another program.
      try await a.write { (writer: GeoPackageWriter) throws(FieldpackError) in
        try writer.execute(
          "CREATE TEMP TABLE t AS SELECT * FROM things WHERE id = 1")
        try writer.execute("UPDATE t SET id = 100")
        try writer.execute("INSERT INTO things SELECT * FROM t")
      }
      let report = try await FieldCheckin.run(of: a, with: store).run()
      #expect(report.layers.map(\.sent) == [1] && report.layers.map(\.parked) == [0])
      #expect(try Self.rows(schema, all) == before + before)
      #expect(try await a.rows("SELECT * FROM things WHERE id = 1") == read)
      await a.close()
    }

    @Test func `what the database refuses is parked, and the rest goes`() async throws {
      let survey = try await CheckedOutSurvey(features: 2)
      try await survey.checkOut("a")
      try survey.schema.run("ALTER TABLE wells ADD CHECK (depth < 100)")
      let a = try await survey.open("a")
      try await a.write { (writer: GeoPackageWriter) throws(FieldpackError) in
        try writer.update(.integer(1), in: "wells", set: ["depth": 200.0], geometry: .keep)
        try writer.execute(
          "UPDATE wells SET note = 'a note of more than twenty letters' WHERE fid = 2")
        try writer.create(Feature(attributes: ["name": "fine"]), in: "wells")
      }
      let report = try await FieldCheckin.run(of: a, with: survey.store).run()
      #expect(report.layers.map(\.sent) == [1] && report.layers.map(\.parked) == [2])
      #expect(
        try survey.rows("SELECT depth, note, name FROM wells ORDER BY fid")
          == ["(10.5,,\"well 1\")", "(10.5,,\"well 2\")", "(,,fine)"])
      await a.close()
    }

    @Test func `a copy of another database is refused, and nothing is changed`() async throws {
      let (survey, other) = (
        try await CheckedOutSurvey(features: 2), try await CheckedOutSurvey(features: 3)
      )
      try await survey.checkOut("a")
      try await other.checkOut("b")
      let a = try await survey.open("a")
      try await a.write { (writer: GeoPackageWriter) throws(FieldpackError) in
        try writer.delete(.integer(1), in: "wells")
      }
      let before = try await other.contents()
      let error = await #expect(throws: FieldpackError.self) {
        try await FieldCheckin.run(of: a, with: other.store).run()
      }
      #expect(error?.code == .constraint)
      #expect(try await other.contents() == before)
      await a.close()
    }

    @Test func `a failed checkout leaves no file`() async throws {
      let survey = try await CheckedOutSurvey(features: 1)
      let error = await #expect(throws: FieldpackError.self) {
        try await survey.checkOut("a") { $0.condition = "nothing = 1" }
      }
      #expect(error?.code == .notFound)
      #expect(try FileManager.default.contentsOfDirectory(atPath: survey.folder.url.path) == [])
    }

    private static func rows(_ schema: TestSchema, _ sql: String) throws -> [String] {
      let connection = try schema.cluster.connection()
      try connection.run(script: "SET search_path = \(quotedUnchecked(schema.name)), public")
      let rows = try connection.execute("SELECT r::text FROM (\(sql)) AS r")
      return (0..<rows.count).map { rows.text($0, 0) ?? "NULL" }
    }

    private static let allTypes = """
      CREATE TYPE kinds AS ENUM ('dug', 'drilled');
      CREATE TABLE things (id bigint PRIMARY KEY, small smallint, whole int, large bigint,
        single real, double float8, exact numeric(20, 3), flag boolean, name text,
        short varchar(5), raw bytea, day date, seen timestamptz, plain timestamp, doc jsonb,
        code uuid, tags text[], numbers int[], kind kinds, twice int GENERATED ALWAYS AS (whole * 2)
        STORED, geom geometry(PointZ, 25832));
      INSERT INTO things VALUES (1, -3, 70000, 9007199254740993, 0.1, 0.1, 12345678901234567.125,
        true, 'grün', 'kurz', '\\x00ff', '2024-02-29', '2024-03-10 12:04:07.123456+01',
        '2024-03-10 12:04:07.5', '{"a": [1, 2.50]}', '6ba7b810-9dad-11d1-80b4-00c04fd430c8',
        '{"x y",NULL,"b\\"c"}', '{3,NULL,-1}', 'drilled', DEFAULT,
        ST_SetSRID(ST_MakePoint(500000, 5300000, 12.25), 25832));
      """
  }
#else
  import Testing

  @Suite(.disabled("built without the trait PostGIS"))
  struct CheckoutTests {
    @Test func `field copies of tables in PostgreSQL`() {}
  }
#endif
