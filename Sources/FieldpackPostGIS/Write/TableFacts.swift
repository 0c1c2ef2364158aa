#if PostGIS
  import FieldpackCore
  import FieldpackGeometry

  /// What a table is to those who write to it, as the server's catalogue has it now.
  struct TableFacts: Sendable {
    struct Column: Sendable {
      var name: String
      /// `nil` for types that are sent as text.
      var type: BinaryType?
      /// The type in SQL, as the server writes it.
      var typeSQL: String
      var isGenerated: Bool
    }

    /// The column by which features are told apart.
    struct ID: Sendable {
      var name: String
      var type: BinaryType
      /// Whether the server gives ids itself.
      var hasDefault: Bool
      /// `GENERATED ALWAYS AS IDENTITY`.
      var isAlways: Bool
      /// The sequence that gives the ids, quoted.
      var sequence: String?

      /// Whether ids read as integers, as those of `numeric(10,0)` do, too.
      var isInteger: Bool
    }

    struct Geometry: Sendable {
      var name: String
      var srid: Int32
      /// What the column's type says that it takes.
      var rule: GeometryColumn
    }

    let name: TableName
    var id: ID?
    /// The first geometry column.
    var geometry: Geometry?
    /// The geometry columns after the first. Imported rows have no values for them.
    var otherGeometries: [String] = []
    var columns: [Column] = []
    /// `r` for tables, `p` for those in parts, `v` for views, `f` for foreign tables.
    var kind: String
    /// How the layer is divided over servers.
    var shards: ShardLayout?

    var isView: Bool { kind == "v" || kind == "m" }

    /// The facts of a layer's table, whose SRID and kind of ids are those with which the layer is read.
    ///
    /// - Returns: `nil` where the table is not there any more.
    static func read(
      _ layer: PostGISLayer, in scope: PostGISScope, on connection: PostgresConnection
    ) throws(FieldpackError) -> TableFacts? {
      let name = TableName(schema: scope.schema, table: layer.layer.rawValue)
      guard var facts = try read(name, id: layer.schema.idColumn, on: connection) else {
        return nil
      }
      facts.id?.isInteger = !layer.hasTextID
      // Neither the type nor a constraint need say the SRID of a column, and a geography has its own.
      if facts.geometry?.srid == 0 { facts.geometry?.srid = layer.geometry?.srid ?? 0 }
      if let shards = layer.shards {
        facts.shards = shards
        facts.columns.removeAll { $0.name == ShardKey.column }
      }
      return facts
    }

    /// The facts after a change of the columns.
    func readAgain(on connection: PostgresConnection) throws(FieldpackError) -> TableFacts {
      guard var facts = try Self.read(name, id: id?.name, on: connection) else { return self }
      if let id { facts.id?.isInteger = id.isInteger }
      if facts.geometry?.srid == 0 { facts.geometry?.srid = geometry?.srid ?? 0 }
      if let shards {
        facts.shards = shards
        facts.columns.removeAll { $0.name == ShardKey.column }
      }
      return facts
    }

    /// - Parameter id: the column of the ids.
    private static func read(
      _ name: TableName, id: String?, on connection: PostgresConnection
    ) throws(FieldpackError) -> TableFacts? {
      let rows = try connection.execute(
        connection.postgisSchema == nil ? plainQuery : query,
        [.text(name.schema), .text(name.table), .text(id ?? "")])
      guard rows.count > 0 else { return nil }
      var facts = TableFacts(name: name, kind: rows.text(0, 0) ?? "")
      for row in 0..<rows.count where !rows.isNull(row, 1) {
        facts.add(row, of: rows)
      }
      return facts
    }

    private mutating func add(_ row: Int, of rows: PostgresRows) {
      let name = rows.text(row, 1) ?? ""
      let isEnumeration = rows.text(row, 4) == "e"
      let type = rows.integer(row, 2).flatMap { BinaryType(oid: UInt32(truncatingIfNeeded: $0)) }
      let typeSQL = rows.text(row, 3) ?? "text"
      let base = rows.text(row, 5)
      if base == "geometry" || base == "geography" {
        guard geometry == nil else { return otherGeometries.append(name) }
        geometry = Geometry(
          name: name, srid: Int32(clamping: rows.integer(row, 11) ?? 0),
          rule: GeometryColumn(name, postGISType: base == "geometry" ? rows.text(row, 13) : nil))
        return
      }
      let generated = rows.text(row, 7) ?? ""
      let identity = rows.text(row, 8) ?? ""
      let known: BinaryType? = isEnumeration ? .text() : type
      if rows.flag(row, 10), id == nil, let known {
        id = ID(
          name: name, type: known, hasDefault: rows.flag(row, 9) || !identity.isEmpty,
          isAlways: identity == "a", sequence: rows.text(row, 12),
          isInteger: known == .int2 || known == .int4 || known == .int8)
        return
      }
      columns.append(
        Column(
          name: name, type: known?.limited(by: typeSQL), typeSQL: typeSQL,
          isGenerated: !generated.isEmpty || identity == "a"))
    }

    private static let query = query(
      srid: """
        CASE WHEN b.typname = 'geometry' THEN coalesce(
          CASE WHEN a.atttypmod <> -1 THEN nullif(postgis_typmod_srid(a.atttypmod), 0) END::int8,
          \(CatalogueQueries.constraintSRID(table: "c.oid", column: "a.attnum")), 0) END
        """,
      type: """
        CASE WHEN b.typname = 'geometry' AND a.atttypmod <> -1
          THEN postgis_typmod_type(a.atttypmod) END
        """)

    /// The same for a database without PostGIS.
    private static let plainQuery = query(srid: "NULL::int8", type: "NULL::text")

    /// A row for each column; one row without a column where the table has none.
    private static func query(srid: String, type: String) -> String {
      """
      SELECT c.relkind::text, a.attname::text,
        (CASE WHEN t.typtype = 'd' THEN t.typbasetype ELSE t.oid END)::oid::int8,
        format_type(a.atttypid, a.atttypmod), b.typtype::text, b.typname::text, a.attnotnull,
        a.attgenerated::text, a.attidentity::text, a.atthasdef,
        coalesce(a.attname = $3, false),
        \(srid),
        CASE WHEN a.attname = $3
          THEN pg_get_serial_sequence(quote_ident(n.nspname) || '.' || quote_ident(c.relname),
            a.attname) END,
        \(type)
      FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
      LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
      LEFT JOIN pg_type t ON t.oid = a.atttypid
      LEFT JOIN pg_type b
        ON b.oid = CASE WHEN t.typtype = 'd' THEN t.typbasetype ELSE t.oid END
      WHERE n.nspname = $1 AND c.relname = $2 AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
      ORDER BY a.attnum
      """
    }
  }

  extension BinaryType {
    /// A text with the limit of its declaration, `character varying(20)`.
    fileprivate func limited(by sql: String) -> BinaryType {
      guard case .text(nil) = self, sql.hasPrefix("character"), sql.hasSuffix(")"),
        let open = sql.firstIndex(of: "("),
        let limit = Int(sql[sql.index(after: open)...].dropLast())
      else { return self }
      return .text(maximumLength: limit)
    }
  }
#endif
