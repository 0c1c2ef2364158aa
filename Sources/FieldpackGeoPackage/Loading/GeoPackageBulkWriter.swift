public import FieldpackCore
public import FieldpackGeometry
import FieldpackSQLite

/// One bulk load into a GeoPackage, all of it or nothing.
///
/// A new file is built beside its target without journal and sync, made durable once and renamed.
/// An existing file is changed in one transaction in its own journal mode. When the writer goes
/// without ``commit()``, nothing has happened.
///
/// Blocks the calling thread; not `Sendable`.
public final class GeoPackageBulkWriter {
  private let pending: PendingFile?
  /// Where a new file is to lie.
  private var place: DatabasePlace?
  private let connection: Connection
  let file: GeoPackageFile
  public let loader: BulkLoader
  private var isOpen = true

  /// Starts a new file.
  ///
  /// - Throws: `.cannotCreate` where the target exists and may not be overwritten.
  public init(
    creating target: String, version: GeoPackageVersion = .v14, overwrite: Bool = false,
    store: StoreID, logger: Logger = .silent
  ) throws(FieldpackError) {
    let pending = try PendingFile(target: target, overwrite: overwrite)
    var place = DatabasePlace(pending.target)
    if overwrite { try place.refuseBusy() }
    self.pending = pending
    self.place = place
    (connection, file) = try Self.open(
      pending.path, .unshared, shownAs: target, store: store, .foreign, logger)
    loader = BulkLoader(file)
    try begin(version)
  }

  private func begin(_ version: GeoPackageVersion) throws(FieldpackError) {
    // Debian's SQLite overwrites freed pages with zeros, and a new one as if it were freed.
    for pragma in ["journal_mode = OFF", "synchronous = OFF", "secure_delete = OFF"] {
      _ = try file.rows("PRAGMA \(pragma)")
    }
    try begin("BEGIN")
    try LayerCreation(file: file).createFile(version)
  }

  /// Starts a new file that keeps its hidden name, and goes with `pending`.
  package init(
    filling pending: PendingFile, version: GeoPackageVersion = .v14, store: StoreID,
    logger: Logger = .silent
  ) throws(FieldpackError) {
    try FileSystem.cut(pending.descriptor, to: 0, path: pending.path)
    self.pending = pending
    place = nil
    (connection, file) = try Self.open(
      pending.path, .unshared, shownAs: pending.path, store: store, .foreign, logger)
    loader = BulkLoader(file)
    try begin(version)
  }

  /// Starts a transaction on a file that exists.
  ///
  /// - Parameters:
  ///   - profile: how far the file is trusted.
  ///   - didLock: called when nobody else can change the file any more.
  public init(
    changing path: String, store: StoreID, profile: OpeningProfile = .foreign,
    logger: Logger = .silent, didLock: () -> Void = {}
  ) throws(FieldpackError) {
    pending = nil
    place = nil
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
  ) throws(FieldpackError) -> (Connection, GeoPackageFile) {
    let connection: Connection
    do throws(SQLiteError) {
      connection = try Connection(path: path, mode: mode, profile: .bulk)
      StatementLog.attach(to: connection, logger)
      let file = try GeoPackageFile(connection, store: store, path: shown, profile: profile)
      _ = try connection.scalar("PRAGMA cache_size = -16384")
      return (connection, file)
    } catch {
      throw FieldpackError(error, path: shown, location: .init(store: store))
    }
  }

  private func begin(_ sql: String) throws(FieldpackError) {
    try file.execute(sql)
    // Until then others could make triggers.
    try file.learnTriggers()
    try file.triggers?.check("gpkg_contents", store: file.store)
  }

  deinit {
    loader.stop()
    if isOpen { try? connection.execute("ROLLBACK") }
  }

  /// Stops the work from any thread; the call under way throws `.interrupted`.
  public var interrupt: @Sendable () -> Void {
    let handle = connection.interruptHandle
    return { handle.interrupt() }
  }

  // MARK: Layers

  /// The layers as they are now, without counts.
  public func layers() throws(FieldpackError) -> [Layer] {
    try file.catalogue().layers.map(\.layer)
  }

  /// Creates a layer and readies it for rows announced under `schema`.
  ///
  /// - Parameters:
  ///   - name: what the layer is called here, where it is not the schema's name.
  ///   - srs: the SRS the layer gets; rows come in the schema's and are transformed.
  ///   - clusters: stores the rows along a Hilbert curve over their boxes, so that a box touches few
  ///     pages; only where ids are assigned. All rows wait in a temporary file meanwhile.
  /// - Returns: how rows are transformed, where they are.
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
    try LayerCreation(file: file).create(stored, withTriggers: false)
    return try loader.prepare(
      schema, into: stored.layer, ids: ids, isNew: true, clusters: clusters)
  }

  /// Readies a layer that exists for rows announced under `schema`, adding the columns it lacks.
  ///
  /// - Returns: how rows are transformed to the layer's SRS, where they are.
  @discardableResult
  public func append(
    _ schema: Schema, to layer: LayerID, ids: LoadedIDs = .assigned, clusters: Bool = false
  ) throws(FieldpackError) -> TransformationReport? {
    let catalogue = try file.catalogue()
    guard let table = catalogue.layer(layer) else { throw file.missingLayer(layer, in: catalogue) }
    try file.triggers?.check(table.table, store: file.store)
    let new = schema.columns.filter {
      table.schema.columnIndex($0.name) == nil && !table.schema.isID($0.name)
    }
    try LayerCreation(file: file).addColumns(new, to: table)
    return try loader.prepare(
      schema, into: table.layer.id, ids: ids, isNew: false, clusters: clusters)
  }

  public func remove(_ layer: LayerID) throws(FieldpackError) {
    let catalogue = try file.catalogue()
    guard let table = catalogue.layer(layer) else { throw file.missingLayer(layer, in: catalogue) }
    try LayerChange(file: file).remove(table)
  }

  // MARK: End

  /// Writes indexes and counts, commits, and puts a new file in its place.
  public func commit() throws(FieldpackError) -> [LoadedLayer] {
    let loaded = try loader.finish()
    try file.execute("COMMIT")
    isOpen = false
    guard let pending else { return loaded }
    connection.clearStatementCache()
    _ = try file.rows("PRAGMA journal_mode = DELETE")
    if place != nil { try giveName(to: pending) }
    return loaded
  }

  private func giveName(to pending: PendingFile) throws(FieldpackError) {
    do throws(FieldpackError) {
      try pending.commit { () throws(FieldpackError) in try place?.take() }
    } catch {
      place?.giveBack()
      throw error
    }
    place?.end()
    try GeoPackageFile.readHeader(of: pending.target, store: file.store)
  }

  /// What the user should know of the target, after ``commit()``.
  public var notes: [String] { place?.notes ?? [] }
}
