import FieldpackGeometry
import FieldpackProjection

extension WatchedRegions {
  /// Metres from a position to the edge of a region, negative inside; `nil` where it has none.
  func distance(to region: Int, _ x: Double, _ y: Double) -> Double? {
    let shapes = packed.regions[region]
    var least = Double.infinity
    for circle in packed.circles[shapes.circles] {
      let centre = Position(x: circle.x, y: circle.y)
      let way = Geodesic.wgs84.distance(from: centre, to: Position(x: x, y: y))
      least = min(least, way - circle.radius)
    }
    if let border = distance(toBordersOf: shapes, x, y) {
      let isInside = shapes.areas.contains { holdsInAnyTurn($0, x, y) }
      least = min(least, isInside ? -border : border)
    }
    return least == .infinity ? nil : least
  }

  /// Unsigned; `nil` where no area of the region has a border.
  private func distance(
    toBordersOf region: PackedRegions.Region, _ x: Double, _ y: Double
  ) -> Double? {
    let borders = packed.borders[region.borders]
    guard !borders.isEmpty else { return nil }
    let place = SIMD3<Float>(Geodesic.wgs84.spacePlace(longitude: x, latitude: y))
    if let way = farWay(x, y, place, to: borders) { return way }
    var nearest = borders[borders.startIndex]
    var least = Float.infinity
    for edge in borders {
      let square = chordSquare(place, Int(edge))
      if square < least { (least, nearest) = (square, edge) }
    }
    var best = way(x, y, toEdge: Int(nearest), limit: .infinity)
    for edge in borders where edge != nearest {
      if leastWay(place, Int(edge)) < best { best = way(x, y, toEdge: Int(edge), limit: best) }
    }
    return best
  }

  /// From a place to the chord of an edge, in equatorial radii as places are.
  private func chordSquare(_ place: SIMD3<Float>, _ edge: Int) -> Float {
    let (start, end) = (packed.places[edge], packed.places[edge + 1])
    let (along, from) = (end - start, place - start)
    let square = (along * along).sum()
    let share = square > 0 ? max(0, min(1, (from * along).sum() / square)) : 0
    let apart = from - share * along
    return (apart * apart).sum()
  }

  /// No way from the place to the edge is shorter, in metres.
  func leastWay(_ place: SIMD3<Float>, _ edge: Int) -> Double {
    let turn = packed.turn(ofEdge: edge)
    // The edge may lie that far from its chord: its second derivative in space, over 8.
    let chord = Double(chordSquare(place, edge)).squareRoot() - turn * turn / 7.9
    // Places in single precision are exact to 0.7 m.
    return Geodesic.wgs84.leastWay(through: chord) - 3
  }

  /// The way to an edge where it is shorter than the limit.
  func way(_ x: Double, _ y: Double, toEdge edge: Int, limit: Double) -> Double {
    let (a, b) = (packed.vertices[edge], packed.vertices[edge + 1])
    if let near = nearWay(x, y, a, b) { return min(near, limit) }
    return Geodesic.wgs84.distance(
      from: Position(x: x, y: y), toEdgeFrom: Position(x: a.x, y: a.y),
      to: Position(x: b.x, y: b.y), limit: limit)
  }

  /// The geodesic to the position of the edge that is nearest in the plane that touches at the
  /// position; `nil` where that plane is not good for a tenth of a millimetre.
  ///
  /// Lengths in the plane are wrong by their share of the radius, times the tangent of the latitude,
  /// and so is the place of the foot; the way to it is longer than the shortest one by the square of
  /// that over twice its length.
  private func nearWay(
    _ x: Double, _ y: Double, _ a: SIMD2<Double>, _ b: SIMD2<Double>
  ) -> Double? {
    guard abs(y) < 80 else { return nil }
    let lengths = Geodesic.wgs84.degreeLengths(at: y)
    let scale = SIMD2(lengths.east, lengths.north)
    let turn = ((a.x + b.x - 2 * x) / 720).rounded() * 360
    let own = SIMD2(x + turn, y)
    let (from, along) = ((own - a) * scale, (b - a) * scale)
    let square = (along * along).sum()
    let share = square > 0 ? max(0, min(1, (from * along).sum() / square)) : 0
    let apart = from - share * along
    let length = (apart * apart).sum().squareRoot()
    // 1 + tan|y| is below 1.5 / cos y.
    let slope = 1.5 * Geodesic.wgs84.radius * .pi / 180 / lengths.east
    guard length * length * length * slope * slope < 8e9 else { return nil }
    let foot = a + share * (b - a)
    return Geodesic.wgs84.distance(
      from: Position(x: own.x, y: own.y), to: Position(x: foot.x, y: foot.y))
  }
}
