public import FieldpackCore

/// Imports GeoJSON, GPX, KML, CSV, shapefiles, FlatGeobuf, NMEA, IGC and TCX files, and layers of other
/// GeoPackages, into a GeoPackage: everything, or nothing.
///
///     var options = ImportOptions(mode: .append)
///     options.skipsErrors = true
///     let report = try await FileImport(options).run([wells, walk], into: path)
///     let layers = report.imported.map(\.layer)
public struct FileImport: Sendable {
  public var options: ImportOptions

  public init(_ options: ImportOptions = ImportOptions()) { self.options = options }

  /// Imports all files in one transaction. `-` is standard input.
  ///
  /// A target that does not exist is created beside its place and appears there when it is whole;
  /// one that exists is changed in one transaction.
  /// - Throws: `.cannotCreate` for a layer that exists, unless ``ImportOptions/mode`` says what to
  ///   do with it; `.invalidData` with the file, the feature and the position for what cannot be
  ///   read; `.interrupted` when the task is cancelled.
  public func run(
    _ files: [String], into target: String
  ) async throws(FieldpackError) -> ImportReport {
    try await run(sources: files.map { ImportSource($0) }, into: target)
  }

  /// Imports files, or single layers of GeoPackages, in one transaction, as ``run(_:into:)`` does.
  public func run(
    sources: [ImportSource], into target: String
  ) async throws(FieldpackError) -> ImportReport {
    try await run(sources: sources, into: target) {}
  }

  /// - Parameter didLock: called when nobody else can change an existing target any more.
  func run(
    sources: [ImportSource], into target: String, didLock: @escaping @Sendable () -> Void
  ) async throws(FieldpackError) -> ImportReport {
    let options = options
    let stop = Cancellation()
    return try await Blocking.run(stoppedBy: stop) { () throws(FieldpackError) in
      var inputs: [ByteInput] = []
      let place = FileIdentity(target)
      for file in sources.map(\.file) {
        guard file != target, place == nil || FileIdentity(file) != place else {
          throw FieldpackError(
            .invalidArgument, "\(file) cannot be imported into itself",
            position: FilePosition(file: file))
        }
        inputs.append(
          file == "-" ? try Self.standardInput(stop) : try ByteInput(path: file))
      }
      var importer = Importer(options: options, store: Self.storeID(of: target), stop: stop)
      importer.didLock = didLock
      let exists = FileSystem.exists(target)
      let layers = sources.enumerated().compactMap { index, source in
        source.layer.map { (index, $0) }
      }
      return try importer.run(
        inputs, layers: Dictionary(uniqueKeysWithValues: layers),
        into: exists ? .existing(path: target) : .new(path: target))
    }
  }

  private static func standardInput(_ stop: Cancellation) throws(FieldpackError) -> ByteInput {
    try ByteInput(spooling: 0, name: "stdin") { (_) throws(FieldpackError) in try stop.check() }
  }

  /// The id of the store that a file is when it is opened by its path.
  public static func storeID(of path: String) -> StoreID { StoreID(Importer.stem(path).rawValue) }
}
