public import FieldpackCore
public import FieldpackGeometry
import FieldpackSQLite

/// One bulk load into a GeoPackage: it happens as a whole or not at all.
///
/// A new file is built beside its target without journal and sync, then made durable once and
/// renamed. An existing file is changed in one transaction, in its own journal mode. If the writer
/// is released without ``commit()``, nothing has happened.
///
/// Blocks the calling thread; not `Sendable`.
public final class GeoPackageBulkWriter {
  private let pending: PendingFile?
  /// The path that a new file gets at the commit.
  private var destination: DatabasePlace?
  private let connection: Connection
  let file: GeoPackageSession
  public let loader: BulkLoader
  /// Whether layers may have names that begin as those of the standard's tables do. A copy of a
  /// layer keeps its name.
  package var keepsNames = false
  private var isOpen = true
  private var merges: [LayerMerge] = []
  private var mergeNotes: [String] = []
  private var documents: [(content: String, standard: String, layers: [LayerID])] = []

  /// Starts a new file.
  ///
  /// - Throws: `.cannotCreate` where the target exists and may not be overwritten.
  public init(
    creating target: String, version: GeoPackageVersion = .v14, overwrite: Bool = false,
    store: StoreID, logger: Logger = .silent
  ) throws(FieldpackError) {
    let pending = try PendingFile(target: target, overwrite: overwrite)
    var destination = DatabasePlace(pending.target)
    if overwrite { try destination.refuseBusy() }
    self.pending = pending
    self.destination = destination
    (connection, file) = try Self.open(
      pending.path, .unshared, shownAs: target, store: store, .foreign, logger)
    loader = BulkLoader(file)
    try begin(version)
  }

  private func begin(_ version: GeoPackageVersion) throws(FieldpackError) {
    // Debian's SQLite overwrites freed pages with zeros, and treats new pages like freed ones.
    for pragma in ["journal_mode = OFF", "synchronous = OFF", "secure_delete = OFF"] {
      _ = try file.rows("PRAGMA \(pragma)")
    }
    try begin("BEGIN")
    try LayerCreation(file: file).createFile(version)
  }

  /// Starts a new file that keeps its hidden name and is deleted with `pending`.
  package init(
    filling pending: PendingFile, version: GeoPackageVersion = .v14, store: StoreID,
    logger: Logger = .silent
  ) throws(FieldpackError) {
    try FileSystem.cut(pending.descriptor, to: 0, path: pending.path)
    self.pending = pending
    destination = nil
    (connection, file) = try Self.open(
      pending.path, .unshared, shownAs: pending.path, store: store, .foreign, logger)
    loader = BulkLoader(file)
    try begin(version)
  }

  /// Starts a transaction on an existing file.
  ///
  /// - Parameters:
  ///   - profile: how far the file is trusted.
  ///   - didLock: called when no other process can change the file any more.
  public init(
    changing path: String, store: StoreID, profile: OpeningProfile = .foreign,
    logger: Logger = .silent, didLock: () -> Void = {}
  ) throws(FieldpackError) {
    pending = nil
    destination = nil
    (connection, file) = try Self.open(
      path, .readWrite, shownAs: path, store: store, profile, logger)
    loader = BulkLoader(file)
    try begin("BEGIN IMMEDIATE")
    didLock()
    _ = try file.catalogue()
  }

  private static func open(
    _ path: String, _ mode: Connection.Mode, shownAs shown: String, store: StoreID,
    _ profile: OpeningProfile, _ logger: Logger
  ) throws(FieldpackError) -> (Connection, GeoPackageSession) {
    let connection: Connection
    do throws(SQLiteError) {
      connection = try Connection(path: path, mode: mode, profile: .bulk)
      StatementLog.attach(to: connection, logger)
      let file = try GeoPackageSession(connection, store: store, path: shown, profile: profile)
      file.logger = logger
      _ = try connection.scalar("PRAGMA cache_size = -16384")
      return (connection, file)
    } catch {
      throw FieldpackError(error, path: shown, location: .init(store: store))
    }
  }

  private func begin(_ sql: String) throws(FieldpackError) {
    try file.execute(sql)
    // Before the lock other processes could create triggers, so they are read after it.
    try file.beginChanges()
    try file.triggers?.check("gpkg_contents", store: file.store)
  }

  deinit {
    loader.stop()
    if isOpen { try? connection.execute("ROLLBACK") }
  }

  /// Stops the work from any thread. The running call throws `.interrupted`.
  public var interrupt: @Sendable () -> Void {
    let handle = connection.interruptHandle
    return { handle.interrupt() }
  }

  // MARK: Layers

  /// The current layers, without counts.
  public func layers() throws(FieldpackError) -> [Layer] {
    try file.catalogue().layers.map(\.layer)
  }

  /// Creates a layer and prepares it for rows announced under `schema`.
  ///
  /// - Parameters:
  ///   - name: the layer's name in this file; `nil` for the schema's name.
  ///   - srs: the SRS of the layer. Rows come in the schema's SRS and are transformed.
  ///   - clusters: stores the rows along a Hilbert curve over their boxes, so that a box touches
  ///     few pages. This works only where ids are assigned. All rows are kept in a temporary file
  ///     meanwhile.
  /// - Returns: the transformation of the rows; `nil` where there is none.
  @discardableResult
  public func create(
    _ schema: Schema, as name: LayerID? = nil, in srs: SRS? = nil, ids: LoadedIDs = .assigned,
    clusters: Bool = false
  ) throws(FieldpackError) -> TransformationReport? {
    var stored = schema
    stored.layer = name ?? schema.layer
    if let srs, srs != schema.geometry?.srs {
      stored.geometry?.srs = srs
      stored.geometry?.epoch = nil
    }
    if ids == .hashed {
      stored.columns.append(ColumnDefinition(LoadedIDs.contentIDColumn, .text()))
    }
    try LayerCreation(file: file).create(stored, withTriggers: false, keepsName: keepsNames)
    return try loader.prepare(
      schema, into: stored.layer, ids: ids, isNew: true, clusters: clusters)
  }

  /// Prepares an existing layer for rows announced under `schema`, and adds the columns that it
  /// lacks.
  ///
  /// - Parameter key: by what a row finds the feature whose columns it replaces; the others are
  ///   created.
  /// - Returns: the transformation of the rows to the layer's SRS; `nil` where there is none.
  @discardableResult
  public func append(
    _ schema: Schema, to layer: LayerID, ids: LoadedIDs = .assigned, clusters: Bool = false,
    replacing key: ReplacedKey? = nil
  ) throws(FieldpackError) -> TransformationReport? {
    let catalogue = try file.catalogue()
    guard let table = catalogue.layer(layer) else { throw file.missingLayer(layer, in: catalogue) }
    try file.triggers?.check(table.table, store: file.store)
    let new = schema.columns.filter {
      table.schema.columnIndex($0.name) == nil && !table.schema.isID($0.name)
    }
    try LayerCreation(file: file).addColumns(new, to: table)
    return try loader.prepare(
      schema, into: table.layer.id, ids: ids, isNew: false, clusters: clusters, replacing: key)
  }

  /// Removes a layer with all that belongs to it.
  ///
  /// - Parameter isReplaced: whether another layer of its name follows. Its change log has the
  ///   features as deleted then, and goes on.
  public func remove(_ layer: LayerID, isReplaced: Bool = false) throws(FieldpackError) {
    let catalogue = try file.catalogue()
    guard let table = catalogue.layer(layer) else { throw file.missingLayer(layer, in: catalogue) }
    try LayerChange(file: file).remove(table, keepingLog: isReplaced)
  }

  /// Stores a document about layers when all rows are stored, or refers to the same one that
  /// is there.
  package func add(document content: String, standard: String, about layers: [LayerID]) {
    documents.append((content, standard, layers))
  }

  /// Takes over what belongs to layers of another GeoPackage when all rows are stored.
  package func add(_ merge: LayerMerge) { merges.append(merge) }

  /// The media of a GeoPackage that a layer has already, with the ids of the equal ones: first the
  /// same id, then from the lowest on.
  package func equals(
    of layer: LayerID, in source: GeoPackageSource, to target: LayerID
  ) throws(FieldpackError) -> [Int64: [Int64]] {
    try loader.settle()
    return try EqualMedia(source: source.file, target: file).find(layer, in: target)
  }

  private func storeDocuments() throws(FieldpackError) {
    let tables = MetadataTables(file: file)
    for (content, standard, layers) in documents {
      let known = try tables.all().first { $0.content == content && $0.standardURI == standard }
      let id =
        if let known { known.id } else {
          try tables.add(
            content, mediaType: "text/xml", standardURI: standard, scope: .dataset)
        }
      for layer in layers { try tables.attach(id, to: .layer(layer), parent: nil) }
    }
  }

  // MARK: End

  /// Writes everything but the commit.
  ///
  /// - Parameter describe: called when all rows are stored, and may add documents about them.
  package func finish(
    describing describe: ([LoadedLayer]) -> Void = { _ in }
  ) throws(FieldpackError) -> [LoadedLayer] {
    let loaded = try loader.finish()
    for merge in merges { mergeNotes += try merge.run(in: file) }
    describe(loaded)
    try storeDocuments()
    return loaded
  }

  /// Writes indexes and counts, commits, and renames a new file to its target.
  public func commit() throws(FieldpackError) -> [LoadedLayer] { try commit { _ in } }

  /// As ``commit()``.
  ///
  /// - Parameter describe: as of ``finish(describing:)``.
  package func commit(
    describing describe: ([LoadedLayer]) -> Void
  ) throws(FieldpackError) -> [LoadedLayer] {
    try commit(describing: describe) { () throws(FieldpackError) in }
  }

  /// As ``commit()``.
  ///
  /// - Parameter add: called when everything else is written.
  func commit(
    describing describe: ([LoadedLayer]) -> Void = { _ in },
    adding add: () throws(FieldpackError) -> Void
  ) throws(FieldpackError) -> [LoadedLayer] {
    let loaded = try finish(describing: describe)
    try add()
    try file.endChanges()
    try file.execute("COMMIT")
    isOpen = false
    guard let pending else { return loaded }
    connection.clearStatementCache()
    _ = try file.rows("PRAGMA journal_mode = DELETE")
    if destination != nil { try giveName(to: pending) }
    return loaded
  }

  private func giveName(to pending: PendingFile) throws(FieldpackError) {
    do throws(FieldpackError) {
      try pending.commit { () throws(FieldpackError) in try destination?.take() }
    } catch {
      destination?.giveBack()
      throw error
    }
    destination?.end()
    try GeoPackageSession.readHeader(of: pending.target, store: file.store)
  }

  /// Notes on the target, and on what it did not take over, for the user; after ``commit()``.
  public var notes: [String] { mergeNotes + (destination?.notes ?? []) }
}
