package import FieldpackCore
import FieldpackSQLite

extension GeoPackageWriter {
  /// Removes all edits of a feature from the change log of its layer, where there is one.
  package func forgetEdits(of feature: Int64, in layer: LayerID) throws(FieldpackError) {
    guard let log = try editLog(of: layer) else { return }
    try file.execute(
      "DELETE FROM \(quoted(log.shape.log)) WHERE \(log.shape.feature) = ?", [.integer(feature)])
    try file.execute(
      "DELETE FROM \(LogTables.identities) WHERE table_name = ? AND feature = ?",
      [.text(log.shape.table), .integer(feature)])
  }

  /// Removes all edits of rows that are gone from the change log of a table, where there is one.
  package func forgetEditsOfDeleted(in layer: LayerID) throws(FieldpackError) {
    guard let log = try EditLog(of: layer.rawValue, in: file) else { return }
    let isGone =
      "NOT IN (SELECT \(quoted(log.shape.id)) FROM \(quoted(log.shape.table)))"
    try file.execute(
      "DELETE FROM \(quoted(log.shape.log)) WHERE \(log.shape.feature) \(isGone)")
    try file.execute(
      "DELETE FROM \(LogTables.identities) WHERE table_name = ? AND feature \(isGone)",
      [.text(log.shape.table)])
  }
}
