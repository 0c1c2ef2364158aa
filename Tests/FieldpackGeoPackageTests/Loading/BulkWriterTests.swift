import FieldpackCore
import FieldpackGeometry
import FieldpackSQLite
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackGeoPackage

/// Whole loads: what they leave, and that half of one leaves nothing.
@Suite struct BulkWriterTests {
  private let folder: TemporaryFolder
  private static let schema = Schema(
    layer: "points", geometry: GeometryColumn(type: .point),
    columns: [ColumnDefinition("name", .text())])

  init() throws { folder = try TemporaryFolder() }

  private var names: [String] {
    get throws { try FileManager.default.contentsOfDirectory(atPath: folder.url.path).sorted() }
  }

  private func load(
    _ ids: [Int64], with writer: GeoPackageBulkWriter
  ) throws(FieldpackError) {
    var batch = FeatureBatch(store: "other", schema: Self.schema)
    for id in ids { batch.append(PointRow(id: .integer(id), x: Double(id), y: 1)) }
    var sink = writer.loader
    try batch.drive(&sink)
  }

  @Test func `puts a new file in its place only when all is written`() throws {
    let path = folder.file("new.gpkg").path
    do {
      let writer = try GeoPackageBulkWriter(creating: path, store: "s")
      try writer.create(Self.schema)
      try load([1, 2, 3], with: writer)
      #expect(try !names.contains("new.gpkg"))
    }
    #expect(try names == [])
    let writer = try GeoPackageBulkWriter(creating: path, store: "s")
    try writer.create(Self.schema)
    try load([1, 2, 3], with: writer)
    let loaded = try writer.commit()
    #expect(loaded.map(\.layer) == ["points"])
    #expect(loaded.map(\.count) == [3])
    #expect(loaded.map(\.ids) == [1...3])
    #expect(try names == ["new.gpkg"])
    #expect(try Data(contentsOf: folder.file("new.gpkg"))[18] == 1)
  }

  @Test func `refuses a target that exists or is in use`() async throws {
    let package = try TestPackage()
    let exists = await thrown {
      _ = try GeoPackageBulkWriter(creating: package.path, store: "s")
    }
    #expect(exists?.code == .cannotCreate)
    try package.run("PRAGMA journal_mode = wal")
    let user = try Connection(path: package.path, mode: .readWrite)
    try user.execute("CREATE TABLE a (b)")
    let busy = await thrown {
      _ = try GeoPackageBulkWriter(creating: package.path, overwrite: true, store: "s")
    }
    #expect(busy?.code == .busy)
    #expect(try user.scalar("SELECT count(*) FROM a") == .integer(0))
  }

  @Test func `replaces a target where it may`() throws {
    let path = folder.file("old.gpkg").path
    for ids: [Int64] in [[1, 2], [5]] {
      let writer = try GeoPackageBulkWriter(creating: path, overwrite: true, store: "s")
      try writer.create(Self.schema, ids: .given)
      try load(ids, with: writer)
      _ = try writer.commit()
    }
    let connection = try Connection(path: path, mode: .readOnly)
    #expect(try connection.scalar("SELECT group_concat(fid) FROM points") == .text("5"))
    #expect(try names == ["old.gpkg"])
  }

  @Test func `keeps given ids, and names one that is there twice`() async throws {
    let path = folder.file("ids.gpkg").path
    let writer = try GeoPackageBulkWriter(creating: path, store: "s")
    try writer.create(Self.schema, ids: .given)
    try load([7, -2, .max], with: writer)
    let loaded = try writer.commit()
    #expect(loaded.first?.ids == -2 ... .max)
    #expect(loaded.first?.areConsecutive == false)
    let again = try GeoPackageBulkWriter(changing: path, store: "s")
    try again.append(Self.schema, to: "points", ids: .given)
    let error = await thrown {
      try load([8, 7], with: again)
      _ = try again.commit()
    }
    #expect(error?.code == .constraint)
    #expect(error?.location.feature == 7)
  }

  /// Stretches of ids, in the order in which they come.
  static let stretches: [[ClosedRange<Int64>]] = [
    [1...1000], [5...1004], [1...300, 302...700, 900...900, 905...905, 950...1300],
    [-200...200], [-700 ... -300, -100 ... -1], [0...400],
    [1...400, 600...900, 401...599, 901...1200], [.max - 300 ... .max],
  ]

  /// Long runs of ids are numbered by SQLite itself.
  @Test(arguments: stretches)
  func `keeps given ids in runs, with holes and out of order`(
    stretches: [ClosedRange<Int64>]
  ) throws {
    let ids = stretches.flatMap { Array($0) }
    let path = folder.file("runs.gpkg").path
    let writer = try GeoPackageBulkWriter(creating: path, overwrite: true, store: "s")
    try writer.create(Self.schema, ids: .given)
    try load(ids, with: writer)
    #expect(try writer.commit().map(\.count) == [ids.count])
    let connection = try Connection(path: path, mode: .readWrite, profile: .bulk)
    let file = try GeoPackageSession(connection, store: "s")
    let rows = try file.rows("SELECT fid, ST_MinX(geom) FROM points ORDER BY fid")
    let expected = ids.sorted().map { [SQLiteValue.integer($0), SQLiteValue.real(Double($0))] }
    #expect(rows == expected)
    #expect(try connection.scalar("SELECT rtreecheck('rtree_points_geom')") == .text("ok"))
    let sequence = try connection.scalar("SELECT seq FROM sqlite_sequence WHERE name = 'points'")
    #expect(sequence == .integer(max(0, ids.max() ?? 0)))
  }

  @Test(arguments: [1, 300, 2000])
  func `stores rows along a curve where asked`(count: Int) throws {
    let path = folder.file("c\(count).gpkg").path
    let writer = try GeoPackageBulkWriter(creating: path, store: "s")
    try writer.create(Self.schema, clusters: true)
    var batch = FeatureBatch(store: "other", schema: Self.schema)
    for index in 0..<count {
      let (x, y) = (Double(index * 7919 % 1009), Double(index * 104_729 % 997))
      batch.append(PointRow(id: .integer(Int64(index)), x: x, y: y))
    }
    var sink = writer.loader
    try batch.drive(&sink)
    #expect(writer.loader.lastID(of: "points") == Int64(count))
    let loaded = try writer.commit()
    #expect(loaded.map(\.count) == [count])
    #expect(loaded.map(\.ids) == [1...Int64(count)])
    let connection = try Connection(path: path, mode: .readWrite, profile: .bulk)
    let file = try GeoPackageSession(connection, store: "s")
    let stored = try file.rows("SELECT fid, ST_MinX(geom), ST_MinY(geom) FROM points")
    let points = stored.map { row -> SIMD2<Double> in
      SIMD2(row[1].realValue ?? 0, row[2].realValue ?? 0)
    }
    let given = (0..<count).map { index -> SIMD2<Double> in
      let (x, y): (Int, Int) = (index * 7919 % 1009, index * 104_729 % 997)
      return SIMD2(Double(x), Double(y))
    }
    #expect(Set(points) == Set(given))
    #expect(points.count == count)
    func length(_ points: [SIMD2<Double>]) -> Double {
      var length = 0.0
      for (a, b) in zip(points, points.dropFirst()) { length += abs(a.x - b.x) + abs(a.y - b.y) }
      return length
    }
    #expect(count == 1 || length(points) < length(given) / 2)
    #expect(try connection.scalar("SELECT rtreecheck('rtree_points_geom')") == .text("ok"))
  }

  @Test func `appends where the R-tree names rows that are not there yet`() async throws {
    let package = try TestPackage()
    try await package.withStore { store in
      try await store.write { (writer) throws(FieldpackError) in
        try writer.createLayer(Self.schema)
        try writer.create(Feature(geometry: .point(x: 1, y: 1)), in: "points")
      }
    }
    try package.run("INSERT INTO rtree_points_geom VALUES (2, 50, 50, 50, 50)")
    try package.append(3, to: "points")
    #expect(try package.faults() == [])
    #expect(try package.rows("SELECT count(*) FROM rtree_points_geom WHERE minx > 40") == ["0"])
  }

  @Test func `loads rows in another SRS into the layer's`() throws {
    let path = folder.file("utm.gpkg").path
    let writer = try GeoPackageBulkWriter(creating: path, store: "s")
    let report = try writer.create(Self.schema, in: SRS("EPSG", 25833))
    #expect(report != nil)
    try load([13, 15], with: writer)
    _ = try writer.commit()
    let connection = try Connection(path: path, mode: .readOnly)
    let extent = try connection.scalar(
      "SELECT round(min_x) || ' ' || round(max_x) FROM gpkg_contents")
    #expect(extent == .text("277438.0 500000.0"))
  }
}
