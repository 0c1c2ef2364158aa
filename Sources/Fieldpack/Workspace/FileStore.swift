public import FieldpackCore
import FieldpackGeoPackage
import FieldpackGeometry
import FoundationEssentials

/// A GeoJSON, GPX or CSV file, or a log of positions, as a read-only store.
///
/// The file is imported once into a GeoPackage in the cache, so it answers every query as one
/// would. Feature ids are the file's own. A feature without an id gets one made from its contents,
/// with `-2` and so on for equal features, so a key tuple is valid as long as the feature does not
/// change.
public final class FileStore: Store {
  public let id: StoreID
  /// What the file is kept as.
  let cached: GeoPackageStore
  /// Keeps the cached file until the store is closed.
  private let entry: Locked<CacheEntry?>
  private let skipped: SkippedFeatures
  /// The only layer of a format that holds one, and the other names it answers to.
  private let only: (layer: LayerID, names: [String])?

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
    let opened = try await build.open()
    (cached, entry, skipped) = (opened.store, Locked(opened.entry), opened.skipped)
    only =
      build.format.holdsLayers
      ? nil
      : (build.layer, [Importer.stem(path), Self.defaultLayer].map { $0.rawValue.lowercased() })
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

  // MARK: Store

  public func layers() async throws(FieldpackError) -> [Layer] { try await cached.layers() }
  public func schemas() async throws(FieldpackError) -> [Schema] { try await cached.schemas() }

  public func prepare(_ query: Query) async throws(FieldpackError) -> PreparedQuery {
    let prepared = try await cached.prepare(resolved(query))
    return PreparedQuery(
      prepared.query, layers: prepared.layers, notes: prepared.notes,
      answeredBy: FileReading(prepared: prepared, skipped: skipped))
  }

  public func query(_ query: Query) async throws(FieldpackError) -> FeatureBatches {
    try await prepare(query).batches()
  }

  public func scan<S: FeatureSink & Sendable>(
    _ query: Query, into sink: S, report: QueryReport
  ) async throws(FieldpackError) -> S {
    report.add(skipped: skipped)
    return try await cached.scan(resolved(query), into: sink, report: report)
  }

  public func pieces<Piece: PieceSink>(
    of query: Query, into make: @escaping @Sendable () -> Piece
  ) async throws(FieldpackError) -> FeaturePieces<Piece> {
    try await prepare(query).pieces(into: make)
  }

  public func count(_ query: Query) async throws(FieldpackError) -> Int {
    try await cached.count(resolved(query))
  }

  public func feature(
    _ id: FeatureID, in layer: LayerID
  ) async throws(FieldpackError) -> Feature? {
    try await cached.feature(id, in: resolved(layer))
  }

  public func read<R: Sendable>(
    _ body: @Sendable (borrowing StoreSnapshot) throws(FieldpackError) -> R
  ) async throws(FieldpackError) -> R {
    try await cached.read(body)
  }

  public func explain(_ query: Query) async throws(FieldpackError) -> [Explanation] {
    try await cached.explain(resolved(query))
  }

  public func estimatedRows(_ query: Query) async throws(FieldpackError) -> [LayerID: Int] {
    try await cached.estimatedRows(resolved(query))
  }

  public func close() async {
    await cached.close()
    entry.withLock { $0 = nil }
  }
}

/// Reads the answer of the cached file, and reports what could not be read of the file itself.
private struct FileReading: QueryAnswering {
  let prepared: PreparedQuery
  let skipped: SkippedFeatures

  func batches() async throws(FieldpackError) -> FeatureBatches {
    let batches = try await prepared.batches()
    batches.report.add(skipped: skipped)
    return batches
  }

  func pieces<Piece: PieceSink>(
    into make: @escaping @Sendable () -> Piece
  ) async throws(FieldpackError) -> FeaturePieces<Piece> {
    let pieces = try await prepared.pieces(into: make)
    pieces.report.add(skipped: skipped)
    return pieces
  }

  func count() async throws(FieldpackError) -> Int { try await prepared.count() }
  func explain() async throws(FieldpackError) -> [Explanation] { try await prepared.explain() }
  func estimatedRows() async throws(FieldpackError) -> [LayerID: Int] {
    try await prepared.estimatedRows()
  }
}

/// Makes the cached GeoPackage of a file.
private struct CacheBuild: Sendable {
  let path: String
  let id: StoreID
  let format: Format
  let layer: LayerID
  let options: FileStore.Options

  init(
    path: String, id: StoreID, options: FileStore.Options
  ) throws(FieldpackError) {
    self.path = path
    self.id = id
    self.options = options
    let input = try ByteInput(path: path, name: options.name)
    format =
      if let given = options.format { given } else { try Format.detect(input) }
    guard format != .geoPackage else {
      throw FieldpackError(
        .invalidArgument, "\(input.name) is a GeoPackage and needs no cache",
        position: FilePosition(file: input.name))
    }
    layer = options.layer ?? Importer.stem(path)
  }

  private var variant: String {
    let importing = options.importing
    let srs = importing.sourceSRS?.description ?? ""
    return "\(format) \(layer) \(srs) \(importing.idColumn ?? "") \(importing.csv)"
  }

  struct Opened: Sendable {
    var store: GeoPackageStore
    var entry: CacheEntry
    var skipped: SkippedFeatures
  }

  /// Opens the cached file; one that is damaged is made anew.
  func open() async throws(FieldpackError) -> Opened {
    do throws(FieldpackError) {
      return try await opened(renewing: false)
    } catch {
      guard error.underlying is DamagedEntry else { throw error }
    }
    return try await opened(renewing: true)
  }

  private func opened(renewing: Bool) async throws(FieldpackError) -> Opened {
    let (entry, skipped) = try await made(renewing: renewing)
    do throws(FieldpackError) {
      return Opened(store: try await store(entry), entry: entry, skipped: skipped)
    } catch {
      guard !renewing, [.corrupt, .invalidData].contains(error.code) else { throw error }
      throw FieldpackError(
        error.code, error.message, advice: error.advice, underlying: DamagedEntry())
    }
  }

  /// The file in the cache is not what was put there.
  private struct DamagedEntry: Error {}

  private func store(_ entry: CacheEntry) async throws(FieldpackError) -> GeoPackageStore {
    // We made the entry, and it is replaced by another file or deleted, never cut short.
    var profile = OpeningProfile.own
    profile.shownPath = options.name ?? path
    return try await GeoPackageStore(
      path: entry.path, id: id, profile: profile, usesFileIDs: true, style: options.style,
      logger: options.importing.logger)
  }

  private func made(
    renewing: Bool
  ) async throws(FieldpackError) -> (CacheEntry, SkippedFeatures) {
    let stop = Cancellation()
    return try await Blocking.run(stoppedBy: stop) { () throws(FieldpackError) in
      try entry(renewing: renewing, stop)
    }
  }

  private func entry(
    renewing: Bool, _ stop: Cancellation
  ) throws(FieldpackError) -> (CacheEntry, SkippedFeatures) {
    // What was skipped is known only while the file is read.
    let policy = options.importing.skipsErrors ? .private : options.cache
    var skipped = SkippedFeatures()
    let entry = try FileCache(policy: policy).entry(
      for: path, with: format.file.imported?.companions(ofFileAt: path) ?? [],
      variant: variant, renewing: renewing
    ) { () throws(FieldpackError) in
      try stop.check()
    } build: { (target: Importer.Target) throws(FieldpackError) in
      var importing = options.importing
      importing.format = format
      importing.layer = format.holdsLayers ? nil : layer
      var importer = Importer(options: importing, store: id, stop: stop)
      importer.hashesContents = true
      let input = try ByteInput(path: path, name: options.name)
      do throws(FieldpackError) {
        skipped = try importer.run([input], into: target).skipped
      } catch {
        throw error.naming(input.name, insteadOf: target.path)
      }
    }
    return (entry, skipped)
  }
}

extension FieldpackError {
  /// The error with the name that a file is known by, where it has that of the file's copy.
  fileprivate func naming(_ name: String, insteadOf path: String) -> FieldpackError {
    var position = position
    if position?.file == path { position?.file = name }
    return FieldpackError(
      code, message.replacing(path, with: name), advice: advice, location: location,
      position: position, underlying: underlying)
  }
}
