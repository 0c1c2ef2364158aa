extension Geometry {
  /// The geometry with other dimensions: surplus ordinates are dropped, missing ones get a value.
  public func converted(to dimensions: Dimensions, z: Double = 0, m: Double = 0) -> Geometry {
    guard dimensions != self.dimensions else { return self }
    func line(_ line: CoordinateSequence) -> CoordinateSequence {
      line.converted(to: dimensions, z: z, m: m)
    }
    func member(_ member: Geometry) -> Geometry { member.converted(to: dimensions, z: z, m: m) }
    func point(_ position: Position?) -> Position? {
      position?.converted(to: dimensions, z: z, m: m)
    }
    return switch self {
    case .point(let position, _): .point(point(position), dimensions)
    case .lineString(let positions): .lineString(line(positions))
    case .circularString(let positions): .circularString(line(positions))
    case .polygon(let rings, _): .polygon(rings.map(line), dimensions)
    case .multiPoint(let points, _): .multiPoint(points.map(point), dimensions)
    case .multiLineString(let lines, _): .multiLineString(lines.map(line), dimensions)
    case .multiPolygon(let polygons, _):
      .multiPolygon(polygons.map { $0.map(line) }, dimensions)
    case .geometryCollection(let members, _):
      .geometryCollection(members.map(member), dimensions)
    case .composite(let type, let members, _):
      .composite(type, members.map(member), dimensions)
    }
  }

  /// The geometry as the only member of its collection type; EMPTY gives an EMPTY collection.
  ///
  /// Curves become MULTICURVE, CURVEPOLYGON becomes MULTISURFACE, TRIANGLE becomes TIN. A geometry
  /// that is a collection stays as it is.
  public func promotedToMulti() -> Geometry {
    switch self {
    case .point(let position, let dimensions):
      .multiPoint(position.map { [$0] } ?? [], dimensions)
    case .lineString(let line):
      .multiLineString(line.isEmpty ? [] : [line], line.dimensions)
    case .polygon(let rings, let dimensions):
      .multiPolygon(rings.isEmpty ? [] : [rings], dimensions)
    case .circularString: composite(.multiCurve)
    case .composite(.compoundCurve, _, _): composite(.multiCurve)
    case .composite(.curvePolygon, _, _): composite(.multiSurface)
    case .composite(.triangle, _, _): composite(.tin)
    default: self
    }
  }

  private func composite(_ type: GeometryType) -> Geometry {
    .composite(type, isEmpty ? [] : [self], dimensions)
  }
}

extension Position {
  /// The position with other dimensions: surplus ordinates are dropped, missing ones get a value.
  public func converted(to dimensions: Dimensions, z: Double = 0, m: Double = 0) -> Position {
    Position(
      x: x, y: y, z: dimensions.hasZ ? self.z ?? z : nil, m: dimensions.hasM ? self.m ?? m : nil)
  }
}

extension CoordinateSequence {
  /// The positions with other dimensions: surplus ordinates are dropped, missing ones get a value.
  public func converted(
    to dimensions: Dimensions, z: Double = 0, m: Double = 0
  ) -> CoordinateSequence {
    guard dimensions != self.dimensions else { return self }
    return CoordinateSequence(
      lazy.map { $0.converted(to: dimensions, z: z, m: m) }, dimensions: dimensions)
  }
}
