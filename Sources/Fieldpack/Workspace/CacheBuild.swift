import FieldpackCore
import FieldpackGeoPackage
import FieldpackGeometry

/// A file that was read into a GeoPackage.
struct CachedFile: Sendable {
  let store: GeoPackageStore
  /// Keeps the GeoPackage.
  let entry: CacheEntry
  /// What could not be read.
  let skipped: SkippedFeatures
  /// What there was to say when the file was read.
  let notes: [Note]

  /// Adds what there is to say of the file.
  func tell(_ report: QueryReport) {
    report.add(skipped: skipped)
    for note in notes { report.add(note: note) }
  }
}

extension CachedFile {
  /// Copies a GeoPackage that keeps the ids of its source.
  init(
    copyOf path: String, id: StoreID, style: LayerStyle?, logger: Logger
  ) async throws(FieldpackError) {
    let stop = Cancellation()
    entry = try await Blocking.run(stoppedBy: stop) { () throws(FieldpackError) -> CacheEntry in
      let folder = UnnamedFile.usualFolder
      let pending = try PendingFile(target: folder + "/fieldpack.gpkg", overwrite: true)
      let input = try ByteInput(path: path)
      while case let piece = try input.next(1 << 20), !piece.isEmpty {
        try FileSystem.write(piece.span.bytes, to: pending.descriptor, path: pending.path)
      }
      return CacheEntry(hidden: pending)
    }
    var profile = OpeningProfile.foreign
    profile.shownPath = path
    store = try await GeoPackageStore(
      path: entry.path, id: id, profile: profile, usesFileIDs: true, style: style, logger: logger)
    await store.keep(entry)
    (skipped, notes) = (SkippedFeatures(), [])
  }
}

/// Makes the cached GeoPackage of a file.
struct CacheBuild: Sendable {
  let path: String
  let id: StoreID
  let format: Format
  let layer: LayerID
  /// Whether the file holds several layers, whose names are its own.
  let holdsLayers: Bool
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
    holdsLayers = try format.file.imported?.holdsLayers(in: input) ?? format.holdsLayers
  }

  private var variant: String {
    let importing = options.importing
    let srs = importing.sourceSRS?.description ?? ""
    return "\(format) \(layer) \(srs) \(importing.idColumn ?? "") \(importing.csv)"
  }

  func input() throws(FieldpackError) -> ByteInput {
    try ByteInput(path: path, name: options.name)
  }

  /// The index of the file, where it has one.
  func index() throws(FieldpackError) -> FileIndex? {
    guard let index = try format.file.imported?.index(of: input()) else { return nil }
    return FileIndex(features: index, options: options.importing)
  }

  /// Opens the cached file; one that is damaged is made anew.
  ///
  /// - Parameter boxes: where features are wanted, in the file's system; `nil` for all features. A
  ///   part of a file is no other opening's, so that it goes with the store.
  func open(in boxes: [Envelope]? = nil) async throws(FieldpackError) -> CachedFile {
    do throws(FieldpackError) {
      return try await opened(in: boxes, renewing: false)
    } catch {
      guard error.underlying is DamagedEntry else { throw error }
    }
    return try await opened(in: boxes, renewing: true)
  }

  private func opened(
    in boxes: [Envelope]?, renewing: Bool
  ) async throws(FieldpackError) -> CachedFile {
    let (entry, skipped) = try await made(in: boxes, renewing: renewing)
    do throws(FieldpackError) {
      let store = try await store(entry)
      await store.keep(entry)
      let notes = try await Importer.notes(keptIn: store)
      return CachedFile(store: store, entry: entry, skipped: skipped, notes: notes)
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
    in boxes: [Envelope]?, renewing: Bool
  ) async throws(FieldpackError) -> (CacheEntry, SkippedFeatures) {
    let stop = Cancellation()
    return try await Blocking.run(stoppedBy: stop) { () throws(FieldpackError) in
      try entry(in: boxes, renewing: renewing, stop)
    }
  }

  private func entry(
    in boxes: [Envelope]?, renewing: Bool, _ stop: Cancellation
  ) throws(FieldpackError) -> (CacheEntry, SkippedFeatures) {
    // What was skipped is known only while the file is read.
    let policy = options.importing.skipsErrors || boxes != nil ? .private : options.cache
    var skipped = SkippedFeatures()
    let entry = try FileCache(policy: policy).entry(
      for: path, with: format.file.imported?.companions(ofFileAt: path) ?? [],
      variant: variant, renewing: renewing
    ) { () throws(FieldpackError) in
      try stop.check()
    } build: { (target: Importer.Target) throws(FieldpackError) in
      var importing = options.importing
      importing.format = format
      importing.boxes = boxes
      importing.layer = holdsLayers ? nil : layer
      var importer = Importer(options: importing, store: id, stop: stop)
      importer.hashesContents = true
      importer.keepsNotes = true
      let input = try input()
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
  /// The error with the name that a file is known by, where it has that of another place.
  func naming(_ name: String, insteadOf path: String) -> FieldpackError {
    var position = position
    if position?.file == path { position?.file = name }
    return FieldpackError(
      code, message.replacing(path, with: name), advice: advice, location: location,
      position: position, underlying: underlying)
  }
}
