import FieldpackCore
import FieldpackGeometry
import FieldpackSQLite

/// A layer that answers a query, and how its rows are found.
struct LayerPath: Sendable {
  let table: LayerTable
  let search: RowSearch
}

/// The plan of a query: made once, on one connection, and followed at every reading.
struct QueryPlan: Sendable {
  let query: Query
  let catalogue: Catalogue
  let paths: [LayerPath]
  /// The parts of the answer; a single one where the query is not read in pieces.
  let sources: [PieceSource]
  /// The notes of planning.
  let notes: [Note]
  /// The state of the file that the plan was made for.
  fileprivate let state: PlannedState?

  /// Whether several readers can work at once.
  var isCut: Bool {
    sources.contains { if case .ranges = $0 { true } else { false } }
  }

  /// Whether all rows come in the order of their ids.
  var isCutThroughout: Bool {
    sources.allSatisfy { if case .ranges = $0 { true } else { false } }
  }
}

/// A state of a file as one connection knows it. SQLite's version numbers mean nothing to another
/// connection
/// (https://www.sqlite.org/c3ref/c_fcntl_begin_atomic_write.html#sqlitefcntldataversion).
struct PlannedState: Hashable, Sendable {
  var connection: Int
  var schema: Int64
  var data: UInt32
}

extension QueryPlanner {
  /// The layers that answer, and how the rows of each are found.
  func paths() throws(FieldpackError) -> [LayerPath] {
    if let kept = known?.paths, try isOneBox(in: kept) { return kept }
    var paths: [LayerPath] = []
    for table in try tables() {
      paths.append(LayerPath(table: table, search: try search(table)))
    }
    if !query.layers.isEmpty, asksForRowIDs(of: paths.map(\.table)), try isOneBox(in: paths) {
      known?.paths = paths
    }
    return paths
  }

  /// Whether the query has no box, or all layers are read through their R-trees and the box stays one box in
  /// each SRS. In another SRS the box may cross the antimeridian.
  private func isOneBox(in paths: [LayerPath]) throws(FieldpackError) -> Bool {
    guard let boxed else { return true }
    for path in paths {
      let projected = try lowering(path.table).project.oneBox(
        boxed.box, from: boxed.srs, to: path.table)
      if path.search != .candidates || projected == nil { return false }
    }
    return true
  }

  /// Plans the query.
  ///
  /// - Parameter inPieces: whether several readers may work at once.
  func plan(inPieces: Bool) throws(FieldpackError) -> QueryPlan {
    let paths = try paths()
    return QueryPlan(
      query: query, catalogue: catalogue, paths: paths,
      sources: inPieces ? try sources(paths) : [.walk], notes: report.current.notes,
      state: file.state)
  }
}

extension GeoPackageSnapshot {
  /// Plans a query for the state of the file that is being read.
  func plan(_ query: Query, inPieces: Bool = false) throws(FieldpackError) -> QueryPlan {
    try planner(query, report: QueryReport()).plan(inPieces: inPieces)
  }

  /// The plan and the planner that makes its statements on this connection. A plan for another
  /// state of the file, or from another connection, is made anew. The notes of planning are
  /// reported.
  func following(
    _ plan: QueryPlan, inPieces: Bool
  ) throws(FieldpackError) -> (plan: QueryPlan, planner: QueryPlanner) {
    let isOutlived = try file.readState() != plan.state
    let current = isOutlived ? try self.plan(plan.query, inPieces: inPieces) : plan
    for note in current.notes { report.add(note: note) }
    let planner = QueryPlanner(
      file: file, catalogue: current.catalogue, query: plan.query, report: report)
    return (current, planner)
  }
}
