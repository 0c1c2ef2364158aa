#if PostGIS
  import FieldpackCore
  import FieldpackGeometry

  extension PostGISWriter: FeatureWriting {
    func createLayer(_ described: Schema) throws(FieldpackError) {
      try step(in: described.layer) { () throws(FieldpackError) in
        let sql = try makeTable(described)
        if let index = try sql.index() { try connection.execute(index) }
      }
      forgetTables()
    }

    /// Creates the table of a layer, without the index.
    @discardableResult
    func makeTable(
      _ described: Schema, withKey: Bool = true
    ) throws(FieldpackError) -> LayerSQL {
      if let tables = scope.tables,
        !tables.contains(where: { $0.name == described.layer.rawValue })
      {
        throw FieldpackError(
          .unsupported,
          "store '\(store)' has the tables that its config names, so a new layer would not be among them"
        )
      }
      let name = TableName(schema: scope.schema, table: described.layer.rawValue)
      if described.geometry != nil, connection.postgisSchema == nil {
        throw FieldpackError(
          .unsupported, "the database has no PostGIS. Try: CREATE EXTENSION postgis there")
      }
      let srid: Int32 =
        if let geometry = described.geometry {
          try ServerSRS.srid(of: geometry.srs, on: connection)
        } else { 0 }
      let sql = LayerSQL(schema: described, target: name, srid: srid)
      do throws(FieldpackError) { try connection.execute(try sql.table(withKey: withKey)) } catch {
        guard error.sqlState?.text == "42P07" else { throw error }
        throw FieldpackError(
          .cannotCreate, "layer '\(described.layer)' exists already",
          advice: .appendReplaceOrRename, location: .init(store: store, layer: described.layer),
          underlying: error.underlying)
      }
      for column in described.columns { try comment(column, name) }
      return sql
    }

    private func comment(
      _ column: ColumnDefinition, _ table: TableName
    ) throws(FieldpackError) {
      guard let text = column.description ?? column.title else { return }
      try connection.execute(
        "COMMENT ON COLUMN \(try table.sql()).\(try quoted(identifier: column.name)) IS "
          + DefaultLiteral.literal(text))
    }

    func addColumns(
      _ columns: [ColumnDefinition], to layer: LayerID
    ) throws(FieldpackError) {
      guard !columns.isEmpty else { return }
      try step(in: layer) { () throws(FieldpackError) in
        let (facts, id) = try writable(layer)
        let taken = [id.name, facts.geometry?.name].compactMap { $0?.lowercased() }
        for column in columns {
          guard facts.column(column.name) == nil, !taken.contains(column.name.lowercased()) else {
            throw FieldpackError(
              .invalidArgument, "layer '\(layer)' has a column '\(column.name)' already")
          }
        }
        try facts.add(columns, servers: servers, on: connection)
        for column in columns { try comment(column, facts.name) }
      }
      forgetTables()
    }

    func renameLayer(_ layer: LayerID, to name: LayerID) throws(FieldpackError) {
      try step(in: layer) { () throws(FieldpackError) in
        let facts = try facts(layer)
        guard facts.shards == nil else {
          throw FieldpackError(
            .unsupported, "layer '\(layer)' is divided over servers and keeps its name")
        }
        do throws(FieldpackError) {
          try connection.execute(
            "ALTER TABLE \(try facts.name.sql()) RENAME TO \(try quoted(identifier: name.rawValue))"
          )
        } catch {
          guard error.sqlState?.text == "42P07" else { throw error }
          throw FieldpackError(
            .cannotCreate, "layer '\(name)' exists already",
            location: .init(store: store, layer: name), underlying: error.underlying)
        }
        settle(renamed: facts.name, to: name.rawValue)
      }
      forgetTables()
    }

    func removeLayer(_ layer: LayerID) throws(FieldpackError) {
      try step(in: layer) { () throws(FieldpackError) in try drop(try facts(layer)) }
      forgetTables()
    }

    /// Drops a table or view. What others built on it keeps it: that is an error, and nothing goes.
    func drop(_ facts: TableFacts) throws(FieldpackError) {
      let kind =
        switch facts.kind {
        case "v": "VIEW"
        case "m": "MATERIALIZED VIEW"
        case "f": "FOREIGN TABLE"
        default: "TABLE"
        }
      if let parts = try OldParts(of: facts, on: connection) { note(parts) }
      try connection.execute("DROP \(kind) \(try facts.name.sql())")
      settle(renamed: facts.name, to: nil)
    }
  }
#endif
