import FieldpackGeometry

/// The arguments of temporal, array and spatial functions.
extension CQL2JSONReader {
  func period(_ place: JSONPlace) throws(FieldpackError) -> Operand {
    guard let interval = place.member("interval") else { return try instant(place) }
    try place.checkNames(["interval"])
    let bounds = try interval.elements("an array of two bounds")
    guard bounds.count == 2 else {
      throw interval.failure("an interval has two bounds, not \(bounds.count)")
    }
    let start = try bound(bounds[0])
    let end = try bound(bounds[1])
    return try interval.telling { () throws(CQL2.Mistake) in try CQL2.interval(start, end) }
  }

  private func instant(_ place: JSONPlace) throws(FieldpackError) -> Operand {
    if let value = try moment(place) { return .literal(value) }
    if let name = place.member("property") {
      try place.checkNames(["property"])
      return .column(try columnName(name))
    }
    throw place.failure("expected a property, a date, a timestamp or an interval")
  }

  private func bound(_ place: JSONPlace) throws(FieldpackError) -> Operand? {
    guard case .text(let text) = place.node else { return try instant(place) }
    let value = try place.telling { () throws(CQL2.Mistake) in try CQL2.bound(text) }
    return value.map { .literal($0) }
  }

  mutating func array(_ place: JSONPlace) throws(FieldpackError) -> Operand {
    if case .array = place.node { return .list(try elements(place)) }
    guard let name = place.member("property") else {
      throw place.expected("an array or a property")
    }
    try place.checkNames(["property"])
    return .column(try columnName(name))
  }

  private mutating func elements(_ place: JSONPlace) throws(FieldpackError) -> [Operand] {
    try enter(at: place)
    defer { leave() }
    var elements: [Operand] = []
    for element in try place.elements("an array") {
      if case .array = element.node {
        elements.append(.list(try self.elements(element)))
      } else {
        elements.append(try operand(element))
      }
    }
    return elements
  }

  func spatial(_ place: JSONPlace) throws(FieldpackError) -> SpatialOperand {
    if let name = place.member("property") {
      try place.checkNames(["property"])
      return .column(CQL2.geometryColumn(try columnName(name)))
    }
    if let box = place.member("bbox"), place.member("type") == nil {
      try place.checkNames(["bbox"])
      var bounds: [Double] = []
      for bound in try box.elements("an array of numbers") { bounds.append(try number(bound)) }
      let area = try box.telling { () throws(CQL2.Mistake) in try CQL2.box(bounds) }
      return .geometry(area, srs: .wgs84)
    }
    if let name = place.member("op") {
      throw name.failure("no operation gives a geometry: expected a property, a bbox or GeoJSON")
    }
    return .geometry(try GeoJSONShape.geometry(place), srs: .wgs84)
  }

  private func number(_ place: JSONPlace) throws(FieldpackError) -> Double {
    try GeoJSONShape.number(place)
  }
}

/// Geometries of RFC 7946 in a condition.
enum GeoJSONShape {
  static func number(_ place: JSONPlace) throws(FieldpackError) -> Double {
    guard let number = place.node.number else { throw place.expected("a number") }
    guard number.isFinite else { throw place.failure("the number is out of range") }
    return number
  }

  static func geometry(
    _ place: JSONPlace, depth: Int = 1
  ) throws(FieldpackError) -> Geometry {
    guard depth <= WKB.maximumDepth else {
      throw place.failure("geometries are nested more than \(WKB.maximumDepth) deep")
    }
    guard let type = place.member("type"), case .text(let name) = type.node else {
      throw place.failure("expected a property, a bbox or a GeoJSON geometry")
    }
    if name == "GeometryCollection" {
      try place.checkNames(["type", "geometries", "bbox"])
      guard let members = place.member("geometries") else {
        throw place.failure("the member geometries is missing")
      }
      var geometries: [Geometry] = []
      for member in try members.elements("an array of geometries") {
        geometries.append(try geometry(member, depth: depth + 1))
      }
      let hasZ = !geometries.isEmpty && geometries.allSatisfy(\.dimensions.hasZ)
      let dimensions = hasZ ? Dimensions.xyz : .xy
      return .geometryCollection(
        geometries.map { $0.converted(to: dimensions) }, dimensions)
    }
    try place.checkNames(["type", "coordinates", "bbox"])
    guard let coordinates = place.member("coordinates") else {
      throw place.failure("the member coordinates is missing")
    }
    return try geometry(name, coordinates, type)
  }

  private static func geometry(
    _ name: String, _ place: JSONPlace, _ type: JSONPlace
  ) throws(FieldpackError) -> Geometry {
    switch name {
    case "Point":
      let position = try position(place, allowsNone: true)
      return .point(position, dimensions([position.map { [$0] } ?? []]))
    case "MultiPoint":
      var positions: [Position?] = []
      for place in try place.elements("an array of positions") {
        positions.append(try position(place, allowsNone: true))
      }
      let dimensions = dimensions([positions.compactMap(\.self)])
      return .multiPoint(positions.map { $0?.converted(to: dimensions) }, dimensions)
    case "LineString":
      let line = try line(place)
      return .lineString(CoordinateSequence(line, dimensions: dimensions([line])))
    case "Polygon", "MultiLineString":
      let lines = try lines(place)
      let dimensions = dimensions(lines)
      let sequences = lines.map { CoordinateSequence($0, dimensions: dimensions) }
      return name == "Polygon"
        ? .polygon(sequences, dimensions) : .multiLineString(sequences, dimensions)
    case "MultiPolygon":
      var parts: [[[Position]]] = []
      for place in try place.elements("an array of polygons") { parts.append(try lines(place)) }
      let dimensions = dimensions(parts.flatMap(\.self))
      return .multiPolygon(
        parts.map { $0.map { CoordinateSequence($0, dimensions: dimensions) } }, dimensions)
    default: throw type.failure("'\(name)' is no geometry of GeoJSON")
    }
  }

  private static func lines(_ place: JSONPlace) throws(FieldpackError) -> [[Position]] {
    var lines: [[Position]] = []
    for place in try place.elements("an array of lines") { lines.append(try line(place)) }
    return lines
  }

  private static func line(_ place: JSONPlace) throws(FieldpackError) -> [Position] {
    var positions: [Position] = []
    for place in try place.elements("an array of positions") {
      if let position = try position(place, allowsNone: false) { positions.append(position) }
    }
    return positions
  }

  /// Reads a position; an empty array is an EMPTY point where `allowsNone`.
  private static func position(
    _ place: JSONPlace, allowsNone: Bool
  ) throws(FieldpackError) -> Position? {
    let ordinates = try place.elements("a position")
    if ordinates.isEmpty, allowsNone { return nil }
    guard ordinates.count == 2 || ordinates.count == 3 else {
      throw place.failure("a position has two or three numbers, not \(ordinates.count)")
    }
    var numbers: [Double] = []
    for ordinate in ordinates { numbers.append(try number(ordinate)) }
    return Position(x: numbers[0], y: numbers[1], z: numbers.count == 3 ? numbers[2] : nil)
  }

  /// The dimensions of some lines: heights count only where every position has one, and relations
  /// ignore them.
  private static func dimensions(_ lines: [[Position]]) -> Dimensions {
    let hasPositions = lines.contains { !$0.isEmpty }
    return hasPositions && lines.allSatisfy { $0.allSatisfy { $0.z != nil } } ? .xyz : .xy
  }
}
