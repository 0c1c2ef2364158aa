#if PostGIS
  import FieldpackCore
  import FieldpackGeometry
  import FieldpackStoreKit
  import FieldpackTestSupport
  import Testing

  @testable import FieldpackPostGIS

  @Suite(.programs, .enabled(if: TestCluster.isInstalled, "\(TestCluster.missing)"))
  struct PostGISWritingTests {
    @Test(arguments: StoreConformance.writing)
    func `writes as a store`(behaviour: StoreConformance) async throws {
      let schema = try await TestSchema.make()
      let store = schema.store()
      try await StoreConformance.fill(store)
      try await behaviour.check(store)
      withExtendedLifetime(schema) {}
    }

    @Test(arguments: StoreConformance.reading)
    func `reads what it wrote as a store`(behaviour: StoreConformance) async throws {
      let schema = try await TestSchema.make()
      let store = schema.store()
      try await StoreConformance.fill(store)
      try await behaviour.check(store)
      withExtendedLifetime(schema) {}
    }

    @Test func `names that look like SQL are names`() async throws {
      let schema = try await TestSchema.make()
      let store = schema.store()
      let name = LayerID("a\"b; DROP TABLE x")
      let layer = Schema(
        layer: name, idColumn: "table", geometry: GeometryColumn("Geom \"1\"", type: .point),
        columns: [ColumnDefinition("select", .text()), ColumnDefinition("it's $1", .integer)])
      let id = try await store.write { (writer) throws(FieldpackError) in
        try writer.createLayer(layer)
        let id = try writer.create(
          Feature(geometry: .point(x: 1, y: 2), attributes: ["select": "'; --", "it's $1": 7]),
          in: name)
        try writer.update(id, in: name, set: ["it's $1": 8])
        try writer.renameLayer(name, to: "user")
        return id
      }
      let found = try await store.feature(id, in: "user")
      #expect(found?.attributes == ["select": "'; --", "it's $1": 8])
      #expect(found?.geometry == .point(x: 1, y: 2))
      try await store.write { (writer) throws(FieldpackError) in
        try writer.delete(id, in: "user")
        try writer.removeLayer("user")
      }
      #expect(try await store.layers() == [])
      withExtendedLifetime(schema) {}
    }

    @Test func `a name of more than 63 bytes is told and not cut`() async throws {
      let schema = try await TestSchema.make()
      let store = schema.store()
      let long = LayerID(String(repeating: "n", count: 64))
      let error = await #expect(throws: FieldpackError.self) {
        try await store.write { (writer) throws(FieldpackError) in
          try writer.createLayer(Schema(layer: long))
        }
      }
      #expect(error?.code == .invalidArgument)
      #expect(try await store.layers() == [])
      withExtendedLifetime(schema) {}
    }

    @Test func `values of every type come back`() async throws {
      let schema = try await TestSchema.make()
      try schema.run(
        """
        CREATE TYPE colour AS ENUM ('red', 'blue');
        CREATE DOMAIN short AS varchar(5);
        CREATE TABLE t (id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, b boolean, i2 smallint,
          f4 real, n numeric(20, 3), d date, tz timestamptz, j jsonb, u uuid, a integer[],
          c colour, s short, iv interval, raw bytea, double integer GENERATED ALWAYS AS (i2 * 2) STORED)
        """)
      let store = schema.store()
      let attributes: Attributes = [
        "b": true, "i2": 3, "f4": 0.5, "n": "12345678901234567.125", "d": "2024-02-29",
        "tz": "2024-02-29T12:00:00.000Z", "j": "{\"a\": 1}",
        "u": "123e4567-e89b-12d3-a456-426614174000", "a": "[1,null]", "c": "blue", "s": "kurz",
        "iv": "P1DT2H", "raw": .blob([0, 1]),
      ]
      let id = try await store.write { (writer) throws(FieldpackError) in
        try writer.create(Feature(attributes: attributes), in: "t")
      }
      #expect(id == 1)
      var expected = attributes
      expected["d"] = CalendarDate("2024-02-29").map { .date($0) }
      expected["tz"] = Instant("2024-02-29T12:00:00Z").map { .dateTime($0) }
      expected["double"] = 6
      #expect(try await store.feature(1, in: "t")?.attributes == expected)
      let refused: [(Attributes, FieldpackError.Code)] = [
        (["double": 4], .invalidData), (["s": "zu lang"], .invalidData),
        (["c": "green"], .invalidData),
        (["a": "[\"x\"]"], .invalidData), (["iv": "soon"], .invalidData),
      ]
      for (attributes, code) in refused {
        let error = await #expect(throws: FieldpackError.self) {
          try await store.write { (writer) throws(FieldpackError) in
            try writer.update(1, in: "t", set: attributes)
          }
        }
        #expect(error?.code == code, "\(attributes)")
        #expect(error?.location == .init(store: "survey", layer: "t", feature: 1))
      }
      withExtendedLifetime(schema) {}
    }

    @Test func `rows without a sequence, with text keys and without keys`() async throws {
      let schema = try await TestSchema.make()
      try schema.run(
        """
        CREATE TABLE plain (id integer PRIMARY KEY, v text);
        CREATE TABLE keyed (code text PRIMARY KEY, v text);
        CREATE TABLE loose (v text);
        CREATE VIEW seen AS SELECT * FROM plain;
        INSERT INTO plain VALUES (41, 'a')
        """)
      let store = schema.store()
      let ids = try await store.write { (writer) throws(FieldpackError) in
        [
          try writer.create(Feature(attributes: ["v": "b"]), in: "plain"),
          try writer.create(Feature(id: "k\u{e9}y"), in: "keyed"),
          try writer.upsert(Feature(id: "k\u{e9}y", attributes: ["v": "c"]), in: "keyed"),
        ]
      }
      #expect(ids == [42, "k\u{e9}y", "k\u{e9}y"])
      #expect(try await store.feature("k\u{e9}y", in: "keyed")?.attributes == ["v": "c"])
      for (layer, code) in [
        ("keyed", FieldpackError.Code.invalidData), ("loose", .readOnly), ("seen", .readOnly),
      ] {
        let error = await #expect(throws: FieldpackError.self) {
          try await store.write { (writer) throws(FieldpackError) in
            try writer.create(Feature(attributes: ["v": "x"]), in: LayerID(layer))
          }
        }
        #expect(error?.code == code, "\(layer)")
      }
      withExtendedLifetime(schema) {}
    }

    @Test func `ids that others chose do not stop new ones`() async throws {
      let schema = try await TestSchema.make()
      let store = schema.store()
      try await store.write { (writer) throws(FieldpackError) in
        try writer.createLayer(Schema(layer: "t", columns: [ColumnDefinition("v", .text())]))
      }
      try schema.run("INSERT INTO t (fid, v) VALUES (1, 'psql'), (7, 'psql')")
      let id = try await store.write { (writer) throws(FieldpackError) in
        try writer.create(Feature(attributes: ["v": "x"]), in: "t")
      }
      #expect(id == 8)
      withExtendedLifetime(schema) {}
    }
  }
#endif
