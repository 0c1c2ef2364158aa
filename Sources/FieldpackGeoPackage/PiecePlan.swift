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
    if query.order.isEmpty, query.limit == nil, query.offset == 0 {
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
    let whole = try plan(table, limit: nil, offset: 0)
    if let candidates = try candidateCount(table) {
      let lookUp = try details(whole).last ?? ""
      return candidates >= PiecePlan.leastCandidates
        && lookUp.hasSuffix("USING INTEGER PRIMARY KEY (rowid=?)")
    }
    guard try details(whole).map({ $0.hasPrefix("SCAN") && !$0.contains(" USING ") }) == [true]
    else { return false }
    let ranged = try plan(table, limit: nil, offset: 0, inRange: true)
    return try details(ranged).map { $0.contains("INTEGER PRIMARY KEY (rowid>? AND rowid<?)") }
      == [true]
  }

  /// The lines of `EXPLAIN QUERY PLAN`.
  private func details(_ plan: LayerQuery) throws(FieldpackError) -> [String] {
    let sql = "EXPLAIN QUERY PLAN " + plan.statement.text
    return try file.rows(sql, plan.statement.parameters).map { $0[3].textValue ?? "" }
  }
}
