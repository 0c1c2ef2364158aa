public import FieldpackCore
public import FieldpackGeoPackage
import FieldpackSQLite

extension GeoPackageStore {
  /// The rows of one statement that only reads, with SpatiaLite's functions where it uses them.
  ///
  ///     let near = "SELECT name FROM wells WHERE ST_Intersects(geom, ?)"
  ///     for try await batch in store.rows(sql: near, parameters: [.geometry(area)]) { … }
  ///
  /// Geometries are blobs as GeoPackage stores them. `ST_Intersects(geom, other)` and its kin
  /// (`ST_Within`, `ST_Contains`, `ST_Covers`, `ST_CoveredBy`, `ST_Touches`, `ST_Crosses`,
  /// `ST_Overlaps`, `ST_Equals`) find features by the layer's R-tree where the function alone is a
  /// condition, in joins as well; ``explain(sql:parameters:)`` tells whether it does.
  ///
  /// Text after the statement, changes, `ATTACH` and pragmas that set something are refused when
  /// the first batch is asked for.
  /// - Parameter parameters: the values of the statement's `?`, in their order.
  /// - Throws: the batches throw `.invalidArgument` for wrong SQL and for a wrong number of
  ///   parameters, `.readOnly` for SQL that does more than read.
  public func rows(sql: String, parameters: [Value] = []) -> SQLBatches {
    let (pools, id) = (pools, id)
    return SQLBatches {
      SQLCursor(pools: pools, store: id, sql: sql, parameters: parameters.map(SQLiteValue.init))
    }
  }

  /// Runs the statements of `script` in one transaction and returns what each did; an error undoes
  /// all of them. Results are held in memory.
  ///
  /// Triggers run, R-trees are kept up to date, and `gpkg_contents` gets the extents and dates of
  /// the changed layers. Statements that would leave a layer at odds with the catalogue (without its
  /// table or geometry column, with geometries of another type or system, with an R-tree that lacks
  /// entries) are undone. Statements of transactions, `ATTACH` and pragmas that set something are
  /// refused.
  /// - Throws: `.invalidArgument` for SQL that is wrong or refused, `.constraint`, `.readOnly`.
  public func run(sql script: String) async throws(FieldpackError) -> [SQLOutcome] {
    let watch = watch
    let pool = try await pools.writer()
    return try await pool.write { (file) throws(FieldpackError) in
      defer { file.forgetCatalogue() }
      defer { watch.noteOwn(nil) }
      let done = try file.connection.transaction(.immediate) { () throws(FieldpackError) in
        try file.beginChanges()
        let done = try SQLScript(file: file).run(script)
        try file.endChanges()
        return done
      }
      watch.tell(done.changes)
      return done.outcomes
    }
  }
}

/// Runs a user's statements in the open transaction.
private struct SQLScript {
  let file: GeoPackageSession

  func run(
    _ script: String
  ) throws(FieldpackError) -> (outcomes: [SQLOutcome], changes: ChangeLog) {
    let touched = Locked(TouchedTables())
    let agreement = CatalogueAgreement(of: file)
    let outcomes = try statements(script, noting: touched, keeping: agreement)
    file.forgetCatalogue()
    let tables = touched.withLock { $0 }
    try agreement.check(tables)
    var changes = ChangeLog()
    for table in try file.catalogue().layers where tables.changed.contains(SQLName(table.table)) {
      changes.note(table.layer.id)
      let extent = try LayerExtent(file: file, table: table).computed()
      try ContentsTable(file: file).update(table, extent: extent)
    }
    return (outcomes, changes)
  }

  private func statements(
    _ script: String, noting touched: Locked<TouchedTables>, keeping agreement: CatalogueAgreement
  ) throws(FieldpackError) -> [SQLOutcome] {
    let connection = file.connection
    let triggers = file.triggers
    try file.limitSteps()
    let before = connection.setAuthorizer(
      .custom {
        SQLRules.allows($0, noting: touched) && triggers?.permits($0) ?? true
      })
    defer { connection.setAuthorizer(before) }
    let context = SQLContext(file: file, use: .script)
    let users = try context.worded { () throws(SQLiteError) in
      let users = try file.userSQL()
      try triggers?.learn(connection)
      return users
    }
    var outcomes: [SQLOutcome] = []
    var statements = connection.statements(of: script)
    while let next = try context.worded({ () throws(SQLiteError) in
      try users.withSpatiaLite { () throws(SQLiteError) in try statements.next() }
    }) {
      try agreement.prepare(for: touched.withLock { $0 })
      outcomes.append(
        try context.worded { () throws(SQLiteError) in try outcome(of: next) })
      // The catalogue, and the reference systems that functions on geometries keep, may have changed.
      if touched.withLock({ $0.reachesCatalogue }) { file.forgetCatalogue() }
    }
    return outcomes
  }

  private func outcome(of statement: Statement) throws(SQLiteError) -> SQLOutcome {
    let before = statement.connection.totalChanges
    var outcome = SQLOutcome(columns: statement.columnNames, rows: [], changes: 0)
    var size = 0
    while try statement.step() { outcome.rows.append(statement.values(&size)) }
    if statement.connection.totalChanges != before {
      outcome.changes = statement.connection.changes
    }
    outcome.notes = file.takeNotes()
    return outcome
  }
}

/// The actions that a user's statements may take in our transaction.
private enum SQLRules {
  static func allows(_ action: AuthorizedAction, noting touched: Locked<TouchedTables>) -> Bool {
    touched.withLock { $0.note(action) }
    switch action.kind {
    case .transaction, .savepoint, .attach, .detach: return false
    case .pragma: return Authorizer.readOnlySQL.permits(action)
    default: return true
    }
  }
}

/// What a user's SQL is run for, which words its errors for the user.
struct SQLContext {
  let file: GeoPackageSession
  let use: Use

  enum Use {
    /// Statements that may write.
    case script
    /// One statement that reads.
    case rows
    /// The statement of a layer.
    case layer
  }

  func worded<R>(_ body: () throws(SQLiteError) -> R) throws(FieldpackError) -> R {
    do throws(SQLiteError) { return try body() } catch { throw self.error(error) }
  }

  func error(_ error: SQLiteError) -> FieldpackError {
    if let refused = file.triggers?.refusal(error) { return refused }
    if error.code == 1, let untested = file.relations.takeFailures().last {
      return failure(.invalidData, "a geometry cannot be tested: \(untested.reason)", error)
    }
    switch error.code {
    case 1: return failure(.invalidArgument, "\(error.message)\(position(error))", error)
    case IndexedLayerTable.damageCode: return failure(.invalidData, error.message, error)
    case 21:
      let isScript = use == .rows && error.message.contains("after the first statement")
      return failure(
        .invalidArgument, error.message, advice: isScript ? .runWritingOrApart : nil, error)
    case 23 where use == .script:
      return failure(
        .invalidArgument,
        "\(error.message): the statements run in one transaction, without ATTACH and PRAGMA", error)
    case 23:
      let reads = "the statement does more than read"
      return use == .rows
        ? failure(.readOnly, reads, advice: .runWriting, error)
        : failure(.readOnly, "\(reads), which that of a layer may not", error)
    default: return FieldpackError(error, path: file.path, location: .init(store: file.store))
    }
  }

  private func position(_ error: SQLiteError) -> String {
    guard let sql = error.sql, let offset = error.offset else { return "" }
    let before = sql.utf8.prefix(offset)
    return " (at character \(String(decoding: before, as: UTF8.self).count + 1))"
  }

  private func failure(
    _ code: FieldpackError.Code, _ message: String, advice: FieldpackError.Advice? = nil,
    _ error: SQLiteError
  ) -> FieldpackError {
    FieldpackError(
      code, "SQL: \(message)", advice: advice, position: FilePosition(file: file.path),
      underlying: error)
  }
}
