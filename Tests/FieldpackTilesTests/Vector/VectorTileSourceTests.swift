import FieldpackCore
import FieldpackGeoPackage
import FieldpackGeometry
import FieldpackProjection
import FieldpackSQLite
import FieldpackTestSupport
import FieldpackTopology
import Testing

@testable import FieldpackTiles

/// Where features come from: other reference systems, the R-tree, rows that cannot be read.
@Suite struct VectorTileSourceTests {
  private static let places = (0..<300).map { index in
    Position(x: 13 + Double(index % 20) * 0.0437, y: 52.2 + Double(index / 20) * 0.0311)
  }
  private static let address = TileAddress(zoom: 9, column: 275, row: 168)

  @Test(arguments: ["EPSG:3857", "EPSG:25833", "EPSG:3035"])
  func `layers of every system give the same tile`(code: String) async throws {
    let srs = try #require(SRS(code))
    let shapes: [Geometry] = Self.places.flatMap { place -> [Geometry] in
      let ring = [0.0, 0, 0.02, 0, 0.02, 0.015, 0, 0.01, 0, 0]
      let ordinates = ring.enumerated().map { $1 + ($0 % 2 == 0 ? place.x : place.y) }
      return [
        .point(place, .xy),
        .polygon([CoordinateSequence(dimensions: .xy, ordinates: ordinates)], .xy),
      ]
    }
    let transformation = try CoordinateTransformation(from: .wgs84, to: srs)
    let moved = try shapes.map { try transformation.transform($0) }
    let first = try await FeaturePackage("shapes", .geometry, shapes)
    let second = try await FeaturePackage("shapes", .geometry, moved, srs: srs)
    let expected = try TileDocument(try await first.tile("shapes", Self.address).bytes).layers[0]
    let found = try TileDocument(try await second.tile("shapes", Self.address).bytes).layers[0]
    #expect(expected.features.count > 100)
    #expect(found.features.map(\.id) == expected.features.map(\.id))
    for (a, b) in zip(expected.features, found.features) {
      let (points, others) = (Array(a.parts.joined()), Array(b.parts.joined()))
      #expect(points.count == others.count)
      for (point, other) in zip(points, others) {
        #expect(abs(point.x - other.x) <= 1 && abs(point.y - other.y) <= 1)
      }
    }
  }

  @Test(arguments: [9, 12]) func `points come out of the R-tree as out of rows`(
    zoom: Int
  ) async throws {
    var random = FilterGenerator.SplitMix(state: 8)
    // Also on the borders of tiles and their buffers.
    let points = (0..<4_000).map { index in
      let steps = Double(1 << zoom) * 4_096
      let x =
        (Double(275 << (zoom - 9)) * 4_096 + .random(in: -100...4_300, using: &random)) / steps
      return Geometry.point(
        x: (index % 5 == 0 ? (x * steps).rounded() / steps : x) * 360 - 180,
        y: 52.3 + .random(in: -0.05...0.5, using: &random))
    }
    let package = try await FeaturePackage("points", .point, points)
    let row = 168 << (zoom - 9)
    let address = TileAddress(zoom: zoom, column: 275 << (zoom - 9), row: row)
    let tile = try await package.tile("points", address, .init(properties: []))
    let leaves = try TileDocument(tile.bytes).layers[0].features
    // A budget that leaves none out reads rows where the layer has no R-tree; here all are rows.
    let rows = try await package.withStore { store in
      try await store.read { (snapshot) throws(FieldpackError) in
        try Self.rows(of: snapshot, address)
      }
    }
    let fromRows = try TileDocument(rows).layers[0].features
    let byID = Dictionary(uniqueKeysWithValues: leaves.map { ($0.id ?? 0, $0.parts[0][0]) })
    var missing = 0
    for feature in fromRows {
      let point = feature.parts[0][0]
      guard let found = byID[feature.id ?? 0] else {
        // Only on the border of the buffer the rounding decides.
        missing += 1
        #expect([-64, -63, 4_159, 4_160].contains { $0 == point.x || $0 == point.y })
        continue
      }
      #expect(abs(found.x - point.x) <= 1 && abs(found.y - point.y) <= 1)
    }
    #expect(leaves.count > 250 && abs(leaves.count - fromRows.count) < 20 && missing < 20)
  }

  private static func rows(
    of snapshot: GeoPackageSnapshot, _ address: TileAddress
  ) throws(FieldpackError) -> [UInt8] {
    guard let area = WebMercator.envelope(of: address) else { return [] }
    let plane = try TilePlane(area, .init(), of: "points", .wgs84, in: snapshot)
    var sink = TileRowSink(TileLayerWriter(name: "points", extent: 4_096), on: plane)
    try snapshot.scan(Query("points").select([]), into: &sink)
    var bytes: [UInt8] = []
    sink.writer.write(to: &bytes)
    return bytes
  }

  @Test func `rows that cannot be read are left out and counted`() async throws {
    let package = try await FeaturePackage("points", .point, Self.places.map { .point($0, .xy) })
    let before = try await package.tile("points", Self.address)
    let shown = try TileDocument(before.bytes).layers[0].features.compactMap(\.id)
      .sorted()
    let connection = try Connection(path: package.path, mode: .readWrite)
    // The R-tree keeps the entries: its triggers would read the geometries.
    for trigger in try connection.prepare(
      "SELECT name FROM sqlite_master WHERE type = 'trigger' AND tbl_name = 'points'"
    ).texts {
      try connection.executeScript("DROP TRIGGER \"\(trigger)\"")
    }
    try connection.executeScript(
      """
      UPDATE points SET geom = x'47500001E6100000' WHERE fid = \(shown[0]);
      UPDATE points SET geom = x'00' WHERE fid = \(shown[1]);
      """)
    let tile = try await package.tile("points", Self.address)
    #expect(tile.skippedCount == 2)
    #expect(
      try TileDocument(tile.bytes).layers[0].features.compactMap(\.id) == Array(shown.dropFirst(2)))
  }

  @Test func `the tile in the south of the world shows the pole's continent`() async throws {
    // Its ring runs along the pole, which has no place in Mercator.
    let ring = CoordinateSequence(
      dimensions: .xy,
      ordinates: [-180, -90, 180, -90, 180, -75, 60, -65, -60, -78, -180, -75, -180, -90])
    let package = try await FeaturePackage("land", .polygon, [.polygon([ring], .xy)])
    let tile = try await package.tile("land", .init(zoom: 0, column: 0, row: 0))
    let feature = try TileDocument(tile.bytes).layers[0].features[0]
    #expect(tile.skippedCount == 0)
    #expect(feature.parts.count == 1 && feature.parts[0].count == 7)
    #expect(try feature.polygons.validity() == .valid)
  }
}

extension Statement {
  /// The texts of the first column.
  fileprivate var texts: [String] {
    get throws {
      var texts: [String] = []
      while try step() { texts.append(string(0) ?? "") }
      return texts
    }
  }
}
