import FieldpackCore
import FieldpackSQLite

/// Counts what statements change, because `RAISE(IGNORE)` in a trigger lets a statement succeed
/// without a change.
extension GeoPackageSession {
  /// Runs a statement that changes one row of a layer's table; returns the id of an inserted row.
  ///
  /// - Throws: `.constraint` where the row was not changed.
  @discardableResult
  func changeRow(
    _ text: String, _ values: [SQLiteValue], of table: LayerTable, feature: FeatureID?
  ) throws(FieldpackError) -> Int64 {
    try changeRow(
      prepare(text, values, in: table.layer.id, feature: feature), of: table, feature: feature)
  }

  /// The same for a statement that has its values.
  @discardableResult
  func changeRow(
    _ statement: SessionStatement, of table: @autoclosure () -> LayerTable, feature: FeatureID?
  ) throws(FieldpackError) -> Int64 {
    do throws(FieldpackError) { try statement.run() } catch {
      throw error.adding(location: .init(store: store, layer: table().layer.id, feature: feature))
    }
    let connection = statement.row.connection
    guard connection.changes == 1 else {
      let table = table()
      throw ignored(feature, in: table.layer.id, table: table.table)
    }
    return connection.lastInsertRowID
  }

  /// The error for a row that a statement should have changed and did not.
  func ignored(_ feature: FeatureID?, in layer: LayerID?, table: String) -> FieldpackError {
    let what =
      switch (feature, layer) {
      case (let feature?, let layer?): "feature \(feature) of layer '\(layer)'"
      case (nil, let layer?): "a feature of layer '\(layer)'"
      case (_, nil): "a row of '\(table)'"
      }
    let names = (triggers?.foreign(on: table) ?? []).filter(\.canIgnore).map { "'\($0.name)'" }
    let cause =
      names.isEmpty
      ? "the file lets changes pass that it does not make"
      : "the file's trigger \(names.joined(separator: " or ")) can have changes ignored"
    return FieldpackError(
      .constraint, "\(what) was not changed: \(cause)",
      location: .init(store: store, layer: layer, feature: feature))
  }

  /// Checks that a statement of Fieldpack changed a row, where a trigger of the table can have
  /// changes ignored.
  func checkChange(by text: String) throws(FieldpackError) {
    guard let triggers, triggers.canIgnore, connection.changes == 0,
      ["INSERT", "UPDATE", "DELETE"].contains(where: text.hasPrefix),
      let table = TriggerTokens("BEGIN " + text).effects.first?.spelled,
      triggers.foreign(on: table).contains(where: \.canIgnore)
    else { return }
    throw ignored(nil, in: nil, table: table)
  }

  /// Refuses a layer whose rows the caller changes without counting, where a trigger can have
  /// changes ignored.
  func checkCountless(_ table: LayerTable) throws(FieldpackError) {
    guard let triggers, triggers.canIgnore,
      triggers.foreign(on: table.table).contains(where: \.canIgnore)
    else { return }
    throw ignored(nil, in: table.layer.id, table: table.table)
  }

  /// Refuses an R-tree that misses rows. A trigger after the change that ignores also ends the
  /// triggers after it, and so the R-tree's.
  func checkIndex(of table: LayerTable) throws(FieldpackError) {
    guard let triggers, triggers.canIgnore, let rtree = table.rtree,
      let geometry = table.schema.geometry,
      triggers.foreign(on: table.table).contains(where: { $0.canIgnore && $0.isAfter })
    else { return }
    let column = quoted(geometry.name)
    let wanted = try integer(
      "SELECT count(*) FROM \(quoted(table.table)) WHERE \(column) NOTNULL "
        + "AND NOT ST_IsEmpty(\(column))")
    let found = try integer("SELECT count(*) FROM \(quoted("\(rtree)_rowid"))")
    guard wanted == found else { throw ignored(nil, in: table.layer.id, table: table.table) }
  }

  /// Refuses an insertion after the last id. SQLite itself would report SQLITE_FULL for
  /// AUTOINCREMENT (https://www.sqlite.org/autoinc.html).
  func checkFreeID(of table: LayerTable) throws(FieldpackError) {
    guard
      try integer("SELECT max(\(table.idExpression)) FROM \(quoted(table.table))") == .max
    else { return }
    throw FieldpackError(
      .constraint, "layer '\(table.layer.id)' has given its last id. Try: a feature with an id",
      location: .init(store: store, layer: table.layer.id))
  }
}
