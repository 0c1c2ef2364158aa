#if PostGIS
  import FieldpackCore
  import FieldpackField

  /// The change log of a layer, on one connection.
  struct PostGISLog {
    let connection: PostgresConnection
    let shape: LogShape
    let values: LogValues
    /// The UUID that copies of the log share: their features have common identities.
    let origin: String

    var layer: LayerID { values.layer.layer }
    var tables: LogTables { LogTables(schema: shape.schema) }

    // MARK: Which there are

    /// The logs of the layers of a catalogue, in its order.
    static func all(
      _ catalogue: PostGISCatalogue, _ scope: PostGISScope, _ connection: PostgresConnection
    ) throws(FieldpackError) -> [PostGISLog] {
      let tables = LogTables(schema: scope.schema)
      guard try exist(tables, connection) else { return [] }
      let rows = try connection.execute("SELECT table_name, origin FROM \(tables.registry)")
      var origins: [String: String] = [:]
      for row in 0..<rows.count {
        if let name = rows.text(row, 0) { origins[name] = rows.text(row, 1) }
      }
      var logs: [PostGISLog] = []
      for layer in catalogue.layers {
        guard let origin = origins[layer.layer.rawValue],
          let shape = try shape(of: layer, scope, connection)
        else { continue }
        logs.append(
          PostGISLog(
            connection: connection, shape: shape, values: LogValues(layer), origin: origin))
      }
      return logs
    }

    /// - Throws: `.notFound` for a layer that is not logged.
    static func of(
      _ layer: LayerID, _ catalogue: PostGISCatalogue, _ scope: PostGISScope,
      _ connection: PostgresConnection
    ) throws(FieldpackError) -> PostGISLog {
      guard let found = catalogue.layer(layer) else { throw catalogue.missing(layer) }
      let tables = LogTables(schema: scope.schema)
      if try exist(tables, connection), let shape = try shape(of: found, scope, connection) {
        let rows = try connection.execute(
          "SELECT origin FROM \(tables.registry) WHERE table_name = $1", [.text(shape.table)])
        if rows.count == 1, let origin = rows.text(0, 0) {
          return PostGISLog(
            connection: connection, shape: shape, values: LogValues(found), origin: origin)
        }
      }
      throw FieldpackError(
        .notFound, "the edits of layer '\(layer)' are not logged",
        location: .init(store: catalogue.store, layer: layer))
    }

    /// Whether there are logs beside the schema.
    static func exist(
      _ tables: LogTables, _ connection: PostgresConnection
    ) throws(FieldpackError) -> Bool {
      try connection.execute("SELECT to_regclass($1) IS NOT NULL", [.text(tables.registry)])
        .flag(0, 0)
    }

    /// Why the edits of a layer cannot be logged; `nil` where they can.
    static func obstacle(to layer: PostGISLayer) -> String? {
      guard !layer.isView else { return "is a view" }
      guard case .column(let id) = layer.id, id.kind == .integer else {
        return "has no key of whole numbers"
      }
      return LogValues(layer).names.isEmpty ? "has no columns beside its key" : nil
    }

    private static func shape(
      of layer: PostGISLayer, _ scope: PostGISScope, _ connection: PostgresConnection
    ) throws(FieldpackError) -> LogShape? {
      guard obstacle(to: layer) == nil, let id = layer.schema.idColumn else { return nil }
      let rows = try connection.execute(
        "SELECT attname::text, format_type(atttypid, atttypmod) FROM pg_attribute "
          + "WHERE attrelid = $1::int8::oid AND attnum > 0 AND NOT attisdropped "
          + "AND attgenerated = '' ORDER BY attnum", [.integer(Int64(layer.oid))])
      var columns: [LogShape.Column] = []
      for row in 0..<rows.count {
        columns.append(.init(name: rows.text(row, 0) ?? "", type: rows.text(row, 1) ?? ""))
      }
      return try LogShape(
        schema: scope.schema, table: layer.layer.rawValue, id: id, columns: columns)
    }

    // MARK: Positions

    /// The last position that devices are told.
    func lastPosition() throws(FieldpackError) -> Int64 {
      try connection.execute(
        "SELECT head FROM \(tables.registry) WHERE table_name = $1", [.text(shape.table)]
      ).integer(0, 0) ?? 0
    }

    /// The UUID of the edit at a position.
    func edit(at position: Int64) throws(FieldpackError) -> String? {
      let rows = try connection.execute(
        "SELECT \(shape.own(.edit)) FROM \(shape.log) WHERE \(shape.own(.position)) = $1",
        [.integer(position)])
      return rows.count > 0 ? rows.text(0, 0) : nil
    }

    /// Keeps others from giving positions until the end of the transaction.
    ///
    /// - Returns: the last position.
    func lock() throws(FieldpackError) -> Int64 {
      try connection.execute(
        "SELECT head FROM \(tables.registry) WHERE table_name = $1 FOR UPDATE",
        [.text(shape.table)]
      ).integer(0, 0) ?? 0
    }

    /// Gives positions to the edits that are committed, in a transaction that writes.
    ///
    /// A transaction that wrote before another may commit after it. So an edit gets its position only when
    /// it can be seen, and one after the other: what commits later comes later, and what devices have
    /// seen is never overtaken. Edits of one feature keep their order, because the second was made when the
    /// first was committed.
    /// - Returns: the last position.
    @discardableResult
    func givePositions() throws(FieldpackError) -> Int64 {
      let head = try lock()
      let number = shape.own(.number)
      let count = try connection.execute(
        """
        UPDATE \(shape.log) AS l SET \(shape.own(.position)) = $1 + w.place FROM (
          SELECT \(number) AS number, row_number() OVER (ORDER BY \(number)) AS place
          FROM \(shape.log) WHERE \(shape.isWaiting)
        ) AS w WHERE l.\(number) = w.number
        """, [.integer(head)]
      ).changedCount
      guard count > 0 else { return head }
      try connection.execute(
        "UPDATE \(tables.registry) SET head = $2 WHERE table_name = $1",
        [.text(shape.table), .integer(head + Int64(count))])
      // Those who may not give positions see the edits from now on.
      try connection.execute("SELECT pg_notify('\(LogTables.channel)', '')")
      return head + Int64(count)
    }

    /// How many edits wait for their positions, as far as this transaction sees.
    func waitingCount() throws(FieldpackError) -> Int64 {
      try connection.execute(
        "SELECT count(*) FROM \(shape.log) WHERE \(shape.isWaiting)"
      ).integer(0, 0) ?? 0
    }

    /// Whether edits wait for their positions, as far as this transaction sees.
    func hasWaiting() throws(FieldpackError) -> Bool {
      try connection.execute(
        "SELECT EXISTS (SELECT FROM \(shape.log) WHERE \(shape.isWaiting))"
      ).flag(0, 0)
    }
  }
#endif
