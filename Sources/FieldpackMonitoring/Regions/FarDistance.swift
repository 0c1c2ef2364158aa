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

/// The way from a position to a vertex, and what it tells of the ways to other positions nearby.
///
/// The distance from a position is a convex function along geodesics that stay within a quarter of the
/// Earth of it, where no two of them meet again. So the way to a position is no shorter than the way to
/// the vertex and the part of the geodesic between both that goes on in the arriving direction. That
/// part is the one of the straight line in space but for `s³ / 6R²`, as a geodesic of the length `s`
/// leaves its tangent towards a normal that turns by `s / R` at most.
private struct ArrivingWay {
  let vertex: SIMD2<Double>
  let length: Double
  private let point: SIMD3<Double>
  private let direction: SIMD3<Double>
  /// Of the direction, in metres for a degree of longitude and of latitude.
  private let slopes: SIMD2<Double>

  /// `nil` where the position is the vertex or nearly a quarter of the Earth from it.
  init?(_ view: Viewpoint, to vertex: SIMD2<Double>, at point: SIMD3<Float>) {
    let geodesic = Geodesic.wgs84
    let end = GeodesicPosition(longitude: vertex.x, latitude: vertex.y)
    let way = geodesic.path(from: view.origin, to: end, isExact: view.isExact)
    guard way.distance > 0, way.distance < 8.5e6 else { return nil }
    (self.vertex, length) = (vertex, way.distance)
    self.point = SIMD3<Double>(point)
    let lengths = geodesic.degreeLengths(at: vertex.y)
    direction = geodesic.direction(of: way, at: end)
    slopes = [lengths.east * way.east, lengths.north * way.north]
  }

  /// The position as it is for bounds that tell of most edges at once: an edge both of whose ends lie
  /// so far on, in equatorial radii along the first of both, has no shorter way to it.
  func bound(_ region: PackedRegions.Region) -> (direction: SIMD3<Float>, least: Float) {
    let radius = Geodesic.wgs84.radius
    let bulge = radius * region.turn * region.turn / 7.9
    let reach = radius * region.extent + bulge + 1
    guard region.turn < 0.15, reach < 1e6 else { return (SIMD3<Float>(direction), .infinity) }
    // Beside what single precision leaves out of the points, it does of the product.
    let room = bulge + Self.bend(1.01 * reach) + 1.1 + 1e-6 * reach
    return (SIMD3<Float>(direction), Float(room / radius * 1.000_001))
  }

  /// No way to the edge from `a` to `b` is shorter, in metres; `nil` where it is too long to tell.
  func leastWay(
    _ a: SIMD2<Double>, _ b: SIMD2<Double>, _ points: (SIMD3<Float>, SIMD3<Float>), turn: Double
  ) -> Double? {
    let radius = Geodesic.wgs84.radius
    guard turn < 0.15 else { return nil }
    if a == vertex || b == vertex {
      let step = a == vertex ? b - a : a - b
      let slope = (slopes * step).sum()
      // The azimuth is exact to a millionth.
      let room = Self.bend(1.01 * radius * turn) + 2e-6 * radius * turn
      return slope >= radius * turn * turn / 2 + room ? length : nil
    }
    let (from, to) = (SIMD3<Double>(points.0) - point, SIMD3<Double>(points.1) - point)
    let bulge = radius * turn * turn / 7.9
    let reach = radius * max((from * from).sum(), (to * to).sum()).squareRoot() + bulge + 1
    guard reach < 1e6 else { return nil }
    let along = radius * min((from * direction).sum(), (to * direction).sum())
    // Points in single precision are exact to 0.4 m each, the direction to a millionth.
    return length + along - bulge - Self.bend(1.01 * reach) - 1 - 1e-6 * reach
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
    _ view: Viewpoint, _ point: SIMD3<Float>, to region: PackedRegions.Region
  ) -> Double? {
    packed.borders.withUnsafeBufferPointer { all in
      packed.spacePoints.withUnsafeBufferPointer { points in
        let borders = all[region.borders]
        let near = Self.nearestVertex(point, borders, points)
        guard near.square > 4e-8,
          let way = ArrivingWay(view, to: packed.vertices[near.vertex], at: points[near.vertex])
        else { return nil }
        let bound = way.bound(region)
        func along(_ vertex: Int) -> Float {
          ((points[vertex] - points[near.vertex]) * bound.direction).sum()
        }
        var best = way.length
        var (next, start) = (-1, Float())
        for edge in borders.lazy.map({ Int($0) }) {
          if edge != next { start = along(edge) }
          let end = along(edge + 1)
          if min(start, end) < bound.least { look(at: edge, view, point, way, &best) }
          (next, start) = (edge + 1, end)
        }
        return best
      }
    }
  }

  /// Measures an edge to which there may be a way shorter than `best`.
  private func look(
    at edge: Int, _ view: Viewpoint, _ point: SIMD3<Float>, _ way: ArrivingWay, _ best: inout Double
  ) {
    let (a, b) = (packed.vertices[edge], packed.vertices[edge + 1])
    let least = way.leastWay(
      a, b, (packed.spacePoints[edge], packed.spacePoints[edge + 1]),
      turn: packed.turn(ofEdge: edge))
    if let least, least >= best { return }
    if leastWay(point, edge) < best { best = self.way(from: view, toEdge: edge, nil, limit: best) }
  }

  /// The vertex that is nearest in space, and the square of that distance.
  private static func nearestVertex(
    _ point: SIMD3<Float>, _ borders: Slice<UnsafeBufferPointer<Int32>>,
    _ points: UnsafeBufferPointer<SIMD3<Float>>
  ) -> (vertex: Int, square: Float) {
    var nearest = (vertex: 0, square: Float.infinity)
    var next = -1
    func take(_ vertex: Int) {
      let apart = points[vertex] - point
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
