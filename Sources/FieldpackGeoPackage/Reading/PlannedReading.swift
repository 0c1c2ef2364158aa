public import FieldpackCore
import FieldpackProjection

extension GeoPackageStore {
  public func prepare(_ query: Query) async throws(FieldpackError) -> PreparedQuery {
    let id = id
    let (plan, layers) = try await read { (snapshot) throws(FieldpackError) in
      let planner = try snapshot.planner(query)
      let plan = try planner.plan(inPieces: true)
      return (plan, try planner.prepared(plan.paths, of: id))
    }
    return PreparedQuery(
      query, layers: layers, notes: plan.notes, answeredBy: PlannedReading(store: self, plan: plan))
  }
}

extension QueryPlanner {
  /// The schema and the transformation of each layer's rows.
  fileprivate func prepared(
    _ paths: [LayerPath], of store: StoreID
  ) throws(FieldpackError) -> [PreparedLayer] {
    var layers: [PreparedLayer] = []
    for path in paths {
      let schema = query.shape(path.table.schema, hasLogs: true)
      layers.append(
        PreparedLayer(
          store: store, schema: schema,
          transformation: try transformation(of: path.table, schema)?.report))
    }
    return layers
  }
}

/// Reads the answer to a planned query.
private struct PlannedReading: QueryAnswering {
  let store: GeoPackageStore
  let plan: QueryPlan

  func batches() -> FeatureBatches {
    let (pools, id, plan, report) = (store.pools, store.id, plan, report)
    return FeatureBatches(report: report) {
      if plan.isCut {
        let batches = BatchPieces(pools: pools, .init(store: id, plan: plan, report: report))
        return { () async throws(FieldpackError) in try await batches.next() }
      }
      let cursor = BatchCursor(pools: pools, store: id, plan: plan, report: report)
      return { () async throws(FieldpackError) in try await cursor.next() }
    }
  }

  func pieces<Piece: PieceSink>(
    into make: @escaping @Sendable () -> Piece
  ) -> FeaturePieces<Piece> {
    let (pools, id, plan, report) = (store.pools, store.id, plan, report)
    return FeaturePieces(report: report) {
      let scan = PieceScan(pools: pools, .init(store: id, plan: plan, report: report), into: make)
      return { () async throws(FieldpackError) in try await scan.next() }
    }
  }

  func count() async throws(FieldpackError) -> Int {
    try await following { (snapshot, planner, paths) throws(FieldpackError) in
      try snapshot.count(planner, paths.map(\.table))
    }
  }

  func explain() async throws(FieldpackError) -> [Explanation] {
    try await following { (snapshot, planner, paths) throws(FieldpackError) in
      try snapshot.explain(planner, paths)
    }
  }

  func estimatedRows() async throws(FieldpackError) -> [LayerID: Int] {
    try await following { (snapshot, planner, paths) throws(FieldpackError) in
      try snapshot.estimatedRows(planner, paths.map(\.table))
    }
  }

  /// A report that begins with the notes of planning.
  private var report: QueryReport {
    let report = QueryReport()
    for note in plan.notes { report.add(note: note) }
    return report
  }

  private func following<R: Sendable>(
    _ body: @Sendable (GeoPackageSnapshot, QueryPlanner, [LayerPath]) throws(FieldpackError) -> R
  ) async throws(FieldpackError) -> R {
    let plan = plan
    return try await store.read { (snapshot) throws(FieldpackError) in
      let (current, planner) = try snapshot.following(plan, inPieces: false)
      return try body(snapshot, planner, current.paths)
    }
  }
}
