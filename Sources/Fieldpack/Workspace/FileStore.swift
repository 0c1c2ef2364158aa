public import FieldpackCore
import FieldpackGeoPackage
import FieldpackGeometry
import Foundation

/// A GeoJSON, GPX or CSV file as a read-only store.
///
/// The file is imported once into a GeoPackage in the cache, so it answers every query as one
/// would. Feature ids are the file's own; features without get one made from their contents, with
/// `-2` and so on for equal ones, so a key tuple holds as long as the feature is the same.
public final class FileStore: Store {
  public let id: StoreID
  private let cached: GeoPackageStore
  private let entry: FileCache.Entry
  /// Another name that the only layer answers to, with the layer.
  private let alias: (name: LayerID, layer: LayerID)?

  /// How a file is opened as a store.
  public struct Options: Sendable {
    /// The file's format, where its contents and name do not tell.
    public var format: Format?
    /// The name of the only layer of a format that holds one; GPX layers keep their names.
    public var layer: LayerID?
    public var importing = ImportOptions()
    public var cache = CachePolicy.shared

    public init() {}
  }

  /// Opens a file.
  ///
  /// - Throws: what reading the file throws; `.unsupported` for formats that are not read.
  public init(
    path: String, id: StoreID, options: Options = Options()
  ) async throws(FieldpackError) {
    self.id = id
    let stop = ImportStop()
    let build = try CacheBuild(path: path, id: id, options: options, stop: stop)
    entry = try await Blocking.run(stoppedBy: stop) { () throws(FieldpackError) in
      try build.entry()
    }
    cached = try await GeoPackageStore(
      path: entry.path, id: id, usesFileIDs: true, logger: options.importing.logger)
    alias = build.format.holdsLayers ? nil : (Importer.stem(path), build.layer)
  }

  deinit { if entry.isTemporary { try? FileManager.default.removeItem(atPath: entry.path) } }

  /// Whether `layer` is another name of the only layer.
  func answers(to layer: LayerID) -> Bool { resolved(layer) != layer }

  private func resolved(_ layer: LayerID) -> LayerID {
    guard let alias, alias.name.rawValue.lowercased() == layer.rawValue.lowercased() else {
      return layer
    }
    return alias.layer
  }

  private func resolved(_ query: Query) -> Query {
    query.in(layers: query.layers.map { resolved($0) })
  }

  // MARK: Store

  public func layers() async throws(FieldpackError) -> [Layer] { try await cached.layers() }
  public func schemas() async throws(FieldpackError) -> [Schema] { try await cached.schemas() }

  public func query(_ query: Query) async throws(FieldpackError) -> FeatureBatches {
    try await cached.query(resolved(query))
  }

  public func scan<S: FeatureSink & Sendable>(
    _ query: Query, into sink: S, report: QueryReport
  ) async throws(FieldpackError) -> S {
    try await cached.scan(resolved(query), into: sink, report: report)
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

  public func close() async { await cached.close() }
}

/// Makes the cached GeoPackage of a file.
private struct CacheBuild: Sendable {
  let path: String
  let id: StoreID
  let format: Format
  let layer: LayerID
  let options: FileStore.Options
  let stop: ImportStop

  init(
    path: String, id: StoreID, options: FileStore.Options, stop: ImportStop
  ) throws(FieldpackError) {
    self.path = path
    self.id = id
    self.options = options
    self.stop = stop
    let input = try ByteInput(path: path)
    format =
      if let given = options.format { given } else {
        try Format.detect(path: path, head: try input.head(4096))
      }
    guard format != .geoPackage else {
      throw FieldpackError(
        .invalidArgument, "\(path) is a GeoPackage and needs no cache",
        position: FilePosition(file: path))
    }
    // SpatialConnect's key tuples name the one layer of a GeoJSON store so.
    layer = options.layer ?? (format == .csv ? Importer.stem(path) : "default")
  }

  private var variant: String {
    let importing = options.importing
    let srs = importing.sourceSRS?.description ?? ""
    return "\(format) \(layer) \(srs) \(importing.idColumn ?? "") \(importing.csv)"
  }

  func entry() throws(FieldpackError) -> FileCache.Entry {
    // What was skipped is known only while the file is read.
    let policy = options.importing.skipsErrors ? .private : options.cache
    return try FileCache(policy: policy).entry(for: path, variant: variant) {
      (target) throws(FieldpackError) in
      var importing = options.importing
      importing.format = format
      importing.layer = format.holdsLayers ? nil : layer
      var importer = Importer(options: importing, store: id, stop: stop)
      importer.hashesContents = true
      _ = try importer.run([try ByteInput(path: path)], into: .new(path: target))
    }
  }
}
