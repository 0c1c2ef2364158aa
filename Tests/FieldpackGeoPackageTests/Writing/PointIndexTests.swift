import FieldpackCore
import FieldpackGeometry
import FieldpackSQLite
import FieldpackTestSupport
import Testing

@testable import FieldpackGeoPackage

/// Rows of points that are inserted while the index's own trigger is disabled.
@Suite struct PointIndexTests {
  private static let layer: LayerID = #"a"b; DROP"#

  private func package(
    _ version: GeoPackageVersion = .v14, _ script: String = ""
  ) throws -> TestPackage {
    let schema = Schema(
      layer: Self.layer, geometry: GeometryColumn(type: .point),
      columns: [ColumnDefinition("number", .integer, isUnique: true)])
    let package = try TestPackage(version, [schema])
    if !script.isEmpty { try package.run(script) }
    return package
  }

  /// Inserts points and tells whether the index was given to be kept.
  private func insert(
    _ numbers: Range<Int>, into store: GeoPackageStore
  ) async throws -> Bool {
    try await store.write { (writer) throws(FieldpackError) in
      var isGiven = false
      try writer.insertPoints(into: Self.layer) { (index) throws(FieldpackError) in
        isGiven = index != nil
        let statement = try writer.prepare(
          "INSERT INTO \(quoted(Self.layer.rawValue)) (geom, number) VALUES (?, ?)")
        for number in numbers {
          let (x, y) = (Double(number) / 10, 50.3)
          try statement.bind(Self.blob(x, y), at: 1)
          try statement.bind(number, at: 2)
          try statement.run()
          try index?.add(writer.connection.lastInsertRowID, x, y)
        }
      }
      try writer.changed(
        Self.layer, growing: Envelope(minX: -10, minY: 50, maxX: 100, maxY: 51))
      return isGiven
    }
  }

  private static func blob(_ x: Double, _ y: Double) -> [UInt8] {
    var blob: [UInt8] = [0x47, 0x50, 0, 1, 0xe6, 0x10, 0, 0, 1, 1, 0, 0, 0]
    for value in [x, y] {
      withUnsafeBytes(of: value.bitPattern.littleEndian) { blob.append(contentsOf: $0) }
    }
    return blob
  }

  /// The entries that the index has, and those that its trigger would have made.
  private func entries(_ package: TestPackage) throws -> (found: [String], wanted: [String]) {
    let table = quoted(Self.layer.rawValue)
    let rtree = quoted("rtree_\(Self.layer)_geom")
    try package.run(
      "CREATE VIRTUAL TABLE again USING rtree(id, a, b, c, d); "
        + "INSERT INTO again SELECT fid, ST_MinX(geom), ST_MaxX(geom), ST_MinY(geom), ST_MaxY(geom) "
        + "FROM \(table)")
    let found = try package.rows("SELECT * FROM \(rtree) ORDER BY id")
    let wanted = try package.rows("SELECT * FROM again ORDER BY id")
    try package.run("DROP TABLE again")
    return (found, wanted)
  }

  @Test(arguments: GeoPackageVersion.allCases)
  func `the index is as its trigger would have it, and it is enabled again`(
    version: GeoPackageVersion
  ) async throws {
    let package = try package(version)
    try await package.withStore { store in
      let isGiven = try await insert(0..<300, into: store)
      #expect(isGiven)
      // With the same statement as while it was disabled, and with the writer's own.
      let one = Feature(geometry: .point(x: -5, y: 50.25), attributes: ["number": 1000])
      try await store.write { (writer) throws(FieldpackError) in
        try writer.create(one, in: Self.layer)
        let statement = try writer.prepare(
          "INSERT INTO \(quoted(Self.layer.rawValue)) (geom, number) VALUES (?, ?)")
        try statement.bind(Self.blob(7, 50.75), at: 1)
        try statement.bind(2000, at: 2)
        try statement.run()
      }
      let isGivenAgain = try await insert(300..<600, into: store)
      #expect(isGivenAgain)
    }
    let (found, wanted) = try entries(package)
    #expect(found.count == 602)
    #expect(found == wanted)
    #expect(try package.faults() == [])
  }

  @Test(arguments: [
    // As GDAL counts features, and as a user might keep something.
    #"""
    CREATE TRIGGER "trigger_insert_feature_count_x" AFTER INSERT ON "a""b; DROP" BEGIN
      UPDATE gpkg_contents SET description = coalesce(description, 0) + 1
      WHERE table_name = 'a"b; DROP'; END
    """#,
    // One that has the name of the index's own, and does more.
    #"""
    DROP TRIGGER "rtree_a""b; DROP_geom_update2";
    CREATE TRIGGER "rtree_a""b; DROP_geom_update2" AFTER INSERT ON "a""b; DROP" BEGIN
      UPDATE gpkg_contents SET description = coalesce(description, 0) + 1
      WHERE table_name = 'a"b; DROP'; END
    """#,
  ])
  func `triggers of others see each row`(script: String) async throws {
    let package = try package(.v14, script)
    try await package.withStore(.runningTriggers) { store in
      let isGiven = try await insert(0..<300, into: store)
      #expect(!isGiven)
    }
    let seen = try package.rows(
      "SELECT description FROM gpkg_contents WHERE table_name = \(literal(Self.layer.rawValue))")
    #expect(seen == ["300"])
    let (found, wanted) = try entries(package)
    #expect(found.count == 300)
    #expect(found == wanted)
  }

  @Test func `after an error nothing is left, and it is enabled again`() async throws {
    let package = try package()
    try await package.withStore { store in
      let isGiven = try await insert(0..<300, into: store)
      #expect(isGiven)
      let error = await #expect(throws: FieldpackError.self) {
        _ = try await insert(299..<600, into: store)
      }
      #expect(error?.code == .constraint)
      _ = try await store.write { (writer) throws(FieldpackError) in
        try writer.create(
          Feature(geometry: .point(x: 1, y: 50), attributes: ["number": 300]), in: Self.layer)
      }
    }
    let (found, wanted) = try entries(package)
    #expect(found.count == 301)
    #expect(found == wanted)
    #expect(try package.faults() == [])
  }

  @Test func `a layer without an index takes rows as they are`() async throws {
    let package = try package()
    try package.dropIndex(Self.layer)
    try await package.withStore { store in
      let isGiven = try await insert(0..<300, into: store)
      #expect(!isGiven)
    }
    #expect(
      try package.rows("SELECT count(*) FROM \(quoted(Self.layer.rawValue))") == ["300"])
  }
}
