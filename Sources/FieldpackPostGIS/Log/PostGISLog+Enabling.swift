#if PostGIS
  package import FieldpackCore
  import FieldpackField
  import FieldpackGeoPackage

  extension PostGISLog {
    /// Begins to log a layer, in a transaction that writes. A log that is there is brought up to date
    /// with the columns of its table.
    ///
    /// - Throws: `.unsupported` for a view or a table without a key of whole numbers, `.permission`
    ///   where the user may not make tables and triggers.
    @discardableResult
    static func enable(
      _ layer: LayerID, _ catalogue: PostGISCatalogue, _ scope: PostGISScope,
      _ connection: PostgresConnection
    ) throws(FieldpackError) -> PostGISLog {
      guard let found = catalogue.layer(layer) else { throw catalogue.missing(layer) }
      if let obstacle = obstacle(to: found) {
        throw FieldpackError(
          .unsupported, "layer '\(layer)' \(obstacle), and its edits cannot be logged",
          location: .init(store: catalogue.store, layer: layer))
      }
      // Two that make the same tables would fail.
      try connection.execute("SELECT pg_advisory_xact_lock(hashtext('fieldpack_log'))")
      let tables = LogTables(schema: scope.schema)
      try createTables(tables, connection)
      try connection.execute(
        "INSERT INTO \(tables.registry) (table_name, origin) VALUES ($1, $2) ON CONFLICT DO NOTHING",
        [.text(found.layer.rawValue), .text(RandomID.make())])
      let log = try of(found.layer, catalogue, scope, connection)
      if try !log.isCurrent() { try log.refresh() }
      return log
    }

    private static func createTables(
      _ tables: LogTables, _ connection: PostgresConnection
    ) throws(FieldpackError) {
      let schema = LogShape.logSchema(of: tables.schema)
      let rows = try connection.execute(
        "SELECT to_regclass($1) IS NOT NULL AND to_regclass($2) IS NOT NULL",
        [.text(tables.replica), .text(tables.conflict)])
      guard !rows.flag(0, 0) else { return }
      let known = try connection.execute(
        "SELECT FROM pg_namespace WHERE nspname = $1", [.text(schema)])
      if known.count == 0 { try connection.execute("CREATE SCHEMA \(tables.logSchema)") }
      for statement in tables.creation { try connection.execute(statement) }
    }

    /// Whether table, function and triggers are those for the table as it is now.
    func isCurrent() throws(FieldpackError) -> Bool {
      let rows = try connection.execute(
        """
        SELECT (SELECT prosrc FROM pg_proc WHERE oid = to_regprocedure($1)),
          (SELECT count(*) FROM pg_trigger WHERE tgrelid = $2::int8::oid AND tgenabled <> 'D'
            AND tgname IN ('\(LogShape.triggers.joined(separator: "', '"))'))
        """, [.text("\(shape.log)()"), .integer(Int64(values.layer.oid))])
      return rows.text(0, 0) == shape.functionBody
        && rows.integer(0, 1) == Int64(LogShape.triggers.count)
    }

    func refresh() throws(FieldpackError) {
      let rows = try connection.execute(
        "SELECT attname::text FROM pg_attribute WHERE attrelid = to_regclass($1) AND attnum > 0 "
          + "AND NOT attisdropped", [.text(shape.log)])
      if rows.count == 0 {
        for statement in shape.creation { try connection.execute(statement) }
      } else {
        var known = Set((0..<rows.count).compactMap { rows.text($0, 0) })
        // The table has got columns with names of the log's own.
        for own in LogShape.Own.allCases where !known.contains(shape.name(of: own)) {
          let old = String(shape.name(of: own).dropFirst("audit_".utf8.count))
          guard known.remove(old) != nil else { continue }
          try connection.execute(
            "ALTER TABLE \(shape.log) RENAME COLUMN \(quotedUnchecked(old)) TO \(shape.own(own))")
        }
        for column in shape.columns where !known.contains(column.name) {
          try connection.execute(shape.addition(of: column))
        }
      }
      try connection.execute(shape.functionCreation)
      for statement in shape.triggerCreation { try connection.execute(statement) }
    }
  }

  extension PostGISStore {
    /// Tells the logs who edits, until the end of the transaction.
    func nameEditor(on connection: PostgresConnection) throws(FieldpackError) {
      guard let editor, try PostGISLog.exist(LogTables(schema: scope.schema), connection) else {
        return
      }
      let device = editor.device ?? editor.keptDevice?.find(.silent)
      try connection.execute(
        "SELECT set_config('fieldpack.author', $1, true), set_config('fieldpack.device', $2, true)",
        [.text(editor.author ?? ""), .text(device ?? "")])
    }

    /// Fits the logs to tables whose columns have changed.
    func mendLogs(on connection: PostgresConnection) throws(FieldpackError) {
      let catalogue = try CatalogueReader(connection: connection, scope: scope, store: id).read()
      for log in try PostGISLog.all(catalogue, scope, connection) where try !log.isCurrent() {
        try log.refresh()
      }
    }

    /// Keeps the number of a transaction that writes, so that its changes are not told twice.
    func noteTransaction(of connection: PostgresConnection) throws(FieldpackError) {
      guard ownTransactions.withLock({ $0 != nil }) else { return }
      let rows = try connection.execute("SELECT pg_current_xact_id_if_assigned()::text::int8")
      guard let number = rows.integer(0, 0) else { return }
      ownTransactions.withLock { $0 = ($0 ?? []).suffix(999) + [number] }
    }

    /// Begins to log the edits of layers, whichever program makes them.
    package func enableLogs(of layers: [LayerID]) async throws(FieldpackError) {
      let (catalogue, scope) = (try await catalogue(), scope)
      try await pool.run { (connection) throws(FieldpackError) in
        try connection.transaction { () throws(FieldpackError) in
          for layer in layers { try PostGISLog.enable(layer, catalogue, scope, connection) }
        }
      }
      forgetCatalogue()
    }
  }
#endif
