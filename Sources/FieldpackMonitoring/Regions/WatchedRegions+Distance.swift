import FieldpackGeometry
import FieldpackProjection

/// A position from which ways are measured.
struct Viewpoint {
  let origin: GeodesicPosition
  /// Whether every way is the geodesic itself, and none a quick one.
  var isExact = false

  init(_ x: Double, _ y: Double) {
    origin = GeodesicPosition(longitude: x, latitude: y)
  }

  init(_ origin: GeodesicPosition) { self.origin = origin }

  var x: Double { origin.longitude }
  var y: Double { origin.latitude }

  func way(to other: GeodesicPosition) -> Double {
    isExact
      ? Geodesic.wgs84.distance(from: origin.position, to: other.position)
      : Geodesic.wgs84.quickDistance(from: origin, to: other)
  }
}

extension WatchedRegions {
  /// Where a distance is nearer than this to what decides, in metres, only the exact one tells.
  private static let doubt = 1e-3

  /// Metres from a position to the edge of a region, negative inside; `nil` where it has none.
  ///
  /// Exact to 0.1 mm by circles, and with the sign that the geodesic has; to a millimetre by areas.
  /// - Parameter isHeld: whether the region holds the position, where that is known.
  func distance(to region: Int, from view: Viewpoint, isHeld: Bool? = nil) -> Double? {
    let shapes = packed.regions[region]
    var least = Double.infinity
    for circle in shapes.circles { least = min(least, way(from: view, to: packed.circles[circle])) }
    if let border = distance(toBordersOf: shapes, view) {
      let known = shapes.circles.isEmpty ? isHeld : nil
      let isInside = known ?? shapes.areas.contains { holdsInAnyTurn($0, view.x, view.y) }
      least = min(least, isInside ? -border : border)
    }
    return least == .infinity ? nil : least
  }

  /// Whether a distance of a region is no more than a limit, both in metres, as the exact one tells.
  func isWithin(_ limit: Double, _ distance: Double, to region: Int, from view: Viewpoint) -> Bool {
    guard abs(distance - limit) <= Self.doubt else { return distance <= limit }
    var exact = view
    exact.isExact = true
    return self.distance(to: region, from: exact).map { $0 <= limit } ?? false
  }

  private func way(from view: Viewpoint, to circle: PackedRegions.Circle) -> Double {
    let way = view.way(to: circle.centre) - circle.radius
    guard !view.isExact, abs(way) <= Self.doubt else { return way }
    let (from, to) = (view.origin.position, circle.centre.position)
    return Geodesic.wgs84.distance(from: from, to: to) - circle.radius
  }

  /// Unsigned; `nil` where no area of the region has a border.
  private func distance(
    toBordersOf region: PackedRegions.Region, _ view: Viewpoint
  ) -> Double? {
    guard !region.borders.isEmpty else { return nil }
    let point = SIMD3<Float>(Geodesic.wgs84.spacePoint(view.origin))
    return farWay(view, point, to: region) ?? nearWay(view, point, to: region)
  }

  /// Measures the edge with the nearest chord, and others where they may be nearer.
  private func nearWay(
    _ view: Viewpoint, _ point: SIMD3<Float>, to region: PackedRegions.Region
  ) -> Double {
    let (scale, count) = (PlaneScale(at: view.y), region.borders.count)
    return withUnsafeTemporaryAllocation(of: Float.self, capacity: count) { squares in
      packed.borders.withUnsafeBufferPointer { all in
        let borders = all[region.borders]
        var nearest = 0
        for (number, edge) in borders.enumerated() {
          squares.initializeElement(at: number, to: chordSquare(point, Int(edge)))
          if squares[number] < squares[nearest] { nearest = number }
        }
        func edge(_ number: Int) -> Int { Int(borders[borders.startIndex + number]) }
        var best = way(from: view, toEdge: edge(nearest), scale, limit: .infinity)
        var limit = greatestSquare(best, region)
        for number in 0..<count where squares[number] <= limit && number != nearest {
          guard leastWay(point, edge(number)) < best else { continue }
          best = way(from: view, toEdge: edge(number), scale, limit: best)
          limit = greatestSquare(best, region)
        }
        return best
      }
    }
  }

  /// No edge whose chord is farther, by the square of that, is as near as `best`; see
  /// ``leastWay(_:_:)``.
  private func greatestSquare(_ best: Double, _ region: PackedRegions.Region) -> Float {
    let chord = (best + 3.1) / Geodesic.wgs84.radius + region.turn * region.turn / 7.9
    return Float(chord * chord * 1.000_001)
  }

  /// From a point in space to the chord of an edge, in equatorial radii as points are.
  @inline(__always)
  private func chordSquare(_ point: SIMD3<Float>, _ edge: Int) -> Float {
    let (start, end) = (packed.spacePoints[edge], packed.spacePoints[edge + 1])
    let (along, from) = (end - start, point - start)
    let square = (along * along).sum()
    let share = square > 0 ? max(0, min(1, (from * along).sum() / square)) : 0
    let apart = from - share * along
    return (apart * apart).sum()
  }

  /// No way from the point to the edge is shorter, in metres.
  func leastWay(_ point: SIMD3<Float>, _ edge: Int) -> Double {
    let turn = packed.turn(ofEdge: edge)
    // The edge may lie that far from its chord: its second derivative in space, over 8.
    let chord = Double(chordSquare(point, edge)).squareRoot() - turn * turn / 7.9
    // Points in single precision are exact to 0.7 m.
    return Geodesic.wgs84.leastWay(through: chord) - 3
  }

  /// The way to an edge where it is shorter than the limit.
  func way(
    from view: Viewpoint, toEdge edge: Int, _ scale: PlaneScale?, limit: Double
  ) -> Double {
    let (a, b) = (packed.vertices[edge], packed.vertices[edge + 1])
    if !view.isExact, let foot = scale?.foot(view.x, view.y, a, b) {
      return min(limit, view.way(to: GeodesicPosition(longitude: foot.x, latitude: foot.y)))
    }
    return Geodesic.wgs84.distance(
      from: view.origin.position, toEdgeFrom: Position(x: a.x, y: a.y),
      to: Position(x: b.x, y: b.y), limit: limit)
  }
}

/// The plane that touches the ellipsoid at a latitude.
struct PlaneScale {
  /// Metres for a degree of longitude and of latitude.
  private let scale: SIMD2<Double>
  /// The square of a bound of how wrong lengths are in the plane, as a share of themselves and in
  /// metres.
  private let error: Double

  /// `nil` near the poles.
  init?(at latitude: Double) {
    guard abs(latitude) < 80 else { return nil }
    let lengths = Geodesic.wgs84.degreeLengths(at: latitude)
    scale = [lengths.east, lengths.north]
    // 1 + tan|y| is below 1.5 / cos y.
    let slope = 1.5 * Geodesic.wgs84.radius * .pi / 180 / lengths.east
    error = slope * slope
  }

  /// The position of an edge that is nearest in the plane, the geodesic to which is the way to the
  /// edge; `nil` where the plane is not good for a tenth of a millimetre.
  ///
  /// Lengths in the plane are wrong by their share of the radius, times the tangent of the latitude,
  /// and so is the position of the foot; the way to it is longer than the shortest one by the square of
  /// that over twice its length.
  func foot(
    _ x: Double, _ y: Double, _ a: SIMD2<Double>, _ b: SIMD2<Double>
  ) -> SIMD2<Double>? {
    let turn = ((a.x + b.x - 2 * x) / 720).rounded() * 360
    let (from, along) = ((SIMD2(x + turn, y) - a) * scale, (b - a) * scale)
    let square = (along * along).sum()
    let share = square > 0 ? max(0, min(1, (from * along).sum() / square)) : 0
    let apart = from - share * along
    let length = (apart * apart).sum().squareRoot()
    guard length * length * length * error < 8e9 else { return nil }
    return a + share * (b - a)
  }
}
