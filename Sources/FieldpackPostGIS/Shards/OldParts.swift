#if PostGIS
  import FieldpackCore

  /// The tables that a divided layer has on other servers, while the layer is dropped.
  struct OldParts: Sendable {
    private let layer: TableName
    private let parts: [ShardPart]
    private let comment: String

    /// - Returns: `nil` for a layer that is not divided.
    init?(of facts: TableFacts, on connection: PostgresConnection) throws(FieldpackError) {
      guard let shards = facts.shards else { return nil }
      layer = facts.name
      parts = shards.parts.filter { $0.server != nil }
      comment = ShardTable.partComment(
        of: facts.name, try ShardTable.origin(of: connection))
    }

    /// Drops the tables, behind the commit. Those of a layer of the same name that was divided since stay:
    /// they may have the same names.
    ///
    /// - Parameter own: the connection of the store, without a transaction.
    /// - Returns: what tells of tables that stay.
    func drop(
      _ servers: [ShardServer], _ limits: PostgresLimits, by own: PostgresConnection
    ) -> [Note] {
      do throws(FieldpackError) {
        return try own.transaction { () throws(FieldpackError) in
          try own.run(script: ShardConnections.patience)
          try Self.lock(layer, on: own)
          let rows = try own.execute(Self.shownQuery, [.text(layer.schema)])
          let shown = Set((0..<rows.count).compactMap { rows.text($0, 0) })
          return drop(servers, limits, but: shown)
        }
      } catch {
        return [
          Note("the tables of the old layer '\(layer.table)' are still there: \(error.message)")
        ]
      }
    }

    /// Keeps others from dividing a layer of the name, and from dropping the tables of an old one, until the
    /// transaction ends.
    static func lock(_ layer: TableName, on own: PostgresConnection) throws(FieldpackError) {
      try own.execute(
        "SELECT pg_advisory_xact_lock(hashtext('fieldpack_parts'), hashtext($1))",
        [.text(try layer.sql())])
    }

    private static let shownQuery = """
      SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
      WHERE n.nspname = $1 AND c.relkind = 'f'
      """

    private func drop(
      _ servers: [ShardServer], _ limits: PostgresLimits, but shown: Set<String>
    ) -> [Note] {
      var notes: [Note] = []
      for name in Set(parts.compactMap(\.server)).sorted() {
        do throws(FieldpackError) {
          guard let server = servers.first(where: { $0.name == name }) else {
            throw FieldpackError(.configuration, "it is not in the option 'servers' of the store")
          }
          try drop(on: PostgresConnection(server.address, limits: limits), name, but: shown)
        } catch {
          notes.append(
            Note(
              "the tables of the old layer '\(layer.table)' on server '\(name)' are still there: "
                + error.message))
        }
      }
      return notes
    }

    private func drop(
      on connection: PostgresConnection, _ server: String, but shown: Set<String>
    ) throws(FieldpackError) {
      let found = try connection.tables(in: layer.schema, commented: comment)
      for part in parts
      where part.server == server && found.contains(part.table) && !shown.contains(part.table) {
        try connection.execute(
          "DROP TABLE \(try TableName(schema: layer.schema, table: part.table).sql())")
      }
    }
  }
#endif
