#if PostGIS
  import FieldpackCore
  import FieldpackGeometry
  import FieldpackProjection

  /// Reads the layers of a database from its catalogue.
  struct CatalogueReader {
    let connection: PostgresConnection
    let scope: PostGISScope
    let store: StoreID

    struct Column {
      var column: PostGISColumn
      var isNullable: Bool
      /// The default as PostgreSQL writes it; `identity` for a column that counts.
      var defaultSQL: String?
      var description: String?
      /// `geometry`, `geography` and the like; `nil` for every other type.
      var spatialType: String?
    }

    struct Index {
      var isPrimary: Bool
      var isUnique: Bool
      var isGist: Bool
      var columns: [String]
    }

    func read() throws(FieldpackError) -> PostGISCatalogue {
      let tables = try connection.execute(CatalogueQueries.tables, [.text(scope.schema)])
      if tables.count == 0 { try checkSchema() }
      let columns = try columns()
      let indexes = try indexes()
      var layers: [PostGISLayer] = []
      for row in 0..<tables.count {
        let oid = UInt32(truncatingIfNeeded: tables.integer(row, 0) ?? 0)
        guard tables.flag(row, 5), let name = tables.text(row, 1), isWanted(name) else { continue }
        let builder = LayerBuilder(
          reader: self, oid: oid, name: name, kind: tables.text(row, 2) ?? "r",
          rows: tables.real(row, 3), description: tables.text(row, 4),
          size: tables.integer(row, 6), hasPolicies: tables.flag(row, 7),
          columns: columns[oid] ?? [], indexes: indexes[oid] ?? [])
        layers.append(try builder.layer())
      }
      return PostGISCatalogue(store: store, layers: try inOrder(layers))
    }

    private func checkSchema() throws(FieldpackError) {
      let found = try connection.execute(
        "SELECT FROM pg_namespace WHERE nspname = $1", [.text(scope.schema)])
      guard found.count == 0 else { return }
      throw FieldpackError(
        .notFound, "the database has no schema '\(scope.schema)'", location: .init(store: store))
    }

    private func isWanted(_ name: String) -> Bool {
      scope.tables.map { tables in tables.contains { $0.name == name } } ?? true
    }

    private func inOrder(_ layers: [PostGISLayer]) throws(FieldpackError) -> [PostGISLayer] {
      guard let tables = scope.tables else { return layers }
      var sorted: [PostGISLayer] = []
      for table in tables {
        guard let layer = layers.first(where: { $0.layer.rawValue == table.name }) else {
          throw FieldpackError(
            .notFound,
            "the table '\(table.name)' of the option 'tables' is not in schema '\(scope.schema)', or "
              + "may not be read", location: .init(store: store))
        }
        sorted.append(layer)
      }
      return sorted
    }

    private func columns() throws(FieldpackError) -> [UInt32: [Column]] {
      let rows = try connection.execute(CatalogueQueries.columns, [.text(scope.schema)])
      var found: [UInt32: [Column]] = [:]
      for row in 0..<rows.count {
        let table = UInt32(truncatingIfNeeded: rows.integer(row, 0) ?? 0)
        let column = PostGISColumn(
          name: rows.text(row, 2) ?? "",
          type: UInt32(truncatingIfNeeded: rows.integer(row, 3) ?? 0),
          modifier: Int32(truncatingIfNeeded: rows.integer(row, 4) ?? -1),
          typeName: rows.text(row, 5) ?? "", isArray: rows.flag(row, 6),
          isGenerated: rows.flag(row, 8))
        found[table, default: []].append(
          Column(
            column: column, isNullable: !rows.flag(row, 7), defaultSQL: rows.text(row, 9),
            description: rows.text(row, 10), spatialType: rows.text(row, 11)))
      }
      return found
    }

    private func indexes() throws(FieldpackError) -> [UInt32: [Index]] {
      let rows = try connection.execute(CatalogueQueries.indexes, [.text(scope.schema)])
      var found: [UInt32: [Index]] = [:]
      for row in 0..<rows.count {
        let table = UInt32(truncatingIfNeeded: rows.integer(row, 0) ?? 0)
        let names = JSONValue.texts(rows.text(row, 4))
        guard names.count == Int(rows.integer(row, 5) ?? 0) else { continue }
        found[table, default: []].append(
          Index(
            isPrimary: rows.flag(row, 1), isUnique: rows.flag(row, 2), isGist: rows.flag(row, 3),
            columns: names))
      }
      return found
    }
  }

  extension JSONValue {
    /// The texts of an array of texts; none for anything else.
    fileprivate static func texts(_ json: String?) -> [String] {
      guard var json else { return [] }
      let value = json.withUTF8 { try? JSONValueReader.read($0) }
      guard case .array(let elements)? = value else { return [] }
      return elements.compactMap { element in
        if case .text(let text) = element { text } else { nil }
      }
    }
  }
#endif
