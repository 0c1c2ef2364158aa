import FieldpackCore
import FieldpackSQLite

/// Operands other than a column or a literal.
extension FilterLowering {
  /// An operand as SQL computes it.
  struct Term {
    var sql: SQLFragment
    var valueClass: Class
    var isTemporal = false
    /// Whether the value is always NULL or of `valueClass`, whatever the row holds.
    var isSure = false
    /// The column, where the operand is one.
    var column: ColumnTerm?
    /// The moment that a literal names.
    var moment: Int64?
    /// The sum or product without its parentheses, where the operand is one.
    var chain: Chain?
    /// Whether every number among the values is a real.
    var isReal = false

    static let null = Term(sql: "NULL", valueClass: .number, isSure: true)
  }

  /// A chain of operations that SQL evaluates from the left.
  struct Chain {
    var sql: SQLFragment
    var isProduct: Bool
  }

  func term(_ operand: Operand) throws(FieldpackError) -> Term {
    if let value = operand.constant { return Self.term(of: Literal(value)) }
    switch operand {
    case .arithmetic(let a, let operation, let b):
      return Self.arithmetic(try term(a), operation, try term(b))
    case .call(let function, let arguments):
      var fragments: [SQLFragment] = []
      for argument in arguments { fragments.append(try term(argument).sql) }
      let call = SQLFragment.call("fieldpack_\(function.rawValue.lowercased())", fragments)
      return Term(sql: call, valueClass: .text, isSure: true)
    case .condition(let filter): return try truth(filter)
    case .column, .literal, .interval, .list:
      guard let column = try column(operand) else { throw operand.isNoValue }
      return Term(
        sql: column.sql, valueClass: column.valueClass,
        isTemporal: column.isTemporal, column: column)
    }
  }

  private static func term(of literal: Literal) -> Term {
    guard let parameter = literal.parameter else { return .null }
    return Term(
      sql: "\(bind: parameter)", valueClass: literal.valueClass,
      isTemporal: literal.isTemporal, isSure: true, moment: literal.moment,
      isReal: literal.isReal)
  }

  /// The condition as 1, 0 or NULL. The SQL holds the condition twice, so the depth of nesting is
  /// limited.
  private func truth(_ filter: Filter) throws(FieldpackError) -> Term {
    guard conditionDepth < 6 else {
      throw FieldpackError(
        .unsupported, "a condition stands as a value in another at most 6 deep")
    }
    var inner = self
    inner.conditionDepth += 1
    let isTrue = try inner.lower(filter, negated: false)
    let isFalse = try inner.lower(filter, negated: true)
    return Term(
      sql: .firstTrue((isTrue, "1"), (isFalse, "0")).inParentheses,
      valueClass: .number, isSure: true)
  }

  private static func arithmetic(_ a: Term, _ operation: Arithmetic, _ b: Term) -> Term {
    guard !(a.isSure && a.valueClass != .number), !(b.isSure && b.valueClass != .number) else {
      return .null
    }
    switch operation {
    case .add, .subtract, .multiply, .divide: return chain(number(a), operation, number(b))
    case .remainder, .divideWhole, .power:
      // The functions check the classes of their arguments themselves.
      let call = SQLFragment.call(SQLFunctions.name(of: operation), [a.sql, b.sql])
      return Term(
        sql: call, valueClass: .number, isSure: true, isReal: operation == .power)
    }
  }

  /// The term, or NULL where it is no number. Without the guard SQLite would convert a text to a
  /// number.
  private static func number(_ term: Term) -> Term {
    guard !term.isSure else { return term }
    return Term(
      sql: .firstTrue((classGuard(term, .number), term.sql)), valueClass: .number, isSure: true)
  }

  /// SQLite's parser stack stays flat for `a + b + c` and grows for `a + (b + c)`. So a left
  /// operand loses its parentheses, and a deep right operand moves to the left where the operation
  /// commutes.
  private static func chain(_ a: Term, _ operation: Arithmetic, _ b: Term) -> Term {
    let commutes = operation == .add || operation == .multiply
    if commutes, b.sql.isDeep, b.sql.stack > a.sql.stack { return chain(b, operation, a) }
    let isProduct = operation == .multiply || operation == .divide
    var left = a.sql
    if let chain = a.chain, chain.isProduct || !isProduct { left = chain.sql }
    if operation == .divide, !a.isReal { left = .chain([left, "1.0"], by: " * ") }
    var right = b.sql
    if let chain = b.chain, chain.isProduct, !isProduct { right = chain.sql }
    let sql = SQLFragment.chain([left, right], by: " \(operation.rawValue) ")
    return Term(
      sql: sql.inParentheses, valueClass: .number, isSure: true,
      chain: Chain(sql: sql, isProduct: isProduct),
      isReal: operation == .divide || a.isReal || b.isReal)
  }

  private static func classGuard(_ term: Term, _ wanted: Class) -> SQLFragment {
    term.column.map { guardFragment($0, wanted) } ?? .isTrue
  }

  // MARK: Comparisons

  func compareTerms(_ a: Term, _ comparison: Comparison, _ b: Term) -> SQLFragment {
    if a.sql == Term.null.sql || b.sql == Term.null.sql { return .isFalse }
    let isTemporal = a.isTemporal || b.isTemporal
    let plain =
      isTemporal && (a.moment != nil || b.moment != nil)
      ? .isFalse : comparePlainly(a, comparison, b)
    guard isTemporal else { return plain }
    let (left, right) = (Self.moment(a), Self.moment(b))
    let moments = SQLFragment.joined([left, right], by: " \(comparison.rawValue) ")
    if plain == .isFalse { return moments }
    let areBoth = SQLFragment.joined([left.isNotNull, right.isNotNull], by: " AND ")
    let areNeither = SQLFragment.joined([left.isNull, right.isNull], by: " AND ")
    return SQLFragment.firstTrue((areBoth, moments), (areNeither, plain)).inParentheses
  }

  private static func moment(_ term: Term) -> SQLFragment {
    if let moment = term.moment { return "\(bind: .integer(moment))" }
    return SQLFragment(moment(term.sql), stack: 3 + term.sql.stack)
  }

  private func comparePlainly(_ a: Term, _ comparison: Comparison, _ b: Term) -> SQLFragment {
    if a.isSure, b.isSure, a.valueClass != b.valueClass { return .isFalse }
    // The unary plus removes a column's affinity, so that neither side is converted.
    let sides = [a, b].map { $0.column == nil ? $0.sql : "+\($0.sql)" }
    var test = SQLFragment.chain(sides, by: " \(comparison.rawValue) ")
    test += " COLLATE \(table.textCollation)"
    switch (a.isSure, b.isSure) {
    case (true, true): return test.inParentheses
    case (true, false): return .and([test, Self.classGuard(b, a.valueClass)])
    case (false, true): return .and([test, Self.classGuard(a, b.valueClass)])
    case (false, false):
      return .and([test, "\(Self.storageClass(a.sql)) = \(Self.storageClass(b.sql))"])
    }
  }
}

extension SQLFragment {
  /// A call. On the parser's stack lie the name, the parenthesis and, from the second argument on,
  /// the arguments before.
  static func call(_ function: String, _ arguments: [SQLFragment]) -> SQLFragment {
    SQLFragment(
      "\(function)(\(list(arguments, by: ", ")))",
      stack: max(
        6, 3 + (arguments.first?.stack ?? 0), 5 + (arguments.dropFirst().map(\.stack).max() ?? 0)))
  }

  /// The value of the first branch whose condition holds, else NULL.
  fileprivate static func firstTrue(
    _ branches: (when: SQLFragment, then: SQLFragment)...
  ) -> SQLFragment {
    SQLFragment(
      "CASE \(list(branches.map { "WHEN \($0) THEN \($1)" }, by: " ")) END",
      stack: branches.map { max(4 + $0.stack, 6 + $1.stack) }.max() ?? 0)
  }

  fileprivate var isNull: SQLFragment { SQLFragment("\(self) ISNULL", stack: stack) }
  fileprivate var isNotNull: SQLFragment { SQLFragment("\(self) NOTNULL", stack: stack) }
}
