import FieldpackCore
import FieldpackSQLite

/// Temporal conditions and conditions on arrays.
extension FilterLowering {
  /// `nil` where the condition is NULL for every row.
  func temporalTest(
    _ relation: TemporalRelation, _ a: Operand, _ b: Operand
  ) throws(FieldpackError) -> SQLFragment? {
    var kinds: Int64 = 0
    var arguments: [SQLFragment] = []
    for (index, bound) in (bounds(of: a) + bounds(of: b)).enumerated() {
      let (kind, sql) = try argument(bound)
      guard let kind else { return nil }
      kinds |= Int64(kind.rawValue) << (2 * index)
      arguments.append(sql)
    }
    return .call(
      SQLFunctions.name(of: relation), ["\(bind: .integer(kinds))"] + arguments)
  }

  /// Start and end of a period; `nil` is an open bound.
  private func bounds(of operand: Operand) -> [Operand?] {
    if case .interval(let start, let end) = operand { [start, end] } else { [operand, operand] }
  }

  /// The kind is `nil` where the bound names no moment.
  private func argument(
    _ bound: Operand?
  ) throws(FieldpackError) -> (kind: SQLFunctions.BoundKind?, sql: SQLFragment) {
    guard let bound else { return (.open, "0") }
    guard let value = bound.constant else { return (.text, try term(bound).sql) }
    guard let moment = Moment(value) else { return (nil, .isFalse) }
    return (moment.isDay ? .day : .instant, "\(bind: .integer(moment.milliseconds))")
  }

  /// `nil` where the condition is NULL for every row.
  func arrayTest(
    _ relation: ArrayRelation, _ a: Operand, _ b: Operand
  ) throws(FieldpackError) -> SQLFragment? {
    guard let left = try array(a), let right = try array(b) else { return nil }
    return .call(SQLFunctions.name(of: relation), [left, right])
  }

  private func array(_ operand: Operand) throws(FieldpackError) -> SQLFragment? {
    guard case .list(let operands) = operand else { return try term(operand).sql }
    return try list(operands)
  }

  /// The list as JSON: a parameter where all elements are constant, else a call that makes it from
  /// each row.
  private func list(_ operands: [Operand]) throws(FieldpackError) -> SQLFragment? {
    if let text = try constantList(operands) {
      return text.isEmpty ? nil : "\(bind: .text(text))"
    }
    var kinds = ""
    var arguments: [SQLFragment] = []
    for operand in operands {
      if case .list(let inner) = operand {
        guard let list = try list(inner) else { return nil }
        kinds += "l"
        arguments.append(list)
      } else {
        let term = try term(operand)
        kinds += term.isTemporal ? "t" : "v"
        arguments.append(term.sql)
      }
    }
    guard arguments.count < 100 else {
      throw FieldpackError(
        .unsupported, "an array with a column in it takes at most 99 elements")
    }
    return .call("fieldpack_list", ["\(literal(kinds))"] + arguments)
  }

  /// The JSON text of a constant list; `nil` where an element depends on the row, empty where one
  /// is NULL.
  private func constantList(_ operands: [Operand]) throws(FieldpackError) -> String? {
    var list = ListText()
    var hasNull = false
    for operand in operands {
      if case .list(let inner) = operand {
        guard let text = try constantList(inner) else { return nil }
        hasNull = hasNull || text.isEmpty
        list.append(list: text.utf8)
      } else {
        guard let value = operand.constant else { return nil }
        hasNull = hasNull || Literal(value).parameter == nil
        list.append(value, isTemporal: false)
      }
    }
    list.close()
    return hasNull ? "" : String(decoding: list.bytes, as: UTF8.self)
  }
}
