extension Geometry {
  /// Walks the geometry with `visitor`.
  ///
  /// Members have the dimensions of the outermost geometry; an ordinate that they lack is NaN.
  public func visit(with visitor: inout some GeometryVisitor) {
    visit(as: dimensions, with: &visitor)
  }

  private func visit(as dimensions: Dimensions, with visitor: inout some GeometryVisitor) {
    switch self {
    case .point(let position, _):
      Self.visit(position, dimensions, with: &visitor)
    case .lineString(let line):
      Self.visit(line, .lineString, dimensions, with: &visitor)
    case .circularString(let line):
      Self.visit(line, .circularString, dimensions, with: &visitor)
    case .polygon(let rings, _):
      Self.visit(rings: rings, .polygon, dimensions, with: &visitor)
    case .composite(.triangle, let members, _):
      Self.visit(rings: members.compactMap(\.line), .triangle, dimensions, with: &visitor)
    default:
      visitMembers(as: dimensions, with: &visitor)
    }
  }

  private func visitMembers(as dimensions: Dimensions, with visitor: inout some GeometryVisitor) {
    visitor.begin(type, dimensions, count: memberCount)
    switch self {
    case .multiPoint(let points, _):
      for point in points { Self.visit(point, dimensions, with: &visitor) }
    case .multiLineString(let lines, _):
      for line in lines { Self.visit(line, .lineString, dimensions, with: &visitor) }
    case .multiPolygon(let polygons, _):
      for rings in polygons { Self.visit(rings: rings, .polygon, dimensions, with: &visitor) }
    case .geometryCollection(let members, _), .composite(_, let members, _):
      for member in members { member.visit(as: dimensions, with: &visitor) }
    default: break
    }
    visitor.end(type)
  }

  private var memberCount: Int {
    switch self {
    case .multiPoint(let points, _): points.count
    case .multiLineString(let lines, _): lines.count
    case .multiPolygon(let polygons, _): polygons.count
    case .geometryCollection(let members, _), .composite(_, let members, _): members.count
    default: 0
    }
  }

  /// The positions of a line or circular string.
  var line: CoordinateSequence? {
    switch self {
    case .lineString(let line), .circularString(let line): line
    default: nil
    }
  }

  private static func visit(
    _ position: Position?, _ dimensions: Dimensions, with visitor: inout some GeometryVisitor
  ) {
    visitor.begin(.point, dimensions, count: position == nil ? 0 : 1)
    if let position {
      visitor.position(position.x, position.y, position.z ?? .nan, position.m ?? .nan)
    }
    visitor.end(.point)
  }

  private static func visit(
    _ line: CoordinateSequence, _ type: GeometryType, _ dimensions: Dimensions,
    with visitor: inout some GeometryVisitor
  ) {
    visitor.begin(type, dimensions, count: line.count)
    line.visitPositions(with: &visitor)
    visitor.end(type)
  }

  private static func visit(
    rings: [CoordinateSequence], _ type: GeometryType, _ dimensions: Dimensions,
    with visitor: inout some GeometryVisitor
  ) {
    visitor.begin(type, dimensions, count: rings.count)
    for ring in rings {
      visitor.beginRing(count: ring.count)
      ring.visitPositions(with: &visitor)
      visitor.endRing()
    }
    visitor.end(type)
  }
}

extension CoordinateSequence {
  func visitPositions(with visitor: inout some GeometryVisitor) {
    let (hasZ, hasM, step) = (dimensions.hasZ, dimensions.hasM, dimensions.count)
    for base in stride(from: 0, to: ordinates.count, by: step) {
      visitor.position(
        ordinates[base], ordinates[base + 1], hasZ ? ordinates[base + 2] : .nan,
        hasM ? ordinates[base + step - 1] : .nan)
    }
  }
}
