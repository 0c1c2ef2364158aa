import FieldpackCore
import FieldpackGeoPackage
import FieldpackGeometry
import FieldpackProjection
import FieldpackSQLite

/// Makes the views of a derived layer on a connection and finds out the layer's schema.
struct DerivedCatalogue {
  let file: GeoPackageSession
  let derivation: LayerDerivation

  /// The view that the layer's rows come from.
  static let view = "fieldpack rows"
  /// The view of a user's statement, before a condition or grouping.
  private static let statementView = "fieldpack statement"

  /// - Precondition: no transaction is open: its end would remove the views.
  func install() throws(FieldpackError) -> Catalogue {
    let base = try file.catalogue()
    let tables = try file.sql { () throws(SQLiteError) in try file.userSQL().tables }
    do throws(FieldpackError) {
      return try install(on: base, tables)
    } catch {
      // For example after a cancellation; the next call then makes the views again.
      for name in [DerivedSQL.left, DerivedSQL.right] { tables.takeDown(name) }
      for view in [Self.view, Self.statementView] {
        _ = file.connection.endTemporary("DROP VIEW IF EXISTS temp.\(quoted(view))")
      }
      _ = file.connection.endTemporary("DETACH \(quoted(DerivedSQL.attached))")
      throw error
    }
  }

  private func install(
    on base: Catalogue, _ tables: IndexedLayerTables
  ) throws(FieldpackError) -> Catalogue {
    if let path = derivation.joined?.path { try attach(path) }
    try putUp(tables, base)
    var derived = DerivedSQL(file: file, catalogue: base, derivation: derivation)
    derived.rows = try statementRows(base)
    let sql = try derived.statement()
    try check(sql)
    try makeView(Self.view, sql)
    var catalogue = base
    catalogue.layers = [
      try known(derivation.table) { () throws(FieldpackError) in
        try newLayer(base, view: Self.view, isKeyed: true)
      }
    ]
    catalogue.notes = []
    return catalogue
  }

  /// The rows of a user's statement as a layer, where a condition or a union needs their columns.
  private func statementRows(_ base: Catalogue) throws(FieldpackError) -> LayerTable? {
    guard case .sql(let sql) = derivation.layer.source, derivation.layer.asksOfRows else {
      return nil
    }
    let selection = try file.selection(of: sql).sql
    try check(selection)
    try makeView(Self.statementView, selection)
    return try known(derivation.rows) { () throws(FieldpackError) in
      try newLayer(base, view: Self.statementView, isKeyed: false)
    }
  }

  private func attach(_ path: String) throws(FieldpackError) {
    try file.sql { () throws(SQLiteError) in
      try file.connection.attach(path, as: DerivedSQL.attached)
    }
  }

  private func putUp(
    _ tables: IndexedLayerTables, _ base: Catalogue
  ) throws(FieldpackError) {
    switch derivation.layer.source {
    case .sql(let sql): try tables.putUp(for: sql)
    case .layer(let id):
      guard let joined = derivation.joined, let table = base.layer(id) else { return }
      let schema = joined.path == nil ? "main" : DerivedSQL.attached
      try tables.putUp(checked(table), as: DerivedSQL.left)
      try tables.putUp(checked(joined.table), in: schema, as: DerivedSQL.right)
    }
  }

  private func checked(_ table: LayerTable) throws(FieldpackError) -> LayerTable {
    guard table.layer.isView || table.idSQL == nil else { return table }
    throw FieldpackError(
      .unsupported, "layer '\(table.layer.id)' is a view, which is not joined",
      location: .init(store: file.store, layer: table.layer.id))
  }

  /// Lets SQLite compile the statement with an authorizer that allows nothing but reading.
  private func check(_ sql: String) throws(FieldpackError) {
    let connection = file.connection
    connection.setAuthorizer(.readOnlySQL)
    defer { connection.setAuthorizer(nil) }
    do throws(SQLiteError) {
      let statement = try file.userSQL().prepare(sql)
      guard statement.parameterCount == 0 else {
        throw SQLiteError(extendedCode: 1, message: "a layer's statement takes no parameters")
      }
    } catch {
      throw SQLContext(file: file, use: .layer).error(error)
    }
  }

  private func makeView(_ name: String, _ sql: String) throws(FieldpackError) {
    let connection = file.connection
    do throws(SQLiteError) {
      try connection.changingTemporary { () throws(SQLiteError) in
        try connection.executeScript("CREATE TEMP VIEW \(quoted(name)) AS \(sql)")
      }
    } catch {
      // SQLite has compiled the statement by itself before, so that only its kind is wrong.
      guard error.code == 1 else { throw SQLContext(file: file, use: .layer).error(error) }
      throw FieldpackError(
        .invalidArgument, "SQL: the statement of a layer is a SELECT: \(error.message)",
        position: FilePosition(file: file.path), underlying: error)
    }
  }

  // MARK: Schema

  /// The table that a first connection has found out, for all others; `make` finds it out.
  private func known(
    _ slot: Locked<LayerTable?>, orMake make: () throws(FieldpackError) -> LayerTable
  ) throws(FieldpackError) -> LayerTable {
    if let known = slot.withLock({ $0 }) { return known }
    let made = try make()
    slot.withLock { $0 = made }
    return made
  }

  private func newLayer(
    _ base: Catalogue, view: String, isKeyed: Bool
  ) throws(FieldpackError) -> LayerTable {
    var columns = try TableReader(file: file, table: view, isView: true).columns([])
    var schema = Schema(layer: derivation.layer.name, idColumn: nil)
    let open = columns.filter(\.declared.isEmpty).map(\.definition.name)
    let source = source(in: base)
    let facts =
      source != nil && open.isEmpty ? nil : try RowFacts(file, view: view, open: open)
    var srsID: Int64?
    if let index = geometryIndex(columns, source, facts) {
      let column = columns.remove(at: index)
      srsID =
        source?.srsID ?? facts?.srsID(of: column)
        ?? base.layers.first { $0.srsID != nil }?.srsID
      if let own = source?.schema.geometry, !column.declared.isEmpty {
        schema.geometry = own
      } else {
        schema.geometry = facts?.geometryColumn(column, system(srsID, base))
      }
    }
    var id: String?
    if isKeyed, let index = try keyIndex(columns, base) {
      id = quoted(columns[index].definition.name)
      schema.idColumn = columns.remove(at: index).definition.name
    }
    schema.columns = columns.map { column in
      var definition = column.definition
      if column.declared.isEmpty, let facts { definition.type = facts.type(of: definition.name) }
      return definition
    }
    var layer = Layer(
      schema: schema, kind: schema.geometry == nil ? .attributes : .features)
    layer.isView = true
    var table = LayerTable(
      layer: layer, table: view, idSQL: id, rtree: nil, srsID: srsID)
    table.isDerived = true
    table.statesSystem = source == nil
    return table
  }

  /// The reference system of an `srs_id`. An `srs_id` that the file does not define is taken as
  /// EPSG's code, as the SQL functions take it.
  private func system(_ id: Int64?, _ base: Catalogue) -> SRS {
    if let known = base.system(id)?.srs { return known }
    guard let id, id > 0, let code = Int32(exactly: id),
      (try? file.systems.definition(of: SRS("EPSG", code))) != nil
    else { return id == 0 ? .undefinedGeographic : .undefinedCartesian }
    return SRS("EPSG", code)
  }

  /// The layer that the geometries of the rows come from.
  private func source(in base: Catalogue) -> LayerTable? {
    guard case .layer(let id) = derivation.layer.source else { return nil }
    return base.layer(id)
  }

  private func geometryIndex(
    _ columns: [TableReader.Column], _ source: LayerTable?, _ facts: RowFacts?
  ) -> Int? {
    guard let source else { return columns.firstIndex { facts?.isGeometry($0) ?? false } }
    let name = source.schema.geometry.map { SQLName($0.name) }
    return columns.firstIndex { SQLName($0.definition.name) == name }
  }

  /// The column of the feature ids: the id column of a layer, where the rows come from one table
  /// and none comes twice.
  private func keyIndex(
    _ columns: [TableReader.Column], _ base: Catalogue
  ) throws(FieldpackError) -> Int? {
    guard derivation.joined == nil, derivation.layer.grouping == nil else { return nil }
    if case .sql(let sql) = derivation.layer.source {
      let isSingle = try SingleSelect { (name) throws(FieldpackError) in
        try file.rows(
          "SELECT sql FROM sqlite_master WHERE type = 'view' AND lower(name) = ?",
          [.text(name.lowercased)]
        ).first?.first?.textValue
      }.holds(for: sql)
      guard isSingle else { return nil }
    }
    let statement = try file.prepare("SELECT * FROM \(quoted(Self.view))", caching: false).row
    let names = statement.columnNames
    return columns.indices.first { index in
      guard let own = names.firstIndex(of: columns[index].definition.name),
        let origin = statement.origin(of: own)
      else { return false }
      return base.layers.contains {
        SQLName($0.table) == SQLName(origin.table)
          && $0.schema.idColumn.map { SQLName($0) } == SQLName(origin.column)
      }
    }
  }
}

extension GeoPackageSession {
  /// A user's statement without a semicolon at its end, fit for parentheses, and its columns'
  /// names.
  func selection(of sql: String) throws(FieldpackError) -> (sql: String, columns: [String]) {
    do throws(SQLiteError) {
      connection.setAuthorizer(.readOnlySQL)
      defer { connection.setAuthorizer(nil) }
      let statement = try userSQL().prepare(sql)
      var text = statement.ownText[...]
      while let last = text.last, last == ";" || last.isWhitespace { text.removeLast() }
      // A line comment may end the text, and would hide a parenthesis behind it.
      return (text + "\n", statement.columnNames)
    } catch {
      throw SQLContext(file: self, use: .layer).error(error)
    }
  }
}
