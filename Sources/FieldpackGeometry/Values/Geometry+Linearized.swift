extension Geometry {
  /// The geometry in the seven types of straight lines, which every format knows.
  ///
  /// Arcs are divided, their three control points stay as they are, and an arc gives the same
  /// positions in either direction. CIRCULARSTRING and COMPOUNDCURVE become LINESTRING,
  /// CURVEPOLYGON and TRIANGLE become POLYGON, MULTICURVE becomes MULTILINESTRING, MULTISURFACE,
  /// POLYHEDRALSURFACE and TIN become MULTIPOLYGON. Z and M run evenly between control points.
  ///
  /// - Parameter segmentsPerQuarter: the fewest segments a quarter circle is divided into, 1 to
  ///   256, raised to a power of two.
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

  /// The positions of a curve, whatever its type.
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

  /// The members end to end, the position where two meet once.
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
