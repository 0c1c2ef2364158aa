#if PostGIS
  import FieldpackCore
  import FieldpackGeometry
  import FieldpackTestSupport
  import Testing

  @testable import FieldpackPostGIS

  /// Tables as PostgreSQL has them, and the layers that they are.
  @Suite(.programs, .enabled(if: TestCluster.isInstalled, "\(TestCluster.missing)"))
  struct PostGISCatalogueTests {
    private static let types = """
      CREATE DOMAIN depth AS numeric(8,2) CHECK (VALUE >= 0);
      CREATE DOMAIN deeper AS depth;
      CREATE TYPE state AS ENUM ('new', 'known');
      CREATE TABLE things (
        id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        geom geometry(PointZ, 25833),
        small smallint NOT NULL DEFAULT 3, middle integer, large bigint UNIQUE,
        single real, twofold double precision,
        money deeper, amount numeric(18), digits numeric(30,10), free numeric,
        words text DEFAULT 'it''s', short varchar(5), fixed char(4),
        flag boolean DEFAULT true, bytes bytea, day date, moment timestamptz, local timestamp,
        plain json, binary_json jsonb, list integer[], names text[], key uuid, how state,
        span interval, doubled integer GENERATED ALWAYS AS (middle * 2) STORED);
      COMMENT ON TABLE things IS 'all kinds';
      COMMENT ON COLUMN things.words IS 'what is said';
      INSERT INTO things (geom, middle, large, single, twofold, money, amount, digits, free, short,
        fixed, bytes, day, moment, local, plain, binary_json, list, names, key, how, span)
      VALUES ('SRID=25833;POINT Z (400000 5800000 34.5)', 21, 9007199254740993, 1.5, 'NaN', 12.34,
        123456789012345678, 1234567890.0123456789, 0.1, 'abc', 'xy', '\\x00ff', '2020-02-29',
        '2020-03-01T14:00:00.123+02', '2020-03-01T12:00:00.123456', '{"a": 1}', '[1, null]',
        '{1,2,NULL}', '{"a b","c\\"d"}', '00112233-4455-6677-8899-aabbccddeeff', 'known', '1 day'),
        (NULL, NULL, NULL, 'Infinity', NULL, NULL, NULL, 'NaN', NULL, NULL, NULL, NULL, 'infinity',
        '-infinity', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
      """

    @Test func `columns of all types read as their values`() async throws {
      let schema = try await TestSchema.make()
      try schema.run(Self.types)
      let store = schema.store()
      let layer = try #require(try await store.layers().first)
      #expect(layer.description == "all kinds")
      #expect(layer.featureCount == 2)
      #expect(layer.schema.idColumn == "id")
      #expect(
        layer.schema.geometry
          == GeometryColumn("geom", type: .point, srs: SRS("EPSG", 25833), z: .mandatory))
      #expect(
        layer.envelope == Envelope(minX: 400_000, minY: 5_800_000, maxX: 400_000, maxY: 5_800_000))
      #expect(
        layer.schema.columns.map { "\($0.name) \($0.type.sql)" } == [
          "small SMALLINT", "middle MEDIUMINT", "large INTEGER", "single FLOAT", "twofold REAL",
          "money REAL", "amount INTEGER", "digits TEXT", "free REAL", "words TEXT", "short TEXT(5)",
          "fixed TEXT(4)", "flag BOOLEAN", "bytes BLOB", "day DATE", "moment DATETIME",
          "local TEXT", "plain TEXT", "binary_json TEXT", "list TEXT", "names TEXT", "key TEXT",
          "how TEXT", "span TEXT", "doubled MEDIUMINT",
        ])
      let columns = layer.schema.columns
      #expect(columns.filter { !$0.isNullable }.map(\.name) == ["small"])
      #expect(columns.filter(\.isUnique).map(\.name) == ["large"])
      #expect(columns.filter(\.isGenerated).map(\.name) == ["doubled"])
      #expect(columns.compactMap(\.defaultSQL) == ["3", "'it''s'", "1"])
      #expect(columns.compactMap(\.description) == ["what is said"])
      let feature = try #require(try await store.feature(1, in: "things"))
      #expect(
        feature.geometry == .point(Position(x: 400_000, y: 5_800_000, z: 34.5), .xyz))
      let expected: Attributes = [
        "small": 3, "middle": 21, "large": 9_007_199_254_740_993, "single": 1.5, "twofold": .null,
        "money": 12.34, "amount": 123_456_789_012_345_678, "digits": "1234567890.0123456789",
        "free": 0.1, "words": "it's", "short": "abc", "fixed": "xy", "flag": true,
        "bytes": .blob([0, 255]), "day": .date(CalendarDate(dayNumber: 18_321)),
        "moment": .dateTime(Instant(milliseconds: 1_583_064_000_123)),
        "local": "2020-03-01T12:00:00.123456", "plain": "{\"a\": 1}", "binary_json": "[1, null]",
        "list": "[1,2,null]", "names": "[\"a b\",\"c\\\"d\"]",
        "key": "00112233-4455-6677-8899-aabbccddeeff", "how": "known", "span": "P1D",
        "doubled": 42,
      ]
      #expect(feature.attributes == expected)
      let other = try #require(try await store.feature(2, in: "things"))
      #expect(other.attributes["single"] == .real(.infinity))
      #expect(other.attributes["digits"] == "NaN")
      #expect(other.attributes["day"] == "infinity")
      #expect(other.attributes["moment"] == "-infinity")
      await store.close()
    }

    @Test(arguments: [
      ("money > 12", [1]), ("\"list\" = '[1,2,null]'", [1]),
      ("key = '00112233-4455-6677-8899-aabbccddeeff'", [1]),
      ("how IN ('known', 'lost')", [1]), ("day = DATE('2020-02-29')", [1]),
      ("day <> DATE('2020-02-28')", [1]),
      ("moment < TIMESTAMP('2020-03-01T12:00:00.124Z')", [1]),
      ("local = TIMESTAMP('2020-03-01T12:00:00.123Z')", [1]),
      ("local LIKE '2020%'", [1]), ("fixed = 'xy'", [1]), ("digits = 'NaN'", [2]),
      ("twofold IS NULL", [1, 2]), ("single > 1", [1, 2]), ("amount = 123456789012345678", [1]),
      ("free < 0.2", [1]), ("flag = true", [1, 2]), ("NOT (doubled <> 42)", [1]),
      ("A_CONTAINS(\"list\", (2, 1))", [1]), ("CASEI(words) = CASEI('IT''S')", [1, 2]),
      ("id > 1", [2]), ("T_DURING(moment, INTERVAL('2020-01-01', '2021-01-01'))", [1]),
    ])
    func `conditions see the values of all types`(text: String, ids: [Int64]) async throws {
      let schema = try await TestSchema.make()
      try schema.run(Self.types)
      let store = schema.store()
      let query = Query("things", where: try Filter(cql2: text))
      var found: [FeatureID] = []
      for try await batch in try await store.query(query) { found += batch.ids }
      #expect(found == ids.map { .integer($0) })
      #expect(try await store.count(query) == ids.count)
      await store.close()
    }

    @Test func `keys, views and second geometries are told`() async throws {
      let schema = try await TestSchema.make()
      try schema.run(
        """
        CREATE TABLE "a""b; DROP TABLE x" ("Select" text PRIMARY KEY, "where" geometry(Point, 4326),
          other geometry, "größe" int);
        INSERT INTO "a""b; DROP TABLE x" VALUES ('é', 'SRID=4326;POINT(1 2)', NULL, 1),
          ('Z', NULL, NULL, 2), ('a', NULL, NULL, 3);
        CREATE VIEW large AS SELECT * FROM "a""b; DROP TABLE x" WHERE "größe" > 1;
        CREATE TABLE pair (a int, b int, geom geometry, PRIMARY KEY (a, b));
        INSERT INTO pair VALUES (1, 2, 'SRID=3857;POINT(5 6)');
        CREATE TABLE loose (n int NOT NULL, g geography);
        CREATE UNIQUE INDEX ON loose (n);
        INSERT INTO loose VALUES (7, 'POINT(3 4)');
        """)
      let name: LayerID = "a\"b; DROP TABLE x"
      let store = schema.store(tables: [
        .init("loose"), .init("large", id: "Select"), .init("pair"), .init(name.rawValue),
      ])
      let layers = try await store.layers()
      #expect(layers.map(\.id) == ["loose", "large", "pair", name])
      #expect(layers.map(\.schema.idColumn) == ["n", "Select", nil, "Select"])
      #expect(layers.map(\.isView) == [false, true, false, false])
      #expect(layers.map(\.schema.geometry?.srs) == [.wgs84, .wgs84, SRS("EPSG", 3857), .wgs84])
      #expect(
        layers.map { $0.notes.map(\.text) } == [
          [], ["the geometry column 'other' is left out, because a layer has one"],
          ["there is no key of one column, so that ids are numbers of rows"],
          ["the geometry column 'other' is left out, because a layer has one"],
        ])
      var ids: [FeatureID] = []
      for try await batch in try await store.query(Query(name)) { ids += batch.ids }
      #expect(ids == ["Z", "a", "é"])
      #expect(try await store.feature("é", in: name)?.geometry == .point(x: 1, y: 2))
      #expect(try await store.feature(1, in: "pair")?.attributes == ["a": 1, "b": 2])
      #expect(try await store.feature(7, in: "loose")?.geometry == .point(x: 3, y: 4))
      #expect(try await store.count(Query(name, where: Column<Int>("größe") > 1)) == 2)
      await store.close()
    }

    @Test func `a row of a view without a key is found by no number`() async throws {
      let schema = try await TestSchema.make()
      try schema.run(
        """
        CREATE TABLE wells (fid int PRIMARY KEY, name text);
        INSERT INTO wells VALUES (7, 'Markt'), (8, 'Anger');
        CREATE VIEW names AS SELECT name, fid AS number FROM wells;
        CREATE TABLE loose AS SELECT * FROM wells;
        """)
      let way = "Try: the column of the ids, by 'name' and 'id' in the option 'tables'"
      let store = schema.store()
      let layers = try await store.layers()
      #expect(
        layers.map { $0.notes.map(\.text) } == [
          [],
          [
            "there is no key of one column, so that ids are numbers of rows, given anew by each query. \(way)"
          ],
          ["there is no key of one column, so that ids are numbers of rows"],
        ])
      #expect(try await store.count(Query("names")) == 2)
      let error = await #expect(throws: FieldpackError.self) {
        _ = try await store.feature(1, in: "names")
      }
      #expect(error?.code == .unsupported)
      #expect(
        error?.message
          == "layer 'names' has no key, and each query numbers its rows anew, so that no feature is found "
          + "by its number. \(way)")
      #expect(try await store.feature(1, in: "loose")?.attributes["name"] == "Markt")
      for (layer, reason) in [
        ("names", "is a view and cannot be changed"),
        (
          "loose",
          "has no key by which features are told apart and cannot be changed. "
            + "Try: a primary key (ALTER TABLE … ADD PRIMARY KEY)"
        ),
      ] {
        let error = await #expect(throws: FieldpackError.self) {
          try await store.write { (writer) throws(FieldpackError) in
            try writer.delete(1, in: LayerID(layer))
          }
        }
        #expect(error?.code == .readOnly)
        #expect(error?.message == "layer '\(layer)' \(reason)")
      }
      await store.close()
      let keyed = schema.store(tables: [.init("names", id: "number")])
      #expect(try await keyed.feature(7, in: "names")?.attributes == ["name": "Markt"])
      await keyed.close()
    }

    @Test func `a locked table does not stop the others`() async throws {
      let schema = try await TestSchema.make()
      try schema.run(
        """
        CREATE TABLE locked (id int PRIMARY KEY);
        CREATE TABLE open (id int PRIMARY KEY);
        INSERT INTO open VALUES (1), (2);
        """)
      let other = try schema.cluster.connection()
      try other.execute("BEGIN")
      try other.execute("LOCK TABLE \(quotedUnchecked(schema.name)).locked")
      let store = schema.store()
      #expect(try await store.schemas().map(\.layer) == ["locked", "open"])
      #expect(try await store.count(Query("open")) == 2)
      try other.execute("ROLLBACK")
      await store.close()
    }

    @Test func `a table dropped meanwhile does not hide an SRID of another`() async throws {
      let schema = try await TestSchema.make()
      try schema.run(
        """
        CREATE TABLE shapes (id int PRIMARY KEY, g geometry CHECK (ST_SRID(g) = 3857));
        CREATE TABLE dropped (id int PRIMARY KEY, n int CHECK (n > 1));
        """)
      let connection = try schema.cluster.connection()
      // A plan that looks at the constraints of all tables, as the one of a large database does.
      try connection.execute("SET enable_nestloop = off")
      try connection.execute("SET enable_indexscan = off")
      try connection.execute("SET enable_bitmapscan = off")
      try connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
      try connection.execute("SELECT FROM pg_class LIMIT 1")
      try schema.run("DROP TABLE dropped")
      let reader = CatalogueReader(connection: connection, scope: schema.scope, store: "survey")
      let shapes = try #require(try reader.read().layers.first { $0.layer == "shapes" })
      #expect(shapes.schema.geometry?.srs == SRS("EPSG", 3857))
      #expect(try TableFacts.read(shapes, in: schema.scope, on: connection)?.geometry?.srid == 3857)
    }

    @Test(arguments: [
      ("ST_SRID(g) = 3857", 3857), ("g IS NULL OR ST_SRID(g) = 3857", 3857),
      ("ST_SRID(g) = 3857 OR ST_SRID(g) = 4326", 0), ("ST_SRID(g) > 3857", 0),
    ])
    func `a constraint states an SRID`(check: String, srid: Int32) async throws {
      let schema = try await TestSchema.make()
      try schema.run("CREATE TABLE shapes (id int PRIMARY KEY, g geometry CHECK (\(check)))")
      let store = schema.store()
      let layer = try #require(try await store.catalogue().layers.first)
      #expect(layer.geometry?.srid == srid)
      await store.close()
    }

    @Test func `views are not run for their SRID`() async throws {
      let schema = try await TestSchema.make()
      try schema.run(
        """
        CREATE TABLE shapes (id int PRIMARY KEY, g geometry CHECK (ST_SRID(g) = 3857));
        INSERT INTO shapes VALUES (1, 'SRID=3857;POINT(5 6)');
        CREATE VIEW bad AS SELECT id, 1 / (id - 1) AS n, ST_Buffer(g, 1 / (id - 1)) AS g FROM shapes;
        CREATE VIEW untold AS SELECT id, g FROM shapes;
        """)
      let store = schema.store()
      let layers = try await store.catalogue().layers
      #expect(layers.map(\.layer) == ["shapes", "bad", "untold"])
      #expect(
        layers.map(\.schema.geometry?.srs) == [
          SRS("EPSG", 3857), .undefinedCartesian, .undefinedCartesian,
        ])
      #expect(
        layers[2].notes.map(\.text).last
          == "the SRID of 'g' is not known, because the column does not state it. Try: a cast to "
          + "geometry(Geometry, SRID)")
      let line = Geometry.lineString(
        CoordinateSequence(dimensions: .xy, ordinates: [4, 5, 6, 7]))
      for filter in [Filter.intersects(line), .not(.intersects(line))] {
        let count = try await store.count(Query("untold", where: filter))
        #expect(try await store.count(Query("shapes", where: filter)) == count)
      }
      await store.close()
    }

    @Test func `years before 1 are those of ISO 8601`() async throws {
      let schema = try await TestSchema.make()
      try schema.run(
        """
        CREATE TABLE t (id int PRIMARY KEY, local timestamp);
        INSERT INTO t VALUES (1, '0044-03-15 12:00 BC'), (2, '0001-12-31 23:59:59.5 BC'),
          (3, '0001-01-01'), (4, '2020-03-01 12:00:00.123456'), (5, '-infinity');
        """)
      let store = schema.store()
      var texts: [Value?] = []
      for try await feature in try await store.query(Query("t")).features {
        texts.append(feature.attributes["local"])
      }
      #expect(
        texts == [
          "-00043-03-15T12:00:00.000", "0000-12-31T23:59:59.500", "0001-01-01T00:00:00.000",
          "2020-03-01T12:00:00.123456", "-infinity",
        ])
      await store.close()
    }

    @Test func `rows without a key are numbered by their places`() async throws {
      let schema = try await TestSchema.make()
      try schema.run(
        """
        CREATE TABLE loose (n int);
        CREATE VIEW seen AS SELECT n FROM loose;
        INSERT INTO loose VALUES (3), (1), (2);
        """)
      let store = schema.store()
      let table = "\(quotedUnchecked(schema.name))"
      #expect(
        try await store.catalogue().layers.map(\.source) == [
          "(SELECT row_number() OVER (ORDER BY tableoid, ctid) AS \"fieldpack row\", * FROM "
            + "\(table).\"loose\") AS numbered",
          "(SELECT row_number() OVER () AS \"fieldpack row\", * FROM \(table).\"seen\") AS numbered",
        ])
      #expect(try await store.feature(2, in: "loose")?.attributes == ["n": 1])
      await store.close()
    }

    @Test func `curves and measures come whole`() async throws {
      let schema = try await TestSchema.make()
      try schema.run(
        """
        CREATE TABLE shapes (id int PRIMARY KEY, g geometry);
        INSERT INTO shapes VALUES (1, 'CIRCULARSTRING(0 0, 1 1, 2 0)'),
          (2, 'POINT ZM (1 2 3 4)'), (3, 'POINT M (1 2 5)'), (4, 'POLYGON EMPTY'), (5, NULL),
          (6, 'CURVEPOLYGON(COMPOUNDCURVE(CIRCULARSTRING(0 0, 1 1, 2 0),(2 0, 0 0)))'),
          (7, 'GEOMETRYCOLLECTION(POINT(1 1),LINESTRING(0 0,2 2))'), (8, 'POINT EMPTY');
        """)
      let store = schema.store()
      var texts: [String] = []
      for try await feature in try await store.query(Query("shapes")).features {
        texts.append(feature.geometry.map { WKT.text(of: $0) } ?? "none")
      }
      #expect(
        texts == [
          "CIRCULARSTRING (0 0,1 1,2 0)", "POINT ZM (1 2 3 4)", "POINT M (1 2 5)",
          "POLYGON EMPTY", "none",
          "CURVEPOLYGON (COMPOUNDCURVE (CIRCULARSTRING (0 0,1 1,2 0),(2 0,0 0)))",
          "GEOMETRYCOLLECTION (POINT (1 1),LINESTRING (0 0,2 2))", "POINT EMPTY",
        ])
      let box = Envelope(minX: 0, minY: 0, maxX: 1, maxY: 1)
      #expect(try await store.count(Query("shapes", where: .intersects(box))) == 3)
      #expect(try await store.count(Query("shapes", where: .intersects(.point(x: 1, y: 1)))) == 3)
      await store.close()
    }

    @Test func `tables that change are seen at the next query`() async throws {
      let schema = try await TestSchema.make()
      try schema.run("CREATE TABLE t (id int PRIMARY KEY, a int); INSERT INTO t VALUES (1, 2)")
      let store = PostGISStore(
        id: "survey", address: schema.cluster.address(), scope: schema.scope,
        trusted: .seconds(1_000_000))
      #expect(try await store.feature(1, in: "t")?.attributes == ["a": 2])
      try schema.run("ALTER TABLE t RENAME a TO b")
      // The statement fails, and the catalogue is read anew.
      #expect(try await store.feature(1, in: "t")?.attributes == ["b": 2])
      await store.close()
    }
  }
#endif
