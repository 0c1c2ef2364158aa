import FieldpackGeometry
import FieldpackProjection

extension PackedRegions {
  /// The most radians an edge moves on the sphere: its square bounds the edge's second derivative in
  /// space, in equatorial radii.
  func turn(ofEdge edge: Int) -> Double {
    let step = vertices[edge + 1] - vertices[edge]
    return (abs(step.x) + 1.01 * abs(step.y)) * Double.pi / 180
  }
}

/// The way from a position to a vertex, and what it tells of the ways to other places nearby.
///
/// The distance from a position is a convex function along geodesics that stay within a quarter of the
/// Earth of it, where no two of them meet again. So the way to a place is no shorter than the way to
/// the vertex and the part of the geodesic between both that goes on in the arriving direction. That
/// part is the one of the straight line in space but for `s³ / 6R²`, as a geodesic of the length `s`
/// leaves its tangent towards a normal that turns by `s / R` at most.
private struct ArrivingWay {
  let vertex: SIMD2<Double>
  let length: Double
  private let place: SIMD3<Double>
  private let direction: SIMD3<Double>
  /// Of the direction, in metres for a degree of longitude and of latitude.
  private let slopes: SIMD2<Double>

  /// `nil` where the position is the vertex or nearly a quarter of the Earth from it.
  init?(_ x: Double, _ y: Double, to vertex: SIMD2<Double>, at place: SIMD3<Float>) {
    let geodesic = Geodesic.wgs84
    let way = geodesic.path(
      from: Position(x: x, y: y), to: Position(x: vertex.x, y: vertex.y))
    guard way.distance > 0, way.distance < 8.5e6 else { return nil }
    (self.vertex, length) = (vertex, way.distance)
    self.place = SIMD3<Double>(place)
    let arriving = geodesic.direction(
      way.finalAzimuth, atLongitude: vertex.x, latitude: vertex.y)
    let lengths = geodesic.degreeLengths(at: vertex.y)
    direction = arriving.space
    slopes = [lengths.east * arriving.east, lengths.north * arriving.north]
  }

  /// No way to the edge from `a` to `b` is shorter, in metres; `nil` where it is too long to tell.
  func leastWay(
    _ a: SIMD2<Double>, _ b: SIMD2<Double>, _ places: (SIMD3<Float>, SIMD3<Float>), turn: Double
  ) -> Double? {
    let radius = Geodesic.wgs84.radius
    guard turn < 0.15 else { return nil }
    if a == vertex || b == vertex {
      let step = a == vertex ? b - a : a - b
      let slope = (slopes * step).sum()
      return slope >= radius * turn * turn / 2 + Self.bend(1.01 * radius * turn) ? length : nil
    }
    let (from, to) = (SIMD3<Double>(places.0) - place, SIMD3<Double>(places.1) - place)
    let bulge = radius * turn * turn / 7.9
    let reach = radius * max((from * from).sum(), (to * to).sum()).squareRoot() + bulge + 1
    guard reach < 1e6 else { return nil }
    let along = radius * min((from * direction).sum(), (to * direction).sum())
    // Places in single precision are exact to 0.4 m each.
    return length + along - bulge - Self.bend(1.01 * reach) - 1
  }

  private static func bend(_ length: Double) -> Double {
    let radius = Geodesic.wgs84.leastRadius
    return length * length * length / (6 * radius * radius)
  }
}

extension WatchedRegions {
  /// Metres to the nearest of the edges, most of which the way to the nearest vertex rules out;
  /// `nil` where that is so near that the edges themselves tell more, or on the far side of the Earth.
  func farWay(
    _ x: Double, _ y: Double, _ place: SIMD3<Float>, to borders: ArraySlice<Int32>
  ) -> Double? {
    let near = nearestVertex(place, borders)
    guard near.square > 4e-8,
      let way = ArrivingWay(x, y, to: packed.vertices[near.vertex], at: packed.places[near.vertex])
    else { return nil }
    var best = way.length
    for edge in borders.lazy.map({ Int($0) }) {
      let (a, b) = (packed.vertices[edge], packed.vertices[edge + 1])
      let least = way.leastWay(
        a, b, (packed.places[edge], packed.places[edge + 1]), turn: packed.turn(ofEdge: edge))
      if let least, least >= best { continue }
      if leastWay(place, edge) < best { best = self.way(x, y, toEdge: edge, limit: best) }
    }
    return best
  }

  /// The vertex that is nearest in space, and the square of that distance.
  private func nearestVertex(
    _ place: SIMD3<Float>, _ borders: ArraySlice<Int32>
  ) -> (vertex: Int, square: Float) {
    var nearest = (vertex: 0, square: Float.infinity)
    var next = -1
    func take(_ vertex: Int) {
      let apart = packed.places[vertex] - place
      let square = (apart * apart).sum()
      if square < nearest.square { nearest = (vertex, square) }
    }
    for edge in borders.lazy.map({ Int($0) }) {
      // Most edges start where the one before ends.
      if edge != next { take(edge) }
      next = edge + 1
      take(next)
    }
    return nearest
  }
}
