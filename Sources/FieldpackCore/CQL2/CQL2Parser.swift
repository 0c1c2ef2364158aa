/// Reads CQL2 Text by recursive descent.
struct CQL2Parser {
  static let maximumByteCount = 1 << 20
  static let maximumDepth = 64

  private var lexer: CQL2Lexer
  private(set) var token: CQL2Token
  private var depth = 0

  init(_ text: String) throws(FieldpackError) {
    guard text.utf8.count <= Self.maximumByteCount else {
      throw FieldpackError(
        .invalidArgument,
        "the condition has \(text.utf8.count) bytes, more than the limit of "
          + "\(Self.maximumByteCount)")
    }
    lexer = CQL2Lexer(text)
    token = try lexer.next()
  }

  mutating func filter() throws(FieldpackError) -> Filter {
    let filter = try disjunction()
    guard token.kind == .end else { throw expected("AND, OR or the end") }
    return filter
  }

  private mutating func disjunction() throws(FieldpackError) -> Filter {
    var parts = [try conjunction()]
    while try accept("OR") { parts.append(try conjunction()) }
    return parts.count == 1 ? parts[0] : .or(parts)
  }

  private mutating func conjunction() throws(FieldpackError) -> Filter {
    var parts = [try negation()]
    while try accept("AND") { parts.append(try negation()) }
    return parts.count == 1 ? parts[0] : .and(parts)
  }

  private mutating func negation() throws(FieldpackError) -> Filter {
    let place = token
    guard try accept("NOT") else { return try primary() }
    try enter(at: place)
    defer { depth -= 1 }
    return .not(try negation())
  }

  private mutating func primary() throws(FieldpackError) -> Filter {
    let place = token
    if try accept(.leftParenthesis) {
      try enter(at: place)
      defer { depth -= 1 }
      let filter = try disjunction()
      try expect(.rightParenthesis, "AND, OR or ')'")
      return filter
    }
    if let name = try functionName() {
      if let relation = CQL2.relations[name] { return try spatialRelation(relation) }
      guard CQL2.temporalFunctions.contains(name) else { throw unknownFunction(name) }
    }
    return try predicate()
  }

  private mutating func enter(at place: CQL2Token) throws(FieldpackError) {
    depth += 1
    guard depth <= Self.maximumDepth else {
      throw failure("the condition is nested more than \(Self.maximumDepth) deep", at: place)
    }
  }
}

extension CQL2Parser {
  /// A comparison, `BETWEEN`, `IN`, `LIKE`, `IS NULL`, or a boolean alone.
  private mutating func predicate() throws(FieldpackError) -> Filter {
    let first = token
    let operand = try operand("a condition")
    if case .comparison(let comparison) = token.kind {
      try advance()
      return .compare(operand, comparison, try self.operand("a value or a column"))
    }
    if try accept("IS") {
      let isNegated = try accept("NOT")
      guard try accept("NULL") else { throw expected(isNegated ? "NULL" : "NULL or NOT NULL") }
      return isNegated ? .not(.isNull(operand)) : .isNull(operand)
    }
    let isNegated = try accept("NOT")
    if let filter = try listPredicate(operand) { return isNegated ? .not(filter) : filter }
    if isNegated { throw expected("BETWEEN, IN or LIKE") }
    switch operand {
    case .literal(.boolean(true)): return .all
    case .literal(.boolean(false)): return .not(.all)
    case .column: return .compare(operand, .equal, .literal(.boolean(true)))
    case .literal:
      if token.kind == .end { throw failure("a value alone is no condition", at: first) }
      throw expected("a comparison, BETWEEN, IN, LIKE or IS")
    }
  }

  private mutating func listPredicate(_ operand: Operand) throws(FieldpackError) -> Filter? {
    if try accept("BETWEEN") {
      let low = try self.operand("a value or a column")
      guard try accept("AND") else { throw expected("AND") }
      return .between(operand, low, try self.operand("a value or a column"))
    }
    if try accept("IN") { return .isIn(operand, try list()) }
    guard try accept("LIKE") else { return nil }
    guard case .text(let pattern) = token.kind else { throw expected("a pattern in quotes") }
    try advance()
    return .like(operand, pattern: pattern)
  }

  private mutating func list() throws(FieldpackError) -> [Operand] {
    try expect(.leftParenthesis, "'('")
    var items = [try operand("a value or a column")]
    while try accept(.comma) { items.append(try operand("a value or a column")) }
    try expect(.rightParenthesis, "',' or ')'")
    return items
  }

  private mutating func operand(_ what: String) throws(FieldpackError) -> Operand {
    let found = token
    if let name = try functionName() {
      guard CQL2.temporalFunctions.contains(name) else { throw unknownFunction(name) }
      return .literal(try temporal(name))
    }
    let operand: Operand
    switch found.kind {
    case .integer(let value): operand = .literal(.integer(value))
    case .real(let value): operand = .literal(.real(value))
    case .text(let value): operand = .literal(.text(value))
    case .name(let name): operand = .column(name)
    case .word(let word):
      switch word.uppercasedASCII {
      case "TRUE": operand = .literal(.boolean(true))
      case "FALSE": operand = .literal(.boolean(false))
      case "NULL": throw failure("nothing compares with NULL: write IS NULL", at: found)
      case let upper where CQL2.reserved.contains(upper): throw expected(what)
      default: operand = .column(word)
      }
    default: throw expected(what)
    }
    try advance()
    return operand
  }

  private mutating func temporal(_ name: String) throws(FieldpackError) -> Value {
    try advance()
    try expect(.leftParenthesis, "'('")
    let place = token
    guard case .text(let text) = token.kind else { throw expected("a text in quotes") }
    try advance()
    try expect(.rightParenthesis, "')'")
    if name == "DATE" {
      guard let date = CalendarDate(text) else {
        throw failure("'\(text)' is not a date such as 2020-01-31", at: place)
      }
      return .date(date)
    }
    guard let instant = Instant(exactly: text) else {
      throw failure(
        "'\(text)' is not a time to the millisecond with a zone, such as 2020-01-31T12:00:00Z",
        at: place)
    }
    return .dateTime(instant)
  }
}

extension CQL2Parser {
  /// The name of the function that is called here, in capitals; `nil` where none is.
  func functionName() throws(FieldpackError) -> String? {
    guard case .word(let word) = token.kind else { return nil }
    let name = word.uppercasedASCII
    guard !CQL2.reserved.contains(name), try following().kind == .leftParenthesis else {
      return nil
    }
    return name
  }

  /// The token after the current one.
  func following() throws(FieldpackError) -> CQL2Token {
    var ahead = lexer
    return try ahead.next()
  }

  private func unknownFunction(_ name: String) -> FieldpackError {
    if name == "BBOX" || CQL2.isGeometryName(name) {
      return failure(
        "a geometry stands inside a function such as S_INTERSECTS(geom, \(name)(…))", at: token)
    }
    let known = CQL2.relations.keys.sorted() + CQL2.temporalFunctions
    return failure(
      "function '\(name)' is not known (there are: \(known.joined(separator: ", ")))", at: token)
  }

  mutating func advance() throws(FieldpackError) { token = try lexer.next() }

  mutating func accept(_ kind: CQL2Token.Kind) throws(FieldpackError) -> Bool {
    guard token.kind == kind else { return false }
    try advance()
    return true
  }

  mutating func accept(_ keyword: String) throws(FieldpackError) -> Bool {
    guard token.isWord(keyword) else { return false }
    try advance()
    return true
  }

  mutating func expect(_ kind: CQL2Token.Kind, _ what: String) throws(FieldpackError) {
    guard try accept(kind) else { throw expected(what) }
  }

  /// The text of some bytes, cut where it is long.
  func source(_ range: Range<Int>) -> String {
    let text = String(decoding: lexer.bytes[range], as: UTF8.self)
    return text.count <= 40 ? text : text.prefix(40) + "…"
  }

  /// The whole text of some bytes.
  func text(_ range: Range<Int>) -> String {
    String(decoding: lexer.bytes[range], as: UTF8.self)
  }

  func expected(_ what: String) -> FieldpackError {
    let found = token.kind == .end ? "the end" : "'\(source(token.range))'"
    return failure("expected \(what) but found \(found)", at: token)
  }

  func failure(_ message: String, at token: CQL2Token) -> FieldpackError {
    lexer.failure(message, at: token.range.lowerBound)
  }

  func failure(_ message: String, atByte offset: Int) -> FieldpackError {
    lexer.failure(message, at: offset)
  }
}

extension Instant {
  /// The moment that `text` names with a zone and without digits beyond the millisecond.
  fileprivate init?(exactly text: String) {
    var text = text
    let parsed = text.withUTF8 { DateTimeParser.dateTime($0) }
    guard let parsed, parsed.hasZone, parsed.fractionDigits <= 3 else { return nil }
    self = parsed.instant
  }
}
