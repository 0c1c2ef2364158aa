import FieldpackCore
import FieldpackSQLite

/// How the rows of a layer are come to that a query asks in no order of its own.
enum RowSearch: Equatable, Sendable {
  /// Through the table in the order of its row ids, whatever indexes there are.
  case throughTable
  /// One by one from what the layer's R-tree gives, in the order of their ids.
  case candidates
  /// By the ids that an index gives for this part of the filter, which may be all of it. To sort the
  /// ids costs less than to sort rows, and in their order rows share pages.
  case finding(Filter)
  /// As SQLite likes.
  case bySQLite

  /// The part of the filter by which an index is to give the ids first.
  var part: Filter? { if case .finding(let part) = self { part } else { nil } }
}

extension QueryPlanner {
  /// Decides by the catalogue how the rows of a layer are come to.
  func search(_ table: LayerTable) throws(FieldpackError) -> RowSearch {
    let filter = filter(table)
    // A view has no row ids of its own to go by.
    guard !query.isOrdered, !table.layer.isView, table.hasRowIDs else { return .bySQLite }
    let access = try lowering(table).access(filter)
    if access.candidates != nil { return .candidates }
    // Where nothing can be true SQLite reads nothing.
    guard !access.listsIDs, access.condition != .isFalse, !asksForID(filter, table) else {
      return .bySQLite
    }
    if table.indexes.isEmpty || filter == .all { return .throughTable }
    let parts: [Filter] = if case .and(let parts) = filter { parts } else { [filter] }
    let conditions = try lowering(table).keyConditions(parts)
    // SQLite answers alternatives by an index each, and some functions by an index on what they give.
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

  /// Whether the part is made of several and asks for a column that an index begins with.
  private func mayLookUp(_ part: Filter, _ table: LayerTable) -> Bool {
    guard !part.parts.isEmpty else { return false }
    let first = Set(table.indexes.compactMap { $0.keys.first?.column })
    return part.columns.contains { first.contains(SQLName($0)) }
  }

  /// Below so many ids a table is gone through as fast.
  private static let leastSpan: UInt64 = 2_000
  /// A row that is looked up takes about as long as so many that are passed over.
  private static let rowsForLookUp = 20

  /// The index that finds few of the rows, and what of the filter it is asked.
  ///
  /// SQLite takes a range that is open at one side for a quarter of the table, whatever its
  /// statistics. What such a range holds is counted in the index alone, and no further than is of use.
  private func use(
    of table: LayerTable, for conditions: [KeyCondition], _ parts: [Filter]
  ) throws(FieldpackError) -> IndexUse? {
    var choice = IndexChoice(indexes: table.indexes)
    let uses = choice.uses(for: conditions)
    if uses.isEmpty { return nil }
    if catalogue.hasStatistics { choice.rowsPerKey = try file.rowsPerKey(of: table) }
    let mostByStatistics = try idSpan(table).map { Int(clamping: $0) / Self.rowsForLookUp } ?? .max
    if let use = choice.narrowest(uses, below: mostByStatistics) { return use }
    guard let span = try idSpan(table), span >= Self.leastSpan else { return nil }
    // The table is gone through by several at once, what an index finds by one.
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
  /// the index cannot answer it after all.
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

  /// Whether there are so many rows; ids may lie far apart.
  private func hasRows(_ table: LayerTable, _ count: Int) throws(FieldpackError) -> Bool {
    let sql =
      "SELECT count(*) FROM (SELECT 1 FROM \(quoted(table.table)) LIMIT \(count))"
    return try file.integer(sql).map { $0 >= count } ?? false
  }

  /// How many ids fit between the first and the last one; `nil` without rows.
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

extension GeoPackageFile {
  /// What `sqlite_stat1`, which is there, tells of a table's indexes: rows of equal values in the first
  /// column, the first two and so on.
  fileprivate func rowsPerKey(of table: LayerTable) throws(FieldpackError) -> [String: [Int]] {
    let rows = try rows("SELECT idx, stat FROM sqlite_stat1 WHERE tbl = ?", [.text(table.table)])
    var found: [String: [Int]] = [:]
    for row in rows {
      guard let index = row[0].textValue, let stat = row[1].textValue else { continue }
      // The first number is that of all rows; words may follow the numbers.
      found[index] = stat.split(separator: " ").dropFirst().compactMap { Int($0) }
    }
    return found
  }
}

extension Filter {
  /// Those of the parts of a conjunction.
  fileprivate static func conjunction(of places: [Int], in parts: [Filter]) -> Filter {
    places.count == 1 ? parts[places[0]] : .and(places.map { parts[$0] })
  }

  /// Whether a condition in it is on the geometry.
  var isSpatial: Bool {
    switch self {
    case .all, .compare, .between, .isIn, .isNull, .like, .temporal, .array: false
    case .envelope, .relation, .test, .spatial, .vertex: true
    case .and(let parts), .or(let parts): parts.contains { $0.isSpatial }
    case .not(let part): part.isSpatial
    }
  }
}
