import FieldpackGeometry

/// The arguments of temporal, array and spatial functions.
extension CQL2JSONReader {
  func period(_ element: JSONElement) throws(FieldpackError) -> Operand {
    guard let interval = element.member("interval") else { return try instant(element) }
    try element.checkNames(["interval"])
    let bounds = try interval.elements("an array of two bounds")
    guard bounds.count == 2 else {
      throw interval.failure("an interval has two bounds, not \(bounds.count)")
    }
    let start = try bound(bounds[0])
    let end = try bound(bounds[1])
    return try interval.telling { () throws(CQL2.Mistake) in try CQL2.interval(start, end) }
  }

  private func instant(_ element: JSONElement) throws(FieldpackError) -> Operand {
    if let value = try moment(element) { return .literal(value) }
    if let name = element.member("property") {
      try element.checkNames(["property"])
      return .column(try columnName(name))
    }
    throw element.failure("expected a property, a date, a timestamp or an interval")
  }

  private func bound(_ element: JSONElement) throws(FieldpackError) -> Operand? {
    guard case .text(let text) = element.value else { return try instant(element) }
    let value = try element.telling { () throws(CQL2.Mistake) in try CQL2.bound(text) }
    return value.map { .literal($0) }
  }

  mutating func array(_ element: JSONElement) throws(FieldpackError) -> Operand {
    if case .array = element.value { return .list(try elements(element)) }
    guard let name = element.member("property") else {
      throw element.expected("an array or a property")
    }
    try element.checkNames(["property"])
    return .column(try columnName(name))
  }

  private mutating func elements(_ element: JSONElement) throws(FieldpackError) -> [Operand] {
    try enter(at: element)
    defer { leave() }
    var elements: [Operand] = []
    for item in try element.elements("an array") {
      if case .array = item.value {
        elements.append(.list(try self.elements(item)))
      } else {
        elements.append(try operand(item))
      }
    }
    return elements
  }

  func spatial(_ element: JSONElement) throws(FieldpackError) -> SpatialOperand {
    if let name = element.member("property") {
      try element.checkNames(["property"])
      return .column(CQL2.geometryColumn(try columnName(name)))
    }
    if let box = element.member("bbox"), element.member("type") == nil {
      try element.checkNames(["bbox"])
      var bounds: [Double] = []
      for bound in try box.elements("an array of numbers") { bounds.append(try number(bound)) }
      let area = try box.telling { () throws(CQL2.Mistake) in try CQL2.box(bounds) }
      return .geometry(area, srs: .wgs84)
    }
    if let name = element.member("op") {
      throw name.failure("no operation gives a geometry: expected a property, a bbox or GeoJSON")
    }
    return .geometry(try GeoJSONShape.geometry(element), srs: .wgs84)
  }

  private func number(_ element: JSONElement) throws(FieldpackError) -> Double {
    try GeoJSONShape.number(element)
  }
}

/// Geometries of RFC 7946 in a condition.
enum GeoJSONShape {
  static func number(_ element: JSONElement) throws(FieldpackError) -> Double {
    guard let number = element.value.number else { throw element.expected("a number") }
    guard number.isFinite else { throw element.failure("the number is out of range") }
    return number
  }

  static func geometry(
    _ element: JSONElement, depth: Int = 1
  ) throws(FieldpackError) -> Geometry {
    guard depth <= WKB.maximumDepth else {
      throw element.failure("geometries are nested more than \(WKB.maximumDepth) deep")
    }
    guard let type = element.member("type"), case .text(let name) = type.value else {
      throw element.failure("expected a property, a bbox or a GeoJSON geometry")
    }
    if name == "GeometryCollection" {
      try element.checkNames(["type", "geometries", "bbox"])
      guard let members = element.member("geometries") else {
        throw element.failure("the member geometries is missing")
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
    try element.checkNames(["type", "coordinates", "bbox"])
    guard let coordinates = element.member("coordinates") else {
      throw element.failure("the member coordinates is missing")
    }
    return try geometry(name, coordinates, type)
  }

  private static func geometry(
    _ name: String, _ element: JSONElement, _ type: JSONElement
  ) throws(FieldpackError) -> Geometry {
    switch name {
    case "Point":
      let position = try position(element, allowsNone: true)
      return .point(position, dimensions([position.map { [$0] } ?? []]))
    case "MultiPoint":
      var positions: [Position?] = []
      for element in try element.elements("an array of positions") {
        positions.append(try position(element, allowsNone: true))
      }
      let dimensions = dimensions([positions.compactMap(\.self)])
      return .multiPoint(positions.map { $0?.converted(to: dimensions) }, dimensions)
    case "LineString":
      let line = try line(element)
      return .lineString(CoordinateSequence(line, dimensions: dimensions([line])))
    case "Polygon", "MultiLineString":
      let lines = try lines(element)
      let dimensions = dimensions(lines)
      let sequences = lines.map { CoordinateSequence($0, dimensions: dimensions) }
      return name == "Polygon"
        ? .polygon(sequences, dimensions) : .multiLineString(sequences, dimensions)
    case "MultiPolygon":
      var parts: [[[Position]]] = []
      for element in try element.elements("an array of polygons") {
        parts.append(try lines(element))
      }
      let dimensions = dimensions(parts.flatMap(\.self))
      return .multiPolygon(
        parts.map { $0.map { CoordinateSequence($0, dimensions: dimensions) } }, dimensions)
    default: throw type.failure("'\(name)' is no geometry of GeoJSON")
    }
  }

  private static func lines(_ element: JSONElement) throws(FieldpackError) -> [[Position]] {
    var lines: [[Position]] = []
    for element in try element.elements("an array of lines") { lines.append(try line(element)) }
    return lines
  }

  private static func line(_ element: JSONElement) throws(FieldpackError) -> [Position] {
    var positions: [Position] = []
    for element in try element.elements("an array of positions") {
      if let position = try position(element, allowsNone: false) { positions.append(position) }
    }
    return positions
  }

  /// Reads a position; an empty array is an EMPTY point where `allowsNone`.
  private static func position(
    _ element: JSONElement, allowsNone: Bool
  ) throws(FieldpackError) -> Position? {
    let ordinates = try element.elements("a position")
    if ordinates.isEmpty, allowsNone { return nil }
    guard ordinates.count == 2 || ordinates.count == 3 else {
      throw element.failure("a position has two or three numbers, not \(ordinates.count)")
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
