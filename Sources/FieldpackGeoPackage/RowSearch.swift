import FieldpackCore
import FieldpackSQLite

/// How SQLite comes to the rows of a layer that a query asks in no order of its own.
enum RowSearch {
  /// Through the table in the order of its row ids.
  case throughTable
  /// Through something else whose rows have to be sorted by their ids afterwards: an index, mostly.
  case sorting
  /// In any other way.
  case other
}

/// What is known of a query's layers, so that SQLite is asked but once.
final class KnownSearches {
  private var known: [(table: String, search: RowSearch)] = []

  func search(
    _ table: String, orFind find: () throws(FieldpackError) -> RowSearch
  ) throws(FieldpackError) -> RowSearch {
    if let found = known.first(where: { $0.table == table }) { return found.search }
    let search = try find()
    known.append((table, search))
    return search
  }
}

extension QueryPlanner {
  /// A view numbers its rows itself, and what an index finds, ranges of row ids would only find
  /// later.
  func search(_ table: LayerTable) throws(FieldpackError) -> RowSearch {
    try searches.search(table.table) { () throws(FieldpackError) in
      guard !table.layer.isView, table.idSQL != nil else { return .other }
      if try hasTableOnly(table) { return .throughTable }
      if filter(table) != .all {
        let whole = try details(newPlan(table, limit: nil, offset: 0, as: .rows))
        if whole.last == "USE TEMP B-TREE FOR ORDER BY" { return .sorting }
        guard whole.count == 1, whole[0].hasPrefix("SCAN"), !whole[0].contains(" USING ") else {
          return .other
        }
      }
      let ranged = try details(newPlan(table, limit: nil, offset: 0, as: .range))
      return ranged.count == 1
        && ranged[0].hasSuffix(" USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)")
        ? .throughTable : .other
    }
  }

  /// Whether there is nothing but the table to find the rows by, so that SQLite need not be asked.
  private func hasTableOnly(_ table: LayerTable) throws(FieldpackError) -> Bool {
    let filter = filter(table)
    guard table.hasRowIDsOnly, !filter.isSpatial, let id = table.idSQL else { return false }
    if filter == .all { return true }
    let condition = try lowering(table).condition(filter)
    // Where none can be true SQLite reads nothing.
    return condition != .isFalse && !condition.text.contains(id)
  }

  /// The plan that lends all rows without testing each rowid against a range; `nil` where SQLite
  /// would not lend them in order.
  func wholeLentPlan(_ table: LayerTable) throws(FieldpackError) -> LayerQuery? {
    let whole = try plan(table, limit: nil, offset: 0, as: .lent)
    if whole.readsCandidates { return whole }
    if try hasTableOnly(table) { return whole }
    let lines = try details(whole)
    return lines.count == 1 && lines[0].hasPrefix("SCAN") && !lines[0].contains(" USING ")
      ? whole : nil
  }

  /// The lines of `EXPLAIN QUERY PLAN`.
  func details(_ plan: LayerQuery) throws(FieldpackError) -> [String] {
    let sql = "EXPLAIN QUERY PLAN " + plan.statement.text
    return try file.rows(sql, plan.statement.parameters).map { $0[3].textValue ?? "" }
  }
}
