import FieldpackCore
import FieldpackSQLite

/// How a query is answered in pieces; made on one connection and followed on several that see the
/// same state of the file.
struct PiecePlan: Sendable {
  let catalogue: Catalogue
  let sources: [PieceSource]

  /// Whether several readers can be at work.
  var isCut: Bool {
    sources.contains { if case .ranges = $0 { true } else { false } }
  }

  /// Below so many ids a layer is not worth a second reader.
  static let leastIDs: UInt64 = 20_000
  /// Rows that are looked up take some times as long as rows that follow each other.
  static let leastCandidates = 4_000

  init(_ planner: QueryPlanner) throws(FieldpackError) {
    catalogue = planner.catalogue
    let query = planner.query
    let tables = try planner.tables()
    var sources: [PieceSource] = []
    if !query.isOrdered, query.limit == nil, query.offset == 0 {
      for table in tables {
        sources.append(try planner.canBeCut(table) ? .ranges(table) : .layer(table))
      }
    }
    let isCut = sources.contains { if case .ranges = $0 { true } else { false } }
    self.sources = isCut ? sources : [.walk]
  }
}

extension QueryPlanner {
  /// Whether the layer's rows are found by going through its table, or one by one from what an
  /// R-tree gives, and are many.
  ///
  /// A view numbers its rows itself, and another index finds them faster than ranges would.
  fileprivate func canBeCut(_ table: LayerTable) throws(FieldpackError) -> Bool {
    guard !table.layer.isView, let id = table.idSQL else { return false }
    let name = quoted(table.table)
    let ends = try file.rows(
      "SELECT (SELECT min(\(id)) FROM \(name)), (SELECT max(\(id)) FROM \(name))")
    guard case .integer(let first)? = ends.first?[0], case .integer(let last)? = ends.first?[1],
      UInt64(bitPattern: last &- first) >= PiecePlan.leastIDs
    else { return false }
    guard let candidates = try candidateCount(table) else { return try goesThroughTable(table) }
    let lookUp = try details(plan(table, limit: nil, offset: 0)).last ?? ""
    return candidates >= PiecePlan.leastCandidates
      && lookUp.hasSuffix("USING INTEGER PRIMARY KEY (rowid=?)")
  }

  /// Whether the layer's rows are best given to `fieldpack_row`, which does without a step each.
  func canLend(_ table: LayerTable) throws(FieldpackError) -> Bool {
    guard table.schema.columns.count + 2 <= 100 else { return false }
    if query.filter.isSpatial {
      let lent = try plan(table, limit: nil, offset: 0, as: .lentRange)
      if lent.readsCandidates { return true }
    }
    return try goesThroughTable(table)
  }

  /// Whether the rows are found by going through the table in the order of its rowids.
  ///
  /// A view numbers its rows itself, and what an index finds, ranges would only find later.
  private func goesThroughTable(_ table: LayerTable) throws(FieldpackError) -> Bool {
    guard !table.layer.isView, table.idSQL != nil else { return false }
    if query.filter != .all {
      let whole = try details(plan(table, limit: nil, offset: 0))
      guard whole.count == 1, whole[0].hasPrefix("SCAN"), !whole[0].contains(" USING ") else {
        return false
      }
    }
    let ranged = try details(plan(table, limit: nil, offset: 0, as: .range))
    return ranged.count == 1
      && ranged[0].hasSuffix(" USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)")
  }

  /// The plan that lends all rows without testing each rowid against a range; `nil` where SQLite
  /// would not lend them in order.
  func wholeLentPlan(_ table: LayerTable) throws(FieldpackError) -> LayerQuery? {
    let whole = try plan(table, limit: nil, offset: 0, as: .lent)
    if whole.readsCandidates { return whole }
    let lines = try details(whole)
    return lines.count == 1 && lines[0].hasPrefix("SCAN") && !lines[0].contains(" USING ")
      ? whole : nil
  }

  /// The lines of `EXPLAIN QUERY PLAN`.
  private func details(_ plan: LayerQuery) throws(FieldpackError) -> [String] {
    let sql = "EXPLAIN QUERY PLAN " + plan.statement.text
    return try file.rows(sql, plan.statement.parameters).map { $0[3].textValue ?? "" }
  }
}

extension Filter {
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
