import FieldpackCore
import FieldpackSQLite

/// Operands that are more than a column or a literal.
extension FilterLowering {
  /// An operand as SQL computes it.
  struct Term {
    var sql: SQLFragment
    var valueClass: Class
    var isTemporal = false
    /// Whether the value is NULL or of the class, whatever the row holds.
    var isSure = false
    /// The column that it is.
    var column: Side?
    /// The moment that a literal names.
    var moment: Int64?

    static let null = Term(sql: SQLFragment("NULL"), valueClass: .number, isSure: true)
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
        sql: SQLFragment(column.sql), valueClass: column.valueClass,
        isTemporal: column.isTemporal, column: column)
    }
  }

  private static func term(of literal: Literal) -> Term {
    guard let parameter = literal.parameter else { return .null }
    return Term(
      sql: SQLFragment("?", [parameter]), valueClass: literal.valueClass,
      isTemporal: literal.isTemporal, isSure: true, moment: literal.moment)
  }

  /// 1, 0 or NULL. The condition stands there twice, so few fit into one another.
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
      sql: SQLFragment(
        "CASE WHEN \(isTrue.text) THEN 1 WHEN \(isFalse.text) THEN 0 END",
        isTrue.parameters + isFalse.parameters
      ).inParentheses, valueClass: .number, isSure: true)
  }

  /// SQLite would take the number out of a text, so only numbers are let in.
  private static func arithmetic(_ a: Term, _ operation: Arithmetic, _ b: Term) -> Term {
    guard !(a.isSure && a.valueClass != .number), !(b.isSure && b.valueClass != .number) else {
      return .null
    }
    let result: SQLFragment
    switch operation {
    case .add, .subtract, .multiply:
      result = .joined([a.sql, b.sql], by: " \(operation.rawValue) ")
    case .divide:
      let real = SQLFragment("CAST(\(a.sql.text) AS REAL)", a.sql.parameters)
      result = .joined([real, b.sql], by: " / ")
    case .remainder, .divideWhole, .power:
      // These look at the classes themselves.
      let call = SQLFragment.call(SQLFunctions.name(of: operation), [a.sql, b.sql])
      return Term(sql: call, valueClass: .number, isSure: true)
    }
    let guards = [a, b].filter { !$0.isSure }.map { classGuard($0, .number) }
    guard !guards.isEmpty else { return Term(sql: result, valueClass: .number, isSure: true) }
    let allowed = SQLFragment.and(guards)
    return Term(
      sql: SQLFragment(
        "CASE WHEN \(allowed.text) THEN \(result.text) END",
        allowed.parameters + result.parameters
      ).inParentheses, valueClass: .number, isSure: true)
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
    return SQLFragment(
      "CASE WHEN \(areBoth.text) THEN \(moments.text) WHEN \(areNeither.text) THEN \(plain.text) END",
      areBoth.parameters + moments.parameters + areNeither.parameters + plain.parameters
    ).inParentheses
  }

  private static func moment(_ term: Term) -> SQLFragment {
    if let moment = term.moment { return SQLFragment("?", [.integer(moment)]) }
    return SQLFragment(moment(term.sql.text), term.sql.parameters)
  }

  private func comparePlainly(_ a: Term, _ comparison: Comparison, _ b: Term) -> SQLFragment {
    if a.isSure, b.isSure, a.valueClass != b.valueClass { return .isFalse }
    // The unary plus takes a column's affinity off, so that neither side is converted.
    let sides = [a, b].map { term in
      term.column == nil
        ? term.sql : SQLFragment("+\(term.sql.text)", term.sql.parameters)
    }
    let test = SQLFragment(
      "\(sides[0].text) \(comparison.rawValue) \(sides[1].text) COLLATE \(table.textCollation)",
      sides[0].parameters + sides[1].parameters)
    switch (a.isSure, b.isSure) {
    case (true, true): return test.inParentheses
    case (true, false): return .and([test, Self.classGuard(b, a.valueClass)])
    case (false, true): return .and([test, Self.classGuard(a, b.valueClass)])
    case (false, false):
      let classes = SQLFragment(
        "\(Self.storageClass(a.sql.text)) = \(Self.storageClass(b.sql.text))",
        a.sql.parameters + a.sql.parameters + b.sql.parameters + b.sql.parameters)
      return .and([test, classes])
    }
  }
}

extension SQLFragment {
  static func call(_ function: String, _ arguments: [SQLFragment]) -> SQLFragment {
    SQLFragment(
      "\(function)(\(arguments.map(\.text).joined(separator: ", ")))",
      arguments.flatMap(\.parameters))
  }

  var inParentheses: SQLFragment { SQLFragment("(\(text))", parameters) }
  fileprivate var isNull: SQLFragment { SQLFragment("\(text) ISNULL", parameters) }
  fileprivate var isNotNull: SQLFragment { SQLFragment("\(text) NOTNULL", parameters) }
}
