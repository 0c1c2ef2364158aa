import FieldpackGeometry
import FieldpackProjection
import FieldpackTestSupport
import Foundation
import Testing

/// Quick ways against Karney's algorithms in PROJ.
@Suite struct GeodesicPositionTests {
  private static let starts: [(x: ClosedRange<Double>, y: ClosedRange<Double>)] = [
    (-180...180, -90...90), (-180...180, -1e-6...1e-6), (0...0, 0...0), (179.999...180, -80...80),
    (-180...180, 89.99...90), (-180...180, -90...(-89.9999)), (10...10, 90...90),
    (-540...540, -90...90), (-180...180, 45...46),
  ]

  private func geodesic(_ position: Position) -> GeodesicPosition {
    GeodesicPosition(longitude: position.x, latitude: position.y)
  }

  /// Lengths from a millimetre to 16,000 km, in all directions.
  @Test(arguments: starts.indices)
  func `a quick way is as long as the geodesic, and arrives in its direction`(start: Int) {
    var random = FilterGenerator.SplitMix(state: UInt64(start) + 1)
    var (worst, worstShort, worstTurn) = (0.0, 0.0, 0.0)
    for number in 0..<20_000 {
      let from = Position(
        x: .random(in: Self.starts[start].x, using: &random),
        y: .random(in: Self.starts[start].y, using: &random))
      let length = pow(10, Double.random(in: -3...7.2, using: &random))
      let azimuth =
        number % 5 == 0
        ? Double(Int.random(in: -4...4, using: &random)) * 45
        : Double.random(in: -180...180, using: &random)
      let to = Geodesic.wgs84.position(from: from, azimuth: azimuth, distance: length)
      let path = Geodesic.wgs84.path(from: from, to: to)
      let ways = [(from, to), (to, from)].map { ends in
        Geodesic.wgs84.quickPath(from: geodesic(ends.0), to: geodesic(ends.1))
      }
      for way in ways {
        let error = abs((way?.distance ?? .nan) - path.distance)
        worst = max(worst, error.isNaN ? .infinity : error)
        if length < 1e6 { worstShort = max(worstShort, error.isNaN ? .infinity : error) }
      }
      // The direction has no meaning at a pole, and little over a way as short as it is exact.
      guard abs(to.y) < 89.999, length > 1, let way = ways[0] else { continue }
      let course = path.finalAzimuth * .pi / 180
      worstTurn = max(worstTurn, abs(way.east - sin(course)), abs(way.north - cos(course)))
    }
    #expect(worst < Geodesic.quickError / 2)
    #expect(worstShort < 2e-6)
    #expect(worstTurn < 1e-6)
  }

  @Test func `ways between positions nearly opposite one another are Karney's`() {
    for (a, b) in [
      (Position(x: 0, y: 0), Position(x: 179.5, y: 0.5)),
      (Position(x: 0, y: 90), Position(x: 0, y: -90)),
      (Position(x: -90, y: 10), Position(x: 90, y: -10)),
    ] {
      #expect(Geodesic.wgs84.quickPath(from: geodesic(a), to: geodesic(b)) == nil)
      let way = Geodesic.wgs84.quickDistance(from: geodesic(a), to: geodesic(b))
      #expect(way == Geodesic.wgs84.distance(from: a, to: b))
    }
  }

  @Test func `ways on a flat ellipsoid are Karney's`() {
    let flat = Geodesic(semiMajorAxis: 1000, flattening: 0.1)
    let (a, b) = (Position(x: 0, y: 10), Position(x: 20, y: 30))
    let positions = [a, b].map { GeodesicPosition(longitude: $0.x, latitude: $0.y, on: flat) }
    #expect(
      flat.quickDistance(from: positions[0], to: positions[1]) == flat.distance(from: a, to: b))
  }

  @Test func `a position is at no distance from itself, in whatever turn`() {
    for y in [-90.0, -30, 0, 52.5, 90] {
      let here = geodesic(Position(x: 13, y: y))
      #expect(Geodesic.wgs84.quickDistance(from: here, to: here) == 0)
      let turned = geodesic(Position(x: 373, y: y))
      #expect(Geodesic.wgs84.quickDistance(from: here, to: turned) < 1e-7)
    }
    let poles = [13.0, -170].map { geodesic(Position(x: $0, y: 90)) }
    #expect(Geodesic.wgs84.quickDistance(from: poles[0], to: poles[1]) < 1e-7)
  }

  @Test func `NaN gives NaN`() {
    let nowhere = geodesic(Position(x: .nan, y: 0))
    #expect(Geodesic.wgs84.quickDistance(from: nowhere, to: geodesic(Position(x: 0, y: 0))).isNaN)
  }
}
