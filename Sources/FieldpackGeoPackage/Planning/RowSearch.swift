import FieldpackCore
import FieldpackSQLite

/// How SQLite comes to the rows of a layer that a query asks in no order of its own.
enum RowSearch: Equatable {
  /// Through the table in the order of its row ids.
  case throughTable
  /// Through something else whose rows have to be sorted by their ids afterwards: an index, mostly.
  case sorting
  /// Through an index that finds few rows by this part of the filter, though SQLite expects many.
  case finding(Filter)
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

/// The part of a filter by which an index was found to find few rows, in one state of the file: a
/// query is planned more than once.
struct SelectivePart {
  struct Asked: Equatable {
    var table: String
    var filter: Filter
    var version: UInt32
  }

  let asked: Asked
  let part: Filter?
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
        if let part = try selectivePart(table) { return .finding(part) }
      }
      let ranged = try details(newPlan(table, limit: nil, offset: 0, as: .range))
      return ranged.count == 1
        && ranged[0].hasSuffix(" USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)")
        ? .throughTable : .other
    }
  }

  /// Below so many ids a table is gone through as fast.
  private static let leastSpan: UInt64 = 2_000
  /// A row that is looked up takes about as long as so many that are passed over.
  private static let rowsForLookUp = 20

  /// The part of the filter by which an index finds few of the rows.
  ///
  /// SQLite takes a range that is open on one side for a quarter of the table, whatever its
  /// statistics. What the range holds is counted in the index alone, and no further than is of use.
  private func selectivePart(_ table: LayerTable) throws(FieldpackError) -> Filter? {
    guard !table.hasRowIDsOnly, let span = try idSpan(table), span >= Self.leastSpan else {
      return nil
    }
    // The table is gone through by several at once, what an index finds by one.
    let readers = span >= PiecePlan.leastIDs ? PieceReaders.mostReaders : 1
    let asked = SelectivePart.Asked(
      table: table.table, filter: filter(table), version: file.connection.snapshotVersion)
    if let kept = file.selectivePart, kept.asked == asked { return kept.part }
    let part = try selectivePart(
      table, asked.filter, span: span, rowsForLookUp: Self.rowsForLookUp * readers)
    file.selectivePart = SelectivePart(asked: asked, part: part)
    return part
  }

  private func selectivePart(
    _ table: LayerTable, _ filter: Filter, span: UInt64, rowsForLookUp: Int
  ) throws(FieldpackError) -> Filter? {
    let parts: [Filter] = if case .and(let parts) = filter { parts } else { [filter] }
    var most = Int(min(span / UInt64(rowsForLookUp), 100_000))
    var best: Filter?
    for part in parts.prefix(8) where part.mayBeRange {
      guard let count = try indexedCount(part, table, below: most) else { continue }
      (best, most) = (part, count)
    }
    guard let best, try hasRows(table, most * rowsForLookUp) else { return nil }
    return best
  }

  /// How many entries of an index a condition finds; `nil` where there is no index for it alone, or
  /// where there are `most` or more.
  private func indexedCount(
    _ part: Filter, _ table: LayerTable, below most: Int
  ) throws(FieldpackError) -> Int? {
    let condition = try lowering(table).condition(part)
    let sql =
      "SELECT count(*) FROM (SELECT 1 FROM \(quoted(table.table)) WHERE \(condition.text) "
      + "LIMIT \(most))"
    let lines = try file.rows("EXPLAIN QUERY PLAN " + sql, condition.parameters)
      .map { $0[3].textValue ?? "" }
    let isIndexed = lines.contains {
      $0.hasPrefix("SEARCH ") && $0.contains(" USING COVERING INDEX ")
    }
    guard isIndexed, let count = try file.integer(sql, condition.parameters), count < most else {
      return nil
    }
    return Int(count)
  }

  /// Whether there are so many rows; ids may lie far apart.
  private func hasRows(_ table: LayerTable, _ count: Int) throws(FieldpackError) -> Bool {
    let sql =
      "SELECT count(*) FROM (SELECT 1 FROM \(quoted(table.table)) LIMIT \(count))"
    return try file.integer(sql).map { $0 >= count } ?? false
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

extension Filter {
  /// Whether it may be a range of one column's values.
  fileprivate var mayBeRange: Bool {
    switch self {
    case .compare, .between, .like: true
    case .not(let part): part.mayBeRange
    default: false
    }
  }
}
