import FieldpackCore
import FieldpackGeometry
import FieldpackSQLite

extension LayerLoad {
  /// Writes the index and the extent and turns the triggers on again; all rows are inserted.
  func finish() throws(FieldpackError) -> LoadedLayer {
    let catalogue = try file.catalogue()
    // Rows that are in the tree were refused.
    if refusedCount > 0 { try gather() }
    if let rtree = table.rtree {
      try writeIndex(rtree)
      for trigger in RTreeSQL(table).triggers(catalogue.triggerSet) { try file.execute(trigger) }
    }
    try curves.register(in: file, for: table)
    if hashes { try numberEqualContents() }
    if table.hasFeatureCount {
      let count = FeatureCount(file: file, table: table.table)
      try count.recount()
      try count.createTriggers()
    }
    try ContentsTable(file: file).update(table, extent: try wholeExtent())
    return loaded
  }

  /// What was there and what was loaded; found anew where the file did not know.
  private func wholeExtent() throws(FieldpackError) -> Envelope? {
    if isNew { return extent.isEmpty ? nil : extent }
    let layer = LayerExtent(file: file, table: table)
    guard var whole = table.layer.envelope else { return try layer.computed() }
    whole.formUnion(extent)
    return try layer.indexAgrees(whole) == false ? layer.computed() : whole
  }

  /// Gives the second of equal rows the id with `-2`, and so on, in the order of the file.
  private func numberEqualContents() throws(FieldpackError) {
    let (t, c) = (quoted(table.table), quoted(LoadedIDs.contentIDColumn))
    // Names that no column of a file is likely to have: any column may be called n or rowid.
    let (id, row, n) = (table.idExpression, quoted("fieldpack row"), quoted("fieldpack ordinal"))
    try file.execute(
      "CREATE INDEX \(quoted("fieldpack_content_\(table.table)")) ON \(t) (\(c))")
    try file.execute(
      "UPDATE \(t) SET \(c) = \(c) || '-' || \(n) FROM (SELECT \(id) AS \(row), "
        + "row_number() OVER (PARTITION BY \(c) ORDER BY \(id)) AS \(n) FROM \(t) WHERE \(c) IN "
        + "(SELECT \(c) FROM \(t) GROUP BY \(c) HAVING count(*) > 1)) "
        + "WHERE \(t).\(id) = \(row) AND \(n) > 1")
  }
}
