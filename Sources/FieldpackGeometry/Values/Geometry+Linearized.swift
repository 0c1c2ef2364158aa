extension Geometry {
  /// The geometry in the seven types with straight lines, which every format supports.
  ///
  /// Arcs are divided between their three control points, which stay as they are. An arc gives the
  /// same positions in either direction. CIRCULARSTRING and COMPOUNDCURVE become LINESTRING,
  /// CURVEPOLYGON and TRIANGLE become POLYGON, MULTICURVE becomes MULTILINESTRING, MULTISURFACE,
  /// POLYHEDRALSURFACE and TIN become MULTIPOLYGON. Z and M change evenly between control points.
  ///
  /// - Parameter segmentsPerQuarter: the least number of segments for a quarter circle, 1 to 256;
  ///   it is raised to a power of two.
  public func linearized(segmentsPerQuarter: Int = 32) -> Geometry {
    let arcs = ArcDivision(segmentsPerQuarter: segmentsPerQuarter)
    return linearized(arcs)
  }

  private func linearized(_ arcs: ArcDivision) -> Geometry {
    switch self {
    case .circularString(let line):
      .lineString(arcs.divided(line))
    case .geometryCollection(let members, let dimensions):
      .geometryCollection(members.map { $0.linearized(arcs) }, dimensions)
    case .composite(let type, let members, let dimensions):
      Self.linearized(type, members, dimensions, arcs)
    default: self
    }
  }

  private static func linearized(
    _ type: GeometryType, _ members: [Geometry], _ dimensions: Dimensions, _ arcs: ArcDivision
  ) -> Geometry {
    switch type {
    case .compoundCurve:
      .lineString(joined(members, dimensions, arcs))
    case .multiCurve:
      .multiLineString(members.map { $0.curve(dimensions, arcs) }, dimensions)
    case .curvePolygon, .triangle:
      .polygon(members.map { $0.curve(dimensions, arcs) }, dimensions)
    default:
      .multiPolygon(members.map { $0.rings(arcs) }, dimensions)
    }
  }

  /// The positions of a curve of any type.
  private func curve(_ dimensions: Dimensions, _ arcs: ArcDivision) -> CoordinateSequence {
    switch self {
    case .lineString(let line): line
    case .circularString(let line): arcs.divided(line)
    case .composite(.compoundCurve, let members, _): Self.joined(members, dimensions, arcs)
    default: CoordinateSequence(dimensions: dimensions)
    }
  }

  private func rings(_ arcs: ArcDivision) -> [CoordinateSequence] {
    if case .polygon(let rings, _) = linearized(arcs) { rings } else { [] }
  }

  /// The members joined end to end; the position where two members meet appears once.
  private static func joined(
    _ members: [Geometry], _ dimensions: Dimensions, _ arcs: ArcDivision
  ) -> CoordinateSequence {
    var result = CoordinateSequence(dimensions: dimensions)
    for member in members {
      for (index, position) in member.curve(dimensions, arcs).enumerated() {
        if index == 0, let last = result.last, last.x == position.x, last.y == position.y {
          continue
        }
        result.append(position)
      }
    }
    return result
  }
}
