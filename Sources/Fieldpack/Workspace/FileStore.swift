public import FieldpackCore
import FieldpackGeoPackage
import FieldpackGeometry

/// A file that is no GeoPackage, such as GeoJSON, CSV or a shapefile, as a read-only store.
///
/// The file is imported once into a GeoPackage in the cache, so it answers every query as one would.
/// A FlatGeobuf file has an index: a query with a box imports only the features in the box, where
/// these are few, and keeps nothing in the cache.
///
/// Feature ids are the file's own. A feature without an id gets one made from its contents, with `-2`
/// and so on for equal features, so a key tuple is valid as long as the feature does not change.
public final class FileStore: Store {
  public let id: StoreID
  /// How the file is read; `nil` for a copy, which is whole.
  private let build: CacheBuild?
  /// The index of a file that is not read before a query asks for it.
  private let index: FileIndex?
  private let state: Locked<State>
  /// The only layer of a format that holds one, and the other names it answers to.
  private let only: (layer: LayerID, names: [String])?

  /// What of the file is at hand.
  private struct State {
    /// Keeps the cached file until the store is closed.
    var whole: CachedFile?
    /// What lies in boxes that were asked for.
    var parts: [(boxes: [Envelope], file: CachedFile)] = []
    var isClosed = false
  }

  /// A program that asks for more boxes than this gets the whole file, whose cache others can use.
  private static let maximumPartCount = 8

  /// How a file is opened as a store.
  public struct Options: Sendable {
    /// The file's format; `nil` detects it from contents and name.
    public var format: Format?
    /// The name of the only layer of a format that holds one, by default the file's stem; GPX layers
    /// keep their names.
    public var layer: LayerID?
    public var importing = ImportOptions()
    /// How the layers are to be drawn; their schemas tell it.
    public var style: LayerStyle?
    public var cache = CachePolicy.shared
    /// What errors call the file; `nil` for its path.
    package var name: String?

    public init() {}
  }

  /// Opens a file.
  ///
  /// - Throws: what reading the file throws; `.unsupported` for formats that are not read.
  public init(
    path: String, id: StoreID, options: Options = Options()
  ) async throws(FieldpackError) {
    self.id = id
    let build = try CacheBuild(path: path, id: id, options: options)
    self.build = build
    index = try build.index()
    // A file with an index answers for its layer before its features are read.
    let file = try await build.open(in: index == nil ? nil : [])
    state = Locked(index == nil ? State(whole: file) : State(parts: [([], file)]))
    only =
      build.holdsLayers
      ? nil
      : (build.layer, [Importer.stem(path), Self.defaultLayer].map { $0.rawValue.lowercased() })
  }

  /// Opens a GeoPackage that keeps the ids of its source, by a copy: others may replace the file.
  init(
    copyOf path: String, id: StoreID, style: LayerStyle?, logger: Logger
  ) async throws(FieldpackError) {
    self.id = id
    (build, index, only) = (nil, nil, nil)
    state = Locked(
      State(whole: try await CachedFile(copyOf: path, id: id, style: style, logger: logger)))
  }

  /// SpatialConnect's key tuples name the one layer of a store of GeoJSON so.
  static let defaultLayer: LayerID = "default"

  /// Whether `layer` is another name of the only layer.
  func answers(to layer: LayerID) -> Bool { resolved(layer) != layer }

  /// The layer that `layer` is a name of.
  func resolved(_ layer: LayerID) -> LayerID {
    guard let only, only.names.contains(layer.rawValue.lowercased()) else { return layer }
    return only.layer
  }

  private func resolved(_ query: Query) -> Query {
    query.in(layers: query.layers.map { resolved($0) })
  }

  // MARK: Parts

  /// The whole file as a GeoPackage.
  func whole() async throws(FieldpackError) -> CachedFile {
    let (known, isClosed) = state.withLock { ($0.whole, $0.isClosed) }
    if let known { return known }
    guard !isClosed, let build else {
      throw FieldpackError(
        .unavailable, "store '\(id)' is closed", location: .init(store: id))
    }
    return keep(try await build.open()) {
      $0.whole
    } _: {
      $0.whole = $1
    }
  }

  /// The file, or what of it the query can be about.
  private func opened(for query: Query) async throws(FieldpackError) -> CachedFile {
    let (known, parts) = state.withLock { ($0.whole, $0.parts) }
    if let known { return known }
    guard let index, let build, let boxes = index.boxes(of: query.filter) else {
      return try await whole()
    }
    if let part = parts.first(where: { $0.boxes == boxes }) { return part.file }
    guard parts.count < Self.maximumPartCount,
      try index.features.hasFew(in: boxes, of: try build.input(), limit: index.limit)
    else { return try await whole() }
    return keep(try await build.open(in: boxes)) { state in
      state.parts.first { $0.boxes == boxes }?.file
    } _: { state, file in
      state.parts.append((boxes, file))
    }
  }

  /// Keeps a file until the store is closed, or gives the one that another task has opened since.
  private func keep(
    _ file: CachedFile, _ known: (State) -> CachedFile?, _ add: (inout State, CachedFile) -> Void
  ) -> CachedFile {
    state.withLock { state in
      if let known = known(state) { return known }
      add(&state, file)
      return file
    }
  }

  /// Answers from another reading of the file from now on. Queries that run end with the old one.
  ///
  /// - Parameter other: a store that nobody else uses.
  /// - Throws: `.unavailable` for a store that is closed.
  package func takeOver(_ other: FileStore) async throws(FieldpackError) -> FeedChanges {
    let new = try await other.whole()
    let changes = try await VersionComparison(old: try await whole().store, new: new.store)
      .changes()
    let isTaken = state.withLock { state in
      if !state.isClosed { (state.whole, state.parts) = (new, []) }
      return !state.isClosed
    }
    guard isTaken else {
      throw FieldpackError(
        .unavailable, "store '\(id)' is closed", location: .init(store: id))
    }
    return changes
  }

  // MARK: Store

  public func layers() async throws(FieldpackError) -> [Layer] {
    try await whole().store.layers()
  }

  public func schemas() async throws(FieldpackError) -> [Schema] {
    let known = state.withLock { $0.whole ?? $0.parts.first?.file }
    if let known { return try await known.store.schemas() }
    return try await whole().store.schemas()
  }

  public func prepare(_ query: Query) async throws(FieldpackError) -> PreparedQuery {
    let query = resolved(query)
    let file = try await opened(for: query)
    let prepared = try await file.store.prepare(query)
    return PreparedQuery(
      prepared.query, layers: prepared.layers, notes: prepared.notes,
      answeredBy: FileReading(prepared: prepared, file: file))
  }

  public func query(_ query: Query) async throws(FieldpackError) -> FeatureBatches {
    try await prepare(query).batches()
  }

  public func scan<S: FeatureSink & Sendable>(
    _ query: Query, into sink: S, report: QueryReport
  ) async throws(FieldpackError) -> S {
    let query = resolved(query)
    let file = try await opened(for: query)
    file.tell(report)
    return try await file.store.scan(query, into: sink, report: report)
  }

  public func pieces<Piece: PieceSink>(
    of query: Query, into make: @escaping @Sendable () -> Piece
  ) async throws(FieldpackError) -> FeaturePieces<Piece> {
    try await prepare(query).pieces(into: make)
  }

  public func count(_ query: Query) async throws(FieldpackError) -> Int {
    let query = resolved(query)
    return try await opened(for: query).store.count(query)
  }

  public func feature(
    _ id: FeatureID, in layer: LayerID
  ) async throws(FieldpackError) -> Feature? {
    try await whole().store.feature(id, in: resolved(layer))
  }

  public func read<R: Sendable>(
    _ body: @Sendable (borrowing StoreSnapshot) throws(FieldpackError) -> R
  ) async throws(FieldpackError) -> R {
    try await whole().store.read(body)
  }

  public func explain(_ query: Query) async throws(FieldpackError) -> [Explanation] {
    let query = resolved(query)
    return try await opened(for: query).store.explain(query)
  }

  public func estimatedRows(_ query: Query) async throws(FieldpackError) -> [LayerID: Int] {
    let query = resolved(query)
    return try await opened(for: query).store.estimatedRows(query)
  }

  public func close() async {
    let files = state.withLock { state in
      state.isClosed = true
      return [state.whole].compactMap { $0 } + state.parts.map(\.file)
    }
    for file in files { await file.store.close() }
    state.withLock { state in
      state.whole = nil
      state.parts = []
    }
  }
}

/// Reads the answer of the cached file, and reports what there is to say of the file itself.
private struct FileReading: QueryAnswering {
  let prepared: PreparedQuery
  let file: CachedFile

  func batches() async throws(FieldpackError) -> FeatureBatches {
    let batches = try await prepared.batches()
    file.tell(batches.report)
    return batches
  }

  func pieces<Piece: PieceSink>(
    into make: @escaping @Sendable () -> Piece
  ) async throws(FieldpackError) -> FeaturePieces<Piece> {
    let pieces = try await prepared.pieces(into: make)
    file.tell(pieces.report)
    return pieces
  }

  func count() async throws(FieldpackError) -> Int { try await prepared.count() }
  func explain() async throws(FieldpackError) -> [Explanation] { try await prepared.explain() }
  func estimatedRows() async throws(FieldpackError) -> [LayerID: Int] {
    try await prepared.estimatedRows()
  }
}
