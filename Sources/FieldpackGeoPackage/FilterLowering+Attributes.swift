import FieldpackCore
import FieldpackSQLite

extension FilterLowering {
  func compare(
    _ a: Operand, _ comparison: Comparison, _ b: Operand
  ) throws(FieldpackError) -> SQLFragment {
    let left = try side(a)
    let right = try side(b)
    if left.literal == .null || right.literal == .null { return .isNull }
    switch (left.isColumn, right.isColumn) {
    case (true, false): return compareColumn(left, comparison, right)
    case (false, true): return compareColumn(right, comparison.mirrored, left)
    case (true, true): return compareColumns(left, comparison, right)
    case (false, false):
      guard left.valueClass == right.valueClass else { return .isNull }
      return SQLFragment("? \(comparison.rawValue) ?", left.parameters + right.parameters)
    }
  }

  private func compareColumn(
    _ column: Side, _ comparison: Comparison, _ literal: Side
  ) -> SQLFragment {
    if let instants = compareInstants(column, comparison, literal) { return instants }
    let wanted: Class = literal.valueClass == .date ? .text : literal.valueClass
    let collation = wanted == .text ? " COLLATE BINARY" : ""
    let plain = SQLFragment(
      "\(column.sql) \(comparison.rawValue) ?\(collation)", literal.parameters)
    if !needsGuard(column, comparison, wanted) { return plain }
    return .and([plain, SQLFragment(Self.guardSQL(column.sql, wanted))])
  }

  /// Numbers sort before texts and texts before blobs, so some comparisons with a column of known
  /// affinity can only be true for the right class.
  private func needsGuard(_ column: Side, _ comparison: Comparison, _ wanted: Class) -> Bool {
    guard column.hasAffinity, column.valueClass == wanted else { return true }
    switch comparison {
    case .equal, .less, .lessOrEqual: return false
    case .notEqual, .greater, .greaterOrEqual: return true
    }
  }

  static func guardSQL(_ sql: String, _ wanted: Class) -> String {
    switch wanted {
    case .number: "typeof(\(sql)) IN ('integer', 'real')"
    case .blob: "typeof(\(sql)) = 'blob'"
    default: "typeof(\(sql)) = 'text'"
    }
  }

  /// Instants compare as instants, whatever the text's precision or zone.
  private func compareInstants(
    _ column: Side, _ comparison: Comparison, _ literal: Side
  ) -> SQLFragment? {
    let instant: Int64
    switch (column.valueClass, literal.literal) {
    case (_, .dateTime(let value)?): instant = value.milliseconds
    case (.dateTime, .date(let day)?): instant = Int64(day.dayNumber) * 86_400_000
    case (.dateTime, .text(let text)?):
      guard let value = Instant(text) else { return nil }
      instant = value.milliseconds
    default: return nil
    }
    return SQLFragment(
      "fieldpack_instant(\(column.sql)) \(comparison.rawValue) ?", [.integer(instant)])
  }

  private func compareColumns(
    _ left: Side, _ comparison: Comparison, _ right: Side
  ) -> SQLFragment {
    if left.valueClass == .dateTime, right.valueClass == .dateTime {
      return SQLFragment(
        "fieldpack_instant(\(left.sql)) \(comparison.rawValue) fieldpack_instant(\(right.sql))")
    }
    func storageClass(_ sql: String) -> String {
      "CASE typeof(\(sql)) WHEN 'real' THEN 'integer' ELSE typeof(\(sql)) END"
    }
    // The unary plus takes the affinities off, so that neither side is converted.
    return SQLFragment(
      "(+\(left.sql) \(comparison.rawValue) +\(right.sql) COLLATE BINARY "
        + "AND \(storageClass(left.sql)) = \(storageClass(right.sql)))")
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
    let column = try side(value)
    guard column.isColumn, column.valueClass != .dateTime, list.count > 1 else { return nil }
    var parameters: [SQLiteValue] = []
    var classes: Set<Class> = []
    for case .literal(let item) in list {
      let literal = try side(.literal(item))
      classes.insert(literal.valueClass)
      parameters += literal.parameters
    }
    guard parameters.count == list.count, let only = classes.first, classes.count == 1,
      only == .number || only == .text
    else { return nil }
    let marks = Array(repeating: "?", count: list.count).joined(separator: ", ")
    let sql = only == .text ? "\(column.sql) COLLATE BINARY" : column.sql
    let plain = SQLFragment("\(sql) \(negated ? "NOT IN" : "IN") (\(marks))", parameters)
    if !needsGuard(column, negated ? .notEqual : .equal, only) { return plain }
    return .and([plain, SQLFragment(Self.guardSQL(column.sql, only))])
  }

  func nullTest(_ value: Operand, negated: Bool) throws(FieldpackError) -> SQLFragment {
    let tested = try side(value)
    if let literal = tested.literal { return literal.isNull != negated ? .isTrue : .isFalse }
    return SQLFragment("\(tested.sql) IS \(negated ? "NOT NULL" : "NULL")")
  }

  /// GLOB compares bytes and can use an index; LIKE in SQLite ignores the case of ASCII.
  func like(
    _ value: Operand, _ pattern: String, negated: Bool
  ) throws(FieldpackError) -> SQLFragment {
    let tested = try side(value)
    let glob = Self.glob(fromLike: pattern)
    return .and([
      SQLFragment(
        "\(tested.sql) \(negated ? "NOT GLOB" : "GLOB") ?", tested.parameters + [.text(glob)]),
      SQLFragment(Self.guardSQL(tested.sql, .text), tested.parameters),
    ])
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
