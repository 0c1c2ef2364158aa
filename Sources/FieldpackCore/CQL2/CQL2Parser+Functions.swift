/// Temporal functions and array functions.
extension CQL2Parser {
  mutating func temporalRelation(_ relation: TemporalRelation) throws(FieldpackError) -> Filter {
    try advance()
    try expect(.leftParenthesis, "'('")
    let first = try period()
    try expect(.comma, "','")
    let second = try period()
    try expect(.rightParenthesis, "')'")
    return .temporal(relation, first, second)
  }

  private mutating func period() throws(FieldpackError) -> Operand {
    guard try functionName() == "INTERVAL" else {
      return try moment("a column, DATE('…'), TIMESTAMP('…') or INTERVAL(…, …)")
    }
    let opening = token
    try advance()
    try expect(.leftParenthesis, "'('")
    let start = try bound()
    try expect(.comma, "','")
    let end = try bound()
    try expect(.rightParenthesis, "')'")
    return try telling(opening) { () throws(CQL2.Mistake) in try CQL2.interval(start, end) }
  }

  private mutating func moment(_ what: String) throws(FieldpackError) -> Operand {
    if let name = try functionName() {
      guard CQL2.instants.contains(name) else { throw expected(what) }
      return .literal(try instant(name))
    }
    guard let name = columnName else { throw expected(what) }
    try advance()
    return .column(name)
  }

  /// Reads one end of an interval; `nil` for `'..'`, an open end.
  private mutating func bound() throws(FieldpackError) -> Operand? {
    guard case .text(let text) = token.kind else {
      return try moment("a date or a time in quotes, '..' or a column")
    }
    let value = try telling(token) { () throws(CQL2.Mistake) in try CQL2.bound(text) }
    try advance()
    return value.map { .literal($0) }
  }

  /// The name of the column at the current token; `nil` where the token names none.
  var columnName: String? {
    switch token.kind {
    case .name(let name): name
    case .word(let word): CQL2.reserved.contains(word.uppercasedASCII) ? nil : word
    default: nil
    }
  }

  mutating func arrayRelation(_ relation: ArrayRelation) throws(FieldpackError) -> Filter {
    try advance()
    try expect(.leftParenthesis, "'('")
    let first = try array()
    try expect(.comma, "','")
    let second = try array()
    try expect(.rightParenthesis, "')'")
    return .array(relation, first, second)
  }

  private mutating func array() throws(FieldpackError) -> Operand {
    if token.kind == .leftParenthesis { return .list(try elements()) }
    guard let name = columnName, try following().kind != .leftParenthesis else {
      throw expected("a column or an array such as ('a', 'b')")
    }
    try advance()
    return .column(name)
  }

  private mutating func elements() throws(FieldpackError) -> [Operand] {
    let opening = token
    try expect(.leftParenthesis, "'('")
    try enter(at: opening)
    defer { leave() }
    if try accept(.rightParenthesis) { return [] }
    var elements = [try element()]
    while try accept(.comma) { elements.append(try element()) }
    try expect(.rightParenthesis, "',' or ')'")
    return elements
  }

  private mutating func element() throws(FieldpackError) -> Operand {
    if try isArray() { return .list(try elements()) }
    return try disjunction("a value, a column or an array").operand
  }

  /// Whether the parenthesis at the current token opens an array. An operator behind its end says
  /// that it only groups a value.
  private func isArray() throws(FieldpackError) -> Bool {
    guard token.kind == .leftParenthesis else { return false }
    var ahead = lexer
    var open = 1
    while open > 0 {
      switch try ahead.next().kind {
      case .leftParenthesis: open += 1
      case .rightParenthesis: open -= 1
      case .end: return true
      default: break
      }
    }
    let next = try ahead.next().kind
    return next == .comma || next == .rightParenthesis
  }
}
