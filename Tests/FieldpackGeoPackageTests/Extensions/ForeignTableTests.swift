import FieldpackCore
import FieldpackGeometry
import FieldpackSQLite
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackGeoPackage

/// Tables and extensions that we know nothing of stay as they are through every edit.
@Suite struct ForeignTableTests {
  private static let script = """
    CREATE TABLE acme_secret (k TEXT PRIMARY KEY, v BLOB) WITHOUT ROWID;
    INSERT INTO acme_secret VALUES ('a', x'00ff'), ('b', NULL);
    CREATE TABLE "odd ""name" (a, b UNIQUE, c GENERATED ALWAYS AS (a + 1));
    INSERT INTO "odd ""name" (a, b) VALUES (1, 'x'), (2.5, x'01');
    CREATE TABLE nga_properties (id INTEGER PRIMARY KEY, property TEXT, value TEXT);
    INSERT INTO nga_properties VALUES (1, 'title', 'mine');
    CREATE VIEW acme_view AS SELECT k FROM acme_secret;
    CREATE TABLE acme_log (n INTEGER);
    CREATE TRIGGER acme_trigger AFTER INSERT ON acme_secret BEGIN
      INSERT INTO acme_log VALUES (1); END;
    CREATE INDEX acme_index ON acme_secret (v);
    INSERT INTO gpkg_extensions VALUES
      ('acme_secret', NULL, 'acme_crypt', 'http://acme.example', 'read-write'),
      (NULL, NULL, 'acme_whole', 'http://acme.example', 'write-only'),
      ('points', 'geom', 'acme_points', 'http://acme.example', 'write-only');
    INSERT INTO gpkg_contents (table_name, data_type, identifier)
      VALUES ('nga_properties', 'acme-type', 'nga_properties');
    """

  private static let names = [
    "acme_secret", "odd \"name", "nga_properties", "acme_view", "acme_log",
  ]

  /// What the foreign tables hold, and everything that makes them.
  private func dump(_ package: TestPackage, extensionOf layer: String = "points") throws -> [String]
  {
    var lines = try package.rows(
      "SELECT type, name, tbl_name, sql FROM sqlite_master WHERE name LIKE 'acme%' "
        + "OR name LIKE 'odd%' OR name LIKE 'nga%' ORDER BY name")
    for name in Self.names {
      let columns = try package.rows("SELECT name FROM pragma_table_xinfo(\(literal(name)))")
      let quotes = columns.map { "quote(\(quoted($0)))" }.joined(separator: ", ")
      lines += try package.rows("SELECT \(quotes) FROM \(quoted(name)) ORDER BY 1")
    }
    lines += try package.rows(
      "SELECT * FROM gpkg_extensions WHERE extension_name LIKE 'acme%' ORDER BY 3")
    return lines
      + (try package.rows("SELECT * FROM gpkg_contents WHERE table_name = 'nga_properties'"))
  }

  private static func edits(_ writer: GeoPackageWriter) throws(FieldpackError) {
    try writer.update(1, in: "points", set: ["name": "x"], geometry: .set(.point(x: 5, y: 5)))
    try writer.delete(2, in: "points")
    try writer.addColumns([ColumnDefinition("more", .json)], to: "points")
    try writer.setConstraint(.glob("*", named: "any"), of: "name", in: "points")
    try writer.addMetadata("", standard: "urn:x", about: .layer("points"))
    try writer.createMediaLayer("photos")
    let relation = try writer.createRelation(from: "points", to: "photos", as: .media)
    try writer.addMedia([1], as: "image/png", to: "photos", relatedTo: 1, by: relation)
    try writer.createTilePyramid(.webMercator("tiles", zooms: 0...2))
    try writer.putTile(TileTests.png, at: .init(zoom: 0, column: 0, row: 0), of: "tiles")
    var solid = Schema(layer: "solid", geometry: GeometryColumn(type: .point))
    solid.geometry?.srs = SRS("EPSG", 4979)
    try writer.createLayer(solid)
    try writer.removeTilePyramid("tiles")
    try writer.removeRelation(relation)
    try writer.removeLayer("photos")
    try writer.removeLayer("solid")
  }

  @Test func `stay byte for byte through every kind of edit`() async throws {
    let package = try await ConformanceTests.package(.v14)
    try package.run(Self.script)
    let before = try dump(package)
    #expect(before.count == 18)
    try await package.withStore { store in
      try await store.write { (writer) throws(FieldpackError) in try Self.edits(writer) }
    }
    #expect(try dump(package) == before)
    let writer = try GeoPackageBulkWriter(changing: package.path, store: "survey")
    let schema = Schema(
      layer: "points", geometry: GeometryColumn(type: .point),
      columns: [ColumnDefinition("name", .text())])
    try writer.append(schema, to: "points")
    try writer.loader.begin(schema)
    try writer.loader.feature(ValueRow(["loaded"], wkb: WKB.bytes(of: .point(x: 1, y: 2))))
    try writer.remove("curves")
    _ = try writer.commit()
    #expect(try dump(package) == before)
    var options = OptimizeOptions()
    (options.clusters, options.createsIndexes) = (true, true)
    _ = try GeoPackageOptimizer(path: package.path, store: "survey", options: options).run()
    #expect(try dump(package) == before)
    #expect(try package.faults() == [])
    try await package.withStore { store in
      try await store.write { (writer) throws(FieldpackError) in
        try writer.renameLayer("points", to: "dots")
      }
    }
    // What another program said of the layer goes with its name.
    #expect(
      try dump(package)
        == before.map { $0.hasPrefix("points|geom|acme") ? "dots" + $0.dropFirst(6) : $0 })
  }

  @Test(
    .enabled(if: SharedData.isPresent, Comment(rawValue: SharedData.absent)),
    arguments: ["import_db", "multi", "styled", "geodiff_triggers", "sample1_2"])
  func `of real files stay, too`(name: String) async throws {
    let package = try TestPackage(copying: SharedData.url("real/gpkg/\(name).gpkg"))
    func state() throws -> [String] {
      let layers = Set(
        try package.rows("SELECT table_name FROM gpkg_contents WHERE data_type = 'features'"))
      let tables = try package.rows(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%' "
          + "AND name NOT LIKE 'rtree%' AND name NOT IN ('gpkg_contents', 'gpkg_ogr_contents') "
          + "AND sql NOT LIKE 'CREATE VIRTUAL%' ORDER BY name")
      var lines: [String] = []
      for table in tables where !layers.contains(table) && table != "fieldpack test" {
        let columns = try package.rows("SELECT name FROM pragma_table_info(\(literal(table)))")
        let quotes = columns.map { "quote(\(quoted($0)))" }.joined(separator: ", ")
        lines += try package.rows("SELECT \(quotes) FROM \(quoted(table))").map {
          "\(table): \($0)"
        }
      }
      return lines.sorted()
    }
    let before = try state()
    try await package.withStore { store in
      let schemas = try await store.schemas()
      try await store.write { (writer) throws(FieldpackError) in
        let schema = Schema(layer: "fieldpack test", columns: [ColumnDefinition("a", .text())])
        try writer.createLayer(schema)
        try writer.create(Feature(attributes: ["a": "b"]), in: schema.layer)
        for layer in schemas.filter({ $0.geometry != nil }).prefix(3).map(\.layer) {
          _ = try? writer.create(Feature(geometry: nil), in: layer)
        }
        try writer.removeLayer(schema.layer)
      }
    }
    #expect(try state() == before)
  }
}
