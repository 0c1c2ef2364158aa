import FieldpackCore
import FieldpackGeometry
import FieldpackSQLite

extension FilterLowering {
  func compare(
    _ a: Operand, _ comparison: Comparison, _ b: Operand
  ) throws(FieldpackError) -> SQLFragment {
    let (left, right) = (try column(a), try column(b))
    switch (left, left == nil ? a.constant : nil, right, right == nil ? b.constant : nil) {
    case (let left?, _, let right?, _): return compareColumns(left, comparison, right)
    case (let left?, _, _, let value?): return compareColumn(left, comparison, Literal(value))
    case (_, let value?, let right?, _):
      return compareColumn(right, comparison.mirrored, Literal(value))
    case (_, let left?, _, let right?):
      return comparison.answer(Comparand(left), Comparand(right)) == true ? .isTrue : .isFalse
    default: return compareTerms(try term(a), comparison, try term(b))
    }
  }

  private func compareColumn(
    _ column: ColumnTerm, _ comparison: Comparison, _ literal: Literal
  ) -> SQLFragment {
    guard let parameter = literal.parameter else { return .isFalse }
    if column.isTemporal || literal.isTemporal, literal.valueClass == .text {
      return compareMoments(column, comparison, literal, parameter)
    }
    // The unary plus removes the column's affinity. A numeric affinity would convert a text literal
    // that looks like a number.
    let takesOff = literal.valueClass == .text && column.valueClass != .text
    let sql = takesOff ? "+\(column.sql)" : column.sql
    let collation = literal.valueClass == .text ? " COLLATE \(table.textCollation)" : ""
    let plain: SQLFragment = "\(sql) \(comparison.rawValue) \(bind: parameter)\(collation)"
    if !needsGuard(column, comparison, literal.valueClass) { return plain }
    return .and([plain, Self.guardFragment(column, literal.valueClass)])
  }

  /// `column >= ? AND column <= ?` where the upper bound keeps other classes out; `nil` elsewhere.
  func literalRange(
    _ value: Operand, _ low: Operand, _ high: Operand
  ) throws(FieldpackError) -> SQLFragment? {
    guard let column = try column(value), let lowest = low.constant, let highest = high.constant
    else { return nil }
    let (low, high) = (Literal(lowest), Literal(highest))
    guard low.valueClass == high.valueClass, !low.isTemporal, !high.isTemporal,
      !needsGuard(column, .lessOrEqual, high.valueClass), let from = low.parameter,
      let to = high.parameter
    else { return nil }
    let collation = low.valueClass == .text ? " COLLATE \(table.textCollation)" : ""
    let sql = column.sql
    return "(\(sql) >= \(bind: from)\(collation) AND \(sql) <= \(bind: to)\(collation))"
  }

  /// Two texts that name moments compare as moments, whatever their precision or zone. A text that
  /// names none compares as text, and only with other texts that name none.
  private func compareMoments(
    _ column: ColumnTerm, _ comparison: Comparison, _ literal: Literal, _ parameter: SQLiteValue
  ) -> SQLFragment {
    let moment = Self.moment(column.sql)
    if let milliseconds = literal.moment {
      return "\(moment) \(comparison.rawValue) \(bind: .integer(milliseconds))"
    }
    let (sql, collation) = (column.sql, table.textCollation)
    return .and([
      "\(moment) IS NULL", Self.guardFragment(column, .text),
      "+\(sql) \(comparison.rawValue) \(bind: parameter) COLLATE \(collation)",
    ])
  }

  static func moment(_ sql: SQLFragment) -> SQLFragment { "fieldpack_instant(\(sql))" }

  /// Whether the comparison needs a guard for the class. SQLite sorts numbers before texts and
  /// texts before blobs (https://www.sqlite.org/datatype3.html#sort_order), so `<` on a typed
  /// column already keeps the classes above out.
  private func needsGuard(_ column: ColumnTerm, _ comparison: Comparison, _ wanted: Class) -> Bool {
    guard Self.isTyped(column, wanted) else { return true }
    switch comparison {
    case .equal, .less, .lessOrEqual: return false
    case .notEqual, .greater, .greaterOrEqual: return true
    }
  }

  /// Keeps values of other classes out of a comparison.
  static func guardFragment(_ column: ColumnTerm, _ wanted: Class) -> SQLFragment {
    // A typed column holds no lower classes, so an upper bound is enough and cheaper than typeof:
    // the least text for numbers, the least blob for texts. The unary plus hides the bound from the
    // indexes: SQLite would combine it with a lower bound, take the range for narrow and look up
    // every row.
    let isTyped = isTyped(column, wanted)
    return switch wanted {
    case .number where isTyped: "+\(column.sql) < ''"
    case .text where isTyped: "+\(column.sql) < X''"
    case .number: "typeof(\(column.sql)) IN ('integer', 'real')"
    case .blob: "typeof(\(column.sql)) = 'blob'"
    default: "typeof(\(column.sql)) = 'text'"
    }
  }

  private static func isTyped(_ column: ColumnTerm, _ wanted: Class) -> Bool {
    column.hasAffinity && column.valueClass == wanted
  }

  private func compareColumns(
    _ left: ColumnTerm, _ comparison: Comparison, _ right: ColumnTerm
  ) -> SQLFragment {
    // The unary plus removes the affinities, so that neither side is converted.
    let plain: SQLFragment = """
      +\(left.sql) \(comparison.rawValue) +\(right.sql) COLLATE \(table.textCollation) \
      AND \(Self.storageClass(left.sql)) = \(Self.storageClass(right.sql))
      """
    guard left.isTemporal || right.isTemporal else { return "(\(plain))" }
    let (a, b) = (Self.moment(left.sql), Self.moment(right.sql))
    return """
      CASE WHEN \(a) NOTNULL AND \(b) NOTNULL THEN \(a) \(comparison.rawValue) \(b) \
      WHEN \(a) ISNULL AND \(b) ISNULL THEN \(plain) END
      """
  }

  /// `integer`, `text` or `blob`: the class of a value. Values of different classes do not compare.
  static func storageClass(_ sql: SQLFragment) -> SQLFragment {
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
    for item in list {
      guard let value = item.constant else { return nil }
      let literal = Literal(value)
      guard let parameter = literal.parameter, !literal.isTemporal else { return nil }
      classes.insert(literal.valueClass)
      parameters.append(parameter)
    }
    guard let only = classes.first, classes.count == 1,
      only == .number || only == .text
    else { return nil }
    let sql: SQLFragment = only == .text ? "\(column.sql) COLLATE BINARY" : column.sql
    let plain: SQLFragment = "\(sql) \(negated ? "NOT IN" : "IN") (\(bind: parameters))"
    if !needsGuard(column, negated ? .notEqual : .equal, only) { return plain }
    return .and([plain, Self.guardFragment(column, only)])
  }

  func nullTest(_ value: Operand, negated: Bool) throws(FieldpackError) -> SQLFragment {
    let test = "IS \(negated ? "NOT NULL" : "NULL")"
    if let column = try column(value, allowsGeometry: true) {
      return "\(column.sql) \(test)"
    }
    if let value = value.constant {
      return Scalar(value).isNull != negated ? .isTrue : .isFalse
    }
    let term = try term(value)
    return SQLFragment("\(term.sql) \(test)", stack: term.sql.stack)
  }

  /// Uses GLOB, which compares bytes and can use an index. LIKE in SQLite ignores the case of
  /// ASCII.
  func like(
    _ value: Operand, _ pattern: LikePattern, negated: Bool
  ) throws(FieldpackError) -> SQLFragment {
    let glob = Self.glob(pattern)
    guard glob.utf8.count <= 1_000 else {
      throw FieldpackError(
        .invalidArgument, "a LIKE pattern takes at most 1000 bytes, this one has \(glob.utf8.count)"
      )
    }
    let test = negated ? "NOT GLOB" : "GLOB"
    if let column = try column(value) {
      if !negated, let range = prefixRange(column, pattern) { return range }
      return .and([
        "\(column.sql) \(test) \(bind: .text(glob))", Self.guardFragment(column, .text),
      ])
    }
    let term = try term(value)
    guard term.isSure, term.valueClass == .text, !term.isTemporal else { return .isFalse }
    return SQLFragment("\(term.sql) \(test) \(bind: .text(glob))", stack: term.sql.stack)
  }

  /// The range of texts that begin with a prefix, for a pattern that is only a prefix: from the
  /// prefix up to the next text of the same length.
  private func prefixRange(_ column: ColumnTerm, _ pattern: LikePattern) -> SQLFragment? {
    guard column.hasAffinity, column.valueClass == .text, pattern.elements.last == .anyRun
    else { return nil }
    var prefix = String.UnicodeScalarView()
    for element in pattern.elements.dropLast() {
      guard case .character(let scalar) = element else { return nil }
      prefix.append(scalar)
    }
    guard let last = prefix.last,
      let next = Unicode.Scalar(last.value + 1) ?? Unicode.Scalar(last.value + 0x801)
    else { return nil }
    let end = String(String.UnicodeScalarView(prefix.dropLast())) + String(next)
    let (from, to) = (SQLiteValue.text(String(prefix)), SQLiteValue.text(end))
    let (sql, collation) = (column.sql, "COLLATE \(table.textCollation)")
    return "(\(sql) >= \(bind: from) \(collation) AND \(sql) < \(bind: to) \(collation))"
  }

  static func glob(_ pattern: LikePattern) -> String {
    var glob = String.UnicodeScalarView()
    for element in pattern.elements {
      switch element {
      case .anyRun: glob.append("*")
      case .anyCharacter: glob.append("?")
      case .character(let scalar):
        if ["*", "?", "["].contains(scalar) {
          glob.append(contentsOf: ["[", scalar, "]"])
        } else {
          glob.append(scalar)
        }
      }
    }
    return String(glob)
  }
}
