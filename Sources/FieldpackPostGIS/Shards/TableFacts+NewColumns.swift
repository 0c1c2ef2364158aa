#if PostGIS
  import FieldpackCore

  extension TableFacts {
    /// Adds columns to the table.
    ///
    /// Of a divided layer the tables of the servers get them, too, each server in a transaction of its own.
    /// Where something fails later, these columns stay there: nobody sees them, and the next time they are
    /// made anew.
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
          try writer.run(script: "SET LOCAL lock_timeout = '3s'")
          for column in columns { try complete(table, column, on: writer) }
        } catch { throw advised(error).of(server: server) }
      }
      try connections.commitWriters()
    }

    /// Adds a column to a part. One that was left there by a try that failed is made anew.
    private func complete(
      _ part: TableName, _ column: ColumnDefinition, on writer: PostgresConnection
    ) throws(FieldpackError) {
      let (table, name) = (try part.sql(), try quoted(identifier: column.name))
      if try part.has(column.name, on: writer) {
        let used = try writer.execute("SELECT FROM \(table) WHERE \(name) IS NOT NULL LIMIT 1")
        guard used.count == 0 else {
          throw FieldpackError(
            .cannotCreate,
            "the table \(part.table) has a column '\(column.name)' with values already. Try: "
              + "ALTER TABLE \(table) DROP COLUMN \(name)")
        }
        try writer.execute("ALTER TABLE \(table) DROP COLUMN \(name)")
      }
      try writer.execute("ALTER TABLE \(table) ADD COLUMN \(try LayerSQL.sql(column))")
    }

    /// What was read or changed before in the transaction keeps the part locked until its end.
    private func advised(_ error: FieldpackError) -> FieldpackError {
      guard error.sqlState?.text == "55P03" else { return error }
      return FieldpackError(
        .busy,
        "\(error.message). Try: add the columns in a transaction of their own, before other changes",
        underlying: error.underlying)
    }
  }

  extension TableName {
    fileprivate func has(
      _ column: String, on connection: PostgresConnection
    ) throws(FieldpackError) -> Bool {
      try connection.execute(
        "SELECT FROM pg_attribute WHERE attname = $1 "
          + "AND attrelid = \(ShardSQL.literal(try sql()))::regclass AND NOT attisdropped",
        [.text(column)]
      ).count > 0
    }
  }
#endif
