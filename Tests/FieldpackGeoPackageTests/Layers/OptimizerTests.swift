import FieldpackCore
import FieldpackGeometry
import FieldpackSQLite
import FieldpackTestSupport
import Testing

@testable import FieldpackGeoPackage

/// Files that were made ready for reading hold what they held.
@Suite struct OptimizerTests {
  /// A layer `points` with one feature that has no geometry, and `remarks` without any.
  private static func package(_ version: GeoPackageVersion = .v14) async throws -> TestPackage {
    let package = try TestPackage(version)
    try await package.withStore { store in
      try await store.write { (writer) throws(FieldpackError) in
        try writer.createLayer(
          Schema(
            layer: "points", geometry: GeometryColumn(type: .point),
            columns: [ColumnDefinition("name", .text())]))
        try writer.createLayer(Schema(layer: "remarks", columns: [ColumnDefinition("n", .integer)]))
        for index in 0..<300 {
          let (x, y) = (Double(index * 7 % 20), Double(index * 11 % 15))
          try writer.create(
            Feature(
              geometry: index == 5 ? nil : .point(x: x, y: y),
              attributes: ["name": .text("\(x) \(y)")]), in: "points")
        }
        try writer.create(Feature(attributes: ["n": 1]), in: "remarks")
      }
    }
    return package
  }

  private static func optimize(
    _ package: TestPackage, _ change: (inout OptimizeOptions) -> Void = { _ in }
  ) throws -> OptimizeReport {
    var options = OptimizeOptions()
    change(&options)
    return try GeoPackageOptimizer(path: package.path, store: "s", options: options).run()
  }

  private static let names = "SELECT name, ST_MinX(geom), ST_MinY(geom) FROM points ORDER BY 1, 2"
  private static let triggers =
    "SELECT count(*) FROM sqlite_master WHERE type = 'trigger' AND tbl_name = 'points'"

  @Test(arguments: [GeoPackageVersion.v12, .v14])
  func `packs what is indexed and compacts`(version: GeoPackageVersion) async throws {
    let package = try await Self.package(version)
    let before = try package.rows("SELECT fid, name, geom FROM points")
    let triggers = try package.rows(Self.triggers)
    let report = try Self.optimize(package)
    #expect(
      report.layers == [
        .init(layer: "points", index: .packed, entries: 299),
        .init(layer: "remarks", index: .none),
      ])
    #expect(report.isCompacted)
    #expect(report.bytesAfter <= report.bytesBefore)
    #expect(report.notes == [])
    #expect(try package.rows("SELECT fid, name, geom FROM points") == before)
    #expect(try package.rows(Self.triggers) == triggers)
    #expect(try package.rows("PRAGMA freelist_count") == ["0"])
    #expect(try package.rows("SELECT count(*) FROM rtree_points_geom_node") == ["7"])
    #expect(try package.faults() == [])
    #expect(try package.names() == ["survey.gpkg"])
  }

  @Test func `makes an index where asked`() async throws {
    let package = try await Self.package()
    let triggers = try package.rows(Self.triggers)
    try package.dropIndex("points")
    #expect(try Self.optimize(package).layers.first?.index == OptimizeReport.Index.none)
    let report = try Self.optimize(package) { $0.createsIndexes = true }
    #expect(report.layers.first == .init(layer: "points", index: .created, entries: 299))
    #expect(try package.rows(Self.triggers) == triggers)
    #expect(try package.faults() == [])
    try await package.withStore { store in
      #expect(try await store.layers().first?.hasSpatialIndex == true)
      let box = Envelope(minX: 2, minY: 2, maxX: 6, maxY: 6)
      let expected = try await store.evaluatedIDs("points", .intersects(box))
      #expect(try await store.ids(Query("points", where: .intersects(box))) == expected)
    }
  }

  @Test func `orders a layer whose columns have the names of others`() async throws {
    let package = try TestPackage(.v14)
    try await package.withStore { store in
      try await store.write { (writer) throws(FieldpackError) in
        try writer.createLayer(
          Schema(
            layer: "fieldpack_rows using x(y", geometry: GeometryColumn(type: .point),
            columns: [ColumnDefinition("rowid", .integer)]))
        for number: Int64 in [70, 50, 50] {
          try writer.create(
            Feature(
              geometry: .point(x: Double(number), y: 0), attributes: ["rowid": .integer(number)]),
            in: "fieldpack_rows using x(y")
        }
      }
    }
    let report = try Self.optimize(package) { $0.clusters = true }
    #expect(report.layers.map(\.index) == [.packed])
    #expect(report.layers.map(\.renumbered) == [3])
    let rows = try package.rows(
      #"SELECT fid, "rowid" FROM "fieldpack_rows using x(y" ORDER BY fid"#)
    #expect(rows == ["1|50", "2|50", "3|70"])
    #expect(try package.faults() == [])
  }

  @Test func `a layer whose ids are used up takes no more`() async throws {
    let package = try await Self.package()
    _ = try package.rows("UPDATE points SET fid = \(Int64.max - 1) WHERE fid = 300")
    let schema = Schema(
      layer: "points", geometry: GeometryColumn(type: .point),
      columns: [ColumnDefinition("name", .text())])
    var batch = FeatureBatch(store: "other", schema: schema)
    for _ in 0..<2 { batch.append(PointRow(id: .integer(1), x: 1, y: 1)) }
    let writer = try GeoPackageBulkWriter(changing: package.path, store: "s")
    try writer.append(schema, to: "points")
    var sink = writer.loader
    let error = #expect(throws: FieldpackError.self) {
      try batch.drive(&sink)
      _ = try writer.commit()
    }
    #expect(error?.code == .constraint)
    #expect(error?.message == "layer 'points' has used its last feature id")
  }

  @Test func `makes an index again whose root is gone`() async throws {
    let package = try await Self.package()
    _ = try package.rows("DELETE FROM rtree_points_geom_node WHERE nodeno = 1")
    let report = try Self.optimize(package)
    #expect(report.layers.first == .init(layer: "points", index: .packed, entries: 299))
    #expect(try package.faults() == [])
  }

  @Test func `orders features along a curve under new ids`() async throws {
    let package = try await Self.package()
    let before = try package.rows(Self.names)
    let triggers = try package.rows(Self.triggers)
    let distance = """
      SELECT sum(abs(ST_MinX(a.geom) - ST_MinX(b.geom)) + abs(ST_MinY(a.geom) - ST_MinY(b.geom)))
      FROM points a JOIN points b ON b.fid = a.fid + 1
      """
    let far = try #require(Double(try package.rows(distance)[0]))
    let report = try Self.optimize(package) { $0.clusters = true }
    #expect(report.layers.first?.renumbered == 300)
    #expect(try package.rows(Self.names) == before)
    #expect(try package.rows("SELECT min(fid), max(fid), count(*) FROM points") == ["1|300|300"])
    #expect(try package.rows("SELECT name FROM points WHERE fid = 300") == ["15.0 10.0"])
    #expect(try package.rows("SELECT geom IS NULL FROM points WHERE fid = 300") == ["1"])
    #expect(try #require(Double(try package.rows(distance)[0])) < far / 4)
    #expect(try package.rows(Self.triggers) == triggers)
    #expect(try package.faults() == [])
  }

  static let references = [
    (
      "CREATE TABLE log (id INTEGER PRIMARY KEY, point INTEGER REFERENCES points(fid))",
      "its ids are referred to by table 'log'"
    ),
    (
      "CREATE TRIGGER mine AFTER DELETE ON points BEGIN SELECT 1; END",
      "it has a trigger 'mine' of its own"
    ),
    (
      "ALTER TABLE remarks ADD COLUMN point_fid INTEGER",
      "its ids are referred to by layer 'remarks', as tracks are by their points"
    ),
  ]

  @Test(arguments: references)
  func `keeps the order of layers whose ids are referred to`(
    script: String, reason: String
  ) async throws {
    let package = try await Self.package()
    try package.run(script)
    let before = try package.rows("SELECT fid, name, geom FROM points")
    let error = await thrown {
      _ = try Self.optimize(package) { options in
        options.layers = ["points"]
        options.clusters = true
      }
    }
    #expect(error?.code == .constraint)
    #expect(error?.message == "layer 'points' keeps its order: \(reason)")
    let report = try Self.optimize(package) { $0.clusters = true }
    #expect(report.notes == ["layer 'points' keeps its order: \(reason)"])
    #expect(report.layers.first?.renumbered == nil)
    #expect(try package.rows("SELECT fid, name, geom FROM points") == before)
  }

  @Test func `what is stopped leaves the file as it was`() async throws {
    let package = try TestPackage()
    try await package.withStore { store in
      try await store.write { (writer) throws(FieldpackError) in
        try writer.createLayer(Schema(layer: "points", geometry: GeometryColumn(type: .point)))
      }
    }
    try package.append(5000, to: "points")
    let before = try package.rows("SELECT fid, geom FROM points")
    let error = await thrown {
      _ = try Self.optimize(package) { options in
        options.clusters = true
        options.progress = { (done) throws(FieldpackError) in
          if done > 5000 { throw FieldpackError(.interrupted, "stopped") }
        }
      }
    }
    #expect(error?.code == .interrupted)
    #expect(try package.rows("SELECT fid, geom FROM points") == before)
    #expect(try package.rows("SELECT name FROM sqlite_master WHERE name = 'sqlite_stat1'") == [])
    #expect(try package.faults() == [])
    let missing = await thrown { _ = try Self.optimize(package) { $0.layers = ["lakes"] } }
    #expect(missing?.code == .notFound)
  }

  @Test func `does not compact where that would change ids`() async throws {
    let package = try await Self.package()
    try package.run(
      """
      CREATE TABLE loose (a INTEGER);
      INSERT INTO gpkg_contents (table_name, data_type) VALUES ('loose', 'attributes');
      INSERT INTO loose (rowid, a) VALUES (7, 1);
      """)
    let report = try Self.optimize(package)
    #expect(!report.isCompacted)
    #expect(report.notes.count == 1)
    #expect(try package.rows("SELECT rowid FROM loose") == ["7"])
  }
}
