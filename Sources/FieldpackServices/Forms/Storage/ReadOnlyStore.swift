import Fieldpack
public import FieldpackCore

/// A store without its writing: what a bridge to other programs may do with submissions and positions.
///
/// It is no `WritableStore`, so that changes and deletions are refused before anything is asked of it.
public struct ReadOnlyStore: Store {
  private let store: any Store

  public init(_ store: any Store) { self.store = store }

  public var id: StoreID { store.id }

  public func layers() async throws(FieldpackError) -> [Layer] { try await store.layers() }

  public func schemas() async throws(FieldpackError) -> [Schema] { try await store.schemas() }

  public func prepare(_ query: Query) async throws(FieldpackError) -> PreparedQuery {
    try await store.prepare(query)
  }

  public func query(_ query: Query) async throws(FieldpackError) -> FeatureBatches {
    try await store.query(query)
  }

  public func scan<S: FeatureSink & Sendable>(
    _ query: Query, into sink: S, report: QueryReport
  ) async throws(FieldpackError) -> S {
    try await store.scan(query, into: sink, report: report)
  }

  public func pieces<Piece: PieceSink>(
    of query: Query, into make: @escaping @Sendable () -> Piece
  ) async throws(FieldpackError) -> FeaturePieces<Piece> {
    try await store.pieces(of: query, into: make)
  }

  public func count(_ query: Query) async throws(FieldpackError) -> Int {
    try await store.count(query)
  }

  public func feature(
    _ id: FeatureID, in layer: LayerID
  ) async throws(FieldpackError) -> Feature? {
    try await store.feature(id, in: layer)
  }

  public func read<R: Sendable>(
    _ body: @Sendable (borrowing StoreSnapshot) throws(FieldpackError) -> R
  ) async throws(FieldpackError) -> R {
    try await store.read(body)
  }

  public func explain(_ query: Query) async throws(FieldpackError) -> [Explanation] {
    try await store.explain(query)
  }

  public func estimatedRows(_ query: Query) async throws(FieldpackError) -> [LayerID: Int] {
    try await store.estimatedRows(query)
  }

  /// Does nothing: the store stays open for its owner.
  public func close() async {}
}

extension ReadOnlyStore: StoreView {
  package var wrapped: any Store { store }
}
