package import FieldpackGeometry
package import FieldpackTopology

extension Geometry {
  /// 0 for points, 1 for lines, 2 for areas. A collection has the largest value of its members.
  package var extent: Int {
    switch self {
    case .point, .multiPoint: 0
    case .lineString, .multiLineString, .circularString: 1
    case .polygon, .multiPolygon: 2
    case .geometryCollection(let members, _): members.map(\.extent).max() ?? 0
    case .composite(.compoundCurve, _, _), .composite(.multiCurve, _, _): 1
    case .composite: 2
    }
  }

  /// The members of that extent alone, as a Multi type where there are several.
  func parts(ofExtent wanted: Int) -> Geometry {
    guard case .geometryCollection(let members, let dimensions) = self else {
      return extent == wanted ? self : .multi(ofExtent: wanted, dimensions)
    }
    let kept = members.map { $0.parts(ofExtent: wanted) }.filter { !$0.isEmpty }
    if kept.count == 1 { return kept[0] }
    var points: [Position?] = []
    var lines: [CoordinateSequence] = []
    var polygons: [[CoordinateSequence]] = []
    for member in kept {
      switch member {
      case .point(let position, _): points.append(position)
      case .multiPoint(let positions, _): points += positions
      case .lineString(let line): lines.append(line)
      case .multiLineString(let members, _): lines += members
      case .polygon(let rings, _): polygons.append(rings)
      case .multiPolygon(let members, _): polygons += members
      default: break
      }
    }
    return .multi(ofExtent: wanted, dimensions, points, lines, polygons)
  }

  private static func multi(
    ofExtent extent: Int, _ dimensions: Dimensions, _ points: [Position?] = [],
    _ lines: [CoordinateSequence] = [], _ polygons: [[CoordinateSequence]] = []
  ) -> Geometry {
    switch extent {
    case 0: .multiPoint(points, dimensions)
    case 1: .multiLineString(lines, dimensions)
    default: .multiPolygon(polygons, dimensions)
    }
  }

  /// Polygons with positions between those that are far apart, so that their sides follow the same
  /// lines in another SRS.
  func withMorePositions() -> Geometry {
    guard let envelope else { return self }
    let longest = max(envelope.width, envelope.height) / 100
    switch self {
    case .polygon(let rings, _):
      return .polygon(rings.map { $0.divided(atMost: longest) }, .xy)
    case .multiPolygon(let polygons, _):
      return .multiPolygon(
        polygons.map { $0.map { $0.divided(atMost: longest) } }, .xy)
    case .geometryCollection(let members, _):
      return .geometryCollection(members.map { $0.withMorePositions() }, .xy)
    default: return self
    }
  }
}

extension CoordinateSequence {
  /// The line in x and y, with edges no longer than so.
  fileprivate func divided(atMost longest: Double) -> CoordinateSequence {
    var line = CoordinateSequence(dimensions: .xy)
    guard let first else { return line }
    line.append(first)
    for (start, end) in zip(self, dropFirst()) {
      let (dx, dy) = (end.x - start.x, end.y - start.y)
      let share = (dx * dx + dy * dy).squareRoot() / longest
      let count = share.isFinite ? share.rounded(.up) : 1
      for step in stride(from: 1, to: count, by: 1) {
        line.append(Position(x: start.x + dx * step / count, y: start.y + dy * step / count))
      }
      line.append(end)
    }
    return line
  }
}

extension TopologyContext {
  /// The geometry made valid, members of a collection by themselves; without parts of a lower
  /// dimension.
  package func mended(_ geometry: Geometry) throws(TopologyError) -> Geometry {
    if case .geometryCollection(let members, let dimensions) = geometry {
      var kept: [Geometry] = []
      for member in members {
        let valid = try mended(member)
        if !valid.isEmpty || member.isEmpty { kept.append(valid) }
      }
      return .geometryCollection(kept, dimensions)
    }
    let shape = try read(geometry)
    guard try !shape.isValid() else { return geometry }
    return try shape.madeValid().geometry().parts(ofExtent: geometry.extent)
  }
}
