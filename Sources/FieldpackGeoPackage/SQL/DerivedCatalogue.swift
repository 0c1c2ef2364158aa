import FieldpackCore
import FieldpackGeometry
import FieldpackProjection
import FieldpackSQLite

/// Puts a derived layer up on a connection and finds out what its rows are.
struct DerivedCatalogue {
  let file: GeoPackageSession
  let derivation: Derivation

  /// The view that the layer's rows come from.
  static let view = "fieldpack rows"
  /// The view of a statement's own rows, before a condition or groups.
  private static let statementView = "fieldpack statement"

  /// - Precondition: no transaction is open, with whose end the view would go.
  func install() throws(FieldpackError) -> Catalogue {
    let base = try file.catalogue()
    try file.sql { () throws(SQLiteError) in try file.registerGeometryFunctions() }
    do throws(FieldpackError) {
      return try install(on: base)
    } catch {
      // Cancelled, say; the next one begins anew.
      for name in [DerivedSQL.left, DerivedSQL.right] { file.shadows.takeDown(name) }
      for view in [Self.view, Self.statementView] {
        _ = file.connection.endTemporary("DROP VIEW IF EXISTS temp.\(quoted(view))")
      }
      _ = file.connection.endTemporary("DETACH \(quoted(DerivedSQL.attached))")
      throw error
    }
  }

  private func install(on base: Catalogue) throws(FieldpackError) -> Catalogue {
    if let path = derivation.joined?.path { try attach(path) }
    try putUpShadows(base)
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

  /// The rows of a user's statement, where a condition or a union has to know what they are.
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

  private func putUpShadows(_ base: Catalogue) throws(FieldpackError) {
    switch derivation.layer.source {
    case .sql(let sql): try file.shadows.putUp(for: sql)
    case .layer(let id):
      guard let joined = derivation.joined, let table = base.layer(id) else { return }
      try putUp(table, as: DerivedSQL.left)
      try putUp(
        joined.table, in: joined.path == nil ? "main" : DerivedSQL.attached, as: DerivedSQL.right)
    }
  }

  private func putUp(
    _ table: LayerTable, in schema: String = "main", as name: String
  ) throws(FieldpackError) {
    guard !table.layer.isView, table.idSQL != nil else {
      throw FieldpackError(
        .unsupported, "layer '\(table.layer.id)' is a view, which is not joined",
        location: .init(store: file.store, layer: table.layer.id))
    }
    try file.shadows.putUp(table, in: schema, as: name)
  }

  /// Lets SQLite compile the statement, under the rules of reading.
  private func check(_ sql: String) throws(FieldpackError) {
    let connection = file.connection
    connection.setAuthorizer(.readOnlySQL)
    defer { connection.setAuthorizer(nil) }
    do throws(SQLiteError) {
      let statement = try connection.withSpatiaLite { () throws(SQLiteError) in
        try connection.prepare(sql, caching: false)
      }
      guard statement.parameterCount == 0 else {
        throw SQLiteError(extendedCode: 1, message: "a layer's statement takes no parameters")
      }
    } catch {
      throw SQLPlace(file: file, use: .layer).error(error)
    }
  }

  private func makeView(_ name: String, _ sql: String) throws(FieldpackError) {
    let connection = file.connection
    do throws(SQLiteError) {
      try connection.changingTemporary { () throws(SQLiteError) in
        try connection.executeScript("CREATE TEMP VIEW \(quoted(name)) AS \(sql)")
      }
    } catch {
      // SQLite has compiled it by itself, so that only its kind is wrong.
      guard error.code == 1 else { throw SQLPlace(file: file, use: .layer).error(error) }
      throw FieldpackError(
        .invalidArgument, "SQL: the statement of a layer is a SELECT: \(error.message)",
        position: FilePosition(file: file.path), underlying: error)
    }
  }

  // MARK: What the rows are

  /// Found out once for all connections.
  private func known(
    _ place: Locked<LayerTable?>, orMake make: () throws(FieldpackError) -> LayerTable
  ) throws(FieldpackError) -> LayerTable {
    if let known = place.withLock({ $0 }) { return known }
    let made = try make()
    place.withLock { $0 = made }
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
    if let place = geometryPlace(columns, source, facts) {
      let column = columns.remove(at: place)
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
    if isKeyed, let place = try keyPlace(columns, base) {
      id = quoted(columns[place].definition.name)
      schema.idColumn = columns.remove(at: place).definition.name
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

  /// The system of an `srs_id`; one that the file does not define is EPSG's code, as in SQL.
  private func system(_ id: Int64?, _ base: Catalogue) -> SRS {
    if let known = id.flatMap({ base.systems[$0]?.srs }) { return known }
    guard let id, id > 0, let code = Int32(exactly: id),
      (try? file.systems.definition(of: SRS("EPSG", code))) != nil
    else { return id == 0 ? .undefinedGeographic : .undefinedCartesian }
    return SRS("EPSG", code)
  }

  /// The layer whose geometries the rows have.
  private func source(in base: Catalogue) -> LayerTable? {
    guard case .layer(let id) = derivation.layer.source else { return nil }
    return base.layer(id)
  }

  private func geometryPlace(
    _ columns: [TableReader.Column], _ source: LayerTable?, _ facts: RowFacts?
  ) -> Int? {
    guard let source else { return columns.firstIndex { facts?.isGeometry($0) ?? false } }
    let name = source.schema.geometry.map { SQLName($0.name) }
    return columns.firstIndex { SQLName($0.definition.name) == name }
  }

  /// The column of the ids: that of a layer, where the rows are those of one table and none comes
  /// twice.
  private func keyPlace(
    _ columns: [TableReader.Column], _ base: Catalogue
  ) throws(FieldpackError) -> Int? {
    guard derivation.joined == nil, derivation.layer.grouping == nil else { return nil }
    let lines = try file.rows("EXPLAIN QUERY PLAN SELECT * FROM \(quoted(Self.view))")
      .map { $0[3].textValue ?? "" }
    let tables = lines.filter { $0.hasPrefix("SCAN ") || $0.hasPrefix("SEARCH ") }
    guard tables.count == 1, !lines.contains(where: { $0.hasPrefix("COMPOUND") }) else {
      return nil
    }
    let statement = try file.prepare("SELECT * FROM \(quoted(Self.view))", caching: false).row
    let names = statement.columnNames
    return columns.indices.first { place in
      guard let index = names.firstIndex(of: columns[place].definition.name),
        let origin = statement.origin(of: index)
      else { return false }
      return base.layers.contains {
        SQLName($0.table) == SQLName(origin.table)
          && $0.schema.idColumn.map { SQLName($0) } == SQLName(origin.column)
      }
    }
  }
}

extension GeoPackageSession {
  /// A user's statement without what may end it, fit for parentheses, and the names of its columns.
  func selection(of sql: String) throws(FieldpackError) -> (sql: String, columns: [String]) {
    do throws(SQLiteError) {
      connection.setAuthorizer(.readOnlySQL)
      defer { connection.setAuthorizer(nil) }
      let statement = try connection.withSpatiaLite { () throws(SQLiteError) in
        try connection.prepare(sql, caching: false)
      }
      var text = statement.ownText[...]
      while let last = text.last, last == ";" || last.isWhitespace { text.removeLast() }
      // A comment may end the text.
      return (text + "\n", statement.columnNames)
    } catch {
      throw SQLPlace(file: self, use: .layer).error(error)
    }
  }
}
