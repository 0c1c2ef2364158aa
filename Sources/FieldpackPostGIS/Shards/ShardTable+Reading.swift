#if PostGIS
  import FieldpackCore

  extension PostgresConnection {
    /// The tables of a schema with a comment, in order.
    ///
    /// - Parameter areOpen: only those that the user can read and add rows to by COPY. Where another index
    ///   than the key is unique, what the store's server changes in the table could wait for such rows, and
    ///   their end for that change.
    func tables(
      in schema: String, commented comment: String, areOpen: Bool = false
    ) throws(FieldpackError) -> [String] {
      let rows = try execute(
        """
        SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
        WHERE n.nspname = $1 AND c.relkind = 'r' AND obj_description(c.oid, 'pg_class') = $2
          AND (NOT $3 OR (has_table_privilege(c.oid, 'SELECT')
            AND has_table_privilege(c.oid, 'INSERT') AND NOT c.relrowsecurity
            AND NOT EXISTS (SELECT FROM pg_index i WHERE i.indrelid = c.oid
              AND (i.indisunique OR i.indisexclusion) AND NOT i.indisprimary)))
        ORDER BY c.relname
        """, [.text(schema), .text(comment), .boolean(areOpen)])
      return (0..<rows.count).compactMap { rows.text($0, 0) }
    }
  }

  extension ShardTable {
    private static let columnQuery = """
      SELECT a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull,
        pg_get_expr(d.adbin, d.adrelid), a.attidentity <> '', a.attgenerated <> ''
      FROM pg_attribute a LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
      WHERE a.attrelid = $1 AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum
      """

    private static let checkQuery = """
      SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint
      WHERE conrelid = $1 AND contype = 'c' ORDER BY conname
      """

    /// The database of a connection, by a number that no other server has, and its name.
    static func origin(of connection: PostgresConnection) throws(FieldpackError) -> String {
      try connection.execute(
        "SELECT system_identifier::text || '/' || current_database() FROM pg_control_system()"
      ).text(0, 0) ?? ""
    }

    /// - Throws: `.unsupported` for layers that cannot be divided.
    static func read(
      _ layer: PostGISLayer, in schema: String, on connection: PostgresConnection
    ) throws(FieldpackError) -> ShardTable {
      func refused(_ why: String) -> FieldpackError {
        FieldpackError(
          .unsupported, "layer '\(layer.layer)' cannot be divided: \(why)",
          location: .init(layer: layer.layer))
      }
      guard !layer.isView else { throw refused("it is a view") }
      guard let geometry = layer.geometry, !geometry.isGeography else {
        throw refused("it has no geometry column")
      }
      guard case .column(let id) = layer.id else { throw refused("it has no key of one column") }
      var table = ShardTable(
        schema: schema, name: layer.layer.rawValue, columns: [], id: id.name,
        geometry: geometry.name, origin: try origin(of: connection))
      let oid = PostgresValue.integer(Int64(layer.oid))
      let columns = try connection.execute(columnQuery, [oid])
      for row in 0..<columns.count {
        let (name, value) = (columns.text(row, 0) ?? "", columns.text(row, 3))
        if name == ShardKey.column {
          if layer.shards != nil { continue }
          throw refused("it has a column '\(name)' already")
        }
        guard !columns.flag(row, 5) else { throw refused("column '\(name)' is generated") }
        let isIdentity = columns.flag(row, 4) || value?.hasPrefix("nextval(") == true
        table.columns.append(
          Column(
            name, columns.text(row, 1) ?? "text", isNullable: !columns.flag(row, 2),
            defaultSQL: isIdentity ? nil : value, isIdentity: isIdentity))
      }
      let checks = try connection.execute(checkQuery, [oid])
      for row in 0..<checks.count {
        table.checks.append(Check(checks.text(row, 0) ?? "", checks.text(row, 1) ?? ""))
      }
      return table
    }

    private static let restQuery = """
      SELECT c.relname FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
        JOIN pg_am m ON m.oid = c.relam
      WHERE i.indrelid = $1 AND NOT i.indisprimary AND m.amname <> 'gist'
      UNION ALL SELECT conname FROM pg_constraint WHERE contype = 'f' AND $1 IN (conrelid, confrelid)
      UNION ALL SELECT tgname FROM pg_trigger WHERE tgrelid = $1 AND NOT tgisinternal
      UNION ALL SELECT polname FROM pg_policy WHERE polrelid = $1
      """

    /// What the divided table will not have: other indexes, foreign keys, triggers and policies.
    static func notes(
      _ layer: PostGISLayer, on connection: PostgresConnection
    ) throws(FieldpackError) -> [Note] {
      let rows = try connection.execute(restQuery, [.integer(Int64(layer.oid))])
      guard rows.count > 0 else { return [] }
      var names: [String] = []
      for row in 0..<rows.count { names.append(rows.text(row, 0) ?? "") }
      return [
        Note(
          "the divided table has none of these indexes, foreign keys, triggers and policies: "
            + names.sorted().joined(separator: ", "))
      ]
    }
  }
#endif
