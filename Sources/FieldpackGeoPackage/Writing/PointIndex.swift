package import FieldpackCore
import FieldpackGeometry
import FieldpackSQLite

/// Writes the R-tree of a layer of points while its triggers are disabled.
package struct PointIndex {
  fileprivate let insert: SessionStatement

  /// Adds the entry of an inserted row.
  ///
  /// - Parameters:
  ///   - id: the row's id.
  ///   - x: a number, like `y`. Empty points have no entry.
  package func add(_ id: Int64, _ x: Double, _ y: Double) throws(FieldpackError) {
    try insert.bind(id, at: 1)
    try insert.bind(x, at: 2)
    try insert.bind(y, at: 3)
    try insert.run()
  }
}

extension GeoPackageWriter {
  /// Inserts many rows into a layer of points.
  ///
  /// The triggers that maintain the R-tree take a third of the time of such rows. So they are
  /// disabled meanwhile, unless the layer has triggers of others. All statements must then be
  /// prepared again, which is not worth it for a few rows.
  ///
  /// - Parameter body: inserts the rows, and adds each to the index that it gets.
  package func insertPoints(
    into layer: LayerID, _ body: (PointIndex?) throws(FieldpackError) -> Void
  ) throws(FieldpackError) {
    guard let rtree = try rtreeOfOwnTriggers(layer) else { return try body(nil) }
    try setTriggers(areEnabled: false, of: layer)
    let result = Result { () throws(FieldpackError) in
      try body(
        PointIndex(
          insert: try prepare(
            "INSERT OR REPLACE INTO \(quoted(rtree)) VALUES (?1, ?2, ?2, ?3, ?3)", in: layer)))
    }
    try setTriggers(areEnabled: true, of: layer)
    try result.get()
  }

  private func setTriggers(areEnabled: Bool, of layer: LayerID) throws(FieldpackError) {
    do throws(SQLiteError) {
      try connection.setTriggers(areEnabled: areEnabled)
    } catch { throw file.worded(error, layer: layer) }
  }

  /// The R-tree of a layer whose triggers are exactly those that maintain the R-tree, word for
  /// word.
  private func rtreeOfOwnTriggers(_ layer: LayerID) throws(FieldpackError) -> String? {
    let table = try table(layer)
    guard let rtree = table.rtree, !table.lacksIndexTriggers else { return nil }
    let sql = RTreeSQL(table)
    let own = Set(sql.triggers(.upTo13) + sql.triggers(.from14))
    let found = try rows(
      "SELECT sql FROM sqlite_master WHERE type = 'trigger' AND lower(tbl_name) = lower(?)",
      [.text(table.table)])
    let isOwn = found.allSatisfy { row in row[0].textValue.map(own.contains) ?? false }
    return isOwn ? rtree : nil
  }
}
