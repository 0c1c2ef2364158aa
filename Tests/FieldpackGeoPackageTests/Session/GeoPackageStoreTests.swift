import FieldpackCore
import FieldpackGeometry
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackGeoPackage

@Suite struct GeoPackageStoreTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func emptyStore(_ version: GeoPackageVersion = .v14) async throws -> GeoPackageStore {
    let path = folder.file("survey.gpkg").path
    let writer = try GeoPackageBulkWriter(creating: path, version: version, store: "survey")
    _ = try writer.commit()
    return try await GeoPackageStore(path: path, id: "survey")
  }

  private let wells = Schema(
    layer: "wells", geometry: GeometryColumn(type: .point),
    columns: [ColumnDefinition("name", .text()), ColumnDefinition("depth", .double)])

  @Test(arguments: GeoPackageVersion.allCases)
  func `keeps what is created, updated and deleted`(version: GeoPackageVersion) async throws {
    let store = try await emptyStore(version)
    let ids = try await store.write { (writer) throws(FieldpackError) in
      try writer.createLayer(wells)
      let first = try writer.create(
        Feature(geometry: .point(x: 13.4, y: 52.5), attributes: ["name": "Mitte", "depth": 12.5]),
        in: "wells")
      let second = try writer.create(
        Feature(id: 7, geometry: .point(x: 13.5, y: 52.6), attributes: ["name": "Nord"]),
        in: "wells")
      return [first, second]
    }
    #expect(ids == [1, 7])
    try await store.write { (writer) throws(FieldpackError) in
      try writer.update(1, in: "wells", set: ["depth": .null])
      try writer.delete(7, in: "wells")
    }
    let found = try await store.feature(1, in: "wells")
    #expect(
      found
        == Feature(
          key: KeyTuple(store: "survey", layer: "wells", feature: 1),
          geometry: .point(x: 13.4, y: 52.5), attributes: ["name": "Mitte", "depth": .null]))
    let layer = try #require(try await store.layers().first)
    #expect(layer.featureCount == 1)
    #expect(layer.envelope == Envelope(minX: 13.4, minY: 52.5, maxX: 13.4, maxY: 52.5))
    #expect(layer.hasSpatialIndex)
    await store.close()
    let left = try FileManager.default.contentsOfDirectory(atPath: folder.url.path)
    #expect(left == ["survey.gpkg"])
  }

  @Test func `answers a box and a condition from one statement`() async throws {
    let store = try await emptyStore()
    try await store.write { (writer) throws(FieldpackError) in
      try writer.createLayer(wells)
      for index in 0..<100 {
        try writer.create(
          Feature(
            geometry: .point(x: Double(index), y: 1), attributes: ["depth": .real(Double(index))]),
          in: "wells")
      }
    }
    let box = Envelope(minX: 10, minY: 0, maxX: 20, maxY: 2)
    let query = Query("wells", where: .intersects(box) && Column<Double>("depth") > 12)
      .order(by: [Order("depth", descending: true)]).limit(3)
    var depths: [Double?] = []
    for try await feature in try await store.query(query).features {
      depths.append(feature[Column<Double>("depth")])
    }
    #expect(depths == [20, 19, 18])
    #expect(try await store.count(Query("wells", where: .intersects(box))) == 11)
    let explanation = try #require(try await store.explain(query).first)
    #expect(explanation.plan.contains { $0.contains("VIRTUAL TABLE INDEX") })
    await store.close()
  }

  /// The plan of such a query is kept, and gets another number each time.
  @Test func `queries that differ in an id alone find each its own features`() async throws {
    let store = try await emptyStore()
    try await store.write { (writer) throws(FieldpackError) in
      try writer.createLayer(wells)
      for index in 1...9 {
        try writer.create(
          Feature(geometry: .point(x: 1, y: 1), attributes: ["depth": .real(Double(index))]),
          in: "wells")
      }
    }
    func ids(_ filter: Filter, limit: Int? = nil) async throws -> [FeatureID] {
      var query = Query("wells", where: filter)
      if let limit { query = query.limit(limit) }
      var ids: [FeatureID] = []
      for try await feature in try await store.query(query).features {
        ids.append(try #require(feature.key).feature)
      }
      return ids
    }
    let id = Column<Int64>("fid")
    for number: Int64 in 1...9 {
      #expect(try await ids(id == number) == [.integer(number)])
      // Here the number is the limit, too, once.
      let next = (number + 1..<min(number + 5, 10)).map { FeatureID.integer($0) }
      #expect(try await ids(id > number, limit: 4) == Array(next))
    }
    #expect(try await ids(Column<Double>("depth") == 4) == [4])
    #expect(try await ids(Column<Double>("depth") == 5) == [5])
    await store.close()
  }

  @Test func `short readings see what was committed before`() async throws {
    let store = try await emptyStore()
    func count() async throws -> Int {
      try await store.readSoon { (snapshot) throws(FieldpackError) in
        try snapshot.count(Query("wells"))
      }
    }
    try await store.write { (writer) throws(FieldpackError) in try writer.createLayer(wells) }
    for expected in 0..<4 {
      #expect(try await count() == expected)
      #expect(try await count() == expected)
      try await store.write { (writer) throws(FieldpackError) in
        _ = try writer.create(Feature(geometry: .point(x: 1, y: 1)), in: "wells")
      }
    }
    await store.close()
    await #expect(throws: FieldpackError.self) { _ = try await count() }
  }
}
