import FieldpackCore
import FieldpackGeometry
import FieldpackSQLite
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackGeoPackage

/// What has to stay true of a file beside its features: extents, dates, R-trees, GDAL's counts.
@Suite(.calculation) struct UpkeepTests {
  static let origins = ["1.2", "1.3", "1.4", "gdal-3.6.gpkg", "gdal-3.12.gpkg"]

  /// Layers `wells` (points, some NULL) and `remarks` in a file of that origin.
  private static func package(_ origin: String) async throws -> TestPackage {
    guard let version = GeoPackageVersion(rawValue: origin) else {
      return try TestPackage(copying: Checkout.file("TestData/gpkg/" + origin))
    }
    let package = try TestPackage(version)
    try await package.withStore { store in
      try await store.write { (writer) throws(FieldpackError) in
        try writer.createLayer(
          Schema(
            layer: "wells", geometry: GeometryColumn(type: .point),
            columns: [ColumnDefinition("name", .text()), ColumnDefinition("depth", .double)]))
        try writer.createLayer(
          Schema(layer: "remarks", columns: [ColumnDefinition("text", .text())]))
        for (x, y) in [(13.4, 52.5), (13.5, 52.6), (13.1, 52.4)] {
          try writer.create(Feature(geometry: .point(x: x, y: y)), in: "wells")
        }
        try writer.create(Feature(), in: "wells")
        for _ in 0..<2 { try writer.create(Feature(), in: "remarks") }
      }
    }
    return package
  }

  /// What is not true of the file.
  private func faults(_ package: TestPackage) throws -> [String] {
    var faults = try package.faults()
    let hasCounts = try !package.rows(
      "SELECT 1 FROM sqlite_master WHERE name = 'gpkg_ogr_contents'"
    ).isEmpty
    let geometries =
      "SELECT c.table_name, g.column_name FROM gpkg_contents c "
      + "LEFT JOIN gpkg_geometry_columns g USING (table_name)"
    for row in try package.rows(geometries) {
      let names = row.split(separator: "|").map(String.init)
      let table = quoted(names[0])
      if hasCounts {
        faults += try package.rows(
          "SELECT 'count of ' || table_name || ' ' || feature_count FROM gpkg_ogr_contents "
            + "WHERE table_name = \(literal(names[0])) "
            + "AND feature_count IS NOT (SELECT count(*) FROM \(table))")
      }
      guard names[1] != "NULL" else { continue }
      faults += try extentFaults(package, table, names) + treeFaults(package, table, names)
    }
    return faults
  }

  private func extentFaults(
    _ package: TestPackage, _ table: String, _ names: [String]
  ) throws -> [String] {
    let g = quoted(names[1])
    let stated = try package.rows(
      "SELECT min_x, min_y, max_x, max_y FROM gpkg_contents WHERE table_name = \(literal(names[0]))"
    )
    let found = try package.rows(
      "SELECT min(ST_MinX(\(g))), min(ST_MinY(\(g))), max(ST_MaxX(\(g))), max(ST_MaxY(\(g))) "
        + "FROM \(table)")
    return stated == found ? [] : ["extent \(stated), found \(found)"]
  }

  private func treeFaults(
    _ package: TestPackage, _ table: String, _ names: [String]
  ) throws -> [String] {
    let (g, tree) = (quoted(names[1]), quoted("rtree_\(names[0])_\(names[1])"))
    let ids = "SELECT fid FROM \(table) WHERE \(g) NOT NULL AND NOT ST_IsEmpty(\(g))"
    let strays = try package.rows("\(ids) EXCEPT SELECT id FROM \(tree)")
    let dead = try package.rows("SELECT id FROM \(tree) EXCEPT \(ids)")
    let wrong = try package.rows(
      "SELECT fid FROM \(table) JOIN \(tree) r ON r.id = fid WHERE NOT (minx <= ST_MinX(\(g)) "
        + "AND maxx >= ST_MaxX(\(g)) AND miny <= ST_MinY(\(g)) AND maxy >= ST_MaxY(\(g)) "
        + "AND abs(minx - ST_MinX(\(g))) < 1e-4 AND abs(maxy - ST_MaxY(\(g))) < 1e-4)")
    return strays.map { "\($0) not in tree" } + dead.map { "\($0) only in tree" }
      + wrong.map { "\($0) elsewhere in tree" }
  }

  typealias Change = @Sendable (GeoPackageWriter) throws(FieldpackError) -> Void

  private static let changes: [(String, Change)] = [
    (
      "create beyond the extent",
      { (writer) throws(FieldpackError) in
        try writer.create(Feature(geometry: .point(x: -70, y: 10)), in: "wells")
        try writer.create(Feature(id: 50, geometry: .point(x: 13.3, y: 52.45)), in: "wells")
        try writer.create(Feature(), in: "remarks")
      }
    ),
    (
      "move inside",
      { (writer) throws(FieldpackError) in
        try writer.update(5, in: "wells", geometry: .set(.point(x: 13.2, y: 52.41)))
        try writer.update(4, in: "wells", geometry: .set(.point(x: 13.25, y: 52.42)))
      }
    ),
    (
      "take a geometry away",
      { (writer) throws(FieldpackError) in
        try writer.update(1, in: "wells", geometry: .set(nil))
        try writer.update(5, in: "wells", geometry: .set(.point(nil, .xy)))
      }
    ),
    (
      "give an empty and a NULL one a place",
      { (writer) throws(FieldpackError) in
        try writer.upsert(Feature(id: 1, geometry: .point(x: 20, y: 1)), in: "wells")
        try writer.upsert(Feature(id: 5, geometry: .point(x: 21, y: 2)), in: "wells")
        try writer.upsert(Feature(id: 77, geometry: .point(x: 22, y: 3)), in: "wells")
      }
    ),
    (
      "delete at the border, and what was made meanwhile",
      { (writer) throws(FieldpackError) in
        try writer.create(Feature(id: 90, geometry: .point(x: 120, y: 80)), in: "wells")
        try writer.delete(90, in: "wells")
        try writer.delete(77, in: "wells")
        try writer.delete(1, in: "remarks")
      }
    ),
    (
      "rename",
      { (writer) throws(FieldpackError) in
        try writer.renameLayer("wells", to: "Brunnen")
        try writer.create(Feature(geometry: .point(x: 99, y: 9)), in: "Brunnen")
        try writer.renameLayer("Brunnen", to: "WELLS")
        try writer.delete(2, in: "wells")
        try writer.renameLayer("WELLS", to: "wells")
      }
    ),
    (
      "delete all",
      { (writer) throws(FieldpackError) in
        let ids: [FeatureID] = [1, 3, 4, 5, 50, 91]
        for id in ids { try writer.delete(id, in: "wells") }
      }
    ),
  ]

  @Test(arguments: origins)
  func `holds after every change`(origin: String) async throws {
    let package = try await Self.package(origin)
    let masters = "SELECT type, name, tbl_name FROM sqlite_master ORDER BY 1, 2"
    let before = try package.rows(masters)
    #expect(try faults(package) == [])
    for (name, change) in Self.changes {
      try package.run("UPDATE gpkg_contents SET last_change = '2000-01-01T00:00:00.000Z'")
      try await package.withStore { store in try await store.write(change) }
      #expect(try faults(package) == [], "\(name)")
      let dates = try package.rows(
        "SELECT last_change FROM gpkg_contents WHERE table_name = 'wells'")
      let isDate = dates[0].wholeMatch(of: /20[2-9]\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/) != nil
      #expect(isDate, "\(name): \(dates)")
    }
    #expect(try package.rows("SELECT count(*) FROM wells") == ["0"])
    #expect(try package.rows(masters) == before)
  }

  @Test(arguments: origins)
  func `keeps nothing of a removed layer`(origin: String) async throws {
    let package = try await Self.package(origin)
    let masters = "SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY 1, 2"
    let before = try package.rows(masters)
    let extensions = try package.rows("SELECT * FROM gpkg_extensions")
    try await package.withStore { store in
      try await store.write { (writer) throws(FieldpackError) in
        try writer.createLayer(
          Schema(
            layer: "new", geometry: GeometryColumn(type: .multiSurface, srs: SRS("EPSG", 25833)),
            columns: [ColumnDefinition("tags", .json), ColumnDefinition("n", .integer)]))
        try writer.create(Feature(attributes: ["n": 1]), in: "new")
      }
      try await store.write { (writer) throws(FieldpackError) in
        try writer.removeLayer("new")
      }
    }
    #expect(try package.rows(masters) == before)
    #expect(try package.rows("SELECT * FROM gpkg_extensions") == extensions)
    #expect(try package.rows("SELECT * FROM sqlite_sequence WHERE name = 'new'") == [])
    #expect(try faults(package) == [])
  }

  @Test(arguments: origins)
  func `holds after bulk loads`(origin: String) async throws {
    let package = try await Self.package(origin)
    for count in [1, 500, 30] {
      try package.append(count, to: "wells")
      #expect(try faults(package) == [], "\(count)")
    }
    #expect(try package.rows("SELECT count(*) FROM wells") == ["535"])
    let before = try Data(contentsOf: URL(fileURLWithPath: package.path))
    try package.append(100, to: "wells", commits: false)
    #expect(try Data(contentsOf: URL(fileURLWithPath: package.path)) == before)
    #expect(try package.names().count == 1)
  }

  @Test func `makes good what a writer without triggers left`() async throws {
    let package = try await Self.package("1.4")
    try package.run(
      """
      DROP TRIGGER rtree_wells_geom_insert; DROP TRIGGER rtree_wells_geom_delete;
      UPDATE gpkg_contents SET min_x = -500, max_x = 500 WHERE table_name = 'wells'
      """)
    try await package.withStore { store in
      #expect(try await store.layers()[0].envelope?.minX == 13.1)
      try await store.write { (writer) throws(FieldpackError) in
        try writer.create(Feature(geometry: .point(x: 13.2, y: 52.5)), in: "wells")
        try writer.delete(1, in: "wells")
      }
    }
    #expect(try faults(package) == [])
  }

  @Test func `takes zeros in the catalogue for an extent that nobody knew`() async throws {
    let package = try await Self.package("1.4")
    try package.dropIndex("wells")
    try package.run("UPDATE gpkg_contents SET min_x = 0, min_y = 0, max_x = 0, max_y = 0")
    try await package.withStore { store in
      let envelope = Envelope(minX: 13.1, minY: 52.4, maxX: 13.5, maxY: 52.6)
      #expect(try await store.layers()[0].envelope == envelope)
      _ = try await store.write { (writer) throws(FieldpackError) in
        try writer.create(Feature(geometry: .point(x: 13.2, y: 52.5)), in: "wells")
      }
    }
    let table = ["wells", "geom"]
    #expect(try extentFaults(package, "wells", table) == [])
  }
}

extension TestPackage {
  /// Loads points in bulk.
  func append(_ count: Int, to layer: LayerID, commits: Bool = true) throws {
    let writer = try GeoPackageBulkWriter(changing: path, store: "survey")
    let schema = Schema(
      layer: "points", geometry: GeometryColumn(type: .point),
      columns: [ColumnDefinition("name", .text())])
    try writer.append(schema, to: layer)
    var batch = FeatureBatch(store: "other", schema: schema)
    var generator = SystemRandomNumberGenerator()
    for index in 0..<count {
      batch.append(
        PointRow(
          id: .integer(Int64(index)), x: .random(in: 12...15, using: &generator),
          y: .random(in: 51...54, using: &generator)))
    }
    var sink = writer.loader
    try batch.drive(&sink)
    if commits { _ = try writer.commit() }
  }
}

/// A point with one NULL column.
struct PointRow: FeatureRow {
  let id: FeatureID
  let x: Double
  let y: Double
  var envelope: Envelope? { Envelope(minX: x, minY: y, maxX: x, maxY: y) }

  func kind(at column: Int) -> ValueKind { .null }
  func integer(at column: Int) -> Int64 { 0 }
  func real(at column: Int) -> Double { .nan }
  func withBytes<R, E: Error>(at column: Int, _ body: (RawSpan) throws(E) -> R) throws(E) -> R {
    try body([UInt8]().span.bytes)
  }
  func withGeometry<R, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R? {
    var wkb: [UInt8] = []
    WKB.write(.point(x: x, y: y), into: &wkb)
    return try body(wkb.span.bytes)
  }
}
