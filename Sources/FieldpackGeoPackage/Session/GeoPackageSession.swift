package import FieldpackCore
import FieldpackGeometry
package import FieldpackProjection
package import FieldpackRTree
package import FieldpackSQLite

/// One connection to a GeoPackage with what belongs to it: functions, PROJ contexts and
/// the catalogue. Used by one thread at a time.
package final class GeoPackageSession {
  // The pool holds the connection and this session beside each other.
  package unowned let connection: Connection
  package let store: StoreID
  /// Whether ids are those of the file that this one caches.
  let usesFileIDs: Bool
  /// The file as its user knows it, which differs from where it lies while it is made.
  package let path: String
  package private(set) lazy var transformations = TransformationCache()
  package private(set) lazy var systems = SRSCatalogue()
  private var known = KnownSystems()
  /// The exact relations that SQL calls.
  package let relations: RelationFunctions
  package let indexes: SpatialIndexes
  /// How the layers are to be drawn, as their schemas tell.
  var style: LayerStyle?
  private var extensions: [any SessionExtension] = []
  /// Good for as long as the catalogue is.
  let planCache = PlanCache()
  /// What the file's triggers may do, on a connection that writes.
  package let triggers: TriggerGuard?
  let profile: OpeningProfile
  /// Makes the one layer that this connection has, where it is a derived one.
  var derivation: (any Derivation)?
  private var derived: Catalogue?
  private var cached: (state: PlannedState, catalogue: Catalogue)?
  /// The state of the file that was read last, which is that of the catalogue.
  private(set) var state: PlannedState?
  /// Tells this connection from all others of the process.
  private let number = GeoPackageSession.opened.withLock { (opened) -> Int in
    opened += 1
    return opened
  }
  private static let opened = Locked(0)

  package init(
    _ connection: Connection, store: StoreID, usesFileIDs: Bool = false, path: String? = nil,
    profile: OpeningProfile = .foreign
  ) throws(SQLiteError) {
    self.connection = connection
    self.path = path ?? connection.path
    self.usesFileIDs = usesFileIDs
    self.store = store
    self.profile = profile
    triggers = connection.isReadOnly ? nil : TriggerGuard(runsAll: profile.runsTriggers)
    triggers?.watch(connection)
    relations = try SQLFunctions.register(on: connection)
    indexes = SpatialIndexes(connection, relations: relations)
    try indexes.register()
    try connection.registerRowFunction()
    // Of a schema that cannot be read nothing is known.
    try? triggers?.learn(connection)
  }

  /// Puts up the derived layer, before any transaction.
  package func derive() throws(FieldpackError) {
    guard let derivation, derived == nil else { return }
    self.derivation = nil
    defer { self.derivation = derivation }
    derived = try derivation.install(on: self)
  }

  /// The folder that the file lies in, where there is one.
  package var folder: String? {
    guard !connection.path.isEmpty else { return nil }
    let slash = connection.path.lastIndex(of: "/")
    return slash.map { String(connection.path[...$0]) } ?? "."
  }

  /// How geometries of a system are measured on the ellipsoid.
  package func geodesics(_ reference: SRSReference) throws(ProjectionError) -> GeodesicSystem {
    try relations.geodesics.system(reference)
  }

  /// The systems that SQL functions ask for, as the state of the file has them that is being read.
  func knownSystems<R>(_ body: (inout KnownSystems) throws -> R) rethrows -> R {
    let version = connection.snapshotVersion
    if known.version != version {
      known = KnownSystems()
      known.version = version
    }
    return try body(&known)
  }

  /// The extension of a type, which is installed at the first call.
  package func installed<E: SessionExtension>(_ type: E.Type) throws(SQLiteError) -> E {
    for case let known as E in extensions { return known }
    let made = try E(on: self)
    extensions.append(made)
    return made
  }

  // MARK: SQL

  /// Limits the steps of SQLite's machine that a statement may take where every trigger may run: more
  /// than a change of all rows of the file takes, and about a second of a trigger without end.
  package func limitSteps() throws(FieldpackError) {
    guard profile.runsTriggers else { return }
    let pages = try integer("PRAGMA page_count") ?? 0
    let size = pages.multipliedReportingOverflow(by: try integer("PRAGMA page_size") ?? 0)
    connection.stepLimit = 30_000_000 + 10 * Int(clamping: min(size.partialValue, 1 << 50))
  }

  /// Reads the triggers of the file, where its schema has changed; to be called in every transaction
  /// that writes, before its first change.
  func learnTriggers() throws(FieldpackError) {
    guard let triggers else { return }
    do throws(SQLiteError) { try triggers.learn(connection) } catch { throw worded(error) }
    try limitSteps()
  }

  /// Runs `body`, which is no statement, and gives SQLite's errors the file's words.
  package func sql<R>(
    layer: LayerID? = nil, _ body: () throws(SQLiteError) -> R
  ) throws(FieldpackError) -> R {
    do throws(SQLiteError) { return try body() } catch { throw worded(error, layer: layer) }
  }

  /// The tables behind an R-tree.
  package func shadow(ofRTree name: String) -> RTreeShadow {
    RTreeShadow(name, on: connection) { [self] error in worded(error) }
  }

  /// Runs `body`, which runs what the file itself says, no longer than a foreign file may take.
  ///
  /// - Throws: an error that ``FieldpackError/isOverdue`` where that is not enough.
  package func limited<R>(
    _ what: String, to time: Duration? = nil, _ body: () throws(FieldpackError) -> R
  ) throws(FieldpackError) -> R {
    guard let time = time ?? profile.patience, connection.deadline == nil else {
      return try body()
    }
    connection.deadline = ContinuousClock.now + time
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

  /// `table` or `view`; `nil` where there is neither.
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

  /// The layers, read again only when the file has changed, or this connection changes its schema;
  /// within a transaction, after other changes to the catalogue's tables the writer calls ``forgetCatalogue()``.
  package func catalogue() throws(FieldpackError) -> Catalogue {
    guard let derived else { return try fileCatalogue() }
    // Begins to read, as the file's own catalogue does.
    _ = try readState()
    return derived
  }

  /// The layers of the file itself, also where this connection has a derived one in their place.
  package func fileCatalogue() throws(FieldpackError) -> Catalogue {
    let state = try readState()
    if let cached, cached.state == state { return cached.catalogue }
    planCache.removeAll()
    var catalogue = try limited("reading the file's catalogue") { () throws(FieldpackError) in
      try CatalogueReader(file: self).read()
    }
    if let style {
      for index in catalogue.layers.indices { catalogue.layers[index].layer.schema.style = style }
    }
    cached = (state, catalogue)
    return catalogue
  }

  /// Asks for the state of the file that is being read, which begins to read.
  func readState() throws(FieldpackError) -> PlannedState {
    do throws(SQLiteError) {
      // The first of both begins the transaction, without which the second tells of the one before.
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

  package func forgetCatalogue() {
    cached = nil
    known = KnownSystems()
    planCache.removeAll()
  }

  /// Opens a file that was just written, as whoever comes next does.
  ///
  /// - Throws: `.corrupt` where it is no longer what was written.
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

  // MARK: Errors

  package func missingLayer(_ layer: LayerID, in catalogue: Catalogue) -> FieldpackError {
    let known = catalogue.layers.map(\.layer.id.rawValue)
    let list = known.isEmpty ? "it has none" : "it has: \(known.joined(separator: ", "))"
    return FieldpackError(
      .notFound, "layer '\(layer)' is not in store '\(store)' (\(list))",
      location: .init(store: store, layer: layer))
  }

  /// - Parameter advice: what to do about the reason.
  func damaged(
    _ reason: String, advice: FieldpackError.Advice? = nil, _ id: FeatureID?, in layer: LayerID
  ) -> FieldpackError {
    let passing: FieldpackError.Advice? = id == nil ? nil : .skipErrors
    let name = id.map { "the geometry of feature \($0)" } ?? "a geometry"
    return FieldpackError(
      .invalidData,
      "\(name) in layer '\(layer)' cannot be read: \(reason)",
      advice: advice?.then(passing) ?? passing,
      location: .init(store: store, layer: layer, feature: id),
      position: FilePosition(file: path))
  }
}

extension FieldpackError {
  /// What the file itself runs took too long.
  package var isOverdue: Bool {
    code == .invalidData && (underlying as? FieldpackError)?.code == .interrupted
  }
}
