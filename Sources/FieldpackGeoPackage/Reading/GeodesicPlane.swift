import FieldpackGeometry
import FieldpackProjection

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A plane around a position: a point lies in its true direction and at its true geodesic distance.
///
/// Between positions that are `r` from the centre the plane is no more than `r²/6R²` too long:
/// 0.004 % at 100 km.
struct GeodesicPlane {
  let ellipsoid: Geodesic
  let centre: Position
  /// How far lines in the plane and in degrees may be apart, in metres.
  let tolerance: Double

  /// The way from the centre.
  func point(_ position: Position) -> Position {
    let path = ellipsoid.path(from: centre, to: position)
    let azimuth = path.azimuth * .pi / 180
    return Position(x: path.distance * sin(azimuth), y: path.distance * cos(azimuth))
  }

  /// The longitude is -180 to 180.
  func position(_ point: Position) -> Position {
    ellipsoid.position(
      from: centre, azimuth: atan2(point.x, point.y) * 180 / .pi,
      distance: (point.x * point.x + point.y * point.y).squareRoot())
  }

  /// The line of edges that are straight in degrees.
  func points(_ line: CoordinateSequence) -> CoordinateSequence {
    var points = CoordinateSequence(dimensions: .xy)
    var last: (position: Position, point: Position)?
    for position in line {
      let point = point(position)
      if let last {
        let pieces =
          last.position.x == position.x
          ? 1 : pieces(ofEdge: last.point, point, at: (last.position.y + position.y) / 2)
        for step in stride(from: 1, to: pieces, by: 1) {
          points.append(self.point(.between(last.position, position, step / pieces)))
        }
      }
      points.append(point)
      last = (position, point)
    }
    return points
  }

  /// The line in degrees of edges that are straight in the plane.
  func positions(_ line: CoordinateSequence) -> CoordinateSequence {
    var positions = CoordinateSequence(dimensions: .xy)
    var last: (position: Position, point: Position)?
    for point in line {
      let position = position(point)
      if let last {
        let pieces = pieces(ofEdge: last.point, point, at: (last.position.y + position.y) / 2)
        for step in stride(from: 1, to: pieces, by: 1) {
          positions.append(self.position(.between(last.point, point, step / pieces)))
        }
      }
      positions.append(position)
      last = (position, point)
    }
    return positions
  }

  private static let mostPieces = 1_000.0

  /// How many pieces of an edge are as straight in degrees as in the plane: between two lines of
  /// length `L` lie `L² tan φ / 8R`.
  private func pieces(
    ofEdge start: Position, _ end: Position, at latitude: Double
  ) -> Double {
    let (dx, dy) = (end.x - start.x, end.y - start.y)
    let slope = min(1_000, abs(tan(latitude * .pi / 180)))
    let gap = (dx * dx + dy * dy) * slope / (8 * ellipsoid.radius)
    return min(Self.mostPieces, max(1, (gap / tolerance).squareRoot().rounded(.up)))
  }
}

extension Position {
  /// The position between two, in x and y: 0 is the first, 1 the second.
  static func between(_ start: Position, _ end: Position, _ share: Double) -> Position {
    Position(
      x: start.x + (end.x - start.x) * share, y: start.y + (end.y - start.y) * share)
  }
}
