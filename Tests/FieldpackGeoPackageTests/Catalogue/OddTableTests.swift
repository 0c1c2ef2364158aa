import FieldpackCore
import FieldpackGeometry
import FieldpackSQLite
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackGeoPackage

/// Tables and views as other programs make them.
@Suite struct OddTableTests {
  private func package(_ script: String, _ layers: [String]) throws -> TestPackage {
    let package = try TestPackage()
    try package.run(script)
    for layer in layers {
      try package.run(
        "INSERT INTO gpkg_contents (table_name, data_type) VALUES (\(literal(layer)), 'attributes')"
      )
    }
    return package
  }

  struct Table: Sendable, CustomTestStringConvertible {
    let sql: String
    let idColumn: String?
    let features: [String]

    var testDescription: String { sql }
  }

  static let tables = [
    Table(
      sql: "CREATE TABLE t (a INTEGER PRIMARY KEY, b); INSERT INTO t VALUES (7, 'x'), (-2, 'y')",
      idColumn: "a", features: ["-2 y", "7 x"]),
    Table(
      sql: "CREATE TABLE t (a INT PRIMARY KEY, b); INSERT INTO t VALUES ('q', 'x'), (NULL, 'y')",
      idColumn: nil, features: ["1 q x", "2 NULL y"]),
    Table(
      sql: "CREATE TABLE t (a TEXT PRIMARY KEY, b); INSERT INTO t VALUES ('q', 'x'), ('p', 'y')",
      idColumn: nil, features: ["1 q x", "2 p y"]),
    Table(
      sql: "CREATE TABLE t (rowid TEXT, _rowid_ TEXT); INSERT INTO t VALUES ('q', 'x'), ('p', 'y')",
      idColumn: nil, features: ["1 q x", "2 p y"]),
    Table(
      sql: "CREATE TABLE t (a TEXT, b, PRIMARY KEY (a, b)) WITHOUT ROWID;"
        + "INSERT INTO t VALUES ('q', 'x'), ('p', 'y')",
      idColumn: nil, features: ["1 p y", "2 q x"]),
    Table(
      sql: "CREATE TABLE t (a INTEGER PRIMARY KEY, b) WITHOUT ROWID; INSERT INTO t VALUES (3, 'x')",
      idColumn: "a", features: ["3 x"]),
    Table(
      sql: "CREATE TABLE s (a INTEGER PRIMARY KEY, b); INSERT INTO s VALUES (7, 'x'), (8, 'y');"
        + "CREATE VIEW t AS SELECT b, b || '!' AS c FROM s",
      idColumn: nil, features: ["1 x x!", "2 y y!"]),
    Table(
      sql: "CREATE TABLE s (a INTEGER PRIMARY KEY, b); INSERT INTO s VALUES (7, 'x'), (8, 'y');"
        + "CREATE VIEW t AS SELECT b, a AS fid FROM s",
      idColumn: "fid", features: ["7 x", "8 y"]),
    Table(
      sql: "CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT, c TEXT AS (b || 1) STORED) STRICT;"
        + "INSERT INTO t VALUES (1, 'x')",
      idColumn: "a", features: ["1 x x1"]),
  ]

  @Test(arguments: tables)
  func `finds what tells rows apart`(table: Table) async throws {
    let package = try package(table.sql, ["t"])
    let store = try await package.store()
    let schema = try #require(try await store.layers().first).schema
    #expect(schema.idColumn == table.idColumn)
    let features = try await store.features(Query("t"))
    let lines = features.map { feature in
      let values = feature.attributes.elements.map { element in
        if case .text(let text) = element.value { text } else { "NULL" }
      }
      return ([feature.id?.description ?? ""] + values).joined(separator: " ")
    }
    #expect(lines == table.features)
    await store.close()
  }

  @Test func `shows a broken view with its reason, and the rest`() async throws {
    let package = try package(
      """
      CREATE TABLE good (fid INTEGER PRIMARY KEY); INSERT INTO good VALUES (1);
      CREATE TABLE gone (a); CREATE VIEW broken AS SELECT a FROM gone; DROP TABLE gone;
      CREATE VIEW strange AS SELECT fid, no_such_function(fid) AS b FROM good;
      """, ["broken", "good", "strange"])
    let store = try await package.store()
    let layers = try await store.layers()
    #expect(
      layers.map { "\($0.id) \($0.featureCount ?? -1) \($0.notes.count)" } == [
        "broken -1 1", "good 1 0", "strange -1 1",
      ])
    #expect(try await store.ids(Query("good")) == [1])
    await store.close()
  }

  private typealias Change = @Sendable (GeoPackageWriter) throws(FieldpackError) -> Void

  private static let changes: [(String, Change)] = [
    ("create", { (writer) throws(FieldpackError) in _ = try writer.create(Feature(), in: "v") }),
    ("delete", { (writer) throws(FieldpackError) in try writer.delete(1, in: "v") }),
    ("rename", { (writer) throws(FieldpackError) in try writer.renameLayer("v", to: "w") }),
    ("columns", { (writer) throws(FieldpackError) in try writer.addColumns([], to: "v") }),
  ]

  @Test func `takes no changes to views`() async throws {
    let package = try package(
      "CREATE TABLE s (fid INTEGER PRIMARY KEY); CREATE VIEW v AS SELECT * FROM s", ["v"])
    let store = try await package.store()
    for (name, change) in Self.changes {
      let error = await thrown { try await store.write(change) }
      #expect(error?.code == .readOnly, "\(name)")
    }
    try await store.write { (writer) throws(FieldpackError) in try writer.removeLayer("v") }
    #expect(try package.rows("SELECT name FROM sqlite_master WHERE type = 'view'") == [])
    await store.close()
  }

  @Test func `transforms layers whose file alone defines their SRS`() async throws {
    let package = try TestPackage()
    try await package.withStore { store in
      try await store.write { (writer) throws(FieldpackError) in
        try writer.createLayer(
          Schema(layer: "p", geometry: GeometryColumn(srs: SRS("EPSG", 25833))))
        try writer.create(Feature(geometry: .point(x: 392_000, y: 5_820_000)), in: "p")
      }
    }
    try package.run(
      """
      PRAGMA foreign_keys = OFF;
      UPDATE gpkg_spatial_ref_sys SET organization = 'NONE', organization_coordsys_id = 100000,
        srs_id = 100000, definition = replace(definition, ',AUTHORITY["EPSG","25833"]', '')
        WHERE srs_id = 25833;
      UPDATE gpkg_contents SET srs_id = 100000; UPDATE gpkg_geometry_columns SET srs_id = 100000;
      """)
    let store = try await package.store()
    #expect(try await store.layers()[0].schema.geometry?.srs == SRS("NONE", 100_000))
    let moved = try await store.features(Query("p").transformed(to: .wgs84)).first?.geometry
    guard case .point(let position?, _)? = moved else {
      Issue.record("no point")
      return
    }
    #expect(abs(position.x - 13.4) < 0.1 && abs(position.y - 52.5) < 0.1)
    let box = Envelope(minX: 13, minY: 52, maxX: 14, maxY: 53)
    #expect(try await store.ids(Query("p", where: .intersects(box, srs: .wgs84))) == [1])
    await store.close()
  }

  @Test func `compares raw numbers where the SRS is undefined`() async throws {
    let package = try TestPackage()
    let store = try await package.store()
    try await store.write { (writer) throws(FieldpackError) in
      for (layer, srs) in [("a", SRS.undefinedCartesian), ("b", .undefinedGeographic)] {
        try writer.createLayer(Schema(layer: LayerID(layer), geometry: GeometryColumn(srs: srs)))
        try writer.create(Feature(geometry: .point(x: 500, y: 500)), in: LayerID(layer))
      }
    }
    let box = Envelope(minX: 499, minY: 499, maxX: 501, maxY: 501)
    #expect(try await store.count(Query(where: .intersects(box, srs: .wgs84))) == 2)
    let error = await thrown {
      _ = try await store.features(Query("a").transformed(to: .wgs84))
    }
    #expect(error?.code == .invalidArgument)
    await store.close()
  }
}
