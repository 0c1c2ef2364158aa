import FieldpackCore
import FieldpackGeometry
import FieldpackTestSupport
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
}
