public import FieldpackCore
import FieldpackSQLite

/// Gives the rows that several readers find to one sink, in order and on one thread.
///
/// The thread is not the caller's: a sink may block, and callers' threads are few.
actor SerialDelivery {
  private let executor: ThreadExecutor

  init() throws(FieldpackError) { executor = try .started() }

  nonisolated var unownedExecutor: UnownedSerialExecutor {
    executor.asUnownedSerialExecutor()
  }

  /// - Parameter schemas: the schemas of all layers. Layers without a match are announced last, so
  ///   that a writer knows their columns.
  func give<S: FeatureSink & Sendable>(
    _ pieces: PieceScan<BatchPiece>, to sink: S, _ schemas: [Schema]
  ) async throws(FieldpackError) -> S {
    var sink = sink
    var unannounced = schemas
    var current: LayerID?
    while let piece = try await pieces.next() {
      for batch in piece.finished() {
        let layer = batch.schema.layer
        try batch.drive(&sink, announcing: layer != current)
        if layer != current { unannounced.removeAll { $0.layer == layer } }
        current = layer
      }
    }
    for schema in unannounced { try sink.begin(schema) }
    return sink
  }
}

extension GeoPackageStore {
  /// The result of a scan by one reader.
  private enum Scan<S: Sendable>: Sendable {
    case done(S)
    /// Several readers would be faster.
    case betterCut(QueryPlan)
  }

  public func scan<S: FeatureSink & Sendable>(
    _ query: Query, into sink: S, report: QueryReport
  ) async throws(FieldpackError) -> S {
    let scan = try await read(reporting: report) { (snapshot) throws(FieldpackError) -> Scan<S> in
      let planner = try snapshot.planner(query)
      let paths = try planner.paths()
      if try planner.isBetterCut(paths) {
        return .betterCut(try snapshot.plan(query, inPieces: true))
      }
      var sink = sink
      try snapshot.scan(planner, paths, into: &sink)
      return .done(sink)
    }
    switch scan {
    case .done(let sink): return sink
    case .betterCut(let plan):
      let id = id
      let pieces = PieceScan(pools: pools, .init(store: id, plan: plan, report: report)) {
        BatchPiece(store: id)
      }
      let schemas = plan.paths.map { query.shape($0.table.schema, hasLogs: true) }
      return try await SerialDelivery().give(pieces, to: sink, schemas)
    }
  }
}

extension QueryPlanner {
  /// Below this span of ids one reader is done before another has been opened.
  private static let leastSpanForSinks: UInt64 = 100_000

  /// Whether finding the rows is most of the work. Only then does a second reader gain more than
  /// copying the matches costs.
  fileprivate func isBetterCut(_ paths: [LayerPath]) throws(FieldpackError) -> Bool {
    guard PieceReaders.mostReaders > 1, !query.isOrdered, query.limit == nil, query.offset == 0,
      query.filter != .all, !paths.contains(where: { filter($0.table).isSpatial })
    else { return false }
    for path in paths where path.search == .throughTable {
      if let span = try idSpan(path.table), span >= Self.leastSpanForSinks { return true }
    }
    return false
  }
}
