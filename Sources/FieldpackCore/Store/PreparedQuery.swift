public import FieldpackGeometry

/// A query planned once: the layers that answer, what their rows look like, and every way to read them.
///
///     let prepared = try await store.prepare(Query("wells"))
///     let columns = prepared.layers.flatMap(\.schema.columns)
///     for try await batch in try await prepared.batches() { … }
///
/// Each read sees the store as it is then. Where it has changed since, the store plans anew.
public struct PreparedQuery: Sendable {
  public let query: Query
  /// The layers that answer, in the order of the answer.
  public let layers: [PreparedLayer]
  /// What planning had to tell, such as a layer that is left out because it lacks a filtered column.
  public let notes: [String]
  private let answering: any QueryAnswering

  public init(
    _ query: Query, layers: [PreparedLayer], notes: [String] = [],
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

  /// How many features there are.
  public func count() async throws(FieldpackError) -> Int { try await answering.count() }

  /// How each layer answers.
  public func explain() async throws(FieldpackError) -> [Explanation] {
    try await answering.explain()
  }

  /// How many rows of each layer the store expects to look at; see ``Store/estimatedRows(_:)``.
  public func estimatedRows() async throws(FieldpackError) -> [LayerID: Int] {
    try await answering.estimatedRows()
  }
}

/// A layer that answers a query.
public struct PreparedLayer: Hashable, Sendable {
  public var store: StoreID
  /// What the rows look like: the columns that the query selects, and the geometry in its SRS.
  public var schema: Schema
  /// How geometries are transformed; `nil` where they are not.
  public var transformation: TransformationReport?

  public init(
    store: StoreID, schema: Schema, transformation: TransformationReport? = nil
  ) {
    self.store = store
    self.schema = schema
    self.transformation = transformation
  }
}

/// What reads the answer to a query that a store has planned; implemented by stores that plan.
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
  /// Plans nothing: asks the store, which tells what is wrong with the query, and keeps its answer.
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

/// Reads the answer of a store that does not plan.
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
