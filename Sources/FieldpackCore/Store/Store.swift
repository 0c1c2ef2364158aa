public import FieldpackGeometry

/// A set of layers that answers queries.
public protocol Store: Sendable {
  var id: StoreID { get }

  /// The layers in catalogue order, counts and extents included.
  func layers() async throws(FieldpackError) -> [Layer]

  /// The layers' schemas in catalogue order, without counting anything.
  func schemas() async throws(FieldpackError) -> [Schema]

  /// Plans `query` once, for whoever wants to know which layers answer before the first row comes, or
  /// reads the answer in more than one way.
  ///
  /// A store need not implement it.
  /// - Throws: what is wrong with the query: `.notFound` for a layer or a column that is not there.
  func prepare(_ query: Query) async throws(FieldpackError) -> PreparedQuery

  /// The features that `query` asks for, in batches, all from one snapshot a layer.
  func query(_ query: Query) async throws(FieldpackError) -> FeatureBatches

  /// Gives each feature to `sink` while it is read, which is the fastest way through many.
  func scan<S: FeatureSink & Sendable>(
    _ query: Query, into sink: S, report: QueryReport
  ) async throws(FieldpackError) -> S

  /// The answer to `query` in sinks that `make` makes, in the query's order.
  ///
  ///     for try await lines in try await store.pieces(of: query, into: { GeoJSONLines() }) {
  ///       try output.write(lines.bytes)
  ///     }
  ///
  /// The fastest way through many features where the work on each is worth another core: a store
  /// that can reads several ranges of a layer at once and fills a sink for each.
  /// - Parameter make: makes the sink of each piece, on any thread.
  func pieces<Piece: PieceSink>(
    of query: Query, into make: @escaping @Sendable () -> Piece
  ) async throws(FieldpackError) -> FeaturePieces<Piece>

  /// How many features `query` gives.
  func count(_ query: Query) async throws(FieldpackError) -> Int

  /// One feature; `nil` where the layer has none of that id.
  func feature(_ id: FeatureID, in layer: LayerID) async throws(FieldpackError) -> Feature?

  /// Runs `body` on one snapshot: every read in it sees the same state.
  func read<R: Sendable>(
    _ body: @Sendable (borrowing StoreSnapshot) throws(FieldpackError) -> R
  ) async throws(FieldpackError) -> R

  /// How the store would answer, layer by layer.
  func explain(_ query: Query) async throws(FieldpackError) -> [Explanation]

  /// How many rows of each layer the store expects to look at, where it can tell without reading
  /// them.
  func estimatedRows(_ query: Query) async throws(FieldpackError) -> [LayerID: Int]

  /// Ends the store's work and closes its files; later calls throw `.unavailable`.
  func close() async
}

extension Store {
  public func estimatedRows(_ query: Query) async throws(FieldpackError) -> [LayerID: Int] { [:] }

  public func scan<S: FeatureSink & Sendable>(
    _ query: Query, into sink: S
  ) async throws(FieldpackError) -> S {
    try await scan(query, into: sink, report: QueryReport())
  }
}

/// A store that takes changes. One call is one transaction.
public protocol WritableStore: Store {
  /// Runs `body` in a transaction: all of its changes are committed, or none when it throws.
  func write<R: Sendable>(
    _ body: @Sendable (inout FeatureWriter) throws(FieldpackError) -> R
  ) async throws(FieldpackError) -> R
}

/// What a snapshot can be asked; implemented by each store.
public protocol SnapshotReading {
  func layers() throws(FieldpackError) -> [Layer]
  func scan(_ query: Query, into sink: inout some FeatureSink) throws(FieldpackError)
  func count(_ query: Query) throws(FieldpackError) -> Int
  func feature(_ id: FeatureID, in layer: LayerID) throws(FieldpackError) -> Feature?
}

/// One state of a store, for the length of a `read` call.
public struct StoreSnapshot: ~Copyable {
  private let reading: any SnapshotReading

  public init(_ reading: any SnapshotReading) { self.reading = reading }

  /// What the store itself answers with, for what only some stores can be asked.
  package var backing: any SnapshotReading { reading }

  public borrowing func layers() throws(FieldpackError) -> [Layer] { try reading.layers() }

  public borrowing func scan(
    _ query: Query, into sink: inout some FeatureSink
  ) throws(FieldpackError) {
    try reading.scan(query, into: &sink)
  }

  public borrowing func count(_ query: Query) throws(FieldpackError) -> Int {
    try reading.count(query)
  }

  public borrowing func feature(
    _ id: FeatureID, in layer: LayerID
  ) throws(FieldpackError) -> Feature? {
    try reading.feature(id, in: layer)
  }
}

/// What a transaction can be asked; implemented by each writable store.
public protocol FeatureWriting: SnapshotReading {
  func create(_ feature: Feature, in layer: LayerID) throws(FieldpackError) -> FeatureID
  func upsert(_ feature: Feature, in layer: LayerID) throws(FieldpackError) -> FeatureID
  func update(
    _ id: FeatureID, in layer: LayerID, attributes: Attributes, geometry: GeometryUpdate
  ) throws(FieldpackError)
  func delete(_ id: FeatureID, in layer: LayerID) throws(FieldpackError)
  func createLayer(_ schema: Schema) throws(FieldpackError)
  func addColumns(_ columns: [ColumnDefinition], to layer: LayerID) throws(FieldpackError)
  func renameLayer(_ layer: LayerID, to name: LayerID) throws(FieldpackError)
  func removeLayer(_ layer: LayerID) throws(FieldpackError)
}

/// A transaction on a store, for the length of a `write` call.
public struct FeatureWriter {
  private let writing: any FeatureWriting

  public init(_ writing: any FeatureWriting) { self.writing = writing }

  /// What the store itself writes with, for what only some stores can do.
  package var backing: any FeatureWriting { writing }

  /// Stores a new feature and gives its id: the one it asks for, else one the store chooses.
  ///
  /// Attributes that are not given become the column's default.
  @discardableResult
  public mutating func create(
    _ feature: Feature, in layer: LayerID
  ) throws(FieldpackError) -> FeatureID {
    try writing.create(feature, in: layer)
  }

  /// Creates the feature, or replaces the named attributes and geometry of the one with its id.
  @discardableResult
  public mutating func upsert(
    _ feature: Feature, in layer: LayerID
  ) throws(FieldpackError) -> FeatureID {
    try writing.upsert(feature, in: layer)
  }

  /// Changes the named attributes, `.null` included, and the geometry when told to.
  public mutating func update(
    _ id: FeatureID, in layer: LayerID, set attributes: Attributes = [:],
    geometry: GeometryUpdate = .keep
  ) throws(FieldpackError) {
    try writing.update(id, in: layer, attributes: attributes, geometry: geometry)
  }

  public mutating func delete(_ id: FeatureID, in layer: LayerID) throws(FieldpackError) {
    try writing.delete(id, in: layer)
  }

  /// Creates an empty layer, with an R-tree where it has geometry.
  public mutating func createLayer(_ schema: Schema) throws(FieldpackError) {
    try writing.createLayer(schema)
  }

  public mutating func addColumns(
    _ columns: [ColumnDefinition], to layer: LayerID
  ) throws(FieldpackError) {
    try writing.addColumns(columns, to: layer)
  }

  public mutating func renameLayer(
    _ layer: LayerID, to name: LayerID
  ) throws(FieldpackError) {
    try writing.renameLayer(layer, to: name)
  }

  /// Removes the layer with all that belongs to it.
  public mutating func removeLayer(_ layer: LayerID) throws(FieldpackError) {
    try writing.removeLayer(layer)
  }

  public func layers() throws(FieldpackError) -> [Layer] { try writing.layers() }

  public func feature(
    _ id: FeatureID, in layer: LayerID
  ) throws(FieldpackError) -> Feature? {
    try writing.feature(id, in: layer)
  }
}

/// How one layer answers a query.
public struct Explanation: Hashable, Sendable {
  public var store: StoreID
  public var layer: LayerID
  public var sql: String
  public var parameters: [Value]
  /// The lines of `EXPLAIN QUERY PLAN`.
  public var plan: [String]
  /// How geometries are transformed on the way out, where they are.
  public var transformation: TransformationReport?

  public init(
    store: StoreID, layer: LayerID, sql: String, parameters: [Value], plan: [String],
    transformation: TransformationReport? = nil
  ) {
    self.store = store
    self.layer = layer
    self.sql = sql
    self.parameters = parameters
    self.plan = plan
    self.transformation = transformation
  }
}
