import CPROJ
package import FieldpackGeometry

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

extension GeodesicShape {
  /// The shortest distance in metres; 0 where the shapes share a point, `nil` where one of them is
  /// empty.
  public func distance(to other: GeodesicShape) -> Double? {
    if isEmpty || other.isEmpty { return nil }
    var search = GeodesicSearch(ellipsoid, limit: .infinity)
    search.run(self, other)
    return search.best
  }

  /// Whether the shapes are no more than `metres` apart; `nil` where one of them is empty.
  ///
  /// It is faster than ``distance(to:)`` for shapes that are far apart.
  public func isWithin(_ metres: Double, of other: GeodesicShape) -> Bool? {
    if isEmpty || other.isEmpty { return nil }
    guard metres >= 0 else { return false }
    var search = GeodesicSearch(ellipsoid, limit: metres.nextUp)
    search.run(self, other)
    return search.best <= metres
  }

  /// Whether a polygon of the shape contains the position; on a border the answer may be either.
  fileprivate func covers(_ vertex: GeodesicVertex) -> Bool {
    guard !polygons.isEmpty, vertex.y >= envelope.minY, vertex.y <= envelope.maxY else {
      return false
    }
    let first = ((envelope.minX - vertex.x) / 360).rounded(.up)
    for turn in stride(from: first, through: (envelope.maxX - vertex.x) / 360, by: 1) {
      let x = vertex.x + 360 * turn
      if polygons.contains(where: { isInside($0, x, vertex.y) }) { return true }
    }
    return false
  }

  /// Whether a position is inside the rings of one polygon, by the even-odd rule.
  private func isInside(_ rings: Range<Int>, _ x: Double, _ y: Double) -> Bool {
    var isInside = false
    for ring in paths[rings] where ring.count > 2 {
      var before = vertices[ring.upperBound - 1]
      for vertex in vertices[ring] {
        if (vertex.y > y) != (before.y > y) {
          let crossing = vertex.x + (y - vertex.y) / (before.y - vertex.y) * (before.x - vertex.x)
          if x < crossing { isInside.toggle() }
        }
        before = vertex
      }
    }
    return isInside
  }
}

/// A part of an edge; a single position where both ends are the same.
private struct Piece {
  let start: GeodesicVertex
  let end: GeodesicVertex
  let middle: SIMD3<Double>
  /// How far the edge may be from the chord between its ends.
  let bulge: Double
  /// The radius of a ball around `middle` that contains the edge.
  let radius: Double
  /// The larger of the extents in longitude and latitude, in degrees.
  let extent: Double

  init(_ start: GeodesicVertex, _ end: GeodesicVertex) {
    self.start = start
    self.end = end
    let (dx, dy) = (abs(end.x - start.x), abs(end.y - start.y))
    extent = max(dx, dy)
    // A curve is nowhere farther from its chord than an eighth of its second derivative; this
    // bounds that of the edge on the sphere.
    let turn = (dx + 1.01 * dy) * Double.pi / 180
    bulge = turn * turn / 7.9
    middle = (start.spherePoint + end.spherePoint) / 2
    radius = (end.spherePoint - start.spherePoint).length / 2 + bulge
  }

  var isPoint: Bool { extent == 0 }
  var isShort: Bool { extent <= 0.1 }

  func halves(on ellipsoid: Geodesic) -> (Piece, Piece) {
    let centre = GeodesicVertex(
      (start.x + end.x) / 2, (start.y + end.y) / 2, on: ellipsoid)
    return (Piece(start, centre), Piece(centre, end))
  }

  /// Whether two edges cross in longitude and latitude, strictly between their ends.
  func meets(_ other: Piece) -> Bool {
    let turn = (((other.start.x + other.end.x) - (start.x + end.x)) / 720).rounded() * 360
    func side(_ a: (Double, Double), _ b: (Double, Double), _ c: (Double, Double)) -> Double {
      (b.0 - a.0) * (c.1 - a.1) - (b.1 - a.1) * (c.0 - a.0)
    }
    let (a, b) = ((start.x + turn, start.y), (end.x + turn, end.y))
    let (c, d) = ((other.start.x, other.start.y), (other.end.x, other.end.y))
    // Edges that only touch at an end need no test here: the distance from that end to the edge is
    // 0.
    return side(a, b, c) * side(a, b, d) < 0 && side(c, d, a) * side(c, d, b) < 0
  }
}

extension Geodesic {
  /// The shortest distance in metres from a position to an edge that is straight in longitude and
  /// latitude; `limit` where the distance is not shorter. See ``GeodesicShape`` for its error.
  package func distance(
    from position: Position, toEdgeFrom start: Position, to end: Position,
    limit: Double = .infinity
  ) -> Double {
    var search = GeodesicSearch(self, limit: limit)
    let edge = Piece(
      GeodesicVertex(start.x, start.y, on: self), GeodesicVertex(end.x, end.y, on: self))
    search.approach(GeodesicVertex(position.x, position.y, on: self), edge)
    return search.best
  }
}

/// Searches the shortest distance between two shapes.
private struct GeodesicSearch {
  let ellipsoid: Geodesic
  /// The shortest distance found so far, or the limit beyond which no distance is of interest.
  var best: Double

  init(_ ellipsoid: Geodesic, limit: Double) {
    self.ellipsoid = ellipsoid
    best = limit
  }

  mutating func run(_ a: GeodesicShape, _ b: GeodesicShape) {
    let isHeld =
      a.paths.contains { b.covers(a.vertices[$0.lowerBound]) }
      || b.paths.contains { a.covers(b.vertices[$0.lowerBound]) }
    if isHeld {
      best = 0
      return
    }
    // A short distance found early makes most other comparisons unnecessary.
    let near = nearest(in: b, to: a.vertices[0])
    take(nearest(in: a, to: near), near)
    let others = b.paths.flatMap { Self.pieces(b.vertices[$0]) }
    for path in a.paths {
      for piece in Self.pieces(a.vertices[path]) {
        for other in others { approach(piece, other) }
        if best == 0 { return }
      }
    }
  }

  private static func pieces(_ path: ArraySlice<GeodesicVertex>) -> [Piece] {
    if path.count == 1, let only = path.first { return [Piece(only, only)] }
    return zip(path, path.dropFirst()).map { Piece($0, $1) }
  }

  private func nearest(in shape: GeodesicShape, to vertex: GeodesicVertex) -> GeodesicVertex {
    var found = shape.vertices[0]
    var least = Double.infinity
    for other in shape.vertices {
      let apart = other.spherePoint - vertex.spherePoint
      let square = (apart * apart).sum()
      if square < least { (least, found) = (square, other) }
    }
    return found
  }

  private mutating func take(_ a: GeodesicVertex, _ b: GeodesicVertex) {
    best = min(
      best,
      ellipsoid.distance(from: Position(x: a.x, y: a.y), to: Position(x: b.x, y: b.y)))
  }

  private mutating func approach(_ a: Piece, _ b: Piece) {
    let apart = (a.middle - b.middle).length - a.radius - b.radius
    guard ellipsoid.leastLength(chord: apart) < best else { return }
    if a.isPoint { return approach(a.start, b) }
    if b.isPoint { return approach(b.start, a) }
    if a.isShort, b.isShort {
      if a.meets(b) {
        best = 0
        return
      }
      for end in [a.start, a.end] { approach(end, b) }
      for end in [b.start, b.end] { approach(end, a) }
    } else if a.extent > b.extent {
      let (first, second) = a.halves(on: ellipsoid)
      approach(first, b)
      approach(second, b)
    } else {
      let (first, second) = b.halves(on: ellipsoid)
      approach(a, first)
      approach(a, second)
    }
  }

  mutating func approach(_ vertex: GeodesicVertex, _ piece: Piece) {
    if piece.isPoint {
      let chord = (vertex.spherePoint - piece.start.spherePoint).length
      if ellipsoid.leastLength(chord: chord) < best { take(vertex, piece.start) }
      return
    }
    let apart = distance(vertex.spherePoint, piece) - piece.bulge
    guard ellipsoid.leastLength(chord: apart) < best else { return }
    if piece.isShort {
      best = min(best, ellipsoid.distance(from: vertex, toShort: piece))
    } else {
      let (first, second) = piece.halves(on: ellipsoid)
      approach(vertex, first)
      approach(vertex, second)
    }
  }

  private func distance(_ point: SIMD3<Double>, _ piece: Piece) -> Double {
    let along = piece.end.spherePoint - piece.start.spherePoint
    let from = point - piece.start.spherePoint
    let square = (along * along).sum()
    let share = square > 0 ? max(0, min(1, (from * along).sum() / square)) : 0
    return (from - share * along).length
  }
}

extension Geodesic {
  /// The shortest distance to an edge along which the distance has at most one minimum.
  fileprivate func distance(from vertex: GeodesicVertex, toShort piece: Piece) -> Double {
    var low = (t: 0.0, value: reach(vertex, piece, 0))
    var high = (t: 1.0, value: reach(vertex, piece, 1))
    var best = min(low.value.distance, high.value.distance)
    guard low.value.slope < 0, high.value.slope > 0 else { return best }
    // The Illinois rule: the secant method, in which the value at an end that stays twice is
    // halved.
    var (left, right) = (low.value.slope, high.value.slope)
    var side = 0
    for _ in 0..<60 {
      let t = (low.t * right - high.t * left) / (right - left)
      let step = min(t - low.t, high.t - t)
      let value = reach(vertex, piece, t)
      best = min(best, value.distance)
      if value.distance == 0 || step < 1e-13 { break }
      if abs(value.slope) * min(1, high.t - low.t) < 1e-9 { break }
      if value.slope < 0 {
        low = (t, value)
        left = value.slope
        if side < 0 { right /= 2 }
        side = -1
      } else {
        high = (t, value)
        right = value.slope
        if side > 0 { left /= 2 }
        side = 1
      }
    }
    return best
  }

  /// The distance to a position on the edge, and its derivative along the edge from 0 to 1.
  private func reach(
    _ vertex: GeodesicVertex, _ piece: Piece, _ t: Double
  ) -> (distance: Double, slope: Double) {
    let x = piece.start.x + t * (piece.end.x - piece.start.x)
    let y = piece.start.y + t * (piece.end.y - piece.start.y)
    let way = path(from: Position(x: vertex.x, y: vertex.y), to: Position(x: x, y: y))
    let speed = speed(
      at: y, dx: piece.end.x - piece.start.x, dy: piece.end.y - piece.start.y)
    let azimuth = way.finalAzimuth * .pi / 180
    return (way.distance, speed.east * sin(azimuth) + speed.north * cos(azimuth))
  }
}
