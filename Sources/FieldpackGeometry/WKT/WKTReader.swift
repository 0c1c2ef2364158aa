/// Reads WKT by recursive descent and drives a visitor.
struct WKTReader {
  var lexer = WKTLexer()
  private var dimensions = Dimensions.xy

  mutating func read(
    _ text: RawSpan, _ visitor: inout some GeometryVisitor
  ) throws(GeometryError) -> Int32? {
    let srid = try lexer.takeSRID(in: text)
    let start = lexer.nextOffset(in: text)
    let (type, tag) = try lexer.takeType(in: text)
    dimensions = tag ?? lexer.dimensionsAhead(in: text)
    try body(of: type, in: text, at: start, depth: 1, &visitor)
    let end = lexer.nextOffset(in: text)
    guard end == text.byteCount else {
      throw GeometryError(.syntax, at: end, "expected the end of the text")
    }
    return srid
  }

  /// Reads the part of a geometry that follows its type's name.
  private mutating func body(
    of type: GeometryType, in text: RawSpan, at start: Int, depth: Int,
    _ visitor: inout some GeometryVisitor
  ) throws(GeometryError) {
    guard depth <= WKB.maximumDepth else {
      throw GeometryError(
        .tooDeep, at: start, "geometries are nested more than \(WKB.maximumDepth) deep")
    }
    let isEmpty = try lexer.takeEmpty(in: text, orExpect: "'(' or EMPTY")
    visitor.begin(type, dimensions, count: isEmpty ? 0 : nil)
    if !isEmpty {
      switch type {
      case .point: try position(in: text, &visitor)
      case .lineString, .circularString: try positions(in: text, &visitor)
      case .polygon, .triangle: try rings(in: text, &visitor)
      default: try members(of: type, in: text, depth: depth, &visitor)
      }
      try lexer.expect(UInt8(ascii: ")"), in: text, "',' or ')'")
    }
    visitor.end(type)
  }

  private mutating func members(
    of type: GeometryType, in text: RawSpan, depth: Int, _ visitor: inout some GeometryVisitor
  ) throws(GeometryError) {
    repeat {
      let start = lexer.nextOffset(in: text)
      if type == .multiPoint, lexer.isAtNumber(in: text) {
        visitor.begin(.point, dimensions, count: 1)
        try position(in: text, &visitor)
        visitor.end(.point)
      } else if let member = try untaggedMember(of: type, in: text) {
        try body(of: member, in: text, at: start, depth: depth + 1, &visitor)
      } else {
        let (member, tag) = try lexer.takeType(in: text)
        try check(member, tag, inside: type, at: start)
        try body(of: member, in: text, at: start, depth: depth + 1, &visitor)
      }
    } while lexer.take(UInt8(ascii: ","), in: text)
  }

  /// The type of a member without a type name; `nil` where the member has a name.
  private func untaggedMember(
    of type: GeometryType, in text: RawSpan
  ) throws(GeometryError) -> GeometryType? {
    guard lexer.isAtBody(in: text) else { return nil }
    switch type {
    case .multiPoint: return .point
    case .multiLineString, .compoundCurve, .curvePolygon, .multiCurve: return .lineString
    case .multiPolygon, .multiSurface, .polyhedralSurface: return .polygon
    case .tin: return .triangle
    default: throw lexer.expected("a geometry type", in: text)
    }
  }

  private func check(
    _ member: GeometryType, _ tag: Dimensions?, inside type: GeometryType, at start: Int
  ) throws(GeometryError) {
    guard type.canHold(member) else {
      throw GeometryError(.wrongMember, at: start, "\(type.name) cannot hold a \(member.name)")
    }
    if let tag, tag != dimensions {
      throw GeometryError(
        .mixedDimensions, at: start,
        "\(member.name) has the dimensions \(tag.name) inside \(type.name) with "
          + dimensions.name)
    }
  }

  private mutating func rings(
    in text: RawSpan, _ visitor: inout some GeometryVisitor
  ) throws(GeometryError) {
    repeat {
      let isEmpty = try lexer.takeEmpty(in: text, orExpect: "'(' or EMPTY")
      visitor.beginRing(count: isEmpty ? 0 : nil)
      if !isEmpty {
        try positions(in: text, &visitor)
        try lexer.expect(UInt8(ascii: ")"), in: text, "',' or ')'")
      }
      visitor.endRing()
    } while lexer.take(UInt8(ascii: ","), in: text)
  }

  private mutating func positions(
    in text: RawSpan, _ visitor: inout some GeometryVisitor
  ) throws(GeometryError) {
    repeat {
      try position(in: text, &visitor)
    } while lexer.take(UInt8(ascii: ","), in: text)
  }

  private mutating func position(
    in text: RawSpan, _ visitor: inout some GeometryVisitor
  ) throws(GeometryError) {
    let x = try lexer.takeNumber(in: text)
    let y = try lexer.takeNumber(in: text)
    let z = dimensions.hasZ ? try lexer.takeNumber(in: text) : .nan
    let m = dimensions.hasM ? try lexer.takeNumber(in: text) : .nan
    if lexer.isAtNumber(in: text) {
      throw GeometryError(
        .mixedDimensions, at: lexer.nextOffset(in: text),
        "a position of \(dimensions.name) has \(dimensions.count) ordinates, not more")
    }
    visitor.position(x, y, z, m)
  }
}
