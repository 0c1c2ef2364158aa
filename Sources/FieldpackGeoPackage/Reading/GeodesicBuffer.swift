package import FieldpackGeometry
package import FieldpackProjection
package import FieldpackTopology

/// Everything within so many metres of geometries in longitude and latitude.
///
/// What is no wider than 200 km is buffered in a plane around its middle (``GeodesicPlane``); of
/// what is wider, lines and rings are taken in pieces, each in a plane of its own, and their buffers
/// melted. Edges are straight in longitude and latitude, as in `GeodesicShape`. The result lies
/// in -180 to 180°: it is cut at the antimeridian, and reaches to a pole that it contains.
package struct GeodesicBuffer {
  let metres: Double
  let style: BufferStyle
  let ellipsoid: Geodesic
  let context: TopologyContext

  /// The greatest distance; farther away a plane is none.
  static let farthest = 1_000_000.0
  private static let widest = 100_000.0

  package init(
    metres: Double, style: BufferStyle = BufferStyle(), on ellipsoid: Geodesic,
    in context: TopologyContext
  ) {
    (self.metres, self.style) = (metres, style)
    (self.ellipsoid, self.context) = (ellipsoid, context)
  }

  package func buffer(of geometry: Geometry) throws(TopologyError) -> Geometry {
    guard abs(metres) <= Self.farthest else {
      throw TopologyError(
        .invalidArgument, "\(metres) m are too far for a buffer (no more than 1,000 km)")
    }
    let flat = geometry.linearized().converted(to: .xy)
    guard let box = flat.envelope else { return .multiPolygon([], .xy) }
    guard abs(box.minX) <= 540, abs(box.maxX) <= 540, box.minY >= -90, box.maxY <= 90 else {
      throw TopologyError(
        .invalidArgument,
        "its positions are no longitudes and latitudes in degrees (\(box.minX) \(box.minY) to "
          + "\(box.maxX) \(box.maxY))")
    }
    let made = try whole(flat).parts(ofExtent: 2)
    return made.isEmpty ? .multiPolygon([], .xy) : made
  }

  private func whole(_ geometry: Geometry) throws(TopologyError) -> Geometry {
    if let plane = plane(around: geometry) {
      return try buffer(of: geometry, in: plane, by: metres)
    }
    switch geometry {
    case .polygon(let rings, _): return try wide(rings)
    case .lineString(let line):
      return metres < 0 ? .multiPolygon([], .xy) : try melted(try buffers(along: line))
    default:
      var parts: [Geometry] = []
      for member in geometry.members { parts.append(try whole(member)) }
      return try melted(parts)
    }
  }

  /// A wide polygon with what lies around its rings, or without it.
  private func wide(_ rings: [CoordinateSequence]) throws(TopologyError) -> Geometry {
    let area = try onEarth(rings, isUnwrapped: true)
    var edges: [Geometry] = []
    for ring in rings { edges += try buffers(along: ring) }
    guard metres < 0 else { return try melted(edges + [area]) }
    let border = try context.read(try melted(edges))
    return try context.read(area).difference(border).geometry().parts(ofExtent: 2)
  }

  private func melted(_ parts: [Geometry]) throws(TopologyError) -> Geometry {
    let union = GeometryUnion(in: context)
    for part in parts where !part.isEmpty { try union.add(WKB.bytes(of: part).span.bytes) }
    return try union.result()?.geometry().parts(ofExtent: 2) ?? .multiPolygon([], .xy)
  }

  // MARK: Planes

  /// The plane around a geometry that is not wide; `nil` for others.
  private func plane(around geometry: Geometry) -> GeodesicPlane? {
    guard let box = geometry.envelope else { return nil }
    let plane = GeodesicPlane(
      ellipsoid: ellipsoid,
      centre: Position(x: (box.minX + box.maxX) / 2, y: (box.minY + box.maxY) / 2),
      tolerance: max(1e-3, abs(metres) * 1e-3))
    guard box.width < 180 else { return nil }
    let sides = [
      (box.minX, box.minY), (box.minX, plane.centre.y), (box.minX, box.maxY),
      (plane.centre.x, box.minY),
    ]
    let isNear = sides.allSatisfy { x, y in
      ellipsoid.distance(from: plane.centre, to: Position(x: x, y: y)) <= Self.widest
    }
    return isNear ? plane : nil
  }

  private func buffer(
    of geometry: Geometry, in plane: GeodesicPlane, by metres: Double
  ) throws(TopologyError) -> Geometry {
    let flat = geometry.mapped { plane.points($0) }
    let made = try context.read(flat).buffered(by: metres, style: style).geometry()
    var parts: [Geometry] = []
    for rings in made.converted(to: .xy).polygons {
      parts.append(try onEarth(rings.map { plane.positions($0) }, isUnwrapped: false))
    }
    return parts.count == 1 ? parts[0] : try melted(parts)
  }

  /// The buffers of the pieces of a line, which begin and end in the middles of edges, where there is
  /// no corner.
  private func buffers(along line: CoordinateSequence) throws(TopologyError) -> [Geometry] {
    var buffers: [Geometry] = []
    for piece in pieces(of: line) {
      guard let plane = plane(around: .lineString(piece)) else {
        throw TopologyError(.failed, "a line around a pole is too wide for a buffer")
      }
      buffers.append(try buffer(of: .lineString(piece), in: plane, by: abs(metres)))
    }
    return buffers
  }

  private func pieces(of line: CoordinateSequence) -> [CoordinateSequence] {
    var positions = Array(line)
    if positions.count > 3, positions.first == positions.last {
      // A ring begins in the middle of an edge too.
      let middle = Position.between(positions[0], positions[1], 0.5)
      positions = [middle] + positions[1...] + [middle]
    }
    var pieces: [CoordinateSequence] = []
    var piece: [Position] = []
    var length = 0.0
    for position in positions {
      guard let last = piece.last else {
        piece.append(position)
        continue
      }
      let edge = ellipsoid.distance(from: last, to: position)
      // Along a parallel an edge is longer than the shortest way.
      let turn = abs(position.x - last.x)
      let around = turn * ellipsoid.degreeLengths(at: last.y).east
      let share = max(edge / (Self.widest / 2), around / (Self.widest / 2), turn / 30)
      let count = max(1, share.rounded(.up))
      for step in stride(from: 1, through: count, by: 1) {
        let end = step == count ? position : .between(last, position, step / count)
        let isFull =
          length + edge / count > Self.widest / 2 || piece.count > 500
          || abs(end.x - piece[0].x) > 90
        if isFull, piece.count > 1, let start = piece.last {
          let middle = Position.between(start, end, 0.5)
          pieces.append(CoordinateSequence(piece + [middle], dimensions: .xy))
          (piece, length) = ([middle], 0)
        }
        piece.append(end)
        length += edge / count
      }
    }
    if piece.count > 1 { pieces.append(CoordinateSequence(piece, dimensions: .xy)) }
    return pieces
  }
}
