/// Arithmetic, literals and functions.
extension CQL2Parser {
  /// Reads products with `+` and `-` between them.
  mutating func sum(_ what: String) throws(FieldpackError) -> Part {
    var left = try product(what)
    while case .arithmetic(let operation) = token.kind,
      operation == .add || operation == .subtract
    {
      left = try operand(left, operation) { (p) throws(FieldpackError) in try p.product(Self.value)
      }
    }
    return left
  }

  /// Reads powers with `*`, `/`, `%` and `DIV` between them.
  private mutating func product(_ what: String) throws(FieldpackError) -> Part {
    var left = try power(what)
    while let operation = productOperation {
      left = try operand(left, operation) { (p) throws(FieldpackError) in try p.power(Self.value) }
    }
    return left
  }

  private var productOperation: Arithmetic? {
    switch token.kind {
    case .arithmetic(let operation) where [.multiply, .divide, .remainder].contains(operation):
      operation
    case .word: token.isWord(Arithmetic.divideWhole.rawValue) ? .divideWhole : nil
    default: nil
    }
  }

  /// Reads `a ^ b`; of several powers the last is computed first.
  private mutating func power(_ what: String) throws(FieldpackError) -> Part {
    let base = try factor(what)
    guard token.kind == .arithmetic(.power) else { return base }
    try enter(at: token)
    defer { leave() }
    return try operand(base, .power) { (p) throws(FieldpackError) in try p.power(Self.value) }
  }

  private mutating func operand(
    _ left: Part, _ operation: Arithmetic,
    _ right: (inout Self) throws(FieldpackError) -> Part
  ) throws(FieldpackError) -> Part {
    try countOperation(at: token)
    try advance()
    return .operand(.arithmetic(left.operand, operation, try right(&self).operand))
  }

  /// Reads a value with its sign; `-a` is `-1 * a`, as in CQL2 JSON.
  private mutating func factor(_ what: String) throws(FieldpackError) -> Part {
    guard case .arithmetic(let sign) = token.kind, sign == .add || sign == .subtract else {
      return try atom(what)
    }
    let start = token
    try advance()
    if token.kind == .integer || token.kind == .real {
      return .operand(.literal(try number(isNegative: sign == .subtract)))
    }
    try enter(at: start)
    defer { leave() }
    let inner = try factor(Self.value)
    guard sign == .subtract else { return inner }
    try countOperation(at: start)
    return .operand(.arithmetic(.literal(.integer(-1)), .multiply, inner.operand))
  }

  private mutating func number(isNegative: Bool) throws(FieldpackError) -> Value {
    let value = try lexer.value(of: token, isNegative: isNegative)
    try advance()
    return value
  }

  private mutating func atom(_ what: String) throws(FieldpackError) -> Part {
    let start = token
    if let name = try functionName() { return try function(name) }
    switch start.kind {
    case .leftParenthesis:
      try advance()
      try enter(at: start)
      defer { leave() }
      let part = try disjunction(what)
      try expect(.rightParenthesis, "AND, OR or ')'")
      return part
    case .integer, .real: return .operand(.literal(try number(isNegative: false)))
    case .text(let text): return try operand(.literal(.text(text)))
    case .name(let name): return try operand(.column(name))
    case .word(let word):
      switch word.uppercasedASCII {
      case "TRUE": return try operand(.literal(.boolean(true)))
      case "FALSE": return try operand(.literal(.boolean(false)))
      case "NULL": throw failure("nothing compares with NULL: write IS NULL", at: start)
      case let upper where CQL2.reserved.contains(upper): throw expected(what)
      default: return try operand(.column(word))
      }
    default: throw expected(what)
    }
  }

  private mutating func operand(_ operand: Operand) throws(FieldpackError) -> Part {
    try advance()
    return .operand(operand)
  }

  private mutating func function(_ name: String) throws(FieldpackError) -> Part {
    if CQL2.tests.contains(name) { return .condition(try spatialTest(name)) }
    if let relation = CQL2.relations[name] {
      return .condition(try spatialRelation(relation))
    }
    if let relation = CQL2.temporalRelations[name] {
      return .condition(try temporalRelation(relation))
    }
    if let relation = CQL2.arrayRelations[name] { return .condition(try arrayRelation(relation)) }
    if CQL2.instants.contains(name) { return .operand(.literal(try instant(name))) }
    guard let function = FilterFunction(rawValue: name) else { throw unknownFunction(name) }
    let start = token
    try advance()
    try advance()
    try enter(at: start)
    defer { leave() }
    let argument = try sum("a text or a column")
    try expect(.rightParenthesis, "')'")
    return .operand(.call(function, [argument.operand]))
  }

  func unknownFunction(_ name: String) -> FieldpackError {
    if name == "BBOX" || CQL2.isGeometryName(name) {
      return failure(
        "a geometry stands inside a function such as S_INTERSECTS(geom, \(name)(…))", at: token)
    }
    if name == "INTERVAL" {
      return failure(
        "an INTERVAL stands inside a temporal function such as T_DURING(seen, INTERVAL(…, …))",
        at: token)
    }
    return failure(CQL2.unknownFunction(name), at: token)
  }

  /// Reads `DATE('…')` or `TIMESTAMP('…')`.
  mutating func instant(_ name: String) throws(FieldpackError) -> Value {
    try advance()
    try expect(.leftParenthesis, "'('")
    let start = token
    guard case .text(let text) = token.kind else { throw expected("a text in quotes") }
    try advance()
    try expect(.rightParenthesis, "')'")
    return try telling(start) { () throws(CQL2.Mistake) in
      name == "DATE" ? try CQL2.date(text) : try CQL2.timestamp(text)
    }
  }
}
