package import FieldpackCore
import FieldpackGeometry
package import FieldpackProjection
package import FieldpackRTree
package import FieldpackSQLite

/// One connection to a GeoPackage with its functions, PROJ contexts and catalogue. One thread at a
/// time may use it.
package final class GeoPackageSession {
  // The pool owns both the connection and this session.
  package unowned let connection: Connection
  package let store: StoreID
  /// Whether the file caches another file and its feature ids are those of that file.
  let usesFileIDs: Bool
  /// The path as the user knows it. While a file is made, it lies elsewhere.
  package let path: String
  package private(set) lazy var transformations = TransformationCache()
  package private(set) lazy var systems = SRSCatalogue()
  private var known = KnownSystems()
  /// The functions for exact relations that SQL calls.
  package let relations: RelationFunctions
  package let indexes: SpatialIndexes
  /// The style that the schemas of all layers get.
  var style: LayerStyle?
  private var extensions: [any SessionExtension] = []
  /// The plans for repeated boxes; they are dropped with the catalogue.
  let planCache = PlanCache()
  /// Decides what the file's triggers may do; `nil` on a connection that only reads.
  package let triggers: TriggerGuard?
  let profile: OpeningProfile
  /// Gets warnings of the file.
  var logger = Logger.silent
  /// Whether the file has change logs, in the version of the schema that was looked at last.
  private var logsEdits = false
  private var loggedVersion: Int64?
  /// Makes the derived layer, where this session has that layer alone.
  var derivation: (any Derivation)?
  private var derived: Catalogue?
  private var isDerived = false
  private var cached: (state: PlannedState, catalogue: Catalogue)?
  /// The connection's count of possible changes of the schema when ``cached`` was last found to be of the
  /// file's state; `nil` where it has not been.
  private var comparedCount: Int?
  /// How many catalogues were read.
  private var catalogueCount = 0
  /// The change logs of tables that were asked for, in the state of ``cached``.
  private var logs: [String: LogShape?] = [:]
  /// The number of rows of tables that were counted on a connection that only reads, in the state of
  /// ``cached``.
  var rowCounts: [String: Int] = [:]
  /// What others have found out about the layers, by its name, in the state of ``cached``.
  private var findings: [String: any Sendable] = [:]
  /// The state of the file at the last reading; the catalogue is of this state.
  private(set) var state: PlannedState?
  /// A number that no other session of the process has.
  private let number = GeoPackageSession.opened.withLock { (opened) -> Int in
    opened += 1
    return opened
  }
  private static let opened = Locked(0)

  /// What functions in SQL had to tell since they were last asked, each once.
  private var functionNotes: [String] = []

  package init(
    _ connection: Connection, store: StoreID, usesFileIDs: Bool = false, path: String? = nil,
    profile: OpeningProfile = .foreign
  ) throws(SQLiteError) {
    self.connection = connection
    self.path = profile.shownPath ?? path ?? connection.path
    self.usesFileIDs = usesFileIDs
    self.store = store
    self.profile = profile
    connection.clock = profile.clock
    triggers = connection.isReadOnly ? nil : TriggerGuard(runsAll: profile.runsTriggers)
    triggers?.watch(connection)
    relations = try SQLFunctions.register(on: connection)
    indexes = SpatialIndexes(connection, relations: relations)
    try indexes.register()
    try connection.registerRowFunction()
    // A schema that cannot be read has no known triggers.
    try? triggers?.learn(connection)
  }

  package func note(_ note: String) {
    if !functionNotes.contains(note) { functionNotes.append(note) }
  }

  /// Gives the notes of functions, and forgets them.
  package func takeNotes() -> [String] {
    defer { functionNotes = [] }
    return functionNotes
  }

  /// Makes the derived layer; call it before any transaction.
  package func derive() throws(FieldpackError) {
    guard let derivation, derived == nil else { return }
    self.derivation = nil
    defer { self.derivation = derivation }
    derived = try derivation.install(on: self)
    isDerived = true
  }

  /// The folder that the file lies in, where there is one.
  package var folder: String? {
    guard !connection.path.isEmpty else { return nil }
    let slash = connection.path.lastIndex(of: "/")
    return slash.map { String(connection.path[...$0]) } ?? "."
  }

  /// The measures on the ellipsoid for geometries of a reference system.
  package func geodesics(_ reference: SRSReference) throws(ProjectionError) -> GeodesicSystem {
    try relations.geodesics.system(reference)
  }

  /// Lends the reference systems that SQL functions ask for, in the state of the file that is being
  /// read.
  func knownSystems<R>(_ body: (inout KnownSystems) throws -> R) rethrows -> R {
    let version = connection.snapshotVersion
    if known.version != version {
      known = KnownSystems()
      known.version = version
    }
    return try body(&known)
  }

  /// The extension of a type; the first call installs it.
  package func installed<E: SessionExtension>(_ type: E.Type) throws(SQLiteError) -> E {
    for case let known as E in extensions { return known }
    let made = try E(on: self)
    extensions.append(made)
    return made
  }

  // MARK: SQL

  /// Limits the steps of SQLite's virtual machine for a statement, where every trigger may run. The
  /// limit is above what a change of all rows of the file takes; a trigger without end reaches it
  /// in about a second.
  package func limitSteps() throws(FieldpackError) {
    guard profile.runsTriggers else { return }
    let pages = try integer("PRAGMA page_count") ?? 0
    let size = pages.multipliedReportingOverflow(by: try integer("PRAGMA page_size") ?? 0)
    connection.stepLimit = 30_000_000 + 10 * Int(clamping: min(size.partialValue, 1 << 50))
  }

  /// Begins the changes of a transaction: reads the triggers of the file where the schema has changed,
  /// brings change logs up to date whose tables other programs have changed, and tells the logs who
  /// edits. Call it in every writing transaction before the first change.
  package func beginChanges() throws(FieldpackError) {
    try learnTriggers()
    let version = try sql { () throws(SQLiteError) in try connection.schemaVersion }
    if loggedVersion != version {
      let logs = LogTables(file: self)
      logsEdits = try logs.exist
      for table in logsEdits ? try logs.refresh() : [] {
        logger.warning(
          "change log was out of date; edits since its table changed may be missing",
          ["layer": .text(table)])
      }
      loggedVersion = try sql { () throws(SQLiteError) in try connection.schemaVersion }
    }
    if logsEdits, let editor = profile.editor { try LogTables(file: self).begin(editor) }
  }

  /// Ends the changes of a transaction, before its commit.
  package func endChanges() throws(FieldpackError) {
    guard profile.editor != nil, logsEdits else { return }
    try LogTables(file: self).end()
  }

  /// Reads the triggers of the file where the schema has changed.
  func learnTriggers() throws(FieldpackError) {
    guard let triggers else { return }
    do throws(SQLiteError) { try triggers.learn(connection) } catch { throw worded(error) }
    try limitSteps()
  }

  /// Runs `body`, which calls SQLite without a ``SessionStatement``; its errors name the file.
  package func sql<R>(
    layer: LayerID? = nil, _ body: () throws(SQLiteError) -> R
  ) throws(FieldpackError) -> R {
    do throws(SQLiteError) { return try body() } catch { throw worded(error, layer: layer) }
  }

  /// The tables behind an R-tree.
  package func shadow(ofRTree name: String) -> RTreeShadow {
    RTreeShadow(name, on: connection) { [self] error in worded(error) }
  }

  /// Runs `body`, which may run views of the file, no longer than `time` or the profile's patience.
  ///
  /// - Throws: an error that ``FieldpackError/isOverdue`` when the time has passed.
  package func limited<R>(
    _ what: String, to time: Duration? = nil, _ body: () throws(FieldpackError) -> R
  ) throws(FieldpackError) -> R {
    guard let time = time ?? profile.patience, !connection.hasTimeLimit else {
      return try body()
    }
    connection.deadline = connection.clock.now + time
    defer { connection.deadline = nil }
    do throws(FieldpackError) {
      return try body()
    } catch  where error.code == .interrupted && connection.isDeadlinePassed {
      throw FieldpackError(
        .invalidData, "\(what) takes too long: a view of the file may have no end",
        location: error.location, position: FilePosition(file: path), underlying: error)
    }
  }

  package func execute(_ text: String, _ values: [SQLiteValue] = []) throws(FieldpackError) {
    try prepare(text, values).run()
    try checkChange(by: text)
  }

  /// The rows of a small result.
  package func rows(
    _ text: String, _ values: [SQLiteValue] = [], atEnd: (Statement) -> Void = { _ in }
  ) throws(FieldpackError) -> [[SQLiteValue]] {
    let statement = try prepare(text, values)
    defer { statement.reset() }
    var rows: [[SQLiteValue]] = []
    var size = ResultSize()
    while try statement.step() {
      let row = statement.row.values
      try size.add(row, of: self)
      rows.append(row)
    }
    atEnd(statement.row)
    return rows
  }

  /// A small table with the names of its columns in lower case.
  package func table(
    _ name: String
  ) throws(FieldpackError) -> (columns: [String], rows: [[SQLiteValue]]) {
    var columns: [String] = []
    let rows = try rows("SELECT * FROM \(quoted(name))") { columns = $0.columnNames }
    return (columns.map { $0.lowercased() }, rows)
  }

  package func integer(_ text: String, _ values: [SQLiteValue] = []) throws(FieldpackError)
    -> Int64?
  {
    guard case .integer(let value)?? = try rows(text, values).first?.first else { return nil }
    return value
  }

  package func hasTable(_ name: String) throws(FieldpackError) -> Bool { try kind(of: name) != nil }

  /// `table` or `view`; `nil` where nothing has the name.
  package func kind(of name: String) throws(FieldpackError) -> String? {
    try rows(
      "SELECT type FROM sqlite_master WHERE lower(name) = lower(?) AND type IN ('table', 'view')",
      [.text(name)]
    ).first?.first?.textValue
  }

  /// Drops a table or a view, where there is one.
  package func drop(_ name: String) throws(FieldpackError) {
    guard let kind = try kind(of: name) else { return }
    try execute("DROP \(kind.uppercased()) \(quoted(name))")
  }

  // MARK: Catalogue

  /// The triggers that keep R-trees true in files of this version.
  package var triggerSet: RTreeTriggerSet {
    get throws(FieldpackError) {
      RTreeTriggerSet(userVersion: try integer("PRAGMA user_version") ?? 0)
    }
  }

  /// The layers. They are read again when another program has changed the file or this connection
  /// its schema. A writer that changes rows of the catalogue's tables calls ``forgetCatalogue()``.
  package func catalogue() throws(FieldpackError) -> Catalogue {
    guard let derived else { return try fileCatalogue() }
    // This begins the read transaction, as reading the file's own catalogue does.
    _ = try readState()
    return derived
  }

  /// Whether the catalogue that was read last holds still, which costs no look at the file.
  private var isCatalogueCurrent: Bool {
    let connection = connection
    return comparedCount == connection.possibleSchemaChanges && connection.isInTransaction
  }

  /// Tells apart the catalogues that this session has had; `nil` where the file has to be asked. It is
  /// asked for each change of a feature, so it looks at no catalogue.
  var catalogueNumber: Int? { !isDerived && isCatalogueCurrent ? catalogueCount : nil }

  /// The layers of the file itself, also where this session has a derived layer in their place.
  package func fileCatalogue() throws(FieldpackError) -> Catalogue {
    if let cached, isCatalogueCurrent { return cached.catalogue }
    let state = try readState()
    if let cached, cached.state == state {
      comparedCount = connection.possibleSchemaChanges
      return cached.catalogue
    }
    comparedCount = nil
    planCache.removeAll()
    (logs, rowCounts, findings) = ([:], [:], [:])
    var catalogue = try limited("reading the file's catalogue") { () throws(FieldpackError) in
      try CatalogueReader(file: self).read()
    }
    if let style {
      for index in catalogue.layers.indices { catalogue.layers[index].layer.schema.style = style }
    }
    cached = (state, catalogue)
    catalogueCount += 1
    indexes.tables = catalogue.indexedTables
    return catalogue
  }

  /// The change log of a table, which is looked up once in a state of the file; `nil` without one.
  func logShape(of table: LayerTable) throws(FieldpackError) -> LogShape? {
    if let known = logs[table.table] { return known }
    let log = table.isDerived ? nil : try EditLog(of: table.table, in: self)
    let shape = try log?.hasAllColumns() == true ? log?.shape : nil
    logs[table.table] = .some(shape)
    return shape
  }

  /// Reads the state of the file; outside of a transaction this begins one.
  func readState() throws(FieldpackError) -> PlannedState {
    do throws(SQLiteError) {
      // The schema version comes first: reading it begins the transaction that the data version is
      // of.
      let state = PlannedState(
        connection: number, schema: try connection.schemaVersion, data: connection.snapshotVersion)
      self.state = state
      return state
    } catch { throw worded(error) }
  }

  /// Reads the catalogue in a transaction of its own.
  func readCatalogue() throws(FieldpackError) {
    try execute("BEGIN")
    defer { try? execute("ROLLBACK") }
    _ = try catalogue()
  }

  /// Keeps the catalogue after a commit of this connection that only changed features.
  ///
  /// - Parameter extents: the new extents of the layers whose features changed.
  func keepCatalogue(with extents: [LayerID: Envelope?]) {
    guard var kept = cached else { return }
    for index in kept.catalogue.layers.indices {
      guard let extent = extents[kept.catalogue.layers[index].layer.id],
        extent != kept.catalogue.layers[index].layer.envelope
      else { continue }
      kept.catalogue.layers[index].layer.envelope = extent
      catalogueCount += 1
      planCache.removeAll()
    }
    kept.state.data = connection.snapshotVersion
    cached = kept
  }

  package func forgetCatalogue() {
    cached = nil
    comparedCount = nil
    (logs, findings) = ([:], [:])
    known = KnownSystems()
    planCache.removeAll()
  }

  /// What `find` finds out about the layers. It is asked again when the catalogue is read again.
  func finding<T: Sendable>(
    _ name: String, _ find: () throws(FieldpackError) -> T
  ) throws(FieldpackError) -> T {
    _ = try fileCatalogue()
    if let known = findings[name] as? T { return known }
    let found = try find()
    // Where `find` has changed the catalogue, this one knows nothing else yet.
    _ = try fileCatalogue()
    findings[name] = found
    return found
  }

  /// Opens a file that was just written, as the next program will.
  ///
  /// - Throws: `.corrupt` where another program has changed the file since.
  static func readHeader(of path: String, store: StoreID) throws(FieldpackError) {
    let isGeoPackage: Bool
    do throws(SQLiteError) {
      let connection = try Connection(path: path, mode: .readOnly)
      isGeoPackage = try connection.scalar("PRAGMA application_id") == .integer(0x4750_4B47)
    } catch {
      throw FieldpackError(error, path: path, location: .init(store: store))
    }
    guard !isGeoPackage else { return }
    throw FieldpackError(
      .corrupt, "\(path) was written, but another program has changed it since",
      location: .init(store: store), position: FilePosition(file: path))
  }
}
