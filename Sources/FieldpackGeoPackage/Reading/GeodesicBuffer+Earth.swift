import FieldpackGeometry
import FieldpackTopology

extension GeodesicBuffer {
  /// A polygon as polygons in -180 to 180°.
  ///
  /// - Parameter isUnwrapped: whether the longitudes go on beyond 180°, and do not jump.
  func onEarth(
    _ rings: [CoordinateSequence], isUnwrapped: Bool
  ) throws(TopologyError) -> Geometry {
    let unwrapped = isUnwrapped ? rings : rings.map(Self.unwrapped)
    let isPlain = unwrapped.allSatisfy { ring in ring.allSatisfy { abs($0.x) <= 180 } }
    if isPlain {
      let area = try context.read(.polygon(unwrapped, .xy))
      if try area.isValid() { return .polygon(unwrapped, .xy) }
    }
    guard let shell = unwrapped.first else { return .multiPolygon([], .xy) }
    var area = try context.read(try onEarth(ring: shell))
    for hole in unwrapped.dropFirst() {
      area = try area.difference(context.read(try onEarth(ring: hole)))
    }
    return try area.geometry().parts(ofExtent: 2)
  }

  /// What a ring encloses, moved by whole turns to -180 to 180°.
  private func onEarth(ring: CoordinateSequence) throws(TopologyError) -> Geometry {
    var area = try context.read(.polygon([ring], .xy))
    if try !area.isValid() {
      area = try context.read(try area.madeValid().geometry().parts(ofExtent: 2))
    }
    let union = GeometryUnion(in: context)
    for turn in [-360.0, 0, 360] {
      let world = Envelope(minX: turn - 180, minY: -90, maxX: turn + 180, maxY: 90)
      let part = try area.intersection(context.read(world.polygon)).geometry()
        .parts(ofExtent: 2)
      let moved = part.mapped { line in
        CoordinateSequence(line.map { Position(x: $0.x - turn, y: $0.y) }, dimensions: .xy)
      }
      if !moved.isEmpty { try union.add(WKB.bytes(of: moved).span.bytes) }
    }
    return try union.result()?.geometry().parts(ofExtent: 2) ?? .multiPolygon([], .xy)
  }

  /// A ring whose longitudes do not jump. One around a pole gets a way to the pole.
  private static func unwrapped(_ ring: CoordinateSequence) -> CoordinateSequence {
    var positions: [Position] = []
    for position in ring {
      let turns = positions.last.map { (($0.x - position.x) / 360).rounded() } ?? 0
      positions.append(Position(x: position.x + turns * 360, y: position.y))
    }
    guard let first = positions.first, let last = positions.last else { return ring }
    if abs(last.x - first.x) > 180 {
      let middle = positions.reduce(0) { $0 + $1.y } / Double(positions.count)
      let pole = middle < 0 ? -90.0 : 90
      positions += [Position(x: last.x, y: pole), Position(x: first.x, y: pole), first]
    } else {
      positions[positions.count - 1] = first
    }
    return CoordinateSequence(positions, dimensions: .xy)
  }
}

extension Envelope {
  fileprivate var polygon: Geometry {
    let ring = [(minX, minY), (maxX, minY), (maxX, maxY), (minX, maxY), (minX, minY)]
    return .polygon(
      [CoordinateSequence(ring.map { Position(x: $0.0, y: $0.1) }, dimensions: .xy)], .xy)
  }
}

extension Geometry {
  /// The members of a collection.
  var members: [Geometry] {
    switch self {
    case .multiPoint(let points, let dimensions):
      points.compactMap { $0.map { .point($0, dimensions) } }
    case .multiLineString(let lines, _): lines.map { .lineString($0) }
    case .multiPolygon(let polygons, let dimensions): polygons.map { .polygon($0, dimensions) }
    case .geometryCollection(let members, _): members
    default: []
    }
  }

  /// The rings of each polygon.
  var polygons: [[CoordinateSequence]] {
    switch self {
    case .polygon(let rings, _): rings.isEmpty ? [] : [rings]
    case .multiPolygon(let polygons, _): polygons
    default: []
    }
  }

  /// The geometry with other lines, in x and y.
  func mapped(_ line: (CoordinateSequence) -> CoordinateSequence) -> Geometry {
    func point(_ position: Position) -> Position? {
      line(CoordinateSequence([position], dimensions: .xy)).first
    }
    switch self {
    case .point(let position, _): return .point(position.flatMap(point), .xy)
    case .multiPoint(let points, _): return .multiPoint(points.map { $0.flatMap(point) }, .xy)
    case .lineString(let ordinates): return .lineString(line(ordinates))
    case .multiLineString(let lines, _): return .multiLineString(lines.map(line), .xy)
    case .polygon(let rings, _): return .polygon(rings.map(line), .xy)
    case .multiPolygon(let polygons, _):
      return .multiPolygon(polygons.map { $0.map(line) }, .xy)
    case .geometryCollection(let members, _):
      return .geometryCollection(members.map { $0.mapped(line) }, .xy)
    default: return self
    }
  }
}
