package import FieldpackCore
import FieldpackGeometry
import FieldpackSQLite

/// Creates and changes the tables of a GeoPackage, in the transaction that the caller has open.
package struct LayerCreation {
  let file: GeoPackageSession

  package init(file: GeoPackageSession) {
    self.file = file
  }

  /// Makes an empty file a GeoPackage.
  func createFile(_ version: GeoPackageVersion) throws(FieldpackError) {
    try file.execute("PRAGMA application_id = \(GeoPackageVersion.applicationID)")
    try file.execute("PRAGMA user_version = \(version.userVersion)")
    for table in RequiredTables.all { try file.execute(table) }
    try file.execute(RequiredTables.undefinedSystems)
    _ = try ReferenceSystems(file: file).ensure(.wgs84)
  }

  // MARK: Layers

  /// Creates the layer's table and its rows in the catalogue, with an R-tree and its triggers where
  /// asked.
  ///
  /// - Parameters:
  ///   - rules: table constraints in SQL.
  ///   - keepsName: allows a name that begins as those of the standard's tables do.
  func create(
    _ schema: Schema, rules: [String] = [], withTriggers: Bool = true, keepsName: Bool = false
  ) throws(FieldpackError) {
    if !keepsName || Self.namesSystemTable(schema.layer) { try checkName(schema.layer) }
    let catalogue = try file.catalogue()
    if try file.hasTable(schema.layer.rawValue) {
      throw FieldpackError(
        .cannotCreate, "layer '\(schema.layer)' exists already", advice: .appendReplaceOrRename,
        location: .init(store: file.store, layer: schema.layer))
    }
    try checkColumns(schema)
    let table = schema.layer.rawValue
    let srsID = try schema.geometry.map { geometry throws(FieldpackError) in
      try ReferenceSystems(file: file).ensure(geometry.srs, epoch: geometry.epoch)
    }
    try file.execute(tableSQL(schema, rules))
    try ContentsTable(file: file).insert(
      table, as: schema.geometry == nil ? "attributes" : "features", srsID: srsID)
    if let geometry = schema.geometry, let srsID {
      try file.execute(
        GPKGGeometryColumns.insertion(),
        [
          .text(table), .text(geometry.name), .text(geometry.type.name), .integer(srsID),
          .integer(geometry.z.rawValue), .integer(geometry.m.rawValue),
        ])
      if geometry.type.isCurved {
        try CurveTypes.register(geometry.type, in: file, table: table, column: geometry.name)
      }
      try createRTree(RTreeSQL(schema), catalogue.triggerSet, withTriggers: withTriggers)
    }
    var described = schema.columns
    if schema.idIsAttribute, let id = schema.idColumn {
      described.append(ColumnDefinition(id, .integer, title: DataColumnMark.attributeID))
    }
    try SchemaExtension(file: file).describe(described, of: table)
    // A layer that this one replaces may have been logged.
    try EditLog(of: table, in: file)?.refresh()
    file.forgetCatalogue()
  }

  func checkName(_ layer: LayerID) throws(FieldpackError) {
    let name = layer.rawValue
    let folded = SQLName(name)
    let reserved = ["gpkg_", "sqlite_", "rtree_", "gpkgext_"]
    let problem: String? =
      if name.isEmpty {
        "a layer needs a name"
      } else if name.utf8.contains(0) {
        "a layer's name cannot hold a NUL character"
      } else if let prefix = reserved.first(where: { folded.hasPrefix($0) }) {
        "a layer's name cannot begin with '\(prefix)', which GeoPackage keeps for itself"
      } else {
        nil
      }
    guard let problem else { return }
    throw FieldpackError(
      .invalidArgument, problem, location: .init(store: file.store, layer: layer))
  }

  /// Whether the standard, an extension or SQLite has, or may come to have, a table of that name.
  private static func namesSystemTable(_ layer: LayerID) -> Bool {
    let name = SQLName(layer.rawValue)
    return !name.hasPrefix("gpkg_") || systemTables.contains(name)
  }

  private static let systemTables = Set(
    [
      GPKGSpatialRefSys.table, GPKGContents.table, GPKGGeometryColumns.table,
      GPKGExtensions.table, GPKGDataColumns.table, GPKGDataColumnConstraints.table,
      GPKGMetadata.table, GPKGMetadataReference.table, GPKGTileMatrixSet.table,
      GPKGTileMatrix.table, GPKGCoverageAncillary.table, GPKGTileAncillary.table,
      "gpkg_ogr_contents",
    ].map { SQLName($0) })

  private func checkColumns(_ schema: Schema) throws(FieldpackError) {
    var seen: Set<SQLName> = []
    let special = [schema.idColumn ?? "fid", schema.geometry?.name].compactMap { $0 }
    for name in special + schema.columns.map(\.name) {
      let problem: String? =
        name.isEmpty
        ? "a column needs a name"
        : name.utf8.contains(0)
          ? "a column's name cannot hold a NUL character"
          : seen.insert(SQLName(name)).inserted
            ? nil : "column '\(name)' is there twice (names are compared ignoring case)"
      guard let problem else { continue }
      throw FieldpackError(
        .invalidArgument, "layer '\(schema.layer)': \(problem)",
        location: .init(store: file.store, layer: schema.layer))
    }
  }

  private func tableSQL(_ schema: Schema, _ rules: [String]) -> String {
    var columns = ["\(quoted(schema.idColumn ?? "fid")) INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL"]
    if let geometry = schema.geometry {
      columns.append("\(quoted(geometry.name)) \(geometry.type.name)")
    }
    columns += schema.columns.map(Self.columnSQL) + rules
    return "CREATE TABLE \(quoted(schema.layer.rawValue)) (\(columns.sqlList))"
  }

  static func columnSQL(_ column: ColumnDefinition) -> String {
    var sql = "\(quoted(column.name)) \(column.type.sql)"
    if !column.isNullable { sql += " NOT NULL" }
    if column.isUnique { sql += " UNIQUE" }
    if let value = column.defaultSQL { sql += " DEFAULT (\(value))" }
    return sql
  }

  package func registerExtension(
    _ name: String, table: String?, column: String?, scope: String
  ) throws(FieldpackError) {
    try file.ensure(GPKGExtensions.self)
    let target: [SQLiteValue] = [
      table.map(SQLiteValue.text) ?? .null, column.map(SQLiteValue.text) ?? .null,
    ]
    let known = try file.integer(
      "SELECT 1 FROM gpkg_extensions WHERE table_name IS ? AND column_name IS ? "
        + "AND extension_name = ?", target + [.text(name)])
    guard known == nil else { return }
    try file.execute(
      GPKGExtensions.insertion(),
      target + [.text(name), .text(ExtensionDefinition.url(of: name)), .text(scope)])
  }

  package func createRTree(
    _ rtree: RTreeSQL, _ set: RTreeTriggerSet, withTriggers: Bool
  ) throws(FieldpackError) {
    try file.execute(rtree.create)
    try registerExtension(
      RTreeSQL.extensionName, table: rtree.table, column: rtree.column, scope: "write-only")
    guard withTriggers else { return }
    for trigger in rtree.triggers(set) { try file.execute(trigger) }
  }

  // MARK: Columns

  func addColumns(
    _ columns: [ColumnDefinition], to table: LayerTable
  ) throws(FieldpackError) {
    for column in columns {
      guard table.schema.columnIndex(column.name) == nil, !table.schema.isID(column.name),
        table.schema.geometry.map({ SQLName($0.name) }) != SQLName(column.name)
      else {
        throw FieldpackError(
          .invalidArgument, "layer '\(table.layer.id)' has a column '\(column.name)' already",
          location: .init(store: file.store, layer: table.layer.id))
      }
      try file.execute(
        "ALTER TABLE \(quoted(table.table)) ADD COLUMN \(Self.columnSQL(column))")
    }
    try AuditLog(of: table.table, in: file)?.add(columns)
    try SchemaExtension(file: file).describe(columns, of: table.table)
    file.forgetCatalogue()
  }
}

extension RTreeSQL {
  package init(_ schema: Schema) {
    self.init(
      table: schema.layer.rawValue, column: schema.geometry?.name ?? "geom",
      idColumn: schema.idColumn ?? "fid")
  }

  package init(_ table: LayerTable) {
    self.init(
      table: table.table, column: table.schema.geometry?.name ?? "geom",
      idColumn: table.schema.idColumn ?? table.idSQL ?? "rowid")
  }
}
