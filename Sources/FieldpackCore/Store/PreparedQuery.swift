public import FieldpackGeometry

/// A query planned once: the layers that answer, the schemas of their rows, and every way to read
/// them.
///
///     let prepared = try await store.prepare(Query("wells"))
///     let columns = prepared.layers.flatMap(\.schema.columns)
///     for try await batch in try await prepared.batches() { … }
///
/// Each read sees the store as it is at that moment. Where the store has changed since, it plans
/// again.
public struct PreparedQuery: Sendable {
  public let query: Query
  /// The layers that answer, in the order of the answer.
  public let layers: [PreparedLayer]
  /// Notes from planning, such as a layer left out because it lacks a filtered column.
  public let notes: [Note]
  private let answering: any QueryAnswering

  public init(
    _ query: Query, layers: [PreparedLayer], notes: [Note] = [],
    answeredBy answering: any QueryAnswering
  ) {
    self.query = query
    self.layers = layers
    self.notes = notes
    self.answering = answering
  }

  /// The features, in batches; see ``Store/query(_:)``.
  public func batches() async throws(FieldpackError) -> FeatureBatches {
    try await answering.batches()
  }

  /// The features in sinks that `make` makes; see ``Store/pieces(of:into:)``.
  public func pieces<Piece: PieceSink>(
    into make: @escaping @Sendable () -> Piece
  ) async throws(FieldpackError) -> FeaturePieces<Piece> {
    try await answering.pieces(into: make)
  }

  /// The number of features.
  public func count() async throws(FieldpackError) -> Int { try await answering.count() }

  /// How each layer answers the query.
  public func explain() async throws(FieldpackError) -> [Explanation] {
    try await answering.explain()
  }

  /// The number of rows of each layer that the store expects to read; see
  /// ``Store/estimatedRows(_:)``.
  public func estimatedRows() async throws(FieldpackError) -> [LayerID: Int] {
    try await answering.estimatedRows()
  }
}

/// A layer that answers a query.
public struct PreparedLayer: Hashable, Sendable {
  public var store: StoreID
  /// The schema of the layer's rows in the answer: the columns that the query selects, and the
  /// geometry in its SRS.
  public var schema: Schema
  /// How geometries are transformed; `nil` where they are not transformed.
  public var transformation: TransformationReport?

  public init(
    store: StoreID, schema: Schema, transformation: TransformationReport? = nil
  ) {
    self.store = store
    self.schema = schema
    self.transformation = transformation
  }
}

/// Reads the answer to a query that a store has planned; implemented by stores that plan.
public protocol QueryAnswering: Sendable {
  func batches() async throws(FieldpackError) -> FeatureBatches
  func pieces<Piece: PieceSink>(
    into make: @escaping @Sendable () -> Piece
  ) async throws(FieldpackError) -> FeaturePieces<Piece>
  func count() async throws(FieldpackError) -> Int
  func explain() async throws(FieldpackError) -> [Explanation]
  func estimatedRows() async throws(FieldpackError) -> [LayerID: Int]
}

extension Store {
  /// A default without planning: runs the query, which finds mistakes in it, and keeps the answer
  /// for the first read.
  public func prepare(_ query: Query) async throws(FieldpackError) -> PreparedQuery {
    let batches = try await self.query(query)
    let names = query.layers.map { $0.rawValue.lowercased() }
    let layers = try await schemas().filter { schema in
      names.isEmpty || names.contains(schema.layer.rawValue.lowercased())
    }
    return PreparedQuery(
      query, layers: layers.map { PreparedLayer(store: id, schema: query.shape($0)) },
      notes: batches.report.current.notes,
      answeredBy: UnplannedReading(store: self, query: query, first: batches))
  }
}

/// Reads the answer from a store that does not plan.
private struct UnplannedReading: QueryAnswering {
  let store: any Store
  let query: Query
  let first: FeatureBatches

  func batches() async throws(FieldpackError) -> FeatureBatches { first }

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
