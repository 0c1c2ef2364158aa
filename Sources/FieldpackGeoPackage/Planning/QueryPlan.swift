import FieldpackCore
import FieldpackGeometry
import FieldpackSQLite

/// A layer that answers a query, and how its rows are come to.
struct LayerPath: Sendable {
  let table: LayerTable
  let search: RowSearch
}

/// How a query is answered: planned once, on one connection, and followed as often as it is read.
struct QueryPlan: Sendable {
  let query: Query
  let catalogue: Catalogue
  let paths: [LayerPath]
  /// The parts of the answer; one of them where the query is not read in pieces.
  let sources: [PieceSource]
  /// What planning had to tell.
  let notes: [String]
  /// The state of the file that it was planned for.
  fileprivate let state: PlannedState?

  /// Whether several readers can be at work.
  var isCut: Bool {
    sources.contains { if case .ranges = $0 { true } else { false } }
  }

  /// Whether all rows are found in the order of their ids.
  var isCutThroughout: Bool {
    sources.allSatisfy { if case .ranges = $0 { true } else { false } }
  }
}

/// A state of a file as one connection knows it. SQLite's version numbers mean nothing to another
/// connection (https://www.sqlite.org/c3ref/c_fcntl_begin_atomic_write.html#sqlitefcntldataversion).
struct PlannedState: Hashable, Sendable {
  var connection: Int
  var schema: Int64
  var data: UInt32
}

extension QueryPlanner {
  /// The layers that answer, and how.
  func paths() throws(FieldpackError) -> [LayerPath] {
    let boxed = query.layers.isEmpty ? nil : BoxedQuery(query)
    if let boxed, let kept = file.planCache.paths(boxed.shape), try isOneBox(boxed, in: kept) {
      return kept
    }
    var paths: [LayerPath] = []
    for table in try tables() {
      paths.append(LayerPath(table: table, search: try search(table)))
    }
    if let boxed, try isOneBox(boxed, in: paths) { file.planCache.keep(paths, boxed.shape) }
    return paths
  }

  /// Whether the box is one in all layers that are come to by their R-trees: in another SRS it may
  /// cross the antimeridian.
  private func isOneBox(
    _ boxed: BoxedQuery, in paths: [LayerPath]
  ) throws(FieldpackError) -> Bool {
    for path in paths {
      let projected = try lowering(path.table).project.oneBox(
        boxed.box, from: boxed.srs, to: path.table)
      if path.search != .candidates || projected == nil { return false }
    }
    return true
  }

  /// The whole plan.
  ///
  /// - Parameter inPieces: whether several readers may be at work.
  func plan(inPieces: Bool) throws(FieldpackError) -> QueryPlan {
    let paths = try paths()
    return QueryPlan(
      query: query, catalogue: catalogue, paths: paths,
      sources: inPieces ? try sources(paths) : [.walk], notes: report.current.notes,
      state: file.state)
  }
}

extension GeoPackageReading {
  /// Plans a query in the state of the file that is being read.
  func plan(_ query: Query, inPieces: Bool = false) throws(FieldpackError) -> QueryPlan {
    try planner(query, report: QueryReport()).plan(inPieces: inPieces)
  }

  /// The plan, or where it was made for another state of the file or by another connection a new one,
  /// and the planner that makes its statements here. What planning had to tell is reported.
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
