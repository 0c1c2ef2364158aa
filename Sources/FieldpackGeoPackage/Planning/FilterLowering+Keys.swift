import FieldpackCore
import FieldpackSQLite

extension FilterLowering {
  /// The conditions on single columns in a conjunction that an index can look up: a column alone on
  /// one side of a comparison, and a literal of its class on the other.
  func keyConditions(_ parts: [Filter]) throws(FieldpackError) -> [KeyCondition] {
    var conditions: [KeyCondition] = []
    for (index, part) in parts.enumerated() {
      for key in try keyConditions(part, negated: false) {
        conditions.append(
          KeyCondition(part: index, column: key.column, span: key.span, collation: key.collation))
      }
    }
    return conditions
  }

  private typealias Key = (column: SQLName, span: KeyCondition.Span, collation: String?)

  private func keyConditions(
    _ part: Filter, negated: Bool
  ) throws(FieldpackError) -> [Key] {
    switch part {
    case .not(let inner): return try keyConditions(inner, negated: !negated)
    case .compare(let a, let comparison, let b):
      let asked = negated ? comparison.negated : comparison
      if let found = try key(a, asked, b) { return [found] }
      if let found = try key(b, asked.mirrored, a) { return [found] }
    case .between(let value, let low, let high) where !negated:
      if let from = try key(value, .greaterOrEqual, low), try key(value, .lessOrEqual, high) != nil
      {
        return [(from.column, .between, from.collation)]
      }
    case .isIn(let value, let list) where !negated && !list.isEmpty:
      var keys: [Key] = []
      for item in list {
        guard let key = try key(value, .equal, item) else { return [] }
        keys.append(key)
      }
      return [keys[0]]
    case .isNull(let value) where !negated:
      if let name = try attribute(value)?.name { return [(name, .below, nil)] }
    case .like(let value, let pattern, let folding) where !negated:
      guard let (name, side) = try attribute(value), side.valueClass == .text, side.hasAffinity,
        case .character? = LikePattern(pattern, folding: folding).elements.first
      else { return [] }
      return [(name, .between, table.textCollation)]
    default: break
    }
    return []
  }

  /// The key of `column comparison literal` where an index can look it up.
  private func key(
    _ operand: Operand, _ comparison: Comparison, _ other: Operand
  ) throws(FieldpackError) -> Key? {
    guard let (name, side) = try attribute(operand), let value = other.constant else { return nil }
    let literal = Literal(value)
    // Dates and instants are compared as moments, and a text with a column of another class without
    // the column's affinity. An index holds neither.
    guard literal.parameter != nil, !side.isTemporal, !literal.isTemporal,
      literal.valueClass != .text || side.valueClass == .text
    else { return nil }
    let span: KeyCondition.Span
    switch comparison {
    case .equal: span = .equal
    case .less, .lessOrEqual: span = .below
    case .greater, .greaterOrEqual: span = .above
    case .notEqual: return nil
    }
    return (name, span, literal.valueClass == .text ? table.textCollation : nil)
  }

  /// The attribute column that an operand names; `nil` for the id and the geometry.
  private func attribute(_ operand: Operand) throws(FieldpackError) -> (
    name: SQLName, side: ColumnTerm
  )? {
    guard case .column(let name) = operand,
      case .attribute(let index)? = table.schema.role(of: name),
      let side = try column(operand)
    else { return nil }
    return (SQLName(table.schema.columns[index].name), side)
  }
}
