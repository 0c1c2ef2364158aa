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

    /// Drops the tables, behind the commit.
    ///
    /// - Returns: what tells of tables that stay.
    func drop(_ servers: [ShardServer], _ limits: PostgresLimits) -> [Note] {
      var notes: [Note] = []
      for name in Set(parts.compactMap(\.server)).sorted() {
        do throws(FieldpackError) {
          guard let server = servers.first(where: { $0.name == name }) else {
            throw FieldpackError(.configuration, "it is not in the option 'servers' of the store")
          }
          try drop(on: PostgresConnection(server.address, limits: limits), name)
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
      on connection: PostgresConnection, _ server: String
    ) throws(FieldpackError) {
      let found = try connection.tables(in: layer.schema, commented: comment)
      for part in parts where part.server == server && found.contains(part.table) {
        try connection.execute(
          "DROP TABLE \(try TableName(schema: layer.schema, table: part.table).sql())")
      }
    }
  }
#endif
