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

  /// Whether all rows are found in the order of their ids.
  var isCutThroughout: Bool {
    sources.allSatisfy { if case .ranges = $0 { true } else { false } }
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
    guard !table.layer.isView, let span = try idSpan(table), span >= PiecePlan.leastIDs
    else { return false }
    guard let candidates = try candidateCount(table) else {
      return try search(table) == .throughTable
    }
    let lookUp = try details(plan(table, limit: nil, offset: 0)).last ?? ""
    return candidates >= PiecePlan.leastCandidates
      && lookUp.hasSuffix("USING INTEGER PRIMARY KEY (rowid=?)")
  }

  /// Whether the layer's rows are best given to `fieldpack_row`, which does without a step each.
  func canLend(_ table: LayerTable) throws(FieldpackError) -> Bool {
    guard table.schema.columns.count + 2 <= 100 else { return false }
    if filter(table).isSpatial {
      let lent = try plan(table, limit: nil, offset: 0, as: .lentRange)
      if lent.readsCandidates { return true }
    }
    return try search(table) == .throughTable
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
