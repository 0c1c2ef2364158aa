import FieldpackCore
package import FieldpackSQLite

/// The tables that statements change, as SQLite tells while it prepares them.
package struct TouchedTables: Sendable {
  /// The tables whose rows are inserted, updated or deleted.
  package private(set) var changed: Set<SQLName> = []
  /// The columns that are updated; an insert updates all.
  private var updates: [SQLName: Set<SQLName>] = [:]
  private var insertions: Set<SQLName> = []
  private var deletions: Set<SQLName> = []
  /// Whether the schema or a table of the catalogue changes.
  package private(set) var reachesCatalogue = false

  package init() {}

  package mutating func note(_ action: AuthorizedAction) {
    switch action.kind {
    case .alterTable, .dropTable, .dropView, .dropTrigger: reachesCatalogue = true
    case .insert, .update, .delete: noteChange(action)
    default: break
    }
  }

  private mutating func noteChange(_ action: AuthorizedAction) {
    guard let table = action.first.map({ SQLName($0) }) else { return }
    // An R-tree that a trigger changes follows its table.
    if action.source != nil, table.hasPrefix("rtree_") { return }
    changed.insert(table)
    if table.hasPrefix("gpkg") || table.hasPrefix("sqlite_") { reachesCatalogue = true }
    switch action.kind {
    case .insert: insertions.insert(table)
    case .delete: deletions.insert(table)
    default: updates[table, default: []].insert(SQLName(action.second ?? ""))
    }
  }

  /// Whether geometries of a layer, or its R-tree, can be others afterwards.
  func reachesGeometries(of table: LayerTable) -> Bool {
    guard let geometry = table.schema.geometry, !table.layer.isView else { return false }
    let name = SQLName(table.table)
    if insertions.contains(name) || changed.contains(SQLName(GPKGGeometryColumns.table)) {
      return true
    }
    if let rtree = table.rtree, changed.contains(SQLName(rtree)) { return true }
    // The R-tree's trigger follows a deletion, where it is there.
    if deletions.contains(name), table.lacksIndexTriggers || reachesCatalogue { return true }
    guard let updated = updates[name] else { return false }
    return updated.contains(SQLName(geometry.name))
      || updated.contains(SQLName(table.schema.idColumn ?? "rowid"))
      || updated.contains(SQLName("rowid"))
  }
}
