import FieldpackCore
import FieldpackGeometry
import FieldpackTestSupport
import FieldpackTopology
import Testing

@testable import FieldpackGeoPackage

/// Which features a clip box leaves.
@Suite struct ClipTests {
  private let package: TestPackage

  /// Squares and lines in the box from 0 to 10, across its sides, along them and away from it, and
  /// a table.
  init() async throws {
    package = try TestPackage()
    let store = try await package.store()
    try await store.write { (writer) throws(FieldpackError) in
      for (name, type) in [("areas", GeometryType.polygon), ("lines", .lineString)] {
        try writer.createLayer(
          Schema(
            layer: LayerID(name), geometry: GeometryColumn(type: type, srs: .wgs84),
            columns: [ColumnDefinition("n", .integer)]))
      }
      try writer.createLayer(
        Schema(layer: "notes", columns: [ColumnDefinition("n", .integer)]))
      for (n, x) in [1.0, 9, 10, 12, -2, -1].enumerated() {
        let (left, right) = (x, x + 2)
        let shapes = [
          "areas": polygon(left, 1, right, 1, right, 3, left, 3, left, 1),
          "lines": line(left, 1, right, 1),
        ]
        for (layer, shape) in shapes {
          try writer.create(
            Feature(geometry: shape, attributes: ["n": .integer(Int64(n))]), in: LayerID(layer))
        }
        try writer.create(Feature(attributes: ["n": .integer(Int64(n))]), in: "notes")
      }
    }
    await store.close()
  }

  private func clipped(_ query: Query, srs: SRS? = nil) -> Query {
    var operations = GeometryOperations()
    operations.clip = .init(Envelope(minX: 0, minY: 0, maxX: 10, maxY: 10), srs: srs)
    return query.applying(operations)
  }

  private func lines(_ store: GeoPackageStore, _ query: Query) async throws -> [String] {
    var found: [String] = []
    for try await batch in try await store.query(query) {
      for row in 0..<batch.count {
        found.append("\(batch.schema.layer) \(try batch.feature(at: row).attributes["n"] ?? .null)")
      }
    }
    return found
  }

  @Test(arguments: [SRS.wgs84, SRS("EPSG", 4258), nil])
  func `tables without geometry are asked the query's own filter`(srs: SRS?) async throws {
    let store = try await package.store()
    let all = clipped(Query(), srs: srs)
    let kept = ["areas", "lines"].flatMap { layer in
      [0, 1, 5].map { "\(layer) integer(\($0))" }
    }
    let notes = (0..<6).map { "notes integer(\($0))" }
    #expect(try await lines(store, all) == kept + notes)
    #expect(try await store.count(all) == 12)
    let some = all.where(Column<Int64>("n") > 0)
    #expect(
      try await lines(store, some) == kept.filter { !$0.hasSuffix("(0)") } + notes.dropFirst())
    // Named, it is no error either.
    #expect(try await lines(store, all.in(layers: ["notes"])) == notes)
    #expect(try await store.query(all).report.current.notes == [])
    await store.close()
  }

  @Test(arguments: ["areas", "lines"])
  func `what only touches the box is not in the answer without geometry`(
    layer: LayerID
  ) async throws {
    let store = try await package.store()
    let plain = clipped(Query(layer))
    for query in [
      plain, plain.withoutGeometry(), plain.withoutGeometry().order(by: [Order("n")]),
      plain.withoutGeometry().transformed(to: SRS("EPSG", 3857)),
      plain.nearest(to: .point(x: -3, y: 2)).withoutGeometry(),
    ] {
      let ids = try await store.ids(query).sorted()
      #expect(ids == [1, 2, 6], "\(query)")
      #expect(try await store.count(query) == 3, "\(query)")
      #expect(try await store.ids(query.select([])).sorted() == ids, "\(query)")
      let rows = try await store.features(query.limit(2, offset: 1))
      #expect(rows.count == 2, "\(query)")
      #expect(rows.allSatisfy { ($0.geometry == nil) == !query.readsGeometry }, "\(query)")
    }
    await store.close()
  }

  /// The same square as the box, with one corner cut off where no feature lies.
  @Test(arguments: [SRS.wgs84, nil])
  func `polygons cut as a box does`(srs: SRS?) async throws {
    let store = try await package.store()
    var operations = GeometryOperations()
    operations.clip = .init(polygon(0, 0, 10, 0, 10, 8, 8, 10, 0, 10, 0, 0), srs: srs)
    for layer in ["areas", "lines"] as [LayerID] {
      let ours = try await store.features(Query(layer).applying(operations))
      let boxed = try await store.features(clipped(Query(layer), srs: srs))
      #expect(ours.map(\.key) == boxed.map(\.key) && ours.count == 3)
      for (our, box) in zip(ours, boxed) {
        #expect(our.geometry?.length() == box.geometry?.length())
        #expect(our.geometry?.area() == box.geometry?.area())
      }
    }
    // The sides of a polygon of another system bend.
    let mercator = SRS("EPSG", 3857)
    let side = 10 * Double.pi / 180 * 6_378_137
    operations.clip = .init(polygon(0, 0, side, 0, side, side, 0, side, 0, 0), srs: mercator)
    #expect(try await store.count(Query("lines").applying(operations)) == 3)
    await store.close()
  }

  @Test(arguments: [
    (line(0, 0, 1, 1), "geometries are cut to polygons, and LINESTRING is none"),
    (.polygon([], .xy), "geometries are cut to polygons, and an empty geometry is none"),
    (
      polygon(0, 0, 2, 2, 2, 0, 0, 2, 0, 0),
      "the area to cut to is not valid: Self-intersection at 1.0 1.0"
    ),
  ])
  func `what is no area is refused`(area: Geometry, message: String) async throws {
    let store = try await package.store()
    var operations = GeometryOperations()
    operations.clip = .init(area)
    let error = await #expect(throws: FieldpackError.self) {
      try await store.features(Query("areas").applying(operations))
    }
    #expect(error?.code == .invalidArgument && error?.message == message)
    await store.close()
  }

  @Test func `buffers are polygons, in metres where the system is known`() async throws {
    let store = try await package.store()
    var operations = GeometryOperations()
    operations.buffer = .init(metres: 1_000, quadrantSegments: 2, isMitred: true)
    let query = Query("areas", where: Column<Int64>("n") == 0).applying(operations)
    let prepared = try await store.prepare(query)
    let column = try #require(prepared.layers.first?.schema.geometry)
    #expect(column.type == .multiPolygon && column.z == .prohibited)
    let grown = try #require(try await store.features(query).first?.geometry)
    #expect(grown.type == .multiPolygon)
    let box = try #require(grown.envelope)
    let degree = 1_000 / 111_319.5
    #expect(abs(box.minX - 1 + degree) < 1e-4)
    #expect(abs(box.minY - 1 + degree) < 1e-4)
    // Metres in the plane of a transformed copy are other ones, so the layer's own system counts.
    let moved = try await store.features(query.transformed(to: SRS("EPSG", 3857)))
    let side = try #require(moved.first?.geometry?.envelope)
    let expected = box.minX * Double.pi / 180 * 6_378_137
    #expect(abs(side.minX - expected) < 1e-3)
    await store.close()
  }
}
