import FieldpackCore
import FieldpackSQLite

/// A change log that SpatialConnect 0.10 or GeoGig made, which becomes one of this version.
///
/// SpatialConnect logs insertions with `sent` and `received`. GeoGig logs all three kinds of edits with
/// `audit_timestamp` and `audit_op`, of a deletion the id alone, and numbers nothing.
struct OlderLog {
  let shape: LogShape
  let file: GeoPackageSession
  /// The columns of the log as it is, with their declared types.
  private let columns: [(name: String, type: String)]

  /// - Throws: `.cannotCreate` for a table that is no change log.
  init(of shape: LogShape, in file: GeoPackageSession) throws(FieldpackError) {
    (self.shape, self.file) = (shape, file)
    columns = try file.rows("PRAGMA table_info(\(quoted(shape.log)))").map {
      ($0[1].textValue ?? "", $0[2].textValue ?? "")
    }
    let known = ["sent", "audit_op"].contains { has($0) }
    guard known, !shape.hasIDColumn || has(shape.id) else {
      throw FieldpackError(
        .cannotCreate,
        "layer '\(shape.table)' cannot be logged: the table '\(shape.log)' is something else",
        location: .init(store: file.store, layer: LayerID(shape.table)))
    }
  }

  private func has(_ name: String) -> Bool {
    columns.contains { SQLName($0.name) == SQLName(name) }
  }

  /// Makes the table anew, with all its rows in their order, and without its triggers.
  ///
  /// Rows of GeoGig count as sent, because GeoGig itself reads them; those of SpatialConnect that were
  /// never sent stay so.
  func upgrade() throws(FieldpackError) {
    for name in LogShape.triggerNames(on: shape.table) {
      try file.execute("DROP TRIGGER IF EXISTS \(quoted(name))")
    }
    let old = "fieldpack_old_\(shape.log)"
    let change = LayerChange(file: file)
    try change.forget(shape.log)
    try file.execute(
      "DELETE FROM gpkg_contents WHERE lower(table_name) = lower(?)", [.text(shape.log)])
    try change.renameTable(shape.log, to: old)
    try file.execute(shape.tableSQL(try shape.types(in: file)))
    try LayerCreation(file: file).registerExtension(
      LogTables.registry, table: shape.log, column: nil, scope: "read-write")
    let own = Set(
      (shape.columns + shape.ownColumns.map { shape.name(of: $0) }).map { SQLName($0) })
    for column in columns where !own.contains(SQLName(column.name)) {
      try file.execute(
        "ALTER TABLE \(quoted(shape.log)) ADD COLUMN \(quoted(column.name)) \(column.type)")
    }
    let made: [(String, String)] = [
      (shape.own(.operation), has("audit_op") ? "coalesce(audit_op, 1)" : "1"),
      (shape.own(.edit), LogShape.newID(of: "rowid")), (shape.own(.sent), sent),
    ]
    let copied = columns.map { quoted($0.name) }.filter { name in !made.contains { $0.0 == name } }
    try file.execute(
      "INSERT INTO \(quoted(shape.log)) (\((copied + made.map(\.0)).sqlList)) "
        + "SELECT \((copied + made.map(\.1)).sqlList) FROM \(quoted(old)) ORDER BY rowid")
    try file.drop(old)
  }

  private var sent: String {
    if has("sent") { return "sent" }
    return has("audit_timestamp") ? "coalesce(audit_timestamp, \(LogShape.now))" : LogShape.now
  }
}
