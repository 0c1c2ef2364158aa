import FieldpackCore
import FieldpackGeoPackage
import FieldpackGeometry
import FieldpackTestSupport
import FieldpackTopology
import Testing

@testable import FieldpackTiles

@Suite struct VectorTileTests {
  private static let world = TileAddress(zoom: 0, column: 0, row: 0)

  private func line(_ ordinates: [Double]) -> CoordinateSequence {
    CoordinateSequence(dimensions: .xy, ordinates: ordinates)
  }

  @Test func `a tile is these bytes`() async throws {
    let schema = Schema(
      layer: "wells", geometry: GeometryColumn(type: .point),
      columns: [ColumnDefinition("name", .text())])
    let package = try await FeaturePackage([
      (schema, [Feature(id: 7, geometry: .point(x: 0, y: 0), attributes: ["name": "a"])])
    ])
    let tile = try await package.tile("WELLS", Self.world)
    let feature: [UInt8] = [
      0x12, 15, 0x08, 7, 0x12, 2, 0, 0, 0x18, 1, 0x22, 5, 9, 0x80, 0x20, 0x80, 0x20,
    ]
    let head: [UInt8] = [0x1A, 40, 0x78, 2, 0x0A, 5] + Array("wells".utf8)
    let tail: [UInt8] =
      [0x1A, 4] + Array("name".utf8) + [0x22, 3, 0x0A, 1, 0x61, 0x28, 0x80, 0x20]
    #expect(tile.bytes == head + feature + tail)
    #expect((tile.featureCount, tile.thinnedFrom, tile.skippedCount) == (1, nil, 0))
    let nothing = try await package.tile("wells", .init(zoom: 3, column: 0, row: 0))
    #expect((nothing.bytes, nothing.featureCount) == ([], 0))
  }

  @Test func `properties keep their types, each value once`() async throws {
    let schema = Schema(
      layer: "all", geometry: GeometryColumn(type: .point),
      columns: [
        .init("text", .text()), .init("whole", .integer), .init("real", .double),
        .init("flag", .boolean), .init("day", .date), .init("moment", .dateTime),
        .init("bytes", .blob()), .init("none", .text()),
      ])
    let attributes: Attributes = [
      "text": "Fluß", "whole": -3, "real": 1.5, "flag": true, "bytes": .blob([1]),
      "day": .date(try #require(CalendarDate("2024-05-01"))),
      "moment": .dateTime(try #require(Instant("2024-05-01T10:00:00Z"))),
    ]
    let package = try await FeaturePackage([
      (
        schema,
        [
          Feature(id: 1, geometry: .point(x: 0, y: 0), attributes: attributes),
          Feature(id: -2, geometry: .point(x: 9, y: 9), attributes: attributes),
          Feature(id: 3, attributes: attributes),
        ]
      )
    ])
    let expected: [String: Value] = [
      "text": "Fluß", "whole": -3, "real": 1.5, "flag": true, "day": "2024-05-01",
      "moment": "2024-05-01T10:00:00.000Z",
    ]
    let layer = try TileDocument(try await package.tile("all", Self.world).bytes).layers[0]
    #expect(layer.features.map(\.id) == [nil, 1])
    #expect(layer.features.map(\.properties) == [expected, expected])
    let some = try await package.tile("all", Self.world, .init(properties: ["FLAG", "whole"]))
    let chosen = try TileDocument(some.bytes).layers[0].features[0].properties
    #expect(chosen == ["flag": true, "whole": -3])
    await #expect(throws: FieldpackError.self) {
      try await package.tile("all", Self.world, .init(properties: ["nothing"]))
    }
  }

  @Test func `each kind of geometry becomes a feature of its own`() async throws {
    let ring = line([0, 0, 40, 0, 40, 40, 0, 40, 0, 0])
    let geometries: [Geometry] = [
      .geometryCollection(
        [
          .point(x: 10, y: 0), .lineString(line([0, 0, 10, 0])), .polygon([ring], .xy),
          .multiPoint([Position(x: 20, y: 0)], .xy),
        ], .xy),
      .circularString(line([0, 0, 10, 10, 20, 0])),
      .lineString(CoordinateSequence(dimensions: .xyzm, ordinates: [0, 0, 7, 8, 90, 0, 7, 8])),
    ]
    let column = GeometryColumn(z: .optional, m: .optional)
    let package = try await FeaturePackage([
      (Schema(layer: "mixed", geometry: column), geometries.map { Feature(geometry: $0) })
    ])
    let features = try TileDocument(try await package.tile("mixed", Self.world).bytes).layers[0]
      .features
    #expect(features.map(\.id) == [1, 1, 1, 2, 3])
    #expect(features.map(\.kind) == [1, 2, 3, 2, 2])
    #expect(features[0].parts == [[SIMD2(2162, 2048), SIMD2(2276, 2048)]])
    #expect(features[1].parts == [[SIMD2(2048, 2048), SIMD2(2162, 2048)]])
    #expect(features[3].parts[0].count > 8)
    #expect(features[4].parts == [[SIMD2(2048, 2048), SIMD2(3072, 2048)]])
  }

  @Test func `lines are cut at the buffer and polygons at its sides`() async throws {
    let geometries: [Geometry] = [
      .lineString(line([-170, 0, 170, 0])),
      .lineString(line([-170, 10, -100, 10, -100, 20, -170, 20])),
      .polygon([line([-170, -60, 170, -60, 170, 60, -170, 60, -170, -60])], .xy),
      .polygon(
        [
          line([-170, -80, 170, -80, 170, 80, -170, 80, -170, -80]),
          line([-160, -75, -160, 75, 160, 75, 160, -75, -160, -75]),
        ], .xy),
    ]
    let package = try await FeaturePackage("shapes", .geometry, geometries)
    // East of 0°, north of the equator, with 64 steps of buffer.
    let tile = try await package.tile("shapes", .init(zoom: 1, column: 1, row: 0))
    let features = try TileDocument(tile.bytes).layers[0].features
    #expect(features.map(\.id) == [1, 3, 4])
    #expect(features[0].parts == [[SIMD2(-64, 4096), SIMD2(3868, 4096)]])
    let south = 4096 + 64
    #expect(
      features[1].parts == [
        [
          SIMD2(3868, south), SIMD2(-64, south), SIMD2(-64, 2379), SIMD2(3868, 2379),
          SIMD2(3868, south),
        ]
      ])
    // The hole reaches beyond the tile, so the rest is a band of one ring.
    #expect(features[2].parts.count == 1)
    #expect(try features[2].polygons.validity() == .valid)
  }

  @Test func `what has no place in a tile is counted`() async throws {
    let geometries: [Geometry] = [
      .point(x: 500_000, y: 5_400_000), .lineString(line([500_000, 5_400_000, 1e30, 5_400_000])),
    ]
    let package = try await FeaturePackage("far", .geometry, geometries, srs: SRS("EPSG", 25832))
    let tile = try await package.tile("far", Self.world)
    #expect((tile.featureCount, tile.skippedCount) == (1, 1))
    let ends = [-1.7e308, 0, 1.7e308, 0]
    let wide: [Geometry] = [
      .lineString(line(ends)), .polygon([line(ends + [0, 1.7e308, -1.7e308, 0])], .xy),
      .point(x: 1.7e308, y: 0), .lineString(line([-1e9, 0, 1e9, 0])),
    ]
    let metres = try await FeaturePackage("wide", .geometry, wide, srs: SRS("EPSG", 3857))
    let other = try await metres.tile("wide", Self.world)
    #expect((other.featureCount, other.skippedCount) == (1, 2))
    let parts = try TileDocument(other.bytes).layers[0].features[0].parts
    #expect(parts == [[SIMD2(-64, 2_048), SIMD2(4_160, 2_048)]])
  }

  @Test func `what no tile can be made of is told`() async throws {
    let package = try await FeaturePackage([
      (Schema(layer: "plain"), []),
      (Schema(layer: "local", geometry: GeometryColumn(srs: .undefinedCartesian)), []),
    ])
    func code(_ layer: LayerID, _ address: TileAddress) async -> FieldpackError.Code? {
      do {
        _ = try await package.tile(layer, address)
        return nil
      } catch { return (error as? FieldpackError)?.code }
    }
    #expect(await code("plain", Self.world) == .invalidArgument)
    #expect(await code("local", Self.world) == .unsupported)
    #expect(await code("gone", Self.world) == .notFound)
    #expect(await code("local", .init(zoom: 1, column: 2, row: 0)) == .invalidArgument)
  }
}
