import FieldpackGeometry

extension CQL2Parser {
  /// Reads `S_…(a, b)`.
  mutating func spatialRelation(_ relation: SpatialRelation) throws(FieldpackError) -> Filter {
    try advance()
    try expect(.leftParenthesis, "'('")
    let first = try spatialOperand()
    try expect(.comma, "','")
    let second = try spatialOperand()
    try expect(.rightParenthesis, "')'")
    return CQL2.relation(relation, first, second)
  }

  /// Reads `S_RELATE(a, b, 'pattern')` or `S_DWITHIN(a, b, distance[, 'planar'])`.
  mutating func spatialTest(_ name: String) throws(FieldpackError) -> Filter {
    let start = token
    try advance()
    try expect(.leftParenthesis, "'('")
    let first = try spatialOperand()
    try expect(.comma, "','")
    let second = try spatialOperand()
    var values: [Value] = []
    while try accept(.comma) {
      if case .text(let text) = token.kind {
        values.append(.text(text))
        try advance()
      } else {
        values.append(.real(try number()))
      }
    }
    try expect(.rightParenthesis, "')'")
    return try telling(start) { () throws(CQL2.Mistake) in
      try CQL2.test(try SpatialTest.named(name, values), first, second)
    }
  }

  private mutating func spatialOperand() throws(FieldpackError) -> SpatialOperand {
    if case .word(let word) = token.kind {
      let name = word.uppercasedASCII
      let next = try following()
      if name == "BBOX", next.kind == .leftParenthesis {
        return .geometry(try box(), srs: .wgs84)
      }
      if CQL2.isGeometryName(name), CQL2.startsGeometry(next) {
        return .geometry(try wellKnownText(), srs: .wgs84)
      }
    }
    if let name = try functionName(), !CQL2.functions.contains(name) {
      throw unknownFunction(name)
    }
    guard let name = columnName, try following().kind != .leftParenthesis else {
      throw expected("the geometry column, BBOX(west, south, east, north) or WKT")
    }
    try advance()
    return .column(CQL2.geometryColumn(name))
  }

  private mutating func box() throws(FieldpackError) -> Geometry {
    let start = token
    try advance()
    try expect(.leftParenthesis, "'('")
    var bounds: [Double] = []
    repeat { bounds.append(try number()) } while try accept(.comma)
    try expect(.rightParenthesis, "',' or ')'")
    return try telling(start) { () throws(CQL2.Mistake) in try CQL2.box(bounds) }
  }

  private mutating func number() throws(FieldpackError) -> Double {
    let isNegative = try accept(.arithmetic(.subtract))
    if !isNegative { _ = try accept(.arithmetic(.add)) }
    guard token.kind == .integer || token.kind == .real else { throw expected("a number") }
    let value = try lexer.value(of: token, isNegative: isNegative)
    try advance()
    return Double(attributeValue: value) ?? .nan
  }

  /// Skips the geometry that starts at the current token, and reads its text as WKT.
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
