/// Reads CQL2 Text by recursive descent.
struct CQL2Parser {
  private(set) var lexer: CQL2Lexer
  private(set) var token: CQL2Token
  private var depth = 0
  private var operations = 0

  /// What an operator joins. A parenthesis may hold a condition or an operand, and only what
  /// follows it tells which.
  enum Part {
    case condition(Filter)
    case operand(Operand)

    var operand: Operand {
      switch self {
      case .condition(let filter): .condition(filter)
      case .operand(let operand): operand
      }
    }
  }

  init(_ text: String) throws(FieldpackError) {
    try CQL2.checkLength(of: text)
    lexer = CQL2Lexer(text)
    token = try lexer.next()
  }

  mutating func filter() throws(FieldpackError) -> Filter {
    let start = token
    let part = try disjunction()
    let filter = try condition(part, from: start)
    guard token.kind == .end else { throw expected("AND, OR or the end") }
    return filter
  }

  /// Reads a condition, or an operand where no operator follows that makes it a condition.
  mutating func disjunction(_ what: String = "a condition") throws(FieldpackError) -> Part {
    let start = token
    let first = try conjunction(what)
    guard token.isWord("OR") else { return first }
    var parts = [try condition(first, from: start)]
    while try accept("OR") {
      let start = token
      let next = try conjunction("a condition")
      parts.append(try condition(next, from: start))
    }
    return .condition(.or(parts))
  }

  private mutating func conjunction(_ what: String) throws(FieldpackError) -> Part {
    let start = token
    let first = try negation(what)
    guard token.isWord("AND") else { return first }
    var parts = [try condition(first, from: start)]
    while try accept("AND") {
      let start = token
      let next = try negation("a condition")
      parts.append(try condition(next, from: start))
    }
    return .condition(.and(parts))
  }

  private mutating func negation(_ what: String) throws(FieldpackError) -> Part {
    let keyword = token
    guard try accept("NOT") else { return try predicate(what) }
    try enter(at: keyword)
    defer { depth -= 1 }
    let start = token
    let part = try negation("a condition")
    return .condition(.not(try condition(part, from: start)))
  }

  /// The condition that `part` is; `start` is its first token, for the error where it is none.
  private func condition(_ part: Part, from start: CQL2Token) throws(FieldpackError) -> Filter {
    switch part {
    case .condition(let filter): return filter
    case .operand(let operand):
      if let filter = CQL2.condition(operand) { return filter }
      if token.kind == .end { throw failure("a value alone is no condition", at: start) }
      throw expected("a comparison, BETWEEN, IN, LIKE or IS")
    }
  }

  mutating func enter(at token: CQL2Token) throws(FieldpackError) {
    depth += 1
    guard depth <= CQL2.maximumDepth else { throw failure(CQL2.tooDeep.message, at: token) }
  }

  mutating func leave() { depth -= 1 }

  mutating func countOperation(at token: CQL2Token) throws(FieldpackError) {
    operations += 1
    guard operations <= CQL2.maximumOperations else {
      throw failure(CQL2.tooManyOperations.message, at: token)
    }
  }
}

extension CQL2Parser {
  static let value = "a value or a column"

  /// Reads a comparison, `BETWEEN`, `IN`, `LIKE` or `IS NULL`; an operand alone where none of these
  /// follows it.
  private mutating func predicate(_ what: String) throws(FieldpackError) -> Part {
    let first = try sum(what)
    if case .comparison(let comparison) = token.kind {
      try advance()
      return .condition(.compare(first.operand, comparison, try sum(Self.value).operand))
    }
    if try accept("IS") {
      let isNegated = try accept("NOT")
      guard try accept("NULL") else { throw expected(isNegated ? "NULL" : "NULL or NOT NULL") }
      let test = Filter.isNull(first.operand)
      return .condition(isNegated ? .not(test) : test)
    }
    let isNegated = try accept("NOT")
    if let filter = try listPredicate(first) {
      return .condition(isNegated ? .not(filter) : filter)
    }
    if isNegated { throw expected("BETWEEN, IN or LIKE") }
    return first
  }

  private mutating func listPredicate(_ first: Part) throws(FieldpackError) -> Filter? {
    if try accept("BETWEEN") {
      let low = try sum(Self.value)
      guard try accept("AND") else { throw expected("AND") }
      return .between(first.operand, low.operand, try sum(Self.value).operand)
    }
    if try accept("IN") {
      try expect(.leftParenthesis, "'('")
      var items = [try sum(Self.value).operand]
      while try accept(.comma) { items.append(try sum(Self.value).operand) }
      try expect(.rightParenthesis, "',' or ')'")
      return .isIn(first.operand, items)
    }
    guard try accept("LIKE") else { return nil }
    let (pattern, folding) = try pattern()
    return .like(first.operand, pattern: pattern, folding: folding)
  }

  /// Reads a text in quotes, or a text in CASEI(…) or ACCENTI(…).
  private mutating func pattern() throws(FieldpackError) -> (String, [FilterFunction]) {
    var folding: [FilterFunction] = []
    while let name = try functionName(), let function = FilterFunction(rawValue: name) {
      try enter(at: token)
      try advance()
      try advance()
      folding.append(function)
    }
    guard case .text(let pattern) = token.kind else { throw expected("a pattern in quotes") }
    try advance()
    for _ in folding {
      try expect(.rightParenthesis, "')'")
      leave()
    }
    return (pattern, folding)
  }
}

extension CQL2Parser {
  /// The name in capitals of the function that the current token calls; `nil` where it calls none.
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

  /// The text of a range of bytes, cut to 40 characters.
  func source(_ range: Range<Int>) -> String {
    let text = text(range)
    return text.count <= 40 ? text : text.prefix(40) + "…"
  }

  /// The whole text of a range of bytes.
  func text(_ range: Range<Int>) -> String {
    String(decoding: lexer.bytes[range], as: UTF8.self)
  }

  func expected(_ what: String) -> FieldpackError {
    let found = token.kind == .end ? "the end" : "'\(source(token.range))'"
    return failure("expected \(what) but found \(found)", at: token)
  }

  /// Runs `body` and turns a mistake into an error that points at the token.
  func telling<T>(
    _ token: CQL2Token, _ body: () throws(CQL2.Mistake) -> T
  ) throws(FieldpackError) -> T {
    do throws(CQL2.Mistake) { return try body() } catch { throw failure(error.message, at: token) }
  }

  func failure(_ message: String, at token: CQL2Token) -> FieldpackError {
    lexer.failure(message, at: token.range.lowerBound)
  }

  func failure(_ message: String, atByte offset: Int) -> FieldpackError {
    lexer.failure(message, at: offset)
  }
}
