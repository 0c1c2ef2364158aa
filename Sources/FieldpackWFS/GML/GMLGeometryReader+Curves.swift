import FieldpackCore
import FieldpackFormats
import FieldpackGeometry

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

extension GMLGeometryReader {
  /// The positions of a line, of a curve with its segments, or of a ring. The caller has entered the
  /// element.
  func curve(
    _ element: XMLTree, _ context: Context
  ) throws(FieldpackError) -> CoordinateSequence {
    switch element.name.local {
    case "Curve":
      let segments = element.child("segments")?.children ?? []
      return try joined(segments, context) { segment, context throws(FieldpackError) in
        try self.segment(segment, context)
      }
    case "CompositeCurve", "Ring":
      let members = element.children("curveMember") + element.children("curveMembers")
      for member in members { try refuseReference(member) }
      return try joined(members.flatMap(\.children), context) {
        (curve, context) throws(FieldpackError) in try self.curve(curve, context)
      }
    case "OrientableCurve":
      guard let base = element.child("baseCurve") else { break }
      try refuseReference(base)
      guard let curve = base.children.first else { break }
      let line = try joined([curve], context) { (curve, context) throws(FieldpackError) in
        try self.curve(curve, context)
      }
      return element["orientation"] == "-" ? line.reversed() : line
    case "LineString", "LinearRing": return try positions(element, context)
    default: break
    }
    throw Self.error(element, "the curve '\(element.name.local)' is not read")
  }

  /// Parts end to end; the position where two parts meet appears once.
  private func joined(
    _ parts: [XMLTree], _ outer: Context,
    _ read: (XMLTree, Context) throws(FieldpackError) -> CoordinateSequence
  ) throws(FieldpackError) -> CoordinateSequence {
    var positions: [Position] = []
    var dimensions: Dimensions?
    for part in parts {
      var context = outer
      context.depth += 1
      if let dimension = part["srsDimension"] { context.dimension = Int(dimension) }
      guard context.depth <= 30 else { throw Self.error(part, "curves nest too deep") }
      let line = try read(part, context)
      if dimensions == nil, !line.isEmpty { dimensions = line.dimensions }
      let skipped = positions.last != nil && positions.last == line.first ? 1 : 0
      positions += line.dropFirst(skipped).map { $0.converted(to: dimensions ?? .xy) }
    }
    return CoordinateSequence(positions, dimensions: dimensions ?? .xy)
  }

  private func segment(
    _ element: XMLTree, _ context: Context
  ) throws(FieldpackError) -> CoordinateSequence {
    switch element.name.local {
    case "LineStringSegment", "GeodesicString", "Geodesic":
      return try positions(element, context)
    case "Arc", "ArcString":
      let line = try positions(element, context)
      guard line.count >= 3, line.count % 2 == 1 else {
        throw Self.error(element, "an arc has three positions, a string of arcs an odd number")
      }
      return linear(line)
    case "Circle":
      let line = try positions(element, context)
      guard line.count == 3, let circle = circle(Array(line)) else {
        throw Self.error(element, "a circle has three positions that are not on one line")
      }
      return linear(CoordinateSequence(circle, dimensions: line.dimensions))
    case "CircleByCenterPoint", "ArcByCenterPoint":
      return linear(try arcAroundCentre(element, context))
    default:
      throw Self.error(element, "the segment '\(element.name.local)' is not read")
    }
  }

  private func linear(_ arcs: CoordinateSequence) -> CoordinateSequence {
    guard case .lineString(let line) = Geometry.circularString(arcs).linearized() else {
      return arcs
    }
    return line
  }

  /// The circle through three positions as two arcs, from the first position to itself.
  private func circle(_ points: [Position]) -> [Position]? {
    let (a, b, c) = (points[0], points[1], points[2])
    let twice = 2 * (a.x * (b.y - c.y) + b.x * (c.y - a.y) + c.x * (a.y - b.y))
    guard twice != 0, twice.isFinite else { return nil }
    let (a2, b2, c2) = (a.x * a.x + a.y * a.y, b.x * b.x + b.y * b.y, c.x * c.x + c.y * c.y)
    let centreX = (a2 * (b.y - c.y) + b2 * (c.y - a.y) + c2 * (a.y - b.y)) / twice
    let centreY = (a2 * (c.x - b.x) + b2 * (a.x - c.x) + c2 * (b.x - a.x)) / twice
    // The middle of the way from the third position back to the first.
    let start = atan2(c.y - centreY, c.x - centreX)
    var sweep = atan2(a.y - centreY, a.x - centreX) - start
    let isLeft = twice > 0
    if isLeft, sweep < 0 { sweep += 2 * .pi }
    if !isLeft, sweep > 0 { sweep -= 2 * .pi }
    let radius = hypot(a.x - centreX, a.y - centreY)
    let angle = start + sweep / 2
    let middle = Position(
      x: centreX + radius * cos(angle), y: centreY + radius * sin(angle), z: a.z)
    return [a, b, c, middle, a]
  }

  /// The arc or circle that a centre, a radius and angles describe, counterclockwise from the
  /// direction of x.
  private func arcAroundCentre(
    _ element: XMLTree, _ context: Context
  ) throws(FieldpackError) -> CoordinateSequence {
    guard let centre = try positions(element, context).first,
      let radius = element.child("radius").flatMap({ Numbers.number($0.text) }), radius > 0
    else { throw Self.error(element, "an arc around a centre has a centre and a radius") }
    var (start, end) = (0.0, 360.0)
    if element.name.local == "ArcByCenterPoint" {
      guard let from = element.child("startAngle").flatMap({ Numbers.number($0.text) }),
        let to = element.child("endAngle").flatMap({ Numbers.number($0.text) })
      else { throw Self.error(element, "an arc around a centre has two angles") }
      (start, end) = (from, to > from ? to : to + 360)
    }
    let unit = element.child("radius")?["uom"]?.lowercased() ?? ""
    guard !(unit == "m" || unit.hasSuffix(":m") || unit.hasSuffix("9001")) || !isInDegrees(context)
    else { throw Self.error(element, "a radius in metres around degrees is not read") }
    let positions = (0...4).map { step in
      let angle = (start + (end - start) * Double(step) / 4) * .pi / 180
      return Position(x: centre.x + radius * cos(angle), y: centre.y + radius * sin(angle))
    }
    return CoordinateSequence(positions, dimensions: .xy)
  }

  /// Systems with north first are those of latitude and longitude, as far as a circle needs it.
  private func isInDegrees(_ context: Context) -> Bool {
    (context.name ?? asked)?.srs == .wgs84 || context.isNorthFirst
  }
}
