import FieldpackCore
import FieldpackGeometry
import FieldpackProjection
import FieldpackSQLite
import FieldpackTestSupport
import FieldpackTopology
import Testing

@testable import FieldpackGeoPackage

/// Queries whose features come by their distance, held against all distances sorted.
@Suite(.calculation) struct NearestTests {
  /// What a layer of the test is like.
  struct Sample: Sendable, CustomTestStringConvertible {
    var srs: SRS
    /// Where the features lie.
    var box: Envelope
    var hasIndex = true
    var testDescription: String { "\(srs)\(hasIndex ? "" : " without an index")" }

    static let all = [
      Sample(srs: .wgs84, box: Envelope(minX: -180, minY: -90, maxX: 180, maxY: 90)),
      Sample(srs: .wgs84, box: Envelope(minX: 13, minY: 52, maxX: 13.5, maxY: 52.5)),
      Sample(srs: .wgs84, box: Envelope(minX: 13, minY: 52, maxX: 14, maxY: 53), hasIndex: false),
      Sample(srs: SRS("EPSG", 4258), box: Envelope(minX: 0, minY: 50, maxX: 20, maxY: 60)),
      Sample(
        srs: SRS("EPSG", 25833),
        box: Envelope(minX: 300_000, minY: 5_700_000, maxX: 500_000, maxY: 5_900_000)),
    ]
  }

  /// Points, lines and polygons; one in ten has no geometry, or an empty one.
  private static func geometry(_ random: inout FilterGenerator.SplitMix, in box: Envelope)
    -> Geometry?
  {
    let x = Double.random(in: box.minX...box.maxX, using: &random)
    let y = Double.random(in: box.minY...box.maxY, using: &random)
    let size = box.width / 200
    func ring(_ parts: [(Double, Double)]) -> CoordinateSequence {
      CoordinateSequence(
        parts.map {
          Position(
            x: min(box.maxX, max(box.minX, x + $0.0 * size)),
            y: min(box.maxY, max(box.minY, y + $0.1 * size)))
        }, dimensions: .xy)
    }
    switch Int.random(in: 0..<10, using: &random) {
    case 0: return nil
    case 1: return .polygon([], .xy)
    case 2...4: return .lineString(ring([(0, 0), (1, 0.3), (2, 2)]))
    case 5, 6: return .polygon([ring([(0, 0), (3, 0), (3, 1), (0, 2), (0, 0)])], .xy)
    default: return .point(x: x, y: y)
    }
  }

  /// All distances, by the slow way.
  private static func distances(
    _ geometries: [Geometry?], to target: Geometry, _ metric: DistanceMetric, _ srs: SRS
  ) throws -> [(id: Int64, distance: Double)] {
    let system = metric == .geodesic ? try GeodesicSystem(SRSReference(srs)) : nil
    let shape = try system?.shape(of: WKB.bytes(of: target).span.bytes)
    var found: [(id: Int64, distance: Double)] = []
    for (index, geometry) in geometries.enumerated() {
      guard let geometry else { continue }
      let distance =
        if let system, let shape {
          try system.shape(of: WKB.bytes(of: geometry).span.bytes).distance(to: shape)
        } else {
          try geometry.distance(to: target)
        }
      if let distance { found.append((Int64(index + 1), distance)) }
    }
    return found.sorted { $0.distance == $1.distance ? $0.id < $1.id : $0.distance < $1.distance }
  }

  @Test(arguments: Sample.all, DistanceMetric.allCases)
  func `the nearest are those of all distances sorted`(
    sample: Sample, metric: DistanceMetric
  ) async throws {
    let (package, geometries) = try await Self.make(sample, seed: 11)
    var random = FilterGenerator.SplitMix(state: 5)
    try await package.withStore { store in
      for round in 0..<12 {
        var target = Geometry.point(
          x: Double.random(in: sample.box.minX...sample.box.maxX, using: &random),
          y: Double.random(in: sample.box.minY...sample.box.maxY, using: &random))
        if round % 4 == 3 { target = Self.geometry(&random, in: sample.box) ?? target }
        let count = [1, 3, 40, 1_000][round % 4]
        let all = try Self.distances(geometries, to: target, metric, sample.srs)
        let query = Query("places").nearest(to: target, count: count, metric: metric)
        let found = try await Self.rows(store, query)
        #expect(found.map(\.id) == all.prefix(count).map(\.id), "\(target)")
        for (row, expected) in zip(found, all) {
          #expect(abs(row.distance - expected.distance) <= 1e-6 + 1e-12 * expected.distance)
        }
        #expect(try await store.count(query) == found.count)
        // A filter, a farthest distance, an offset.
        guard all.count > 20 else { continue }
        let limit = all[20].distance
        let some = Query("places", where: .compare(.column("kind"), .equal, .literal(.integer(3))))
          .nearest(to: target, metric: metric, within: limit).offset(1)
        let expected = all.filter { $0.distance <= limit && ($0.id - 1) % 7 == 3 }.dropFirst()
        #expect(try await Self.rows(store, some).map(\.id) == expected.map(\.id))
      }
    }
  }

  private static func make(
    _ sample: Sample, seed: UInt64
  ) async throws -> (TestPackage, [Geometry?]) {
    var random = FilterGenerator.SplitMix(state: seed)
    let geometries = (0..<700).map { _ in geometry(&random, in: sample.box) }
    let package = try TestPackage()
    try await package.withStore { store in
      try await store.write { (writer) throws(FieldpackError) in
        try writer.createLayer(
          Schema(
            layer: "places", geometry: GeometryColumn(srs: sample.srs),
            columns: [ColumnDefinition("kind", .integer)]))
        for (index, geometry) in geometries.enumerated() {
          try writer.create(
            Feature(geometry: geometry, attributes: ["kind": .integer(Int64(index % 7))]),
            in: "places")
        }
      }
    }
    if !sample.hasIndex { try package.dropIndex("places") }
    return (package, geometries)
  }

  private static func rows(
    _ store: GeoPackageStore, _ query: Query
  ) async throws -> [(id: Int64, distance: Double)] {
    var rows: [(id: Int64, distance: Double)] = []
    for try await batch in try await store.query(query) {
      let column = try #require(batch.schema.columns.indices.last)
      #expect(batch.schema.columns[column].name == "distance")
      for index in 0..<batch.count {
        guard case .integer(let id) = batch[index].id else { continue }
        rows.append((id, batch[index].real(at: column)))
      }
    }
    return rows
  }
}
