public import FieldpackCore
import FieldpackGeometry
import FieldpackSQLite

/// A GeoPackage as a store.
///
/// Reading opens read-only connections, which leave no trace on the file. The first `write` opens a
/// writer; it waits until the queries that are being read are done. With `usesWAL` the file is in
/// WAL mode from then on, so that readers and the writer do not wait for each other; ``close()``
/// restores the journal mode that the file came with.
///
///     let store = try await GeoPackageStore(path: path, id: "survey")
///     let well = Feature(geometry: .point(x: 13.9, y: 51.95), attributes: ["name": "Markt 41"])
///     let id = try await store.write { (writer) throws(FieldpackError) in
///       try writer.create(well, in: "wells")
///     }
///     await store.close()
public final class GeoPackageStore: WritableStore {
  public let id: StoreID
  public let path: String
  /// What errors call the file.
  package let shownPath: String
  package let pools: StorePools
  package let watch: CommitWatch

  /// Opens a file that exists.
  ///
  /// - Parameters:
  ///   - profile: how far the file is trusted.
  ///   - usesWAL: whether the first write switches to WAL mode; `false` suits a few changes before
  ///     ``close()``.
  ///   - usesFileIDs: whether the file caches another file and keeps the feature ids of that file.
  ///   - busyTimeout: how long a call waits for the lock of another program.
  ///   - style: the style that the schemas of all layers get.
  ///   - logger: gets the statements at the level `trace`, without their values.
  /// - Throws: `.notFound`, `.permission`, `.invalidData` for what is not a GeoPackage, `.corrupt`.
  public init(
    path: String, id: StoreID, profile: OpeningProfile = .foreign, usesWAL: Bool = true,
    usesFileIDs: Bool = false, busyTimeout: Duration = .seconds(5), style: LayerStyle? = nil,
    logger: Logger = .silent
  ) async throws(FieldpackError) {
    self.id = id
    self.path = path
    shownPath = profile.shownPath ?? path
    watch = CommitWatch(path: path, id: id)
    pools = StorePools(
      path: path, id: id, profile: profile, usesWAL: usesWAL, usesFileIDs: usesFileIDs,
      busyTimeout: busyTimeout, style: style, logger: logger, watch: watch)
    try await pools.open()
  }

  /// A store on the file of `base` whose only layer is a derived one.
  package init(_ base: GeoPackageStore, _ derivation: any Derivation) async throws(FieldpackError) {
    id = base.id
    path = base.path
    shownPath = base.shownPath
    watch = CommitWatch(path: base.path, id: base.id)
    pools = StorePools(base.pools, derivation, watch: watch)
    try await read { (snapshot) throws(FieldpackError) in _ = try snapshot.file.catalogue() }
  }

  /// Keeps a value, such as the file's lock, as long as anything reads from the store.
  package func keep(_ value: any Sendable) async { await pools.keep(value) }

  // MARK: Reading

  public func layers() async throws(FieldpackError) -> [Layer] {
    try await read { (snapshot) throws(FieldpackError) in try snapshot.layers() }
  }

  public func schemas() async throws(FieldpackError) -> [Schema] {
    try await read { (snapshot) throws(FieldpackError) in
      try snapshot.file.catalogue().layers.map(\.schema)
    }
  }

  public func count(_ query: Query) async throws(FieldpackError) -> Int {
    try await read { (snapshot) throws(FieldpackError) in try snapshot.count(query) }
  }

  public func feature(
    _ id: FeatureID, in layer: LayerID
  ) async throws(FieldpackError) -> Feature? {
    try await read { (snapshot) throws(FieldpackError) in try snapshot.feature(id, in: layer) }
  }

  /// A layer as the file stores it, and how many features it has.
  package func table(
    of layer: LayerID
  ) async throws(FieldpackError) -> (table: LayerTable, count: Int) {
    try await read { (snapshot) throws(FieldpackError) in
      let catalogue = try snapshot.file.catalogue()
      guard let table = catalogue.layer(layer) else {
        throw snapshot.file.missingLayer(layer, in: catalogue)
      }
      return (table, try snapshot.count(Query(layers: [table.layer.id])))
    }
  }

  public func explain(_ query: Query) async throws(FieldpackError) -> [Explanation] {
    try await prepare(query).explain()
  }

  public func estimatedRows(_ query: Query) async throws(FieldpackError) -> [LayerID: Int] {
    try await prepare(query).estimatedRows()
  }

  /// Runs `body` on one snapshot: every read in it sees the same state of the file.
  public func read<R: Sendable>(
    _ body: @Sendable (GeoPackageSnapshot) throws(FieldpackError) -> R
  ) async throws(FieldpackError) -> R {
    try await read(reporting: QueryReport(), body)
  }

  public func query(_ query: Query) async throws(FieldpackError) -> FeatureBatches {
    try await prepare(query).batches()
  }

  public func pieces<Piece: PieceSink>(
    of query: Query, into make: @escaping @Sendable () -> Piece
  ) async throws(FieldpackError) -> FeaturePieces<Piece> {
    try await prepare(query).pieces(into: make)
  }

  /// Runs `body` on one connection in one read transaction.
  func read<R: Sendable>(
    reporting report: QueryReport,
    _ body: @Sendable (GeoPackageSnapshot) throws(FieldpackError) -> R
  ) async throws(FieldpackError) -> R {
    let pool = try await pools.reader()
    return try await pool.read { (file) throws(FieldpackError) in
      try file.snapshot(reporting: report, body)
    }
  }

  /// As ``read(_:)``, for a short reading: where ``readAtOnce(_:)`` gives nothing, `body` begins again as with
  /// ``read(_:)``.
  package func readSoon<R: Sendable>(
    _ body: @Sendable (GeoPackageSnapshot) throws(FieldpackError) -> R
  ) async throws(FieldpackError) -> R {
    if let found = try readAtOnce(body) { return found }
    return try await read(body)
  }

  /// Runs `body` on the thread of the caller, which it keeps for as long as the reading takes.
  ///
  /// - Returns: `nil` where no connection is idle, where SQLite looks for rows for 20 ms, and where another
  ///   program has locked the file.
  package func readAtOnce<R>(
    _ body: (GeoPackageSnapshot) throws(FieldpackError) -> R
  ) throws(FieldpackError) -> R? {
    do throws(FieldpackError) {
      return try pools.current?.readIfIdle { (file) throws(FieldpackError) in
        try file.briefly(body)
      }
    } catch {
      guard error.code == .busy || error.code == .interrupted else { throw error }
      return nil
    }
  }

  // MARK: Writing

  /// Runs `body` in a transaction: all of its changes are committed, or none when it throws.
  public func write<R: Sendable>(
    _ body: @Sendable (GeoPackageWriter) throws(FieldpackError) -> R
  ) async throws(FieldpackError) -> R {
    try await write(body, onlyFeatures: false, waitsForDisk: true)
  }

  /// As ``write(_:)``, for a body that mostly creates, updates and deletes features. What is known of the
  /// layers is kept for the next transaction, unless the body changes it: to read it again takes longer
  /// than to change a feature.
  ///
  /// - Parameter waitsForDisk: false where it is enough that the changes survive a kill of the program, and
  ///   a power cut from the next commit on that waits.
  package func edit<R: Sendable>(
    waitsForDisk: Bool = true, _ body: @Sendable (GeoPackageWriter) throws(FieldpackError) -> R
  ) async throws(FieldpackError) -> R {
    try await write(body, onlyFeatures: true, waitsForDisk: waitsForDisk)
  }

  private func write<R: Sendable>(
    _ body: @Sendable (GeoPackageWriter) throws(FieldpackError) -> R, onlyFeatures: Bool,
    waitsForDisk: Bool
  ) async throws(FieldpackError) -> R {
    let (id, watch) = (id, watch)
    let pool = try await pools.writer()
    return try await pool.write { (file) throws(FieldpackError) in
      var isKept = false
      defer {
        if !isKept { file.forgetCatalogue() }
        if watch.awaitsOwnCommits { watch.note(file.connection) }
      }
      var changed: Set<LayerID> = []
      var extents: [LayerID: Envelope?]?
      var log = ChangeLog()
      func run() throws(FieldpackError) -> R {
        try file.connection.transaction(.immediate) { () throws(FieldpackError) in
          try file.beginChanges()
          try file.triggers?.check("gpkg_contents", store: id)
          let writer = GeoPackageWriter(file)
          let result = try body(writer)
          changed = writer.changedLayers
          log = writer.log
          try writer.finish()
          try file.endChanges()
          if onlyFeatures, (try? file.fileCatalogue()) != nil { extents = writer.extents }
          return result
        }
      }
      let result = waitsForDisk ? try run() : try file.connection.withoutSyncing(run)
      if let extents {
        file.keepCatalogue(with: extents)
        isKept = true
      }
      watch.noteOwn(changed)
      watch.tell(log)
      return result
    }
  }

  /// Keeps statement journals in memory from now on; for transactions of many small statements.
  ///
  /// SQLite undoes a failed statement by its statement journal, a file from 64 KiB on. A row that
  /// splits a node of an R-tree needs that much, and then so does each later statement of the
  /// transaction. In memory, a statement that changes a whole layer needs memory for all pages of
  /// the layer.
  package func keepStatementJournals() async throws(FieldpackError) {
    try await pools.writer().write { (file) throws(FieldpackError) in
      try file.execute("PRAGMA temp_store=MEMORY")
    }
  }

  /// Calls `observer` after each commit of the store itself with what was changed, in the order of
  /// the commits and before the write comes back.
  package func observe(_ observer: @escaping @Sendable (ChangeLog) -> Void) {
    watch.state.withLock { $0.observers.append(observer) }
  }

  /// Closes the connections for reading that nobody has used since the last call: each has a thread and up to
  /// 2 MiB of pages. For programs that run long.
  package func closeUnusedReaders() async { await pools.closeUnusedReaders() }

  public func close() async { await pools.close() }
}

extension GeoPackageSession {
  /// Runs `body` in one read transaction that neither waits for locks nor takes long.
  ///
  /// - Throws: `.busy` or `.interrupted` where it would.
  fileprivate func briefly<R>(
    _ body: (GeoPackageSnapshot) throws(FieldpackError) -> R
  ) throws(FieldpackError) -> R {
    let timeout = connection.busyTimeout
    connection.busyTimeout = .zero
    connection.patience = .milliseconds(20)
    defer {
      connection.busyTimeout = timeout
      connection.patience = nil
    }
    return try snapshot(reporting: QueryReport(), body)
  }

  /// Runs `body` in one read transaction.
  fileprivate func snapshot<R>(
    reporting report: QueryReport, _ body: (GeoPackageSnapshot) throws(FieldpackError) -> R
  ) throws(FieldpackError) -> R {
    try derive()
    try sql { () throws(SQLiteError) in try connection.begin() }
    // Where the reading was cancelled, the pool ends the transaction.
    defer { try? connection.rollBack() }
    return try body(GeoPackageSnapshot(self, report: report))
  }
}

extension Store {
  /// This store as a GeoPackage, for relations, media, metadata and tiles; `nil` for a store of
  /// another type.
  public var geoPackage: GeoPackageStore? { self as? GeoPackageStore }
}

// `read` and `write` of the protocols lie in extensions of the protocols, so that a call on a
// `GeoPackageStore` prefers the methods that lend its own snapshot and writer.

extension Store where Self == GeoPackageStore {
  public func read<R: Sendable>(
    _ body: @Sendable (borrowing StoreSnapshot) throws(FieldpackError) -> R
  ) async throws(FieldpackError) -> R {
    try await self.read(reporting: QueryReport()) { (snapshot) throws(FieldpackError) in
      try body(StoreSnapshot(snapshot))
    }
  }
}

extension WritableStore where Self == GeoPackageStore {
  public func write<R: Sendable>(
    _ body: @Sendable (inout FeatureWriter) throws(FieldpackError) -> R
  ) async throws(FieldpackError) -> R {
    try await self.write { (writer: GeoPackageWriter) throws(FieldpackError) in
      var features = FeatureWriter(writer)
      return try body(&features)
    }
  }
}
