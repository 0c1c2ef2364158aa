import FieldpackCore
import FieldpackSQLite

/// How the rows of a layer are found for a query without an order.
enum RowSearch: Equatable, Sendable {
  /// By a scan of the table in the order of its rowids, whatever indexes there are.
  case throughTable
  /// One by one for the candidates of the layer's R-tree, in the order of their ids.
  case candidates
  /// By the ids that an index gives for this part of the filter (or for all of it). The ids are
  /// sorted first: this is cheaper than sorting rows, and neighbouring rows share pages.
  case finding(Filter)
  /// As SQLite plans it.
  case bySQLite

  /// The part of the filter that an index answers first.
  var part: Filter? { if case .finding(let part) = self { part } else { nil } }
}

extension QueryPlanner {
  /// Chooses how the rows of a layer are found, from the catalogue.
  func search(_ table: LayerTable) throws(FieldpackError) -> RowSearch {
    let filter = filter(table)
    // Views have no rowids of their own.
    guard !query.isOrdered, !table.layer.isView, table.hasRowIDs else { return .bySQLite }
    let access = try lowering(table).access(filter)
    if access.candidates != nil { return .candidates }
    // SQLite reads nothing for a condition that is never true.
    guard !access.listsIDs, access.condition != .isFalse, !asksForID(filter, table) else {
      return .bySQLite
    }
    if table.indexes.isEmpty || filter == .all { return .throughTable }
    let parts: [Filter] = if case .and(let parts) = filter { parts } else { [filter] }
    let conditions = try lowering(table).keyConditions(parts)
    // SQLite itself uses indexes for alternatives (one index each) and for functions (an index on
    // their result).
    let named = Set(conditions.map(\.part))
    let others = parts.indices.filter { !named.contains($0) }.map { parts[$0] }
    guard !others.contains(where: { mayLookUp($0, table) }) else { return .bySQLite }
    guard !filter.isSpatial, let use = try use(of: table, for: conditions, parts) else {
      return .throughTable
    }
    return .finding(
      use.parts.count == parts.count ? filter : .conjunction(of: use.parts, in: parts))
  }

  private func asksForID(_ filter: Filter, _ table: LayerTable) -> Bool {
    filter.columns.contains { table.schema.role(of: $0) == .id }
  }

  /// Whether the part has parts itself and uses the first column of an index.
  private func mayLookUp(_ part: Filter, _ table: LayerTable) -> Bool {
    guard !part.parts.isEmpty else { return false }
    let first = Set(table.indexes.compactMap { $0.keys.first?.column })
    return part.columns.contains { first.contains(SQLName($0)) }
  }

  /// Below this span of ids a scan of the table is as fast.
  private static let leastSpan: UInt64 = 2_000
  /// Looking up one row takes about as long as scanning this many.
  private static let rowsForLookUp = 20

  /// The index that finds few of the rows, and the parts of the filter that it answers.
  ///
  /// SQLite assumes that a range with one end holds a quarter of the table, whatever its statistics
  /// say. So the entries in such a range are counted in the index, up to the number from which a
  /// scan is faster.
  private func use(
    of table: LayerTable, for conditions: [KeyCondition], _ parts: [Filter]
  ) throws(FieldpackError) -> IndexUse? {
    var choice = IndexChoice(indexes: table.indexes)
    let uses = choice.uses(for: conditions)
    if uses.isEmpty { return nil }
    if catalogue.hasStatistics { choice.rowsPerKey = try file.rowsPerKey(of: table) }
    let span = try idSpan(table)
    let mostByStatistics = span.map { Int(clamping: $0) / Self.rowsForLookUp } ?? .max
    if let use = choice.narrowest(uses, below: mostByStatistics) { return use }
    guard let span, span >= Self.leastSpan else { return nil }
    // Several readers scan a table at once, but only one reads what an index finds.
    let readers = span >= Self.leastIDs ? PieceReaders.mostReaders : 1
    let rowsForLookUp = Self.rowsForLookUp * readers
    var most = Int(min(span / UInt64(rowsForLookUp), 100_000))
    var best: IndexUse?
    for use in uses.prefix(8) where !use.isNarrow {
      let part = Filter.conjunction(of: use.parts, in: parts)
      guard let count = try indexedCount(part, use.index, table, below: most) else { continue }
      (best, most) = (use, count)
    }
    guard let best, try hasRows(table, most * rowsForLookUp) else { return nil }
    return best
  }

  /// How many entries of an index a condition finds; `nil` where there are `most` or more, or where
  /// the index cannot answer the condition.
  private func indexedCount(
    _ part: Filter, _ index: TableIndex, _ table: LayerTable, below most: Int
  ) throws(FieldpackError) -> Int? {
    let condition = try lowering(table).condition(part)
    let sql =
      "SELECT count(*) FROM (SELECT 1 FROM \(quoted(table.table)) INDEXED BY \(quoted(index.name)) "
      + "WHERE \(condition.text) LIMIT \(most))"
    guard (try? file.connection.prepare(sql)) != nil,
      let count = try file.integer(sql, condition.parameters), count < most
    else { return nil }
    return Int(count)
  }

  /// Whether the table has at least `count` rows. The span of the ids does not tell, because ids
  /// have gaps.
  private func hasRows(_ table: LayerTable, _ count: Int) throws(FieldpackError) -> Bool {
    let sql =
      "SELECT count(*) FROM (SELECT 1 FROM \(quoted(table.table)) LIMIT \(count))"
    return try file.integer(sql).map { $0 >= count } ?? false
  }

  /// The distance from the first id to the last; `nil` without rows.
  func idSpan(_ table: LayerTable) throws(FieldpackError) -> UInt64? {
    guard let id = table.idSQL else { return nil }
    let name = quoted(table.table)
    let ends = try file.rows(
      "SELECT (SELECT min(\(id)) FROM \(name)), (SELECT max(\(id)) FROM \(name))")
    guard case .integer(let first)? = ends.first?[0], case .integer(let last)? = ends.first?[1]
    else { return nil }
    return UInt64(bitPattern: last &- first)
  }
}

extension GeoPackageSession {
  /// By index name, how many rows of a table have equal values in the first column, in the first
  /// two and so on, from `sqlite_stat1`, which must exist.
  fileprivate func rowsPerKey(of table: LayerTable) throws(FieldpackError) -> [String: [Int]] {
    let rows = try rows("SELECT idx, stat FROM sqlite_stat1 WHERE tbl = ?", [.text(table.table)])
    var found: [String: [Int]] = [:]
    for row in rows {
      guard let index = row[0].textValue, let stat = row[1].textValue else { continue }
      // The first number is the count of all rows; words may follow the numbers
      // (https://www.sqlite.org/fileformat2.html#stat1tab).
      found[index] = stat.split(separator: " ").dropFirst().compactMap { Int($0) }
    }
    return found
  }
}

extension Filter {
  /// The conjunction of the parts at `indexes`.
  fileprivate static func conjunction(of indexes: [Int], in parts: [Filter]) -> Filter {
    indexes.count == 1 ? parts[indexes[0]] : .and(indexes.map { parts[$0] })
  }

  /// Whether the filter has a condition on the geometry.
  var isSpatial: Bool {
    switch self {
    case .all, .compare, .between, .isIn, .isNull, .like, .temporal, .array: false
    case .envelope, .relation, .test, .spatial, .vertex: true
    case .and(let parts), .or(let parts): parts.contains { $0.isSpatial }
    case .not(let part): part.isSpatial
    }
  }
}
