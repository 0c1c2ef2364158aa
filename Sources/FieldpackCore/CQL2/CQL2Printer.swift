import FieldpackGeometry

extension Filter {
  /// The condition in CQL2 Text, which ``init(cql2:)`` reads back as a filter with the same answers.
  ///
  /// - Throws: `.unsupported` for what CQL2 has no words for: envelope relations, geometries in
  ///   another SRS than WGS 84, NULL, blobs, and numbers that are not finite; and for what lies beyond
  ///   the limits of reading.
  public var cql2Text: String {
    get throws(FieldpackError) {
      let text = try text(in: .alone)
      try CQL2.checkReadable { () throws(FieldpackError) in try Filter(cql2: text) }
      return text
    }
  }

  fileprivate enum Context {
    case alone, disjunction, conjunction, negation
  }

  fileprivate func text(in context: Context) throws(FieldpackError) -> String {
    switch self {
    case .all: return "TRUE"
    case .not(.all): return "FALSE"
    case .and(let parts): return try joined(parts, "AND", in: context)
    case .or(let parts): return try joined(parts, "OR", in: context)
    case .not(let part):
      if let text = try part.predicate(negated: "NOT ") { return text }
      return "NOT " + (try part.text(in: .negation))
    default: break
    }
    if let text = try predicate(negated: "") { return text }
    switch self {
    case .compare(let left, let comparison, let right):
      return try "\(left.cql2Text) \(comparison.rawValue) \(right.cql2Text)"
    case .relation(let relation, let geometry, let srs, let column):
      return try call(relation, .column(column), .geometry(geometry, srs: srs))
    case .test(let test, let geometry, let srs, let column):
      try test.check()
      var parts = [try CQL2.text(of: .column(column))]
      parts.append(try CQL2.text(of: .geometry(geometry, srs: srs)))
      for argument in test.arguments { parts.append(try argument.cql2Text) }
      return "\(test.functionName)(\(parts.joined(separator: ", ")))"
    case .spatial(let relation, let a, let b): return try call(relation, a, b)
    case .temporal(let relation, let a, let b):
      for operand in [a, b] { try CQL2.checkPeriod(operand) }
      return try "\(relation.functionName)(\(a.cql2Text), \(b.cql2Text))"
    case .array(let relation, let a, let b):
      for operand in [a, b] { try CQL2.checkArray(operand) }
      return try "\(relation.functionName)(\(a.cql2Text), \(b.cql2Text))"
    case .vertex: throw CQL2.unsupported("a test of vertices")
    default: throw CQL2.unsupported("an envelope relation")
    }
  }

  private func call(
    _ relation: SpatialRelation, _ a: SpatialOperand, _ b: SpatialOperand
  ) throws(FieldpackError) -> String {
    try "\(relation.functionName)(\(CQL2.text(of: a)), \(CQL2.text(of: b)))"
  }

  /// The text of a predicate that CQL2 negates with NOT inside it, such as `a NOT IN (…)`; `nil`
  /// for other conditions.
  private func predicate(negated: String) throws(FieldpackError) -> String? {
    switch self {
    case .between(let value, let low, let high):
      return try "\(value.cql2Text) \(negated)BETWEEN \(low.cql2Text) AND \(high.cql2Text)"
    case .isIn(let value, let list) where !list.isEmpty:
      var items: [String] = []
      for item in list { items.append(try item.cql2Text) }
      return try "\(value.cql2Text) \(negated)IN (\(items.joined(separator: ", ")))"
    case .isIn: return negated.isEmpty ? "FALSE" : nil
    case .isNull(let value): return try "\(value.cql2Text) IS \(negated)NULL"
    case .like(let value, let pattern, let folding):
      let text = folding.reversed().reduce(CQL2.quoted(pattern)) { "\($1.rawValue)(\($0))" }
      return try "\(value.cql2Text) \(negated)LIKE \(text)"
    default: return nil
    }
  }

  private func joined(
    _ parts: [Filter], _ keyword: String, in context: Context
  ) throws(FieldpackError) -> String {
    if parts.isEmpty { return keyword == "AND" ? "TRUE" : "FALSE" }
    if parts.count == 1 { return try parts[0].text(in: context) }
    let own = keyword == "AND" ? Context.conjunction : .disjunction
    var texts: [String] = []
    for part in parts { texts.append(try part.text(in: own)) }
    let text = texts.joined(separator: " \(keyword) ")
    // AND binds tighter than OR, so AND inside OR needs no parentheses.
    let isBare = context == .alone || (context == .disjunction && own == .conjunction)
    return isBare ? text : "(\(text))"
  }
}

extension Operand {
  fileprivate var cql2Text: String {
    get throws(FieldpackError) {
      switch self {
      case .column(let name): return CQL2.identifier(name)
      case .literal(let value): return try CQL2.text(of: value)
      case .arithmetic(let a, let operation, let b):
        let binds = operation.precedence
        // `^` groups from the right, every other operator from the left.
        let isPower = operation == .power
        let left = try a.text(in: isPower ? binds + 1 : binds)
        let right = try b.text(in: isPower ? binds : binds + 1)
        return "\(left) \(operation.rawValue) \(right)"
      case .call(let function, let arguments):
        return "\(function.rawValue)(\(try Self.list(arguments)))"
      case .condition(let filter): return "(\(try filter.text(in: .alone)))"
      case .interval(let start, let end):
        return "INTERVAL(\(try Self.bound(start)), \(try Self.bound(end)))"
      case .list(let operands):
        var texts: [String] = []
        for operand in operands {
          // In an array, parentheses around a condition would be read as an array.
          if case .condition(let filter) = operand {
            texts.append(try filter.text(in: .alone))
          } else {
            texts.append(try operand.cql2Text)
          }
        }
        return "(\(texts.joined(separator: ", ")))"
      }
    }
  }

  /// The text, in parentheses where the operation binds less tightly than `precedence`.
  private func text(in precedence: Int) throws(FieldpackError) -> String {
    guard case .arithmetic(_, let operation, _) = self, operation.precedence < precedence else {
      return try cql2Text
    }
    return "(\(try cql2Text))"
  }

  private static func list(_ operands: [Operand]) throws(FieldpackError) -> String {
    var texts: [String] = []
    for operand in operands { texts.append(try operand.cql2Text) }
    return texts.joined(separator: ", ")
  }

  private static func bound(_ bound: Operand?) throws(FieldpackError) -> String {
    switch bound {
    case nil: return "'..'"
    case .literal(let value)?: return CQL2.quoted(try CQL2.momentText(of: value))
    case let operand?: return try operand.cql2Text
    }
  }
}

extension Arithmetic {
  /// The operator's precedence; operators that bind tighter have a greater one.
  fileprivate var precedence: Int {
    switch self {
    case .add, .subtract: 1
    case .multiply, .divide, .remainder, .divideWhole: 2
    case .power: 3
    }
  }
}

extension CQL2 {
  fileprivate static func text(of value: Value) throws(FieldpackError) -> String {
    switch value {
    case .boolean(let value): return value ? "TRUE" : "FALSE"
    case .integer(let value): return String(value)
    case .real(let value) where value.isFinite: return "\(value)"
    case .text(let value): return quoted(value)
    case .date: return "DATE('\(try momentText(of: value))')"
    case .dateTime: return "TIMESTAMP('\(try momentText(of: value))')"
    case .null, .blob, .real: throw unsupported(value)
    }
  }

  /// The text of a date or a time that reads back as the same value.
  static func momentText(of value: Value) throws(FieldpackError) -> String {
    switch value {
    case .date(let date) where CalendarDate(date.description) == date: return date.description
    case .dateTime(let time) where Instant(time.description) == time: return time.description
    case .date, .dateTime: throw unsupported("a year beyond 0 to 9999")
    default: throw unsupported("an interval from or to what is neither a date nor a time")
    }
  }

  fileprivate static func text(of operand: SpatialOperand) throws(FieldpackError) -> String {
    switch operand {
    case .column(let name): return identifier(name ?? anyGeometry)
    case .geometry(let geometry, srs: .wgs84?): return try text(of: geometry)
    case .geometry(_, let srs): throw unsupported(geometryIn: srs)
    }
  }
}

extension CQL2 {
  fileprivate static func identifier(_ name: String) -> String {
    let isPlain =
      name.utf8.allSatisfy {
        switch $0 {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
          true
        default: false
        }
      }
      && !(name.utf8.first.map { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } ?? true)
      && !reserved.contains(name.uppercasedASCII)
    return isPlain ? name : "\"" + name.replacing("\"", with: "\"\"") + "\""
  }

  /// The text in quotes. Quotes are doubled, and so are backslashes before a quote; see
  /// ``CQL2Lexer``.
  fileprivate static func quoted(_ text: String) -> String {
    var output: [UInt8] = [UInt8(ascii: "'")]
    var backslashes = 0
    func closeRun(_ output: inout [UInt8]) {
      output += Array(repeating: UInt8(ascii: "\\"), count: backslashes)
    }
    for byte in text.utf8 {
      if byte == UInt8(ascii: "'") {
        closeRun(&output)
        output.append(byte)
      }
      backslashes = byte == UInt8(ascii: "\\") ? backslashes + 1 : 0
      output.append(byte)
    }
    closeRun(&output)
    output.append(UInt8(ascii: "'"))
    return String(decoding: output, as: UTF8.self)
  }

  /// `BBOX(…)` for a geometry that reading a BBOX makes, WKT for every other geometry.
  private static func text(of geometry: Geometry) throws(FieldpackError) -> String {
    if let corners = bounds(of: geometry) {
      return "BBOX(\(corners.map { "\($0)" }.joined(separator: ", ")))"
    }
    let text = WKT.text(of: geometry)
    let isReadBack = (try? WKT.read(text)) == geometry
    guard isReadBack else { throw unsupported("a geometry whose numbers are not finite") }
    return text
  }

  /// The west, south, east and north of the `BBOX` that reads back as `geometry`; `nil` where no
  /// `BBOX` does.
  static func bounds(of geometry: Geometry) -> [Double]? {
    guard let corners = corners(of: geometry), corners.allSatisfy(\.isFinite),
      rectangle(west: corners[0], south: corners[1], east: corners[2], north: corners[3])
        == geometry
    else { return nil }
    return corners
  }

  private static func corners(of geometry: Geometry) -> [Double]? {
    switch geometry {
    case .polygon(let rings, .xy) where rings.count == 1 && rings[0].count == 5:
      return [rings[0][0].x, rings[0][0].y, rings[0][2].x, rings[0][2].y]
    case .multiPolygon(let parts, .xy) where parts.count == 2:
      guard let west = parts[0].first, let east = parts[1].first, west.count == 5, east.count == 5
      else { return nil }
      return [west[0].x, west[0].y, east[2].x, east[2].y]
    default: return nil
    }
  }
}
