import FieldpackCore
import FieldpackGeometry
import FieldpackSQLite

extension FilterLowering {
  func compare(
    _ a: Operand, _ comparison: Comparison, _ b: Operand
  ) throws(FieldpackError) -> SQLFragment {
    switch (try column(a), try column(b)) {
    case (let left?, let right?): return compareColumns(left, comparison, right)
    case (let left?, nil): return compareColumn(left, comparison, literal(b))
    case (nil, let right?): return compareColumn(right, comparison.mirrored, literal(a))
    case (nil, nil): return try constant(.compare(a, comparison, b))
    }
  }

  private func literal(_ operand: Operand) -> Literal {
    if case .literal(let value) = operand { Literal(value) } else { Literal(.null) }
  }

  /// A condition without columns, answered here and now.
  private func constant(_ filter: Filter, negated: Bool = false) throws(FieldpackError)
    -> SQLFragment
  {
    let answer = try filter.evaluate(IDRow(number: 0), schema: Schema(layer: table.layer.id))
    return answer.map { $0 != negated } == true ? .isTrue : .isFalse
  }

  private func compareColumn(
    _ column: Side, _ comparison: Comparison, _ literal: Literal
  ) -> SQLFragment {
    guard let parameter = literal.parameter else { return .isFalse }
    if column.isTemporal || literal.isTemporal, literal.valueClass == .text {
      return compareMoments(column, comparison, literal, parameter)
    }
    // A numeric affinity would turn a text that looks like a number into one; plus takes it off.
    let takesOff = literal.valueClass == .text && column.valueClass != .text
    let sql = (takesOff ? "+" : "") + column.sql
    let collation = literal.valueClass == .text ? " COLLATE \(table.textCollation)" : ""
    let plain = SQLFragment("\(sql) \(comparison.rawValue) ?\(collation)", [parameter])
    if !needsGuard(column, comparison, literal.valueClass) { return plain }
    return .and([plain, Self.guardFragment(column, literal.valueClass)])
  }

  /// `column >= ? AND column <= ?` where the upper bound keeps other classes out; `nil` elsewhere.
  func literalRange(
    _ value: Operand, _ low: Operand, _ high: Operand
  ) throws(FieldpackError) -> SQLFragment? {
    guard let column = try column(value), case .literal = low, case .literal = high else {
      return nil
    }
    let (low, high) = (literal(low), literal(high))
    guard low.valueClass == high.valueClass, !low.isTemporal, !high.isTemporal,
      !needsGuard(column, .lessOrEqual, high.valueClass), let from = low.parameter,
      let to = high.parameter
    else { return nil }
    let collation = low.valueClass == .text ? " COLLATE \(table.textCollation)" : ""
    return SQLFragment(
      "(\(column.sql) >= ?\(collation) AND \(column.sql) <= ?\(collation))", [from, to])
  }

  /// Texts that name a moment compare as that moment, whatever their precision or zone, and other
  /// texts with texts that name none.
  private func compareMoments(
    _ column: Side, _ comparison: Comparison, _ literal: Literal, _ parameter: SQLiteValue
  ) -> SQLFragment {
    let moment = Self.moment(column.sql)
    if let milliseconds = literal.moment {
      return SQLFragment("\(moment) \(comparison.rawValue) ?", [.integer(milliseconds)])
    }
    return .and([
      SQLFragment("\(moment) IS NULL"), Self.guardFragment(column, .text),
      SQLFragment(
        "+\(column.sql) \(comparison.rawValue) ? COLLATE \(table.textCollation)", [parameter]),
    ])
  }

  private static func moment(_ sql: String) -> String { "fieldpack_instant(\(sql))" }

  /// Numbers sort before texts and texts before blobs, so some comparisons with a column of known
  /// affinity can only be true for the right class.
  private func needsGuard(_ column: Side, _ comparison: Comparison, _ wanted: Class) -> Bool {
    guard column.hasAffinity, column.valueClass == wanted else { return true }
    switch comparison {
    case .equal, .less, .lessOrEqual: return false
    case .notEqual, .greater, .greaterOrEqual: return true
    }
  }

  /// Keeps values of other classes out of a comparison.
  private static func guardFragment(_ column: Side, _ wanted: Class) -> SQLFragment {
    // Where values of lower classes cannot be, an upper bound is cheaper than a call of typeof, and
    // an index can use it: the least text for numbers, the least blob for texts.
    let isTyped = column.hasAffinity && column.valueClass == wanted
    return switch wanted {
    case .number where isTyped: SQLFragment("\(column.sql) < ''")
    case .text where isTyped: SQLFragment("\(column.sql) < X''")
    case .number: SQLFragment("typeof(\(column.sql)) IN ('integer', 'real')")
    case .blob: SQLFragment("typeof(\(column.sql)) = 'blob'")
    default: SQLFragment("typeof(\(column.sql)) = 'text'")
    }
  }

  private func compareColumns(
    _ left: Side, _ comparison: Comparison, _ right: Side
  ) -> SQLFragment {
    // The unary plus takes the affinities off, so that neither side is converted.
    let plain =
      "+\(left.sql) \(comparison.rawValue) +\(right.sql) COLLATE \(table.textCollation) "
      + "AND \(Self.storageClass(left.sql)) = \(Self.storageClass(right.sql))"
    guard left.isTemporal || right.isTemporal else { return SQLFragment("(\(plain))") }
    let (a, b) = (Self.moment(left.sql), Self.moment(right.sql))
    return SQLFragment(
      "CASE WHEN \(a) NOTNULL AND \(b) NOTNULL THEN \(a) \(comparison.rawValue) \(b) "
        + "WHEN \(a) ISNULL AND \(b) ISNULL THEN \(plain) END")
  }

  /// `integer`, `text` or `blob`: the class within which values compare.
  private static func storageClass(_ sql: String) -> String {
    "CASE typeof(\(sql)) WHEN 'real' THEN 'integer' ELSE typeof(\(sql)) END"
  }

  func membership(
    _ value: Operand, _ list: [Operand], negated: Bool
  ) throws(FieldpackError) -> SQLFragment {
    guard list.count <= 30_000 else {
      throw FieldpackError(
        .invalidArgument, "an IN list takes at most 30000 values, this one has \(list.count)")
    }
    if let short = try literalMembership(value, list, negated: negated) { return short }
    var parts: [SQLFragment] = []
    for item in list { parts.append(try compare(value, negated ? .notEqual : .equal, item)) }
    return negated ? .and(parts) : .or(parts)
  }

  /// `column IN (?, …)` where all literals are numbers or all are texts.
  private func literalMembership(
    _ value: Operand, _ list: [Operand], negated: Bool
  ) throws(FieldpackError) -> SQLFragment? {
    guard let column = try column(value), !column.isTemporal, list.count > 1 else { return nil }
    var parameters: [SQLiteValue] = []
    var classes: Set<Class> = []
    for case .literal(let item) in list {
      let literal = Literal(item)
      guard let parameter = literal.parameter, !literal.isTemporal else { return nil }
      classes.insert(literal.valueClass)
      parameters.append(parameter)
    }
    guard parameters.count == list.count, let only = classes.first, classes.count == 1,
      only == .number || only == .text
    else { return nil }
    let marks = Array(repeating: "?", count: list.count).joined(separator: ", ")
    let sql = only == .text ? "\(column.sql) COLLATE BINARY" : column.sql
    let plain = SQLFragment("\(sql) \(negated ? "NOT IN" : "IN") (\(marks))", parameters)
    if !needsGuard(column, negated ? .notEqual : .equal, only) { return plain }
    return .and([plain, Self.guardFragment(column, only)])
  }

  func nullTest(_ value: Operand, negated: Bool) throws(FieldpackError) -> SQLFragment {
    guard let column = try column(value, allowsGeometry: true) else {
      return try constant(.isNull(value), negated: negated)
    }
    return SQLFragment("\(column.sql) IS \(negated ? "NOT NULL" : "NULL")")
  }

  /// GLOB compares bytes and can use an index; LIKE in SQLite ignores the case of ASCII.
  func like(
    _ value: Operand, _ pattern: String, negated: Bool
  ) throws(FieldpackError) -> SQLFragment {
    guard let column = try column(value) else {
      return try constant(.like(value, pattern: pattern), negated: negated)
    }
    let glob = Self.glob(fromLike: pattern)
    guard glob.utf8.count <= 1_000 else {
      throw FieldpackError(
        .invalidArgument, "a LIKE pattern takes at most 1000 bytes, this one has \(glob.utf8.count)"
      )
    }
    if !negated, let range = prefixRange(column, pattern) { return range }
    return .and([
      SQLFragment("\(column.sql) \(negated ? "NOT GLOB" : "GLOB") ?", [.text(glob)]),
      Self.guardFragment(column, .text),
    ])
  }

  /// The texts that begin with a prefix, where the pattern asks for nothing else: all from the
  /// prefix to the next text that is no longer than it.
  private func prefixRange(_ column: Side, _ pattern: String) -> SQLFragment? {
    // Scalar by scalar: a wildcard and a combining mark behind it are one character.
    let scalars = pattern.unicodeScalars
    guard column.hasAffinity, column.valueClass == .text, scalars.last == "%",
      !scalars.dropLast().contains(where: { $0 == "%" || $0 == "_" || $0 == "\\" })
    else { return nil }
    let prefix = scalars.dropLast()
    guard let last = prefix.last,
      let next = Unicode.Scalar(last.value + 1) ?? Unicode.Scalar(last.value + 0x801)
    else { return nil }
    let end = String(String.UnicodeScalarView(prefix.dropLast())) + String(next)
    let collation = "COLLATE \(table.textCollation)"
    return SQLFragment(
      "(\(column.sql) >= ? \(collation) AND \(column.sql) < ? \(collation))",
      [.text(String(String.UnicodeScalarView(prefix))), .text(end)])
  }

  static func glob(fromLike pattern: String) -> String {
    var glob = ""
    var isEscaped = false
    for character in pattern.unicodeScalars {
      switch character {
      case "\\" where !isEscaped:
        isEscaped = true
        continue
      case "%" where !isEscaped: glob += "*"
      case "_" where !isEscaped: glob += "?"
      case "*", "?", "[": glob += "[\(character)]"
      default: glob.unicodeScalars.append(character)
      }
      isEscaped = false
    }
    return isEscaped ? glob + "\\" : glob
  }
}
