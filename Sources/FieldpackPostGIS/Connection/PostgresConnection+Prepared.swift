#if PostGIS
  import CPQ
  package import FieldpackCore

  extension PostgresConnection {
    /// As ``execute(_:_:)``, for a statement that is likely to come again: from its second time on, the
    /// server keeps its plan.
    ///
    /// - Parameter form: another number where the columns of the answer have other types, for the server
    ///   refuses a statement that was prepared with others.
    package func execute(
      kept sql: String, _ parameters: [PostgresValue] = [], form: Int = 0
    ) throws(FieldpackError) -> PostgresRows {
      let key = PreparedStatements.Key(sql: sql, types: parameters.map(\.type), form: form)
      guard let name = try prepared(key) else { return try execute(sql, parameters) }
      try check()
      let arguments = BoundValues(parameters)
      try sent(
        PQsendQueryPrepared(
          handle, name, Int32(parameters.count), arguments.pointers, arguments.lengths,
          arguments.formats, 1))
      do throws(FieldpackError) {
        return try PostgresRows(lastResult())
      } catch {
        // A table has other columns than when the statement was prepared, or somebody has dropped it.
        guard ["0A000", "26000"].contains(error.sqlState?.text) else { throw error }
        statements.forget()
        if isInTransaction { throw error }
        return try execute(sql, parameters)
      }
    }

    /// The name of a statement that the server has prepared; `nil` for one that comes the first time.
    private func prepared(_ key: PreparedStatements.Key) throws(FieldpackError) -> String? {
      if let name = statements.name(of: key) { return name }
      guard statements.isAskedAgain(key) else { return nil }
      let name = statements.newName()
      if statements.hasLeftovers {
        try run(script: "DEALLOCATE ALL")
        statements.clearedLeftovers()
      }
      try check()
      try sent(PQsendPrepare(handle, name, key.sql, Int32(key.types.count), key.types))
      PQclear(try lastResult())
      statements.keep(name, for: key)
      return name
    }
  }
#endif
