import FieldpackCore
import FieldpackGeoPackage
import FieldpackGeometry
import FieldpackTestSupport
import Testing

@testable import FieldpackTiles

@Suite struct TileThinningTests {
  typealias Random = FilterGenerator.SplitMix

  private static func candidates(
    _ middles: [SIMD2<Double>], sizes: [Double] = []
  ) -> TileCandidates {
    var candidates = TileCandidates()
    for (index, middle) in middles.enumerated() {
      let half = (index < sizes.count ? sizes[index] : 0) / 2
      candidates.add(
        Int64(index),
        Envelope(
          minX: middle.x - half, minY: middle.y - half, maxX: middle.x + half,
          maxY: middle.y + half))
    }
    return candidates
  }

  private static func chosen(_ candidates: TileCandidates, _ budget: Int) -> [Int] {
    TileThinning.chosen(candidates, budget: budget, extent: 4_096)
  }

  @Test func `a budget is spent, and a larger one only adds`() {
    var random = Random(state: 1)
    let middles = (0..<3_000).map { index in
      // Half of them in a corner.
      let most = index % 2 == 0 ? 4_096.0 : 200
      return SIMD2(
        Double.random(in: 0..<most, using: &random), Double.random(in: 0..<most, using: &random))
    }
    let candidates = Self.candidates(middles)
    var before: Set<Int> = []
    for budget in [0, 1, 2, 3, 7, 64, 100, 1_000, 2_999, 3_000, 5_000] {
      let now = Self.chosen(candidates, budget)
      #expect(now.count == min(budget, 3_000))
      #expect(now == now.sorted() && Set(now).count == now.count)
      #expect(before.isSubset(of: now))
      before = Set(now)
    }
  }

  @Test func `what is left out is left out where features are dense`() {
    var random = Random(state: 2)
    var middles = (0..<5_000).map { _ in
      SIMD2(
        Double.random(in: 0..<1_024, using: &random), Double.random(in: 0..<1_024, using: &random))
    }
    let lonely = [SIMD2(3_000.0, 100), SIMD2(3_500, 3_500), SIMD2(100, 4_000), SIMD2(2_500, 2_500)]
    middles += lonely
    let chosen = Self.chosen(Self.candidates(middles), 260)
    #expect(chosen.count == 260)
    #expect(Set(chosen).isSuperset(of: 5_000..<5_004))
    // 256 are left for the dense quarter, whose 16 x 16 cells get one each, nearly.
    let cells = Set(chosen.filter { $0 < 5_000 }.map { SIMD2<Int>(middles[$0] / 64) })
    #expect(cells.count > 250)
  }

  @Test func `a zoom shows what the zoom before has shown`() {
    var random = Random(state: 3)
    let middles = (0..<4_000).map { _ in
      let place = Double.random(in: 0..<1, using: &random)
      return SIMD2(
        place * place * 4_095, Double.random(in: 0..<4_096, using: &random))
    }
    let above = Set(Self.chosen(Self.candidates(middles), 300))
    for (column, row) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
      let corner = SIMD2(Double(column), Double(row)) * 2_048
      let indices = middles.indices.filter {
        all(middles[$0] .>= corner) && all(middles[$0] .< corner + 2_048)
      }
      var quarter = TileCandidates()
      for index in indices {
        let middle = (middles[index] - corner) * 2
        quarter.add(
          Int64(index), Envelope(minX: middle.x, minY: middle.y, maxX: middle.x, maxY: middle.y))
      }
      let below = Set(Self.chosen(quarter, 300).map { indices[$0] })
      #expect(above.intersection(indices).isSubset(of: below))
    }
  }

  @Test func `the larger ones stay`() {
    var random = Random(state: 4)
    let middles = (0..<400).map { _ in
      SIMD2(
        Double.random(in: 1_000..<1_010, using: &random),
        Double.random(in: 1_000..<1_010, using: &random))
    }
    let sizes = (0..<400).map { $0 == 123 ? 900.0 : Double($0 % 7) + 1 }
    #expect(Self.chosen(Self.candidates(middles, sizes: sizes), 1) == [123])
    let ten = Self.chosen(Self.candidates(middles, sizes: sizes), 10)
    #expect(ten.contains(123))
  }

  // MARK: Tiles

  private static let points: [Geometry] = (0..<2_000).map { (index: Int) -> Geometry in
    // A third of them is near the west.
    let step = index % 3 == 0 ? 0.7 : 7.0
    return Geometry.point(x: Double(index % 50) * step - 170, y: Double(index / 50) * 4 - 80)
  }

  private static let world = TileAddress(zoom: 0, column: 0, row: 0)

  @Test(arguments: [nil, []] as [[String]?])
  func `a thinned tile says so`(properties: [String]?) async throws {
    let package = try await FeaturePackage("points", .point, Self.points)
    let options = VectorTileOptions(properties: properties, budget: 500)
    let tile = try await package.tile("points", Self.world, options)
    let document = try TileDocument(tile.bytes)
    #expect(document.layers.map(\.name) == ["points", "points:thinned"])
    #expect(document.layers[0].features.count == 500)
    #expect(tile.featureCount == 500)
    let total = try #require(tile.thinnedFrom)
    #expect(total > 1_900 && total <= 2_000)
    let note = TileDocument.Feature(
      kind: 1, properties: ["shown": 500, "of": .integer(Int64(total))],
      parts: [[SIMD2(2_048, 2_048)]])
    #expect(document.layers[1].features == [note])
    // A budget that is large enough changes nothing.
    let all = try await package.tile("points", Self.world)
    let enough = try await package.tile("points", Self.world, VectorTileOptions(budget: 2_000))
    #expect(all == enough)
    #expect(!all.isThinned)
  }

  @Test func `zooms of a layer agree`() async throws {
    let package = try await FeaturePackage("points", .point, Self.points)
    let options = VectorTileOptions(buffer: 0, properties: [], budget: 100)
    func ids(_ zoom: Int, _ column: Int, _ row: Int) async throws -> Set<UInt64> {
      let address = TileAddress(zoom: zoom, column: column, row: row)
      let tile = try await package.tile("points", address, options)
      return Set(try TileDocument(tile.bytes)["points"]?.features.compactMap(\.id) ?? [])
    }
    let world = try await ids(0, 0, 0)
    var below: Set<UInt64> = []
    for column in 0..<2 { for row in 0..<2 { below.formUnion(try await ids(1, column, row)) } }
    #expect(world.count == 100 && world.isSubset(of: below))
  }
}
