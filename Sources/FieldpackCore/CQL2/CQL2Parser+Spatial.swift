import FieldpackGeometry

extension CQL2Parser {
  private enum SpatialOperand {
    case column
    case geometry(Geometry)
  }

  /// `S_…(column, geometry)`, or the two the other way round with the mirrored relation.
  mutating func spatialRelation(_ relation: SpatialRelation) throws(FieldpackError) -> Filter {
    let function = token
    try advance()
    try expect(.leftParenthesis, "'('")
    let first = try spatialOperand()
    try expect(.comma, "','")
    let second = try spatialOperand()
    try expect(.rightParenthesis, "')'")
    switch (first, second) {
    case (.column, .geometry(let geometry)):
      return .relation(relation, geometry, srs: .wgs84)
    case (.geometry(let geometry), .column):
      return .relation(relation.mirrored, geometry, srs: .wgs84)
    case (.column, .column), (.geometry, .geometry):
      throw failure(
        "\(source(function.range)) takes the geometry column and one geometry", at: function)
    }
  }

  private mutating func spatialOperand() throws(FieldpackError) -> SpatialOperand {
    switch token.kind {
    case .name:
      try advance()
      return .column
    case .word(let word):
      let name = word.uppercasedASCII
      let next = try following()
      if name == "BBOX", next.kind == .leftParenthesis { return .geometry(try box()) }
      if CQL2.isGeometryName(name), CQL2.startsGeometry(next) {
        return .geometry(try wellKnownText())
      }
      guard !CQL2.reserved.contains(name), next.kind != .leftParenthesis else { break }
      try advance()
      return .column
    default: break
    }
    throw expected("the geometry column, BBOX(west, south, east, north) or WKT")
  }

  private mutating func box() throws(FieldpackError) -> Geometry {
    let place = token
    try advance()
    try expect(.leftParenthesis, "'('")
    var bounds: [Double] = []
    repeat { bounds.append(try number()) } while try accept(.comma)
    try expect(.rightParenthesis, "',' or ')'")
    guard bounds.count == 4 else {
      throw failure(
        "BBOX takes four numbers, west, south, east and north, not \(bounds.count)", at: place)
    }
    let (west, south, east, north) = (bounds[0], bounds[1], bounds[2], bounds[3])
    guard let geometry = CQL2.rectangle(west: west, south: south, east: east, north: north) else {
      throw failure(
        south > north
          ? "the south of the BBOX, \(south), lies above its north, \(north)"
          : "the west of the BBOX, \(west), lies beyond its east, \(east), and the two do not "
            + "cross the antimeridian",
        at: place)
    }
    return geometry
  }

  private mutating func number() throws(FieldpackError) -> Double {
    switch token.kind {
    case .integer(let value):
      try advance()
      return Double(value)
    case .real(let value):
      try advance()
      return value
    default: throw expected("a number")
    }
  }

  /// Skips to the end of the geometry that starts here and has its text read as WKT.
  private mutating func wellKnownText() throws(FieldpackError) -> Geometry {
    let start = token
    var end = token.range.upperBound
    var depth = 0
    repeat {
      try advance()
      switch token.kind {
      case .leftParenthesis: depth += 1
      case .rightParenthesis: depth -= 1
      case .end: throw expected("')'")
      default: break
      }
      end = token.range.upperBound
    } while depth > 0 || !(token.kind == .rightParenthesis || token.isWord("EMPTY"))
    try advance()
    let text = text(start.range.lowerBound..<end)
    do {
      return try WKT.read(text)
    } catch {
      throw failure(error.message, atByte: start.range.lowerBound + error.offset)
    }
  }
}
