package import FieldpackCore
import FieldpackGeometry
import FieldpackSQLite

/// Renames, removes and declares columns of a table, in the transaction that the caller has open.
/// What the file says of a column elsewhere follows.
package struct ColumnChange {
  let file: GeoPackageSession
  let table: LayerTable

  package init(of table: LayerTable, in file: GeoPackageSession) {
    (self.file, self.table) = (file, table)
  }

  /// The tables that name columns of user tables, with the columns that hold both names.
  private static let naming = [
    ("gpkg_geometry_columns", "table_name", "column_name"),
    ("gpkg_data_columns", "table_name", "column_name"),
    ("gpkg_extensions", "table_name", "column_name"),
    ("gpkg_metadata_reference", "table_name", "column_name"),
    ("gpkgext_relations", "base_table_name", "base_primary_column"),
    ("gpkgext_relations", "related_table_name", "related_primary_column"),
    (LayerChange.styles, "f_table_name", "f_geometry_column"),
  ]

  private var key: [SQLiteValue] { [.text(table.table)] }

  private var columnNames: [String] {
    let schema = table.schema
    return [schema.idColumn, schema.geometry?.name].compactMap { $0 } + schema.columns.map(\.name)
  }

  private func refused(
    _ code: FieldpackError.Code, _ message: String, _ advice: FieldpackError.Advice? = nil
  ) -> FieldpackError {
    FieldpackError(
      code, message, advice: advice, location: .init(store: file.store, layer: table.layer.id))
  }

  // MARK: Names

  /// The column as the table spells it: the id, the geometry or an attribute.
  func spelled(_ name: String) throws(FieldpackError) -> String {
    let names = columnNames
    guard let own = names.first(where: { SQLName($0) == SQLName(name) }) else {
      throw table.schema.unknownColumn(name).adding(location: .init(store: file.store))
    }
    return own
  }

  func rename(_ column: String, to name: String) throws(FieldpackError) {
    let isSame = SQLName(column) == SQLName(name)
    let names = columnNames
    guard isSame || !names.contains(where: { SQLName($0) == SQLName(name) }) else {
      throw refused(
        .invalidArgument, "layer '\(table.layer.id)' has a column '\(name)' already")
    }
    guard !name.isEmpty, !name.utf8.contains(0) else {
      throw refused(.invalidArgument, "a column needs a name without NUL characters")
    }
    let change = LayerChange(file: file)
    let indexTriggers = try change.triggers(of: table)
    for (trigger, _) in indexTriggers { try file.execute("DROP TRIGGER \(quoted(trigger))") }
    if let log = try AuditLog(of: table.table, in: file) {
      func renameInBoth() throws(FieldpackError) {
        try renameInTable(column, to: name)
        try log.renameColumn(column, to: name)
      }
      try log.paused({ $0 == SQLName(column) ? SQLName(name) : $0 }, renameInBoth)
    } else {
      try renameInTable(column, to: name)
    }
    try renameInCatalogue(column, to: name)
    try change.moveRTree(of: table, to: renamedRTree(column, to: name))
    if table.hasFeatureCount {
      try FeatureCount(file: file, table: table.table).createTriggers()
    }
    file.forgetCatalogue()
  }

  private func renamedRTree(_ column: String, to name: String) -> RTreeSQL {
    let now = RTreeSQL(table)
    func renamed(_ own: String) -> String { SQLName(own) == SQLName(column) ? name : own }
    return RTreeSQL(
      table: now.table, column: renamed(now.column), idColumn: renamed(now.idColumn))
  }

  private func renameInTable(_ old: String, to new: String) throws(FieldpackError) {
    try file.execute(
      "ALTER TABLE \(quoted(table.table)) RENAME COLUMN \(quoted(old)) TO \(quoted(new))")
  }

  private func renameInCatalogue(_ column: String, to name: String) throws(FieldpackError) {
    for (naming, tableName, columnName) in Self.naming where try file.hasTable(naming) {
      try file.execute(
        "UPDATE \(naming) SET \(columnName) = ? "
          + "WHERE lower(\(tableName)) = lower(?) AND lower(\(columnName)) = lower(?)",
        [.text(name)] + key + [.text(column)])
    }
    guard try file.hasTable("gpkg_data_columns") else { return }
    // A name of GeoPackage's schema extension that only repeats the column's follows it.
    try file.execute(
      "UPDATE gpkg_data_columns SET name = ? "
        + "WHERE lower(table_name) = lower(?) AND column_name = ? AND name = ?",
      [.text(name)] + key + [.text(name), .text(column)])
  }

  /// Declares a column anew. SQLite cannot change a column's rules, so a new column takes the old
  /// one's place.
  func redefine(_ old: String, as column: ColumnDefinition) throws(FieldpackError) {
    var replacement = column
    replacement.name = "fieldpack_new_\(old)"
    let name = quoted(table.table)
    try file.execute("ALTER TABLE \(name) ADD COLUMN \(LayerCreation.columnSQL(replacement))")
    try file.execute("UPDATE \(name) SET \(quoted(replacement.name)) = \(quoted(old))")
    try file.execute("ALTER TABLE \(name) DROP COLUMN \(quoted(old))")
    try renameInTable(replacement.name, to: old)
    file.forgetCatalogue()
  }

  // MARK: Removing

  /// Removes an attribute's column with its values and the indexes that hold it.
  func drop(_ column: String) throws(FieldpackError) {
    guard let index = table.schema.columnIndex(column) else {
      let what = table.schema.isID(column) ? "feature id" : "geometry"
      throw refused(
        .unsupported, "column '\(column)' is the \(what) of layer '\(table.layer.id)'",
        .makeLayerAnew)
    }
    let definition = table.schema.columns[index]
    let name = SQLName(definition.name)
    for index in try indexes(holding: name) { try file.execute("DROP INDEX \(quoted(index))") }
    func removeColumn() throws(FieldpackError) {
      do throws(FieldpackError) {
        try file.execute(
          "ALTER TABLE \(quoted(table.table)) DROP COLUMN \(quoted(definition.name))")
      } catch  where error.code == .invalidData || error.code == .invalidArgument {
        throw refused(
          .unsupported,
          "column '\(definition.name)' is needed by the table '\(table.table)' or by "
            + "what reads it: \(error.message)", .makeLayerAnew)
      }
    }
    if let log = try AuditLog(of: table.table, in: file) {
      // The log keeps what it has of the column.
      try log.paused({ $0 == name ? nil : $0 }, removeColumn)
    } else {
      try removeColumn()
    }
    try forget(definition)
    file.forgetCatalogue()
  }

  /// The indexes that someone created on a column, alone or with others.
  private func indexes(holding column: SQLName) throws(FieldpackError) -> [String] {
    var found: [String] = []
    for row in try file.rows("PRAGMA index_list(\(quoted(table.table)))") {
      guard let name = row[1].textValue, row[3].textValue == "c" else { continue }
      let columns = try file.rows("PRAGMA index_info(\(quoted(name)))")
      if columns.contains(where: { $0[2].textValue.map { SQLName($0) } == column }) {
        found.append(name)
      }
    }
    return found
  }

  private func forget(_ column: ColumnDefinition) throws(FieldpackError) {
    let metadata = MetadataTables(file: file)
    try metadata.forget(column: column.name, of: table.table)
    let schema = SchemaExtension(file: file)
    for naming in ["gpkg_data_columns", "gpkg_extensions"] where try file.hasTable(naming) {
      try file.execute(
        "DELETE FROM \(naming) WHERE lower(table_name) = lower(?) AND lower(column_name) = "
          + "lower(?)", key + [.text(column.name)])
    }
    if let constraint = column.constraint { try schema.removeUnused([constraint.name]) }
    try schema.dropIfEmpty()
  }

  // MARK: Types

  /// Declares an attribute's column with another type; the values become values of that type.
  ///
  /// - Throws: `.constraint` with the first value that has no form in the new type.
  func retype(_ column: ColumnDefinition, as type: ColumnType) throws(FieldpackError) {
    guard !column.isGenerated else {
      throw refused(
        .unsupported, "column '\(column.name)' is generated, and its type follows from others")
    }
    let isLogged = try AuditLog(of: table.table, in: file)?.has(column.name) ?? false
    try declare(column.name, type.sql, of: table.table)
    if isLogged { try declare(column.name, type.sql, of: "\(table.table)_audit") }
    try reloadSchema()
    // Indexes hold values as the declared type has them.
    try file.execute("REINDEX \(quoted(table.table))")
    try describe(column, as: type)
    try convert(column, to: type)
    file.forgetCatalogue()
  }

  /// JSON is text that the schema extension marks.
  private func describe(_ column: ColumnDefinition, as type: ColumnType) throws(FieldpackError) {
    var described = column
    described.type = type
    if column.type == .json, type != .json, try file.hasTable("gpkg_data_columns") {
      try file.execute(
        "UPDATE gpkg_data_columns SET mime_type = NULL WHERE lower(table_name) = lower(?) "
          + "AND lower(column_name) = lower(?)", key + [.text(column.name)])
    }
    if type == .json { try SchemaExtension(file: file).describe([described], of: table.table) }
  }

  private func convert(_ column: ColumnDefinition, to type: ColumnType) throws(FieldpackError) {
    let (id, name) = (table.idExpression, quoted(column.name))
    let read = try file.prepare(
      "SELECT \(id), \(name) FROM \(quoted(table.table)) WHERE \(id) > ? AND \(name) NOTNULL "
        + "ORDER BY \(id) LIMIT 1000")
    let write = try file.prepare(
      "UPDATE \(quoted(table.table)) SET \(name) = ? WHERE \(id) = ?")
    // The log and the R-tree have nothing to do with another form of the same value.
    let log = try AuditLog(of: table.table, in: file)
    func change() throws(FieldpackError) {
      var last = Int64.min
      while true {
        let rows = try batch(read, after: last)
        guard let final = rows.last?.id else { return }
        for row in rows {
          let value = column.type.value(Value(row.value))
          guard
            let stored = value.converted(to: type).flatMap({ FeatureEncoder.stored($0, in: type) })
          else { throw unfit(value, of: column, row.id, type) }
          guard stored != row.value else { continue }
          try write.bind(stored, at: 1)
          try write.bind(.integer(row.id), at: 2)
          try write.run()
        }
        last = final
      }
    }
    if let log { try log.paused({ $0 }, change) } else { try change() }
  }

  private func batch(
    _ read: SessionStatement, after last: Int64
  ) throws(FieldpackError) -> [(id: Int64, value: SQLiteValue)] {
    var rows: [(id: Int64, value: SQLiteValue)] = []
    try read.bind(.integer(last), at: 1)
    while try read.step() {
      let values = read.row.values
      rows.append((values[0].integerValue ?? 0, values[1]))
    }
    read.reset()
    return rows
  }

  private func unfit(
    _ value: Value, of column: ColumnDefinition, _ id: Int64, _ type: ColumnType
  ) -> FieldpackError {
    let text = value.plainText
    let shown = text.count > 60 ? text.prefix(59) + "…" : text[...]
    return FieldpackError(
      .constraint,
      "column '\(column.name)' of feature \(id) is '\(shown)', which is no "
        + "\(type.sql), so nothing was changed",
      location: .init(store: file.store, layer: table.layer.id, feature: .integer(id)))
  }

  /// Declares the geometry column anew. The declared type of a geometry column does not change how
  /// rows are stored.
  func declare(_ geometry: GeometryColumn) throws(FieldpackError) {
    try file.execute(
      "UPDATE gpkg_geometry_columns SET geometry_type_name = ?, z = ?, m = ? "
        + "WHERE lower(table_name) = lower(?)",
      [.text(geometry.type.name), .integer(geometry.z.rawValue), .integer(geometry.m.rawValue)]
        + key)
    if geometry.type.isCurved {
      try CurveTypes.register(geometry.type, in: file, table: table.table, column: geometry.name)
    }
    if table.schema.geometry?.type != geometry.type {
      try declare(geometry.name, geometry.type.name, of: table.table)
    }
    file.forgetCatalogue()
  }

  /// Declares the geometry column anew, where all rows fit.
  ///
  /// - Throws: `.constraint` with the first row that does not.
  package func retype(_ geometry: GeometryColumn) throws(FieldpackError) {
    var wanted = table
    wanted.layer.schema.geometry = geometry
    wanted.rtree = nil
    if let worse = try RowTally(of: wanted, in: file).worsening(since: nil) {
      throw refused(.constraint, "layer '\(table.layer.id)': \(worse.reason)")
    }
    try declare(geometry)
    try reloadSchema()
  }

  /// SQLite has no statement for this (https://www.sqlite.org/lang_altertable.html, section 8).
  private func declare(
    _ column: String, _ type: String, of table: String
  ) throws(FieldpackError) {
    let rows = try file.rows(
      "SELECT sql FROM sqlite_master WHERE type = 'table' AND lower(name) = lower(?)",
      [.text(table)])
    guard let sql = rows.first?.first?.textValue,
      let changed = TableDeclaration(sql).declaring(column, as: type)
    else {
      throw refused(
        .unsupported, "the declaration of column '\(column)' of '\(table)' cannot be found",
        .makeLayerAnew)
    }
    guard changed != sql else { return }
    try file.connection.rewritingDeclarations { () throws(FieldpackError) in
      try file.execute(
        "UPDATE sqlite_master SET sql = ? WHERE type = 'table' AND lower(name) = lower(?)",
        [.text(changed), .text(table)])
    } failure: {
      file.worded($0)
    }
  }

  /// Makes this connection and others read the changed declarations.
  private func reloadSchema() throws(FieldpackError) {
    let version = try file.integer("PRAGMA schema_version") ?? 0
    try file.execute("PRAGMA schema_version = \(version + 1)")
    try file.execute("PRAGMA writable_schema = RESET")
  }
}
