public import FieldpackGeometry

/// A set of layers that answers queries.
///
///     let names = try await store.layers().map(\.id)
///     let count = try await store.count(Query("wells"))
///     let well = try await store.feature(.integer(101), in: "wells")
///     var byteCount = 0
///     for try await batch in try await store.query(Query("wells")) {
///       byteCount += batch.byteCount
///     }
public protocol Store: Sendable {
  var id: StoreID { get }

  /// The layers in catalogue order, with counts and extents.
  func layers() async throws(FieldpackError) -> [Layer]

  /// The layers' schemas in catalogue order, without counting features.
  func schemas() async throws(FieldpackError) -> [Schema]

  /// Plans `query` once, for callers who need the answering layers before the first row, or who
  /// read the answer in more than one way.
  ///
  /// Has a default implementation.
  /// - Throws: what is wrong with the query: `.notFound` for a missing layer or column.
  func prepare(_ query: Query) async throws(FieldpackError) -> PreparedQuery

  /// The features that `query` asks for, in batches; the batches of a layer come from one snapshot.
  func query(_ query: Query) async throws(FieldpackError) -> FeatureBatches

  /// Gives each feature to `sink` while reading; the fastest way through many features.
  func scan<S: FeatureSink & Sendable>(
    _ query: Query, into sink: S, report: QueryReport
  ) async throws(FieldpackError) -> S

  /// The answer to `query` in sinks that `make` makes, in the query's order.
  ///
  ///     for try await lines in try await store.pieces(of: query, into: { GeoJSONLines() }) {
  ///       try output.write(lines.bytes)
  ///     }
  ///
  /// Prefer it to ``scan(_:into:)`` where the work on each feature is worth another core: a store
  /// that can read in parallel reads several ranges of a layer at once and fills a sink for each
  /// range.
  /// - Parameter make: makes the sink of each piece; it is called on any thread.
  func pieces<Piece: PieceSink>(
    of query: Query, into make: @escaping @Sendable () -> Piece
  ) async throws(FieldpackError) -> FeaturePieces<Piece>

  /// The number of features that `query` gives.
  func count(_ query: Query) async throws(FieldpackError) -> Int

  /// One feature; `nil` where the layer has no feature with that id.
  func feature(_ id: FeatureID, in layer: LayerID) async throws(FieldpackError) -> Feature?

  /// Runs `body` on one snapshot: every read in it sees the same state of the store.
  func read<R: Sendable>(
    _ body: @Sendable (borrowing StoreSnapshot) throws(FieldpackError) -> R
  ) async throws(FieldpackError) -> R

  /// How the store would answer the query, layer by layer.
  func explain(_ query: Query) async throws(FieldpackError) -> [Explanation]

  /// The number of rows of each layer that the store expects to read, where it knows without
  /// reading them.
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

/// What a snapshot can do; implemented by each store.
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

/// What a transaction can do; implemented by each writable store.
public protocol FeatureWriting: SnapshotReading {
  func create(_ feature: Feature, in layer: LayerID) throws(FieldpackError) -> FeatureID
  func upsert(_ feature: Feature, in layer: LayerID) throws(FieldpackError) -> FeatureID
  func update(
    _ id: FeatureID, in layer: LayerID, set attributes: Attributes, geometry: GeometryUpdate
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
  /// What was changed through this writer; `nil` where nobody wants to know.
  package var log: ChangeLog?

  public init(_ writing: any FeatureWriting) { self.writing = writing }

  /// Stores a new feature and returns its id: the id it asks for, else one that the store chooses.
  ///
  /// Attributes that are not given get the column's default.
  @discardableResult
  public mutating func create(
    _ feature: Feature, in layer: LayerID
  ) throws(FieldpackError) -> FeatureID {
    let id = try writing.create(feature, in: layer)
    log?.note(.created, id, in: layer)
    return id
  }

  /// Creates the feature; where its id exists, replaces the named attributes and the geometry of
  /// that feature.
  @discardableResult
  public mutating func upsert(
    _ feature: Feature, in layer: LayerID
  ) throws(FieldpackError) -> FeatureID {
    guard log != nil else { return try writing.upsert(feature, in: layer) }
    var isKnown = false
    if let id = feature.id { isKnown = try writing.feature(id, in: layer) != nil }
    let id = try writing.upsert(feature, in: layer)
    log?.note(isKnown ? .updated : .created, id, in: layer)
    return id
  }

  /// Changes the named attributes, including those set to `.null`, and the geometry as `geometry`
  /// says.
  public mutating func update(
    _ id: FeatureID, in layer: LayerID, set attributes: Attributes = [:],
    geometry: GeometryUpdate = .keep
  ) throws(FieldpackError) {
    try writing.update(id, in: layer, set: attributes, geometry: geometry)
    log?.note(.updated, id, in: layer)
  }

  public mutating func delete(_ id: FeatureID, in layer: LayerID) throws(FieldpackError) {
    try writing.delete(id, in: layer)
    log?.note(.deleted, id, in: layer)
  }

  /// Creates an empty layer, with an R-tree where it has geometry.
  public mutating func createLayer(_ schema: Schema) throws(FieldpackError) {
    try writing.createLayer(schema)
    log?.note(schema.layer)
  }

  public mutating func addColumns(
    _ columns: [ColumnDefinition], to layer: LayerID
  ) throws(FieldpackError) {
    try writing.addColumns(columns, to: layer)
    log?.note(layer)
  }

  public mutating func renameLayer(
    _ layer: LayerID, to name: LayerID
  ) throws(FieldpackError) {
    try writing.renameLayer(layer, to: name)
    log?.note(layer)
    log?.note(name)
  }

  /// Removes the layer with everything that belongs to it.
  public mutating func removeLayer(_ layer: LayerID) throws(FieldpackError) {
    try writing.removeLayer(layer)
    log?.note(layer)
  }

  public func layers() throws(FieldpackError) -> [Layer] { try writing.layers() }

  /// Gives the rows of a query, as the changes of the transaction so far leave them.
  public func scan(_ query: Query, into sink: inout some FeatureSink) throws(FieldpackError) {
    try writing.scan(query, into: &sink)
  }

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
  /// The lines of SQLite's `EXPLAIN QUERY PLAN`.
  public var plan: [String]
  /// How geometries are transformed in the answer; `nil` where they are not transformed.
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
