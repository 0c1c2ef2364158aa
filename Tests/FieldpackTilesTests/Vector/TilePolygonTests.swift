import FieldpackCore
import FieldpackGeometry
import FieldpackTestSupport
import FieldpackTopology
import Foundation
import Testing

@testable import FieldpackTiles

@Suite(.calculation) struct TilePolygonTests {
  typealias Random = FilterGenerator.SplitMix

  /// A star around a middle, whose corners are near and far from it by chance.
  static func star(
    _ middle: SIMD2<Double>, _ radius: Double, _ corners: Int, _ random: inout Random
  ) -> [SIMD2<Double>] {
    var ring = (0..<corners).map { corner in
      let angle =
        2 * .pi * (Double(corner) + .random(in: 0..<0.9, using: &random)) / Double(corners)
      let reach = radius * .random(in: 0.05...1, using: &random)
      return middle + SIMD2(cos(angle), sin(angle)) * reach
    }
    ring.append(ring[0])
    return ring
  }

  /// Corners anywhere, so that edges cross.
  static func tangle(
    _ middle: SIMD2<Double>, _ radius: Double, _ corners: Int, _ random: inout Random
  ) -> [SIMD2<Double>] {
    var ring = (0..<corners).map { _ in
      middle
        + SIMD2(
          .random(in: -radius...radius, using: &random),
          .random(in: -radius...radius, using: &random))
    }
    ring.append(ring[0])
    return ring
  }

  static func sequence(_ ring: [SIMD2<Double>]) -> CoordinateSequence {
    CoordinateSequence(dimensions: .xy, ordinates: ring.flatMap { [$0.x, $0.y] })
  }

  /// The polygons that a tile has of a geometry on its own grid.
  private static func shown(_ geometry: Geometry) -> Geometry? {
    // A tile whose steps are metres; its y grows downwards.
    let area = Envelope(minX: 0, minY: 0, maxX: 4_096, maxY: 4_096)
    var shape = TileShape(on: TilePlane(mercator: area, .init()))
    guard shape.take(wkb: WKB.bytes(of: flipped(geometry)).span.bytes) == .shown else { return nil }
    let writer = TileLayerWriter(name: "p", extent: 4_096)
    writer.begin(1)
    writer.write(shape)
    var bytes: [UInt8] = []
    writer.write(to: &bytes)
    return try? TileDocument(bytes).layers[0].features[0].polygons
  }

  private static func flipped(_ geometry: Geometry) -> Geometry {
    func flipped(_ ring: CoordinateSequence) -> CoordinateSequence {
      sequence(ring.map { SIMD2($0.x, 4_096 - $0.y) })
    }
    switch geometry {
    case .polygon(let rings, _): return .polygon(rings.map(flipped), .xy)
    case .multiPolygon(let polygons, _): return .multiPolygon(polygons.map { $0.map(flipped) }, .xy)
    default: return geometry
    }
  }

  /// The area of the box of a tile with its buffer.
  private static let box = Geometry(Envelope(minX: -64, minY: -64, maxX: 4_160, maxY: 4_160))

  @Test(arguments: [0.8, 4, 60, 900, 6_000] as [Double])
  func `random polygons are valid after rounding and keep their place`(radius: Double) throws {
    var random = Random(state: UInt64(radius * 10))
    for _ in 0..<700 {
      let corners = Int.random(in: 3...40, using: &random)
      let middle = SIMD2(
        Double.random(in: -200...4_296, using: &random),
        Double.random(in: -200...4_296, using: &random))
      var rings = [Self.star(middle, radius, corners, &random)]
      let whole = Geometry.polygon(rings.map(Self.sequence), .xy)
      rings.append(Self.star(middle, radius * 0.04, 5, &random))
      let holed = Geometry.polygon(rings.map(Self.sequence), .xy)
      let polygon = try corners % 3 == 0 && holed.validity() == .valid ? holed : whole
      let wanted = try polygon.madeValid().intersection(Self.box)
      let found = Self.shown(polygon)
      guard let found else {
        // Only what has no width on the grid vanishes.
        #expect(wanted.area() <= wanted.perimeter() + 1, "\(polygon)")
        continue
      }
      #expect(try found.validity() == .valid, "\(polygon)")
      // Each border moves by a step at most.
      let moved = try found.symmetricDifference(wanted).area()
      #expect(moved <= wanted.perimeter() * 1.0 + 4, "\(moved) \(polygon)")
    }
  }

  @Test func `polygons whose edges cross come out valid, too`() throws {
    var random = Random(state: 5)
    var shown = 0
    for _ in 0..<1_000 {
      let radius = Double.random(in: 1...3_000, using: &random)
      let corners = Int.random(in: 3...12, using: &random)
      let parts = (0..<Int.random(in: 1...3, using: &random)).map { _ in
        [Self.sequence(Self.tangle(SIMD2(2_000, 4_000), radius, corners, &random))]
      }
      guard let found = Self.shown(.multiPolygon(parts, .xy)) else { continue }
      shown += 1
      #expect(try found.validity() == .valid, "\(parts)")
    }
    #expect(shown > 900)
  }

  @Test func `combs that a tile cuts into teeth become several polygons`() throws {
    var ring: [SIMD2<Double>] = [SIMD2(100, 5_000)]
    for tooth in 0..<20 {
      let x = 100 + Double(tooth) * 100
      ring += [SIMD2(x, 3_000), SIMD2(x + 40, 3_000), SIMD2(x + 40, 4_900), SIMD2(x + 100, 4_900)]
    }
    ring += [SIMD2(2_100, 5_000), SIMD2(100, 5_000)]
    let found = try #require(Self.shown(.polygon([Self.sequence(ring)], .xy)))
    guard case .multiPolygon(let polygons, _) = found else { return }
    #expect(polygons.count == 20)
    #expect(found.area() == 20 * 40 * 1_160)
    #expect(try found.validity() == .valid)
  }

  @Test func `neighbours that rounding moves onto each other become one`() throws {
    func square(_ x: Double) -> [CoordinateSequence] {
      [
        Self.sequence([SIMD2(x, 0), SIMD2(x + 9.6, 0), SIMD2(x + 9.6, 9), SIMD2(x, 9), SIMD2(x, 0)])
      ]
    }
    let found = try #require(Self.shown(.multiPolygon([square(0), square(10.2)], .xy)))
    #expect(try found.validity() == .valid)
    #expect(found.area() == 20 * 9)
  }
}
