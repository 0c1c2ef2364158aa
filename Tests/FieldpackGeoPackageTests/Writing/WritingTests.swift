import FieldpackCore
import FieldpackGeometry
import FieldpackSQLite
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackGeoPackage

/// What a change does to the file, and what the file refuses.
@Suite struct WritingTests {
  private func code(_ body: () async throws -> Void) async -> FieldpackError.Code? {
    await thrown(body)?.code
  }

  private static let rules = """
    CREATE TABLE owners (id INTEGER PRIMARY KEY, name TEXT);
    INSERT INTO owners VALUES (1, 'me');
    CREATE TABLE wells (fid INTEGER PRIMARY KEY AUTOINCREMENT, geom POINT,
      name TEXT NOT NULL UNIQUE, depth REAL CHECK (depth > 0),
      owner INTEGER REFERENCES owners(id), half REAL AS (depth / 2) STORED,
      double REAL GENERATED ALWAYS AS (depth * 2), state TEXT DEFAULT 'new');
    INSERT INTO gpkg_contents (table_name, data_type, srs_id) VALUES ('wells', 'features', 4326);
    INSERT INTO gpkg_geometry_columns VALUES ('wells', 'geom', 'POINT', 4326, 0, 0);
    """

  @Test func `observers are not told of rows whose changes were undone`() async throws {
    let point = Feature(geometry: .point(x: 1, y: 1), attributes: ["name": "one"])
    let package = try await TestPackage(points: [point], "")
    try await package.withStore { store in
      let told = Locked<[String]>([])
      store.observe { log in
        told.withLock { $0 += log.runs.map { "\($0.kind) \($0.ids)" } }
      }
      try await store.write { (writer: GeoPackageWriter) throws(FieldpackError) in
        let kept = try writer.create(Feature(attributes: ["name": "kept"]), in: "points")
        do throws(FieldpackError) {
          try writer.wholeRows { () throws(FieldpackError) in
            try writer.create(Feature(attributes: ["name": "undone"]), in: "points")
            try writer.delete(kept, in: "points")
            throw FieldpackError(.constraint, "no")
          }
        } catch {}
        try writer.update(.integer(1), in: "points", set: ["name": "uno"])
      }
      #expect(told.withLock { $0 } == ["created [2]", "updated [1]"])
    }
  }

  @Test func `passes on what the file's own rules refuse`() async throws {
    let package = try TestPackage()
    try package.run(Self.rules)
    let store = try await package.store()
    _ = try await store.write { (writer) throws(FieldpackError) in
      try writer.create(Feature(attributes: ["name": "a", "depth": 3, "owner": 1]), in: "wells")
    }
    let refused: [(Attributes, FieldpackError.Code)] = [
      (["depth": 1], .constraint), (["name": .null], .constraint), (["name": "a"], .constraint),
      (["name": "b", "depth": -1], .constraint), (["name": "b", "owner": 9], .constraint),
      (["name": "b", "half": 1], .invalidData), (["name": "b", "double": 1], .invalidData),
    ]
    for (attributes, expected) in refused {
      let found = await code {
        _ = try await store.write { (writer) throws(FieldpackError) in
          try writer.create(Feature(attributes: attributes), in: "wells")
        }
      }
      #expect(found == expected, "\(attributes)")
    }
    let id = FeatureID.integer(1)
    for (attributes, expected) in refused.dropFirst() where attributes["name"] != "a" {
      let found = await code {
        try await store.write { (writer) throws(FieldpackError) in
          try writer.update(id, in: "wells", set: attributes)
        }
      }
      #expect(found == expected, "\(attributes)")
    }
    let all = try await store.features(Query("wells")).map(\.attributes)
    let expected: Attributes = [
      "name": "a", "depth": 3.0, "owner": 1, "half": 1.5, "double": 6.0, "state": "new",
    ]
    #expect(all == [expected])
    await store.close()
  }

  @Test func `lets foreign keys stand until the end of the transaction only`() async throws {
    let package = try TestPackage()
    try package.run(Self.rules)
    try package.run(
      "INSERT INTO gpkg_contents (table_name, data_type) VALUES ('owners', 'attributes')")
    let store = try await package.store()
    _ = try await store.write { (writer) throws(FieldpackError) in
      try writer.create(Feature(attributes: ["name": "a", "owner": 1]), in: "wells")
    }
    let deleting = await code {
      try await store.write { (writer) throws(FieldpackError) in
        try writer.delete(1, in: "owners")
      }
    }
    #expect(deleting == .constraint)
    let removing = await code {
      try await store.write { (writer) throws(FieldpackError) in
        try writer.removeLayer("owners")
      }
    }
    #expect(removing == .constraint)
    #expect(try await store.layers().map(\.id) == ["wells", "owners"])
    await store.close()
    #expect(try package.faults() == [])
  }

  @Test func `says that the ids are used up`() async throws {
    let package = try TestPackage()
    let store = try await package.store()
    try await store.write { (writer) throws(FieldpackError) in
      try writer.createLayer(Schema(layer: "a"))
      try writer.create(Feature(id: .integer(.max)), in: "a")
    }
    let error = await thrown {
      _ = try await store.write { (writer) throws(FieldpackError) in
        try writer.create(Feature(), in: "a")
      }
    }
    #expect(error?.code == .constraint)
    #expect(error?.message == "layer 'a' has given its last id. Try: a feature with an id")
    await store.close()
  }

  static let names = [
    "a\"b; DROP TABLE x", "x'); DROP TABLE gpkg_contents;--", "🗺 größe", "select", "group", "order",
    "a b", "a.b", "[a]", "`a`", "%s%n", "\\", "tab\there", "line\nbreak", "-- comment", "rowid",
    "?1",
    String(repeating: "long ", count: 200), "e\u{301}", "\u{e9}", "null", "عربى",
  ]

  @Test(arguments: names.indices)
  func `takes any name in every call`(index: Int) async throws {
    let name = Self.names[index]
    let package = try TestPackage()
    let store = try await package.store()
    let layer = LayerID(name)
    let schema = Schema(
      layer: layer, idColumn: "id", geometry: GeometryColumn("g " + name, type: .point),
      columns: [ColumnDefinition(name, .text()), ColumnDefinition(name + "2", .integer)])
    let tables = try package.rows("SELECT type, name, sql FROM sqlite_master ORDER BY 2")
    let id = try await store.write { (writer) throws(FieldpackError) in
      try writer.createLayer(schema)
      let id = try writer.create(
        Feature(geometry: .point(x: 1, y: 2), attributes: [name: "v"]), in: layer)
      try writer.update(id, in: layer, set: [name: "w", name + "2": 4])
      try writer.addColumns([ColumnDefinition(name + "3", .json)], to: layer)
      try writer.upsert(Feature(id: id, attributes: [name + "3": "[]"]), in: layer)
      return id
    }
    let box = Envelope(minX: 0, minY: 0, maxX: 3, maxY: 3)
    let query = Query(layer, where: .intersects(box) && Column<String>(name) == "w")
      .select(name, name + "3").order(by: [Order(name), Order(name + "2", descending: true)])
    let found = try await store.features(query)
    #expect(found.map(\.attributes) == [[name: "w", name + "3": "[]"]])
    #expect(found.first?.key?.layer == layer)
    #expect(try await store.count(query) == 1)
    #expect(try await store.explain(query).map(\.layer) == [layer])
    #expect(try await store.feature(id, in: layer)?.geometry == .point(x: 1, y: 2))
    try await store.write { (writer) throws(FieldpackError) in
      try writer.renameLayer(layer, to: LayerID("new " + name))
      try writer.renameLayer(LayerID("new " + name), to: layer)
      try writer.delete(id, in: layer)
    }
    let listed = try await store.layers()
    #expect(listed.map(\.id) == [layer])
    #expect(listed.first?.hasSpatialIndex == true)
    #expect(listed.first?.featureCount == 0)
    #expect(listed.first?.envelope == nil)
    await store.close()
    #expect(try package.faults() == [])
    try await package.withStore { store in
      try await store.write { (writer) throws(FieldpackError) in try writer.removeLayer(layer) }
    }
    let left = try package.rows("SELECT type, name, sql FROM sqlite_master ORDER BY 2")
    #expect(left.filter { !$0.hasPrefix("table|sqlite_sequence|") } == tables)
    for table in ["contents", "geometry_columns", "extensions"] {
      #expect(try package.rows("SELECT * FROM gpkg_\(table)") == [], "\(table)")
    }
  }

  @Test func `tells names apart as SQL does`() async throws {
    let package = try TestPackage()
    let store = try await package.store()
    let names: [LayerID] = ["e\u{301}", "\u{e9}", "\u{c9}"]
    try await store.write { (writer) throws(FieldpackError) in
      for (index, name) in names.enumerated() {
        let columns = names.map { ColumnDefinition($0.rawValue, .integer) }
        try writer.createLayer(Schema(layer: name, columns: columns))
        let value = Value.integer(Int64(index))
        try writer.create(Feature(attributes: [name.rawValue: value]), in: name)
      }
    }
    #expect(try await store.layers().map(\.id) == names)
    for (index, name) in names.enumerated() {
      let value = Filter.compare(
        .column(name.rawValue), .equal, .literal(.integer(Int64(index))))
      #expect(try await store.count(Query(name, where: value)) == 1)
    }
    let again = await code {
      try await store.write { (writer) throws(FieldpackError) in
        try writer.createLayer(Schema(layer: "ABC"))
        try writer.createLayer(Schema(layer: "abc"))
      }
    }
    #expect(again == .cannotCreate)
    await store.close()
  }

  @Test(arguments: ["", "gpkg_x", "GPKG_x", "sqlite_x", "rtree_x", "a\u{0}b"])
  func `refuses names that files cannot have`(name: String) async throws {
    let package = try TestPackage()
    let store = try await package.store()
    let creating = await code {
      try await store.write { (writer) throws(FieldpackError) in
        try writer.createLayer(Schema(layer: LayerID(name)))
      }
    }
    #expect(creating == .invalidArgument)
    let renaming = await code {
      try await store.write { (writer) throws(FieldpackError) in
        try writer.createLayer(Schema(layer: "a"))
        try writer.renameLayer("a", to: LayerID(name))
      }
    }
    #expect(renaming == .invalidArgument)
    #expect(try await store.layers() == [])
    await store.close()
  }
}
