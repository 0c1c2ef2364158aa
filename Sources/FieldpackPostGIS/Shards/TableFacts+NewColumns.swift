#if PostGIS
  import FieldpackCore

  extension TableFacts {
    /// Adds columns to the table.
    ///
    /// Of a divided layer the tables of the servers get them, too, each server in a transaction of its own.
    /// Where something fails later, these columns stay there: nobody sees them, and the next time they are
    /// taken as they are.
    func add(
      _ columns: [ColumnDefinition], servers: [ShardServer], on connection: PostgresConnection
    ) throws(FieldpackError) {
      if shards != nil, let unique = columns.first(where: \.isUnique) {
        throw FieldpackError(
          .unsupported,
          "layer '\(name.table)' is divided over servers, and column '\(unique.name)' cannot be unique "
            + "over all of them")
      }
      for column in columns {
        try connection.execute(
          "ALTER TABLE \(try name.sql()) ADD COLUMN \(try LayerSQL.sql(column))")
      }
      guard let shards, !columns.isEmpty else { return }
      let connections = ShardConnections(connection, servers, PostgresLimits())
      for part in shards.parts {
        guard let server = part.server else { continue }
        do throws(FieldpackError) {
          let writer = try connections.writer(server)
          let table = TableName(schema: name.schema, table: part.table)
          for column in columns { try complete(table, column, on: writer, like: connection) }
        } catch { throw error.of(server: server) }
      }
      try connections.commitWriters()
    }

    private func complete(
      _ part: TableName, _ column: ColumnDefinition, on writer: PostgresConnection,
      like connection: PostgresConnection
    ) throws(FieldpackError) {
      try writer.execute(
        "ALTER TABLE \(try part.sql()) ADD COLUMN IF NOT EXISTS \(try LayerSQL.sql(column))")
      let there = try part.type(of: column.name, on: writer)
      let here = try name.type(of: column.name, on: connection)
      guard there != here else { return }
      throw FieldpackError(
        .cannotCreate,
        "the table \(part.table) has a column '\(column.name)' already, of the type \(there ?? "?") and "
          + "not \(here ?? "?")")
    }
  }

  extension TableName {
    /// The type of a column in SQL, as the server writes it.
    fileprivate func type(
      of column: String, on connection: PostgresConnection
    ) throws(FieldpackError) -> String? {
      let rows = try connection.execute(
        "SELECT format_type(atttypid, atttypmod) FROM pg_attribute WHERE attname = $1 "
          + "AND attrelid = \(ShardSQL.literal(try sql()))::regclass AND NOT attisdropped",
        [.text(column)])
      return rows.count > 0 ? rows.text(0, 0) : nil
    }
  }
#endif
