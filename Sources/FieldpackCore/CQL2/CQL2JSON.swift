import FieldpackGeometry

/// The words of CQL2 JSON where they differ from those of CQL2 Text.
enum CQL2JSON {
  static func name(of relation: TemporalRelation) -> String { "t_" + relation.rawValue }
  static func name(of relation: ArrayRelation) -> String { "a_" + relation.rawValue }

  /// The names of functions as they are written; reading ignores their case.
  static let functionNames: [String] =
    FilterFunction.allCases.map { $0.rawValue.lowercased() } + ["div"]
    + ArrayRelation.allCases.map { name(of: $0) }
    + SpatialRelation.allCases.map { "s_" + $0.rawValue } + CQL2.tests.map { $0.lowercased() }
    + TemporalRelation.allCases.map { name(of: $0) }
}

extension Filter {
  /// The condition in CQL2 JSON without blanks, which ``init(cql2JSON:)`` reads back as a filter with
  /// the same answers.
  ///
  /// - Throws: `.unsupported` for what has no words in CQL2 or GeoJSON: envelope relations, geometries
  ///   in another SRS than WGS 84, with measures or curves, NULL, blobs, and numbers that are not
  ///   finite; and for what lies beyond the limits of reading.
  public var cql2JSON: String {
    get throws(FieldpackError) {
      var bytes: [UInt8] = []
      try JSONValue(self).append(to: &bytes, keepsFractions: true)
      let text = String(decoding: bytes, as: UTF8.self)
      try CQL2.checkReadable { () throws(FieldpackError) in try Filter(cql2JSON: text) }
      return text
    }
  }
}

// MARK: Conditions

extension JSONValue {
  private static func operation(_ name: String, _ arguments: [JSONValue]) -> JSONValue {
    .object([.init(name: "op", value: .text(name)), .init(name: "args", value: .array(arguments))])
  }

  private static func operation(
    _ name: String, _ arguments: [Operand]
  ) throws(FieldpackError) -> JSONValue {
    operation(name, try arguments.map(JSONValue.init(_:)))
  }

  private static func member(_ name: String, _ value: JSONValue) -> JSONValue {
    .object([.init(name: name, value: value)])
  }

  fileprivate init(_ filter: Filter) throws(FieldpackError) {
    switch filter {
    case .all: self = .boolean(true)
    case .not(.all): self = .boolean(false)
    case .compare(let a, let comparison, let b):
      self = try .operation(comparison.rawValue, [a, b])
    case .between(let value, let low, let high):
      self = try .operation("between", [value, low, high])
    case .isIn(_, let list) where list.isEmpty: self = .boolean(false)
    case .isIn(let value, let list): self = try .operation("in", [value, .list(list)])
    case .isNull(let value): self = try .operation("isNull", [value])
    case .like(let value, let pattern, let folding):
      let text = Operand.literal(.text(pattern))
      self = try .operation("like", [value, folding.reversed().reduce(text) { .call($1, [$0]) }])
    case .envelope: throw CQL2.unsupported("an envelope relation")
    case .vertex: throw CQL2.unsupported("a test of vertices")
    case .relation(let relation, let geometry, let srs, let column):
      self = try JSONValue(.spatial(relation, .column(column), .geometry(geometry, srs: srs)))
    case .test(let test, let geometry, let srs, let column):
      try test.check()
      let operands: [SpatialOperand] = [.column(column), .geometry(geometry, srs: srs)]
      self = .operation(
        test.functionName.lowercased(),
        try operands.map(JSONValue.init(_:)) + test.arguments.map(JSONValue.init(_:)))
    case .spatial(let relation, let a, let b):
      self = .operation("s_" + relation.rawValue, [try JSONValue(a), try JSONValue(b)])
    case .temporal(let relation, let a, let b):
      for operand in [a, b] { try CQL2.checkPeriod(operand) }
      self = try .operation(CQL2JSON.name(of: relation), [a, b])
    case .array(let relation, let a, let b):
      for operand in [a, b] { try CQL2.checkArray(operand) }
      self = try .operation(CQL2JSON.name(of: relation), [a, b])
    case .and(let parts): self = try JSONValue(parts, joinedBy: "and")
    case .or(let parts): self = try JSONValue(parts, joinedBy: "or")
    case .not(let part): self = .operation("not", [try JSONValue(part)])
    }
  }

  private init(_ parts: [Filter], joinedBy name: String) throws(FieldpackError) {
    if parts.count == 1 {
      self = try JSONValue(parts[0])
    } else {
      self =
        parts.isEmpty
        ? .boolean(name == "and") : .operation(name, try parts.map(JSONValue.init(_:)))
    }
  }
}

// MARK: Operands

extension JSONValue {
  private init(_ operand: Operand) throws(FieldpackError) {
    switch operand {
    case .column(let name): self = .member("property", .text(name))
    case .literal(let value): self = try JSONValue(value)
    case .arithmetic(let a, let operation, let b):
      self = try .operation(operation.rawValue.lowercased(), [a, b])
    case .call(let function, let arguments):
      self = try .operation(function.rawValue.lowercased(), arguments)
    case .condition(let filter): self = try JSONValue(filter)
    case .interval(let start, let end):
      self = .member("interval", .array([try JSONValue(bound: start), try JSONValue(bound: end)]))
    case .list(let operands): self = .array(try operands.map(JSONValue.init(_:)))
    }
  }

  private init(bound: Operand?) throws(FieldpackError) {
    switch bound {
    case nil: self = .text("..")
    case .literal(let value)?: self = .text(try CQL2.momentText(of: value))
    case let operand?: self = try JSONValue(operand)
    }
  }

  private init(_ value: Value) throws(FieldpackError) {
    switch value {
    case .boolean(let flag): self = .boolean(flag)
    case .integer(let number): self = .integer(number)
    case .real(let number) where number.isFinite: self = .real(number)
    case .text(let text): self = .text(text)
    case .date: self = .member("date", .text(try CQL2.momentText(of: value)))
    case .dateTime: self = .member("timestamp", .text(try CQL2.momentText(of: value)))
    case .null, .blob, .real: throw CQL2.unsupported(value)
    }
  }
}

// MARK: Geometries

extension JSONValue {
  private init(_ operand: SpatialOperand) throws(FieldpackError) {
    switch operand {
    case .column(let name): self = .member("property", .text(name ?? CQL2.anyGeometry))
    case .geometry(let geometry, srs: .wgs84?):
      if let bounds = CQL2.bounds(of: geometry) {
        self = .member("bbox", .array(bounds.map(JSONValue.init(ordinate:))))
        return
      }
      self.init(geometry)
      guard (try? GeoJSONShape.geometry(JSONElement(self))) == geometry else {
        throw CQL2.unsupported("a geometry that GeoJSON cannot hold, in CQL2 JSON")
      }
    case .geometry(_, let srs): throw CQL2.unsupported(geometryIn: srs)
    }
  }

  /// A whole ordinate stands without a fraction, unlike a literal that is compared.
  private init(ordinate: Double) {
    let whole = ordinate.bitPattern == (-0.0).bitPattern ? nil : Int64(exactly: ordinate)
    self = whole.map { .integer($0) } ?? .real(ordinate)
  }

  private init(_ position: Position?) {
    guard let position else {
      self = .array([])
      return
    }
    let ordinates = [position.x, position.y] + [position.z, position.m].compactMap(\.self)
    self = .array(ordinates.map(JSONValue.init(ordinate:)))
  }

  private init(_ line: CoordinateSequence) { self = .array(line.map { JSONValue($0) }) }

  /// A geometry as GeoJSON. A type without a name in GeoJSON becomes an object that cannot be read
  /// back, which ``Filter/cql2JSON`` then refuses.
  private init(_ geometry: Geometry) {
    let names: [GeometryType: String] = [
      .point: "Point", .lineString: "LineString", .polygon: "Polygon", .multiPoint: "MultiPoint",
      .multiLineString: "MultiLineString", .multiPolygon: "MultiPolygon",
      .geometryCollection: "GeometryCollection",
    ]
    let parts: JSONValue =
      switch geometry {
      case .point(let position, _): JSONValue(position)
      case .lineString(let line), .circularString(let line): JSONValue(line)
      case .polygon(let lines, _), .multiLineString(let lines, _):
        .array(lines.map { JSONValue($0) })
      case .multiPoint(let positions, _): .array(positions.map { JSONValue($0) })
      case .multiPolygon(let parts, _): .array(parts.map { .array($0.map { JSONValue($0) }) })
      case .geometryCollection(let members, _): .array(members.map { JSONValue($0) })
      case .composite: .array([])
      }
    self = .object([
      .init(name: "type", value: .text(names[geometry.type] ?? "")),
      .init(
        name: geometry.type == .geometryCollection ? "geometries" : "coordinates", value: parts),
    ])
  }
}
