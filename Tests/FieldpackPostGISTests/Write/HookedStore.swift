import FieldpackCore

/// A store that does something between the second and the third piece of an answer.
struct HookedStore: Store {
  let store: any Store
  let hook: @Sendable () async throws(FieldpackError) -> Void
  /// In place of that by ids.
  var order: [Order] = []

  var id: StoreID { store.id }
  func layers() async throws(FieldpackError) -> [Layer] { try await store.layers() }
  func schemas() async throws(FieldpackError) -> [Schema] { try await store.schemas() }
  func query(_ query: Query) async throws(FieldpackError) -> FeatureBatches {
    try await store.query(query)
  }
  func scan<S: FeatureSink & Sendable>(
    _ query: Query, into sink: S, report: QueryReport
  ) async throws(FieldpackError) -> S { try await store.scan(query, into: sink, report: report) }
  func count(_ query: Query) async throws(FieldpackError) -> Int { try await store.count(query) }
  func feature(_ id: FeatureID, in layer: LayerID) async throws(FieldpackError) -> Feature? {
    try await store.feature(id, in: layer)
  }
  func read<R: Sendable>(
    _ body: @Sendable (borrowing StoreSnapshot) throws(FieldpackError) -> R
  ) async throws(FieldpackError) -> R { try await store.read(body) }
  func explain(_ query: Query) async throws(FieldpackError) -> [Explanation] {
    try await store.explain(query)
  }
  func close() async { await store.close() }

  func pieces<Piece: PieceSink>(
    of query: Query, into make: @escaping @Sendable () -> Piece
  ) async throws(FieldpackError) -> FeaturePieces<Piece> {
    let pieces = try await store.pieces(of: query.order(by: order), into: make)
    let hook = hook
    return FeaturePieces(report: pieces.report) {
      let iterator = pieces.makeAsyncIterator()
      let count = Locked(0)
      return { () async throws(FieldpackError) in
        let number = count.withLock { count in
          count += 1
          return count
        }
        if number == 3 { try await hook() }
        return try await iterator.next()
      }
    }
  }

  func prepare(_ query: Query) async throws(FieldpackError) -> PreparedQuery {
    let prepared = try await store.prepare(query)
    return PreparedQuery(
      query, layers: prepared.layers, notes: prepared.notes,
      answeredBy: Answering(store: self, query: query))
  }

  private struct Answering: QueryAnswering {
    let store: HookedStore
    let query: Query

    func batches() async throws(FieldpackError) -> FeatureBatches { try await store.query(query) }
    func pieces<Piece: PieceSink>(
      into make: @escaping @Sendable () -> Piece
    ) async throws(FieldpackError) -> FeaturePieces<Piece> {
      try await store.pieces(of: query, into: make)
    }
    func count() async throws(FieldpackError) -> Int { try await store.count(query) }
    func explain() async throws(FieldpackError) -> [Explanation] { try await store.explain(query) }
    func estimatedRows() async throws(FieldpackError) -> [LayerID: Int] {
      try await store.estimatedRows(query)
    }
  }
}
