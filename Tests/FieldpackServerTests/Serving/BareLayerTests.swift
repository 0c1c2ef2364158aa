import FieldpackCore
import FieldpackGeoPackage
import FieldpackGeometry
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackServer

/// How a server finds out whether a layer has features that no R-tree has.
@Suite struct BareLayerTests {
  /// Counts the statements that read all entries of an R-tree.
  private final class Counts: LogHandler {
    let count = Locked(0)

    func log(_ entry: LogEntry) {
      let sql = entry.metadata.first { $0.name == "sql" }.map { "\($0.value)" } ?? ""
      if sql.contains("count(*)"), sql.contains("_rowid") { count.withLock { $0 += 1 } }
    }

    /// How many there were since the last call.
    func take() -> Int {
      count.withLock { count in
        defer { count = 0 }
        return count
      }
    }
  }

  private let counts = Counts()
  private let folder: TemporaryFolder
  private let store: GeoPackageStore
  private let served: ServedGeoPackage

  /// A file with three wells and three posts, which a table holds that demands geometries.
  init() async throws {
    folder = try TemporaryFolder()
    let path = folder.file("field.gpkg").path
    let writer = try GeoPackageBulkWriter(creating: path, version: .v14, store: "field")
    for layer in ["wells", "zones"] as [LayerID] {
      try writer.create(
        Schema(
          layer: layer, geometry: GeometryColumn(type: .point),
          columns: [ColumnDefinition("name", .text())]))
    }
    _ = try writer.commit()
    let logger = Logger(label: "test", level: .trace, handler: counts)
    store = try await GeoPackageStore(path: path, id: "field", logger: logger)
    try await store.write { (writer: GeoPackageWriter) throws(FieldpackError) in
      try writer.execute(
        "CREATE TABLE posts (fid INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, geom POINT NOT NULL)")
      try writer.execute(
        "INSERT INTO gpkg_contents (table_name, data_type, srs_id) VALUES ('posts', 'features', 4326)"
      )
      try writer.execute(
        "INSERT INTO gpkg_geometry_columns VALUES ('posts', 'geom', 'POINT', 4326, 0, 0)")
    }
    var options = OptimizeOptions()
    (options.layers, options.createsIndexes, options.compacts) = (["posts"], true, false)
    _ = try GeoPackageOptimizer(path: path, store: "field", options: options).run()
    served = ServedGeoPackage(store)
    for layer in ["wells", "posts"] as [LayerID] {
      for index in 1...3 { try await create(Double(index), in: layer) }
    }
    _ = counts.take()
  }

  /// Creates a point; `nil` for a feature without geometry.
  private func create(_ place: Double?, in layer: LayerID) async throws {
    try await store.write { (writer: GeoPackageWriter) throws(FieldpackError) in
      let geometry = place.map { Geometry.point(x: $0, y: $0) }
      try writer.create(Feature(geometry: geometry, attributes: [:]), in: layer)
    }
  }

  private func isBare(_ layer: LayerID) async throws -> Bool {
    let version = try await served.version(of: layer)
    return try await served.featuresWithoutGeometry(of: layer, version) != nil
  }

  private func close() async {
    served.close()
    await store.close()
  }

  @Test func `one count is for all requests of one state`() async throws {
    for (place, isBare) in [(4, false), (nil, true), (5, true)] as [(Double?, Bool)] {
      try await create(place, in: "wells")
      let version = try await served.version(of: "wells")
      let answers = try await withThrowingTaskGroup(of: Bool.self) { group in
        for _ in 0..<32 {
          group.addTask {
            try await self.served.featuresWithoutGeometry(of: "wells", version) != nil
          }
        }
        return try await group.reduce(into: Set<Bool>()) { $0.insert($1) }
      }
      #expect(answers == [isBare])
      #expect(counts.take() == 1)
    }
    await close()
  }

  @Test func `a table that demands geometries is not counted`() async throws {
    for index in 0..<3 {
      #expect(try await !isBare("posts"))
      try await create(Double(index), in: "posts")
    }
    #expect(counts.take() == 0)
    await close()
  }

  @Test func `of a logged layer only its edits are looked at`() async throws {
    try await store.write { (writer: GeoPackageWriter) throws(FieldpackError) in
      _ = try writer.logEdits(of: "wells")
    }
    #expect(try await !isBare("wells"))
    #expect(counts.take() == 1)
    // Another layer, a new feature, a change, and a feature that was never bare goes.
    try await create(nil, in: "zones")
    #expect(try await !isBare("wells"))
    try await create(4, in: "wells")
    #expect(try await !isBare("wells"))
    try await store.write { (writer: GeoPackageWriter) throws(FieldpackError) in
      try writer.update(2, in: "wells", set: ["name": "another"])
      try writer.delete(1, in: "wells")
    }
    #expect(try await !isBare("wells"))
    #expect(counts.take() == 0)
    try await create(nil, in: "wells")
    #expect(try await isBare("wells"))
    #expect(counts.take() == 1)
    try await create(nil, in: "zones")
    #expect(try await isBare("wells"))
    #expect(counts.take() == 0)
    try await store.write { (writer: GeoPackageWriter) throws(FieldpackError) in
      try writer.delete(5, in: "wells")
    }
    #expect(try await !isBare("wells"))
    #expect(counts.take() == 1)
    await close()
  }

  @Test func `few features without geometry are found beside a box by their ids`() async throws {
    func condition() async throws -> Filter? {
      let version = try await served.version(of: "wells")
      return try await served.featuresWithoutGeometry(of: "wells", version)
    }
    func ids(_ condition: Filter) async throws -> [FeatureID] {
      let box = Envelope(minX: 1.5, minY: 1.5, maxX: 2.5, maxY: 2.5)
      let query = Query("wells", where: .envelope(.intersects, box) || condition).limit(10)
      let sql = try await store.explain(query).map(\.sql).joined(separator: "\n")
      #expect(sql.contains("fieldpack_candidates") == (condition == list))
      var ids: [FeatureID] = []
      for try await feature in try await store.query(query).features {
        ids.append(try #require(feature.key).feature)
      }
      return ids
    }
    let all: Filter = .isNull(.column("geom"))
    let list =
      .isIn(.column("fid"), [.literal(.integer(4)), .literal(.integer(5))]) && all
    for _ in 0..<2 { try await create(nil, in: "wells") }
    #expect(try await condition() == list)
    #expect(try await ids(list) == [2, 4, 5])
    #expect(try await ids(all) == [2, 4, 5])
    // One gets a geometry after the look.
    try await store.write { (writer: GeoPackageWriter) throws(FieldpackError) in
      try writer.execute(
        "UPDATE wells SET geom = (SELECT geom FROM wells WHERE fid = 3) WHERE fid = 4")
    }
    #expect(try await ids(list) == [2, 5])
    try await store.write { (writer: GeoPackageWriter) throws(FieldpackError) in
      for _ in 0..<1_000 { try writer.create(Feature(geometry: nil, attributes: [:]), in: "wells") }
    }
    #expect(try await condition() == all)
    await close()
  }
}
