#if PostGIS
  import FieldpackCore

  /// How rows get into a divided layer from here, past the store's server, so that they are sent once and
  /// not by INSERT.
  struct DirectRows: Sendable {
    let facts: TableFacts
    let id: TableFacts.ID
    let layout: ShardLayout
    /// For the rows whose ids the layer has already: these go through the store's server.
    let stage: StageSQL
    /// The columns that the rows do not bring, with the default that all rows get.
    private(set) var defaults: [(name: String, sql: String)] = []

    private var plan: CopyPlan { stage.plan }
    /// Whether the rows bring their ids.
    var hasIDs: Bool { plan.id != nil }

    /// The columns of a row as it is sent, quoted.
    var columns: [String] {
      let names = (hasIDs ? [] : [id.name]) + plan.names + defaults.map(\.name)
      return names.map(quotedUnchecked)
    }

    /// - Returns: `nil` where only the store's server does all that belongs to a new row: triggers,
    ///   policies, rules, defaults that are computed for each row, types without a binary form here, and
    ///   rows that are found by another column than that of the ids.
    static func make(
      _ facts: TableFacts, _ stage: StageSQL, servers: [ShardServer],
      on connection: PostgresConnection
    ) throws(FieldpackError) -> DirectRows? {
      guard let known = facts.shards, let id = facts.id, stage.key == nil || stage.key == id.name,
        id.type == .int8 || id.type == .int4 || id.type == .int2,
        stage.key == nil || stage.hasIDs, facts.columns.allSatisfy({ $0.type != nil })
      else { return nil }
      let rows = try connection.execute(stateQuery, [.text(try facts.name.sql())])
      guard rows.count == 1, !rows.flag(0, 1), let table = rows.integer(0, 0),
        let layout = try ShardLayout.read(
          UInt32(truncatingIfNeeded: table), known.key, in: known.schema, on: connection),
        layout.servers.allSatisfy({ name in servers.contains { $0.name == name } })
      else { return nil }
      let numbered = try connection.execute(identityQuery, [.integer(table), .text(id.name)])
      for row in 0..<numbered.count {
        guard let name = numbered.text(row, 0), stage.plan.names.contains(name) else { return nil }
      }
      var made = DirectRows(facts: facts, id: id, layout: layout, stage: stage)
      let found = try connection.execute(defaultQuery, [.integer(table), .text(id.name)])
      for row in 0..<found.count {
        guard let name = found.text(row, 0), let sql = found.text(row, 1), isSameForAll(sql) else {
          return nil
        }
        if !stage.plan.names.contains(name) { made.defaults.append((name, sql)) }
      }
      return made
    }

    /// The table by its number, and whether the store's server has to see each row. Triggers of foreign
    /// tables, unlike those of the parts themselves, are not run by COPY to the other server.
    private static let stateQuery = """
      SELECT c.oid::int8, c.relrowsecurity OR c.relhasrules
        OR NOT has_table_privilege(c.oid, 'INSERT')
        OR EXISTS (SELECT FROM pg_inherits i JOIN pg_class p ON p.oid = i.inhrelid
          WHERE i.inhparent = c.oid AND p.relkind = 'r' AND (p.relrowsecurity
            OR NOT has_table_privilege(p.oid, 'INSERT') OR NOT has_table_privilege(p.oid, 'SELECT')))
        OR EXISTS (SELECT FROM pg_trigger t WHERE NOT t.tgisinternal AND (t.tgrelid = c.oid
          OR t.tgrelid IN (SELECT i.inhrelid FROM pg_inherits i JOIN pg_class p ON p.oid = i.inhrelid
            WHERE i.inhparent = c.oid AND p.relkind = 'f')))
      FROM pg_class c WHERE c.oid = $1::text::regclass
      """

    /// Other columns than the id that the store's server numbers.
    private static let identityQuery = """
      SELECT a.attname FROM pg_attribute a WHERE a.attrelid = $1::int8::oid AND a.attidentity <> ''
        AND NOT a.attisdropped AND a.attname <> $2
      """

    private static let defaultQuery = """
      SELECT a.attname, pg_get_expr(d.adbin, d.adrelid) FROM pg_attrdef d
      JOIN pg_attribute a ON a.attrelid = d.adrelid AND a.attnum = d.adnum
      WHERE d.adrelid = $1::int8::oid AND a.attname <> $2 ORDER BY a.attnum
      """

    /// Whether a default is a literal or the moment of the transaction.
    static func isSameForAll(_ sql: String) -> Bool {
      let moments = ["now()", "CURRENT_TIMESTAMP", "CURRENT_DATE"]
      if PlainDefault.sql(sql) != nil || moments.contains(sql) { return true }
      // 'text'::type, in which a quote is doubled, or NULL::type: only the name of the type can follow.
      var rest = Substring(sql)
      if sql.hasPrefix("NULL::") {
        rest = rest.dropFirst(4)
      } else {
        guard rest.popFirst() == "'" else { return false }
        while let sign = rest.popFirst() {
          guard sign == "'" else { continue }
          guard rest.first == "'" else { break }
          rest.removeFirst()
        }
      }
      return rest.hasPrefix("::")
        && rest.dropFirst(2).allSatisfy {
          $0.isASCII && ($0.isLetter || $0.isNumber || " (),_\"[].".contains($0))
        }
    }
  }

  extension DirectRows {
    /// The defaults as fields of COPY.
    func defaultFields(on connection: PostgresConnection) throws(FieldpackError) -> [UInt8] {
      guard !defaults.isEmpty else { return [] }
      let values = defaults.map { name, sql in
        "(\(sql))::\(facts.column(name)?.typeSQL ?? "text")"
      }
      let rows = try connection.execute("SELECT \(values.joined(separator: ", "))")
      var fields: [UInt8] = []
      for column in defaults.indices {
        fields.append(big: rows.isNull(0, column) ? -1 : Int32(rows.length(0, column)))
        fields.append(contentsOf: rows.bytes(0, column))
      }
      return fields
    }

    /// A query of the tables of one server, joined by `UNION ALL`.
    func query(
      _ server: String?, _ select: (String, Int) -> String
    ) throws(FieldpackError) -> String {
      var queries: [String] = []
      for (index, part) in layout.parts.enumerated() where part.server == server {
        let table = try TableName(schema: layout.schema, table: part.table).sql()
        queries.append(select(table, index))
      }
      return queries.joined(separator: " UNION ALL ")
    }

    /// The servers of the parts, the store's own first.
    var servers: [String?] {
      let own: [String?] = layout.parts.contains { $0.server == nil } ? [nil] : []
      return own + layout.servers
    }
  }
#endif
