import FieldpackCore
import FieldpackFormats
import FieldpackGeometry

/// Reads geometries of GML 2, 3.1 and 3.2 from elements. Arcs become lines.
struct GMLGeometryReader: Sendable {
  /// The deepest nesting of geometries, as well-known binary has it.
  private static let maximumDepth = 30

  let axes: AxisOrders
  /// The name of the reference system that was asked for.
  let asked: SRSName?

  /// A geometry, and the reference system that it names; `nil` where it names none.
  struct Reading {
    var geometry: Geometry
    var name: SRSName?
  }

  /// What elements inside take over from those around them.
  struct Context {
    var name: SRSName?
    var isNorthFirst = false
    var dimension: Int?
    var depth = 0
  }

  func read(_ element: XMLTree) throws(FieldpackError) -> Reading {
    var context = Context()
    context.isNorthFirst = axes.isNorthFirst(nil, asked: asked)
    return Reading(geometry: try geometry(element, context), name: Self.name(in: element))
  }

  /// The first name of a reference system in an element.
  private static func name(in element: XMLTree) -> SRSName? {
    if let text = element["srsName"], let name = SRSName(text) { return name }
    for child in element.children {
      if let name = name(in: child) { return name }
    }
    return nil
  }

  /// Takes over the reference system and the number of ordinates that an element names.
  private func entering(
    _ element: XMLTree, _ context: Context
  ) throws(FieldpackError) -> Context {
    var inner = context
    inner.depth += 1
    guard inner.depth <= Self.maximumDepth else {
      throw Self.error(element, "geometries nest deeper than \(Self.maximumDepth)")
    }
    if let text = element["srsName"], !text.isEmpty {
      guard let name = SRSName(text) else {
        throw Self.error(
          element, "the reference system '\(ExceptionReport.shown(text))' is unknown")
      }
      inner.name = name
      inner.isNorthFirst = axes.isNorthFirst(name, asked: asked)
    }
    let dimension = element["srsDimension"] ?? element["dimension"]
    if let dimension { inner.dimension = Int(dimension) }
    return inner
  }

  private func geometry(
    _ element: XMLTree, _ outer: Context
  ) throws(FieldpackError) -> Geometry {
    let inner = try entering(element, outer)
    switch element.name.local {
    case "Point": return point(try positions(element, inner))
    case "LineString", "Curve", "CompositeCurve", "OrientableCurve", "LinearRing", "Ring":
      return .lineString(try curve(element, inner))
    case "Polygon", "PolygonPatch", "Rectangle", "Triangle":
      return try polygon(element, inner)
    case "Envelope", "Box": return try box(element, inner)
    case "Surface", "PolyhedralSurface", "TriangulatedSurface", "Tin", "CompositeSurface",
      "OrientableSurface":
      return surface(try polygons(of: element, inner))
    case "MultiPoint":
      let points = try members(element, inner)
      return .multiPoint(points.flatMap(\.points), dimensions(points))
    case "MultiLineString", "MultiCurve":
      let lines = try members(element, inner)
      return .multiLineString(lines.flatMap(\.lines), dimensions(lines))
    case "MultiPolygon", "MultiSurface":
      let surfaces = try members(element, inner)
      return .multiPolygon(surfaces.flatMap(\.polygons), dimensions(surfaces))
    case "MultiGeometry", "GeometricComplex":
      let all = try members(element, inner)
      return .geometryCollection(all, dimensions(all))
    default:
      throw Self.error(element, "the geometry '\(element.name.local)' is not read")
    }
  }

  /// The geometries in an element that gathers them, each within an element of its own or several in
  /// one.
  private func members(
    _ element: XMLTree, _ context: Context
  ) throws(FieldpackError) -> [Geometry] {
    var members: [Geometry] = []
    for child in element.children where Self.isMember(child) {
      try refuseReference(child)
      for geometry in child.children { members.append(try self.geometry(geometry, context)) }
    }
    return evened(members)
  }

  private static func isMember(_ element: XMLTree) -> Bool {
    element.name.local.hasSuffix("Member") || element.name.local.hasSuffix("Members")
      || element.name.local == "element"
  }

  /// The polygons of a surface.
  private func polygons(
    of element: XMLTree, _ context: Context
  ) throws(FieldpackError) -> [Geometry] {
    var found: [Geometry] = []
    for child in element.children {
      switch child.name.local {
      case "patches", "polygonPatches", "trianglePatches", "surfaceMember", "surfaceMembers",
        "baseSurface":
        try refuseReference(child)
        for inner in child.children { found.append(try geometry(inner, context)) }
      default: break
      }
    }
    return evened(found)
  }

  private func surface(_ polygons: [Geometry]) -> Geometry {
    let all = polygons.flatMap(\.polygons)
    let dimensions = dimensions(polygons)
    return all.count == 1 ? .polygon(all[0], dimensions) : .multiPolygon(all, dimensions)
  }

  private func polygon(
    _ element: XMLTree, _ context: Context
  ) throws(FieldpackError) -> Geometry {
    var rings: [CoordinateSequence] = []
    for child in element.children {
      switch child.name.local {
      case "exterior", "outerBoundaryIs", "interior", "innerBoundaryIs":
        try refuseReference(child)
        guard let ring = child.children.first else { continue }
        let inner = try entering(ring, context)
        let line = try curve(ring, inner)
        if child.name.local == "exterior" || child.name.local == "outerBoundaryIs" {
          rings.insert(line, at: 0)
        } else {
          rings.append(line)
        }
      default: break
      }
    }
    let dimensions = rings.first?.dimensions ?? .xy
    return .polygon(rings.map { $0.converted(to: dimensions) }, dimensions)
  }

  private func box(_ element: XMLTree, _ context: Context) throws(FieldpackError) -> Geometry {
    var corners: [Position] = []
    for name in ["lowerCorner", "upperCorner"] {
      guard let corner = element.child(name) else { continue }
      corners += try position(corner, context)
    }
    if corners.isEmpty { corners = Array(try positions(element, context)) }
    guard corners.count == 2 else { throw Self.error(element, "a box has two corners") }
    let (low, high) = (corners[0], corners[1])
    let ring = [
      (low.x, low.y), (high.x, low.y), (high.x, high.y), (low.x, high.y), (low.x, low.y),
    ].map { Position(x: $0.0, y: $0.1) }
    return .polygon([CoordinateSequence(ring, dimensions: .xy)], .xy)
  }

  private func point(_ positions: CoordinateSequence) -> Geometry {
    .point(positions.first, positions.dimensions)
  }
}

// MARK: Positions

extension GMLGeometryReader {
  /// The positions directly in an element.
  func positions(
    _ element: XMLTree, _ outer: Context
  ) throws(FieldpackError) -> CoordinateSequence {
    var all: [Position] = []
    for child in element.children {
      switch child.name.local {
      case "pos", "posList", "coord": all += try position(child, outer)
      case "coordinates": all += try coordinates(child, outer)
      case "pointProperty", "pointRep":
        try refuseReference(child)
        guard let point = child.children.first else { continue }
        let inner = try entering(point, outer)
        all += Array(try positions(point, inner))
      default: break
      }
    }
    guard all.count <= 1 || all.allSatisfy({ ($0.z == nil) == (all[0].z == nil) }) else {
      throw Self.error(element, "some positions have a height and others have none")
    }
    return CoordinateSequence(all, dimensions: all.first?.z == nil ? .xy : .xyz)
  }

  /// The positions in `pos`, `posList`, or the `coord` of GML 2.
  func position(_ element: XMLTree, _ outer: Context) throws(FieldpackError) -> [Position] {
    let context = try entering(element, outer)
    if element.name.local == "coord" {
      let numbers = ["X", "Y", "Z"].compactMap {
        element.child($0).flatMap { Numbers.number($0.text) }
      }
      return try divided(numbers, by: numbers.count, element, context)
    }
    guard let numbers = Numbers.list(element.text) else {
      throw Self.error(element, "'\(ExceptionReport.shown(element.text))' is no position")
    }
    let isSingle = element.name.local != "posList"
    var size = isSingle ? numbers.count : context.dimension ?? 2
    // A list of three ordinates each may forget to say so.
    if !isSingle, context.dimension == nil, numbers.count % 2 != 0, numbers.count % 3 == 0 {
      size = 3
    }
    return try divided(numbers, by: size, element, context)
  }

  /// The text of GML 2, whose separators the element tells.
  private func coordinates(
    _ element: XMLTree, _ outer: Context
  ) throws(FieldpackError) -> [Position] {
    let context = try entering(element, outer)
    let comma = element["cs"] ?? ","
    let space = element["ts"] ?? " "
    let point = element["decimal"] ?? "."
    guard let comma = comma.first, let space = space.first, let point = point.first,
      comma != space
    else { throw Self.error(element, "the separators of the coordinates are not clear") }
    var positions: [Position] = []
    let tuples = element.text.split { $0 == space || (space == " " && $0.isWhitespace) }
    for tuple in tuples {
      var numbers: [Double] = []
      for word in tuple.split(separator: comma) {
        let plain = point == "." ? String(word) : String(word.map { $0 == point ? "." : $0 })
        guard let number = Numbers.number(plain) else {
          throw Self.error(element, "'\(ExceptionReport.shown(String(tuple)))' is no position")
        }
        numbers.append(number)
      }
      positions += try divided(numbers, by: numbers.count, element, context)
    }
    return positions
  }

  private func divided(
    _ numbers: [Double], by size: Int, _ element: XMLTree, _ context: Context
  ) throws(FieldpackError) -> [Position] {
    if numbers.isEmpty { return [] }
    guard size == 2 || size == 3, numbers.count % size == 0 else {
      throw Self.error(
        element, "\(numbers.count) numbers are not positions of \(size == 3 ? "three" : "two")")
    }
    return stride(from: 0, to: numbers.count, by: size).map { index in
      let (first, second) = (numbers[index], numbers[index + 1])
      return Position(
        x: context.isNorthFirst ? second : first, y: context.isNorthFirst ? first : second,
        z: size == 3 ? numbers[index + 2] : nil)
    }
  }

  // MARK: Common

  /// Geometries elsewhere in the document or in another one are not looked for.
  func refuseReference(_ element: XMLTree) throws(FieldpackError) {
    let link = element.attributes.first { $0.name.local == "href" }
    guard link != nil, element.children.isEmpty else { return }
    throw Self.error(element, "the geometry refers to another place, which is not read")
  }

  static func error(_ element: XMLTree, _ message: String) -> FieldpackError {
    FieldpackError(.invalidData, message, position: FilePosition(line: element.line))
  }

  /// The dimensions that all members have.
  private func dimensions(_ members: [Geometry]) -> Dimensions {
    members.contains { $0.hasZ } ? .xyz : .xy
  }

  /// The members with the same dimensions; a missing height is 0.
  private func evened(_ members: [Geometry]) -> [Geometry] {
    let dimensions = dimensions(members)
    return members.map { $0.dimensions == dimensions ? $0 : $0.converted(to: dimensions) }
  }
}

extension Geometry {
  /// The points of a point, or of several.
  fileprivate var points: [Position?] {
    switch self {
    case .point(let point, _): [point]
    case .multiPoint(let points, _): points
    default: []
    }
  }

  fileprivate var lines: [CoordinateSequence] {
    switch self {
    case .lineString(let line): [line]
    case .multiLineString(let lines, _): lines
    default: []
    }
  }

  fileprivate var polygons: [[CoordinateSequence]] {
    switch self {
    case .polygon(let rings, _): [rings]
    case .multiPolygon(let polygons, _): polygons
    default: []
    }
  }
}
