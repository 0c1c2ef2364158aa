import FieldpackCore

/// A store that is no GeoPackage, with what is written to it told to a workspace's subscribers.
struct ObservedStore: WritableStore {
  private let store: any WritableStore
  private let hub: ChangeHub

  init(_ store: any WritableStore, _ hub: ChangeHub) {
    self.store = store
    self.hub = hub
  }

  func write<R: Sendable>(
    _ body: @Sendable (inout FeatureWriter) throws(FieldpackError) -> R
  ) async throws(FieldpackError) -> R {
    let (result, log) = try await store.write { (writer) throws(FieldpackError) in
      writer.log = ChangeLog()
      let result = try body(&writer)
      return (result, writer.log)
    }
    if let log { hub.publish(log, of: store.id) }
    return result
  }

  // MARK: What the store does by itself

  var id: StoreID { store.id }

  func layers() async throws(FieldpackError) -> [Layer] { try await store.layers() }

  func schemas() async throws(FieldpackError) -> [Schema] { try await store.schemas() }

  func prepare(_ query: Query) async throws(FieldpackError) -> PreparedQuery {
    try await store.prepare(query)
  }

  func query(_ query: Query) async throws(FieldpackError) -> FeatureBatches {
    try await store.query(query)
  }

  func scan<S: FeatureSink & Sendable>(
    _ query: Query, into sink: S, report: QueryReport
  ) async throws(FieldpackError) -> S {
    try await store.scan(query, into: sink, report: report)
  }

  func pieces<Piece: PieceSink>(
    of query: Query, into make: @escaping @Sendable () -> Piece
  ) async throws(FieldpackError) -> FeaturePieces<Piece> {
    try await store.pieces(of: query, into: make)
  }

  func count(_ query: Query) async throws(FieldpackError) -> Int { try await store.count(query) }

  func feature(_ id: FeatureID, in layer: LayerID) async throws(FieldpackError) -> Feature? {
    try await store.feature(id, in: layer)
  }

  func read<R: Sendable>(
    _ body: @Sendable (borrowing StoreSnapshot) throws(FieldpackError) -> R
  ) async throws(FieldpackError) -> R {
    try await store.read(body)
  }

  func explain(_ query: Query) async throws(FieldpackError) -> [Explanation] {
    try await store.explain(query)
  }

  func estimatedRows(_ query: Query) async throws(FieldpackError) -> [LayerID: Int] {
    try await store.estimatedRows(query)
  }

  func close() async { await store.close() }
}
