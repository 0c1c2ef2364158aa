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
      var writer = CQL2JSONWriter()
      try writer.append(self)
      let text = String(decoding: writer.bytes, as: UTF8.self)
      try CQL2.checkReadable { () throws(FieldpackError) in try Filter(cql2JSON: text) }
      return text
    }
  }
}

private struct CQL2JSONWriter {
  private(set) var bytes: [UInt8] = []

  private mutating func append(raw text: String) { bytes.append(contentsOf: text.utf8) }

  private mutating func append(text: String) { JSONText.append(text, to: &bytes) }

  private mutating func operation(
    _ name: String, _ arguments: [Operand]
  ) throws(FieldpackError) {
    try operation(name, count: arguments.count) { (w, index) throws(FieldpackError) in
      try w.append(arguments[index])
    }
  }

  private mutating func operation(
    _ name: String, count: Int,
    _ argument: (inout Self, Int) throws(FieldpackError) -> Void
  ) throws(FieldpackError) {
    append(raw: "{\"op\":")
    append(text: name)
    append(raw: ",\"args\":[")
    for index in 0..<count {
      if index > 0 { append(raw: ",") }
      try argument(&self, index)
    }
    append(raw: "]}")
  }

  // MARK: Conditions

  mutating func append(_ filter: Filter) throws(FieldpackError) {
    switch filter {
    case .all: append(raw: "true")
    case .not(.all): append(raw: "false")
    case .compare(let a, let comparison, let b): try operation(comparison.rawValue, [a, b])
    case .between(let value, let low, let high): try operation("between", [value, low, high])
    case .isIn(_, let list) where list.isEmpty: append(raw: "false")
    case .isIn(let value, let list): try operation("in", [value, .list(list)])
    case .isNull(let value): try operation("isNull", [value])
    case .like(let value, let pattern, let folding):
      let text = Operand.literal(.text(pattern))
      try operation("like", [value, folding.reversed().reduce(text) { .call($1, [$0]) }])
    case .envelope: throw CQL2.unsupported("an envelope relation")
    case .vertex: throw CQL2.unsupported("a test of vertices")
    case .relation(let relation, let geometry, let srs, let column):
      try operation(relation, .column(column), .geometry(geometry, srs: srs))
    case .test(let test, let geometry, let srs, let column):
      try test.check()
      let arguments = test.arguments
      try operation(test.functionName.lowercased(), count: 2 + arguments.count) {
        (w, index) throws(FieldpackError) in
        switch index {
        case 0: try w.append(SpatialOperand.column(column))
        case 1: try w.append(SpatialOperand.geometry(geometry, srs: srs))
        default: try w.append(arguments[index - 2])
        }
      }
    case .spatial(let relation, let a, let b): try operation(relation, a, b)
    case .temporal(let relation, let a, let b):
      for operand in [a, b] { try CQL2.checkPeriod(operand) }
      try operation(CQL2JSON.name(of: relation), [a, b])
    case .array(let relation, let a, let b):
      for operand in [a, b] { try CQL2.checkArray(operand) }
      try operation(CQL2JSON.name(of: relation), [a, b])
    case .and(let parts): try joined(parts, "and")
    case .or(let parts): try joined(parts, "or")
    case .not(let part):
      try operation("not", count: 1) { (w, _) throws(FieldpackError) in try w.append(part) }
    }
  }

  private mutating func joined(_ parts: [Filter], _ name: String) throws(FieldpackError) {
    if parts.count < 2 {
      guard let only = parts.first else { return append(raw: name == "and" ? "true" : "false") }
      return try append(only)
    }
    try operation(name, count: parts.count) { (w, index) throws(FieldpackError) in
      try w.append(parts[index])
    }
  }

  // MARK: Operands

  private mutating func append(_ operand: Operand) throws(FieldpackError) {
    switch operand {
    case .column(let name): property(name)
    case .literal(let value): try append(value)
    case .arithmetic(let a, let operation, let b):
      try self.operation(operation.rawValue.lowercased(), [a, b])
    case .call(let function, let arguments):
      try operation(function.rawValue.lowercased(), arguments)
    case .condition(let filter): try append(filter)
    case .interval(let start, let end):
      append(raw: "{\"interval\":[")
      try append(bound: start)
      append(raw: ",")
      try append(bound: end)
      append(raw: "]}")
    case .list(let operands):
      append(raw: "[")
      for (index, operand) in operands.enumerated() {
        if index > 0 { append(raw: ",") }
        try append(operand)
      }
      append(raw: "]")
    }
  }

  private mutating func property(_ name: String) {
    append(raw: "{\"property\":")
    append(text: name)
    append(raw: "}")
  }

  private mutating func append(bound: Operand?) throws(FieldpackError) {
    switch bound {
    case nil: append(raw: "\"..\"")
    case .literal(let value)?: append(text: try CQL2.momentText(of: value))
    case let operand?: try append(operand)
    }
  }

  private mutating func append(_ value: Value) throws(FieldpackError) {
    switch value {
    case .boolean(let flag): append(raw: flag ? "true" : "false")
    case .integer(let number): append(raw: String(number))
    case .real(let number) where number.isFinite: append(raw: "\(number)")
    case .text(let text): append(text: text)
    case .date: append(raw: "{\"date\":\"\(try CQL2.momentText(of: value))\"}")
    case .dateTime: append(raw: "{\"timestamp\":\"\(try CQL2.momentText(of: value))\"}")
    case .null, .blob, .real: throw CQL2.unsupported(value)
    }
  }

  // MARK: Geometries

  private mutating func operation(
    _ relation: SpatialRelation, _ a: SpatialOperand, _ b: SpatialOperand
  ) throws(FieldpackError) {
    try operation("s_" + relation.rawValue, count: 2) { (w, index) throws(FieldpackError) in
      try w.append(index == 0 ? a : b)
    }
  }

  private mutating func append(_ operand: SpatialOperand) throws(FieldpackError) {
    switch operand {
    case .column(let name): property(name ?? CQL2.anyGeometry)
    case .geometry(let geometry, srs: .wgs84?):
      if let bounds = CQL2.bounds(of: geometry) {
        append(raw: "{\"bbox\":")
        append(numbers: bounds)
        return append(raw: "}")
      }
      var shape = CQL2JSONWriter()
      shape.append(geometry)
      let text = String(decoding: shape.bytes, as: UTF8.self)
      let read = (try? JSONValueReader.read(text)).flatMap {
        try? GeoJSONShape.geometry(JSONElement($0))
      }
      guard read == geometry else {
        throw CQL2.unsupported("a geometry that GeoJSON cannot hold, in CQL2 JSON")
      }
      bytes += shape.bytes
    case .geometry(_, let srs): throw CQL2.unsupported(geometryIn: srs)
    }
  }

  private mutating func append(numbers: [Double]) {
    append(items: numbers) { w, number in JSONText.append(number, to: &w.bytes) }
  }

  private mutating func append<T>(items: [T], _ item: (inout Self, T) -> Void) {
    append(raw: "[")
    for (index, value) in items.enumerated() {
      if index > 0 { append(raw: ",") }
      item(&self, value)
    }
    append(raw: "]")
  }

  private mutating func append(_ position: Position?) {
    guard let position else { return append(raw: "[]") }
    append(numbers: [position.x, position.y] + [position.z, position.m].compactMap(\.self))
  }

  private mutating func append(line: CoordinateSequence) {
    append(items: Array(line)) { w, position in w.append(position) }
  }

  /// Writes a geometry as GeoJSON. A type without a name in GeoJSON becomes text that cannot be
  /// read back, which ``cql2JSON`` then refuses.
  private mutating func append(_ geometry: Geometry) {
    let names: [GeometryType: String] = [
      .point: "Point", .lineString: "LineString", .polygon: "Polygon", .multiPoint: "MultiPoint",
      .multiLineString: "MultiLineString", .multiPolygon: "MultiPolygon",
      .geometryCollection: "GeometryCollection",
    ]
    append(raw: "{\"type\":\"\(names[geometry.type] ?? "")\",")
    append(raw: geometry.type == .geometryCollection ? "\"geometries\":" : "\"coordinates\":")
    switch geometry {
    case .point(let position, _): append(position)
    case .lineString(let line), .circularString(let line): append(line: line)
    case .polygon(let lines, _), .multiLineString(let lines, _):
      append(items: lines) { w, line in w.append(line: line) }
    case .multiPoint(let positions, _):
      append(items: positions) { w, position in w.append(position) }
    case .multiPolygon(let parts, _):
      append(items: parts) { w, rings in w.append(items: rings) { w, line in w.append(line: line) }
      }
    case .geometryCollection(let members, _):
      append(items: members) { w, member in w.append(member) }
    case .composite: append(raw: "[]")
    }
    append(raw: "}")
  }
}
