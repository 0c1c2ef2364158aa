package import FieldpackCore
import FieldpackSQLite

/// Renames and removes layers with everything that belongs to them.
package struct LayerChange {
  let file: GeoPackageSession

  package init(file: GeoPackageSession) {
    self.file = file
  }

  /// The tables of the standard, its extensions and GDAL that name user tables, with the naming
  /// column.
  static let naming =
    [
      ("gpkg_geometry_columns", "table_name"), ("gpkg_extensions", "table_name"),
      ("gpkg_data_columns", "table_name"), ("gpkg_metadata_reference", "table_name"),
      ("gpkg_ogr_contents", "table_name"), ("gpkgext_relations", "base_table_name"),
      ("gpkgext_relations", "related_table_name"), ("gpkgext_relations", "mapping_table_name"),
      ("gpkg_contents", "table_name"),
    ] + LogTables.naming.map { ($0, "table_name") }

  /// The table in which QGIS keeps the styles of layers.
  static let styles = "layer_styles"

  private func presentNaming() throws(FieldpackError) -> [(String, String)] {
    var present: [(String, String)] = []
    for entry in Self.naming where try file.hasTable(entry.0) { present.append(entry) }
    return present
  }

  /// - Parameter keepsLog: lets the log of this version have the features as deleted, and stay.
  func remove(_ table: LayerTable, keepingLog keepsLog: Bool = false) throws(FieldpackError) {
    try file.triggers?.check(table.table, store: file.store)
    let kept = keepsLog ? try EditLog(of: table.table, in: file) : nil
    if kept == nil { try AuditLog(of: table.table, in: file)?.remove() }
    try kept?.logRemoval()
    let views = try readableViews()
    if let rtree = table.rtree { try file.execute("DROP TABLE \(quoted(rtree))") }
    try file.execute("PRAGMA defer_foreign_keys = ON")
    try forget(table.table, keepingLog: kept != nil)
    try file.execute(
      "DELETE FROM gpkg_contents WHERE lower(table_name) = lower(?)", [.text(table.table)])
    let kind = table.layer.isView ? "VIEW" : "TABLE"
    try file.execute("DROP \(kind) \(quoted(table.table))")
    for view in views where SQLName(view) != SQLName(table.table) && !isReadable(view) {
      throw FieldpackError(
        .constraint,
        "layer '\(table.layer.id)' cannot be removed, because the view '\(view)' reads it. "
          + "Try: remove the view first", location: .init(store: file.store, layer: table.layer.id))
    }
    file.forgetCatalogue()
  }

  /// The views of the file that can be read.
  private func readableViews() throws(FieldpackError) -> [String] {
    try file.rows("SELECT name FROM sqlite_master WHERE type = 'view'")
      .compactMap { $0[0].textValue }.filter { isReadable($0) }
  }

  /// Whether everything that a view reads is there.
  private func isReadable(_ view: String) -> Bool {
    (try? file.rows("SELECT 1 FROM \(quoted(view)) LIMIT 0")) != nil
  }

  /// Removes everything that the file says of a table, including relations, except its row in
  /// `gpkg_contents`.
  func forget(_ table: String, keepingLog keepsLog: Bool = false) throws(FieldpackError) {
    try RelationTables(file: file).removeAll(of: table)
    try MetadataTables(file: file).forget(table)
    let schema = SchemaExtension(file: file)
    let isDescribed = try schema.describes(table)
    if try file.hasTable(Self.styles) {
      try file.execute(
        "DELETE FROM \(Self.styles) WHERE lower(f_table_name) = lower(?)", [.text(table)])
    }
    let constraints = try schema.constraintNames(of: table)
    let kept = keepsLog ? [LogTables.registry, LogTables.identities] : []
    for (naming, column) in try presentNaming()
    where naming != "gpkg_contents" && !kept.contains(naming) {
      try file.execute(
        "DELETE FROM \(naming) WHERE lower(\(column)) = lower(?)", [.text(table)])
    }
    if isDescribed {
      try schema.removeUnused(constraints)
      try schema.dropIfEmpty()
    }
  }

  func rename(_ table: LayerTable, to name: LayerID) throws(FieldpackError) {
    let old = table.table
    let new = name.rawValue
    try file.execute("PRAGMA defer_foreign_keys = ON")
    let sql = try triggers(of: table)
    for (trigger, _) in sql { try file.execute("DROP TRIGGER \(quoted(trigger))") }
    if var log = try AuditLog(of: old, in: file) {
      try log.rename(to: new) { () throws(FieldpackError) in try renameTable(old, to: new) }
    } else {
      try renameTable(old, to: new)
    }
    try renameInCatalogue(old, to: new)
    try moveRTree(of: table, to: new)
    if table.hasFeatureCount { try FeatureCount(file: file, table: new).createTriggers() }
    file.forgetCatalogue()
  }

  /// Writes a table's new name wherever the file names the table.
  func renameInCatalogue(_ old: String, to new: String) throws(FieldpackError) {
    for (naming, column) in try presentNaming() {
      try file.execute(
        "UPDATE \(naming) SET \(column) = ? WHERE lower(\(column)) = lower(?)",
        [.text(new), .text(old)])
    }
    try file.execute(
      "UPDATE gpkg_contents SET identifier = ? WHERE table_name = ? AND identifier = ?",
      [.text(new), .text(new), .text(old)])
    guard try file.hasTable(Self.styles) else { return }
    try file.execute(
      "UPDATE \(Self.styles) SET f_table_name = ? WHERE lower(f_table_name) = lower(?)",
      [.text(new), .text(old)])
  }

  /// Renames the table. SQLite refuses a name that differs in case alone, so such a rename takes
  /// two steps.
  func renameTable(_ old: String, to new: String) throws(FieldpackError) {
    guard !old.utf8.elementsEqual(new.utf8) else { return }
    var names = [old, new]
    if SQLName(old) == SQLName(new) { names.insert("fieldpack_renamed_\(old)", at: 1) }
    for (from, to) in zip(names, names.dropFirst()) {
      try file.execute("ALTER TABLE \(quoted(from)) RENAME TO \(quoted(to))")
    }
  }

  /// The R-tree's triggers and GDAL's count triggers. Their texts name the table.
  func triggers(of table: LayerTable) throws(FieldpackError) -> [(String, String)] {
    let known =
      RTreeSQL(table).triggerNames + FeatureCount(file: file, table: table.table).triggerNames
    var found: [(String, String)] = []
    for name in known {
      let rows = try file.rows(
        "SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND lower(name) = lower(?)",
        [.text(name)])
      for row in rows { found.append((row[0].textValue ?? "", row[1].textValue ?? "")) }
    }
    return found
  }

  private func moveRTree(of table: LayerTable, to name: String) throws(FieldpackError) {
    var moved = RTreeSQL(table)
    moved.table = name
    try moveRTree(of: table, to: moved)
  }

  /// Gives the R-tree the name that follows from the table's and the column's, and its triggers.
  func moveRTree(of table: LayerTable, to moved: RTreeSQL) throws(FieldpackError) {
    guard let rtree = table.rtree else { return }
    try renameTable(rtree, to: moved.name)
    for trigger in moved.triggers(try file.triggerSet) { try file.execute(trigger) }
  }

  /// Creates the triggers that keep the R-tree correct, in a file whose writer left them out.
  package func createIndexTriggers(of table: LayerTable) throws(FieldpackError) {
    let rtree = RTreeSQL(table)
    for name in rtree.triggerNames {
      try file.execute("DROP TRIGGER IF EXISTS \(quoted(name))")
    }
    for trigger in rtree.triggers(try file.triggerSet) { try file.execute(trigger) }
    file.forgetCatalogue()
  }
}

/// GDAL's private count of features. It is kept correct where a file has it.
package struct FeatureCount {
  let file: GeoPackageSession
  let table: String

  package init(file: GeoPackageSession, table: String) {
    self.file = file
    self.table = table
  }

  package var triggerNames: [String] {
    ["trigger_insert_feature_count_\(table)", "trigger_delete_feature_count_\(table)"]
  }

  package func createTriggers() throws(FieldpackError) {
    for (event, sign) in [("insert", "+"), ("delete", "-")] {
      try file.execute(
        "CREATE TRIGGER \(quoted("trigger_\(event)_feature_count_\(table)")) "
          + "AFTER \(event.uppercased()) ON \(quoted(table)) BEGIN UPDATE gpkg_ogr_contents "
          + "SET feature_count = feature_count \(sign) 1 "
          + "WHERE lower(table_name) = lower(\(literal(table))); END")
    }
  }

  package func dropTriggers() throws(FieldpackError) {
    for name in triggerNames { try file.execute("DROP TRIGGER IF EXISTS \(quoted(name))") }
  }

  /// Writes the true count, after disabled triggers have missed changes.
  package func recount() throws(FieldpackError) {
    try file.execute(
      "UPDATE gpkg_ogr_contents SET feature_count = (SELECT count(*) FROM \(quoted(table))) "
        + "WHERE lower(table_name) = lower(?)", [.text(table)])
  }
}
