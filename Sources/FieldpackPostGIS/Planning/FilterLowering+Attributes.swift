import FieldpackCore

extension FilterLowering {
  func compare(_ a: Operand, _ comparison: Comparison, _ b: Operand) -> Lowered {
    if let left = a.constant, let right = b.constant {
      return comparison.answer(Comparand(left), Comparand(right)) == true ? .always : .never
    }
    if let column = column(a), let value = b.constant { return compare(column, comparison, value) }
    if let column = column(b), let value = a.constant {
      return compare(column, comparison.mirrored, value)
    }
    if let left = column(a), let right = column(b) { return compare(left, comparison, right) }
    return .unknown
  }

  private func compare(
    _ column: PostGISColumn, _ comparison: Comparison, _ value: Value
  ) -> Lowered {
    let scalar = Scalar(value)
    switch (column.kind, scalar) {
    case (_, .null): return .never
    case (.integer, .integer(let number)): return compare(column, comparison, integer: number)
    case (.integer, .real(let number)): return compare(column, comparison, real: number)
    case (.boolean, .integer(let number)): return compare(column, comparison, integer: number)
    case (.boolean, .real(let number)): return compare(column, comparison, real: number)
    case (.real, .integer(let number)): return compareReals(column, comparison, integer: number)
    case (.real, .real(let number)): return compareReals(column, comparison, number)
    case (.text, .text(let text)): return compare(column, comparison, text: text)
    case (.text, .moment(let moment)) where column.type == PostgresType.timestamp:
      return MomentComparison(column, isText: true).lowered(comparison, moment)
    // A text may name a moment.
    case (.text, .moment): return .unknown
    case (.blob, .blob(let bytes)):
      return Lowered("\(column.expression) \(comparison.rawValue) \(bind: .bytes(bytes))")
    case (.date, .text), (.date, .moment), (.instant, .text), (.instant, .moment):
      // A text that names no moment may equal a value that PostgreSQL cannot write as one.
      guard let moment = Moment(value) else { return .unknown }
      return MomentComparison(column).lowered(comparison, moment.milliseconds)
    default: return .never
    }
  }

  // MARK: Numbers

  /// The column as a number; a boolean is 0 or 1.
  private func number(_ column: PostGISColumn) -> String {
    column.kind == .boolean ? "\(column.expression)::int" : column.expression
  }

  private func compare(
    _ column: PostGISColumn, _ comparison: Comparison, integer: Int64
  ) -> Lowered {
    if column.kind == .boolean, comparison == .equal, integer == 0 || integer == 1 {
      return Lowered("\(column.expression) = \(integer == 1 ? "true" : "false")")
    }
    return Lowered("\(number(column)) \(comparison.rawValue) \(bind: .integer(integer))")
  }

  /// Compares whole numbers with a real, which is brought to the whole number beside it.
  private func compare(
    _ column: PostGISColumn, _ comparison: Comparison, real: Double
  ) -> Lowered {
    let isThere = Lowered("\(column.expression) IS NOT NULL")
    let isBeyond = real >= 0x1p63
    if isBeyond || real < -0x1p63 {
      let holds = comparison == .notEqual || comparison.isUpperBound == isBeyond
      return holds && comparison != .equal ? isThere : .never
    }
    let floor = Int64(real.rounded(.down))
    if Double(floor) == real { return compare(column, comparison, integer: floor) }
    switch comparison {
    case .equal: return .never
    case .notEqual: return isThere
    case .less, .lessOrEqual: return compare(column, .lessOrEqual, integer: floor)
    case .greater, .greaterOrEqual: return compare(column, .greater, integer: floor)
    }
  }

  /// Compares reals. NaN is NULL here, and more than every number in PostgreSQL.
  private func compareReals(
    _ column: PostGISColumn, _ comparison: Comparison, _ number: Double
  ) -> Lowered {
    let sql = column.expression
    let test: SQLPart = "\(sql) \(comparison.rawValue) \(bind: .real(number))"
    if comparison == .equal || comparison.isUpperBound { return Lowered(test) }
    return Lowered("(\(test) AND \(sql) <> 'NaN')")
  }

  private func compareReals(
    _ column: PostGISColumn, _ comparison: Comparison, integer: Int64
  ) -> Lowered {
    let nearest = Double(integer)
    let isAbove = nearest >= 0x1p63 || Int64(nearest) > integer
    if !isAbove, Int64(nearest) == integer { return compareReals(column, comparison, nearest) }
    // No real lies between the integer and the real that is nearest to it.
    switch comparison {
    case .equal: return .never
    case .notEqual:
      return Lowered("(\(column.expression) IS NOT NULL AND \(column.expression) <> 'NaN')")
    case .less, .lessOrEqual:
      return compareReals(column, isAbove ? .less : .lessOrEqual, nearest)
    case .greater, .greaterOrEqual:
      return compareReals(column, isAbove ? .greaterOrEqual : .greater, nearest)
    }
  }

  // MARK: Texts

  private func compare(
    _ column: PostGISColumn, _ comparison: Comparison, text: String
  ) -> Lowered {
    // PostgreSQL has no texts with NUL.
    guard !text.utf8.contains(0) else { return .unknown }
    if column.type == PostgresType.uuid, comparison == .equal {
      return text.isPlainUUID ? Lowered("\(column.quoted) = \(bind: .text(text))::uuid") : .never
    }
    return Lowered(
      "\(Self.collated(column)) \(comparison.rawValue) \(bind: .text(text))")
  }

  /// A text that compares by code point; the database is in UTF-8.
  static func collated(_ column: PostGISColumn) -> String {
    "(\(column.expression)) COLLATE \"C\""
  }

  // MARK: Columns

  private func compare(
    _ a: PostGISColumn, _ comparison: Comparison, _ b: PostGISColumn
  ) -> Lowered {
    let sign = comparison.rawValue
    switch (a.kind, b.kind) {
    case (.integer, .integer), (.integer, .boolean), (.boolean, .integer), (.boolean, .boolean):
      return Lowered("\(number(a)) \(sign) \(number(b))")
    case (.real, .real):
      let test = "\(a.expression) \(sign) \(b.expression)"
      return Lowered("(\(test) AND \(a.expression) <> 'NaN' AND \(b.expression) <> 'NaN')")
    case (.text, .text): return Lowered("\(Self.collated(a)) \(sign) \(b.expression)")
    case (.blob, .blob): return Lowered("\(a.expression) \(sign) \(b.expression)")
    // An integer and a real compare exactly, and texts may name moments.
    default: return .unknown
    }
  }

  // MARK: Lists, NULL and patterns

  func membership(
    _ value: Operand, _ list: [Operand], negated: Bool
  ) throws(FieldpackError) -> Lowered {
    guard list.count <= 30_000 else {
      throw FieldpackError(
        .invalidArgument, "an IN list takes at most 30000 values, this one has \(list.count)")
    }
    if let short = shortMembership(value, list, negated: negated) { return short }
    let parts = list.map { compare(value, negated ? .notEqual : .equal, $0) }
    return negated ? .all(parts) : .any(parts)
  }

  /// `column IN ($1, …)` where the column and all values are integers, or all are texts.
  private func shortMembership(
    _ value: Operand, _ list: [Operand], negated: Bool
  ) -> Lowered? {
    guard list.count > 1, let column = column(value), column.type != PostgresType.uuid else {
      return nil
    }
    var values: [SQLPart] = []
    for item in list {
      switch (column.kind, item.constant) {
      case (.integer, .integer(let number)?): values.append("\(bind: .integer(number))")
      case (.text, .text(let text)?) where !text.utf8.contains(0):
        values.append("\(bind: .text(text))")
      default: return nil
      }
    }
    let sql = column.kind == .text ? Self.collated(column) : column.expression
    return Lowered("\(sql) \(negated ? "NOT IN" : "IN") (\(.joined(values, by: ", ")))")
  }

  func nullTest(_ value: Operand, negated: Bool) -> Lowered {
    if let value = value.constant { return Scalar(value).isNull != negated ? .always : .never }
    if case .column(let name) = value {
      switch layer.schema.role(of: name) {
      case .id?: return negated ? .always : .never
      case .geometry?:
        guard let geometry = layer.geometry else { return .unknown }
        return Lowered("\(geometry.quoted) IS \(negated ? "NOT NULL" : "NULL")")
      default: break
      }
    }
    guard let column = column(value) else { return .unknown }
    let sql = column.expression
    guard column.kind == .real else {
      return Lowered("\(sql) IS \(negated ? "NOT NULL" : "NULL")")
    }
    return Lowered(
      negated
        ? "(\(sql) IS NOT NULL AND \(sql) <> 'NaN')" : "(\(sql) IS NULL OR \(sql) = 'NaN')")
  }

  func like(_ value: Operand, _ pattern: LikePattern, negated: Bool) -> Lowered {
    if let value = value.constant {
      guard case .text(let text) = Scalar(value) else { return .never }
      return pattern.matches(text) != negated ? .always : .never
    }
    guard let column = column(value) else { return .unknown }
    switch column.kind {
    case .integer, .boolean, .real, .blob: return .never
    // A pattern sees the text of a moment.
    case .date, .instant: return .unknown
    case .text: break
    }
    guard let text = Self.text(of: pattern) else { return .unknown }
    let test = negated ? "NOT LIKE" : "LIKE"
    return Lowered("\(Self.collated(column)) \(test) \(bind: .text(text)) ESCAPE '\\'")
  }

  /// The pattern as `LIKE` takes it; `nil` where it has a NUL.
  private static func text(of pattern: LikePattern) -> String? {
    var text = String.UnicodeScalarView()
    for element in pattern.elements {
      switch element {
      case .anyRun: text.append("%")
      case .anyCharacter: text.append("_")
      case .character("\0"): return nil
      case .character(let scalar):
        if ["%", "_", "\\"].contains(scalar) { text.append("\\") }
        text.append(scalar)
      }
    }
    return String(text)
  }
}
