import FieldpackCore
import FieldpackGeometry
import FieldpackSQLite

extension LayerLoad {
  /// Writes the index and the extent and creates the triggers again. All rows must be inserted.
  func finish() throws(FieldpackError) -> LoadedLayer {
    let catalogue = try file.catalogue()
    // Some rows in the tree were refused by the file, so the tree is built from the table.
    // A row that replaces another may leave its box.
    if refusedCount > 0 || replaces { try gather() }
    if let rtree = table.rtree {
      try writeIndex(rtree)
      for trigger in RTreeSQL(table).triggers(catalogue.triggerSet) { try file.execute(trigger) }
    }
    try declareKinds()
    try curves.register(in: file, for: table)
    if hashes { try numberEqualContents() }
    if table.hasFeatureCount {
      let count = FeatureCount(file: file, table: table.table)
      try count.recount()
      try count.createTriggers()
    }
    try ContentsTable(file: file).update(table, extent: try wholeExtent())
    var loaded = loaded
    loaded.updatedCount = try replacedCount()
    return loaded
  }

  /// Declares a new layer's geometry column anew where rows have other types or ordinates than the
  /// column was created for.
  private func declareKinds() throws(FieldpackError) {
    guard isNew, let geometry = table.schema.geometry else { return }
    let fitting = kinds.declaration(from: geometry)
    guard fitting != geometry else { return }
    try ColumnChange(of: table, in: file).declare(fitting)
    declared = fitting
  }

  /// The extent of the old and the loaded rows. Where the file does not state the old extent, it is
  /// computed.
  private func wholeExtent() throws(FieldpackError) -> Envelope? {
    if isNew || replaces { return extent.isEmpty ? nil : extent }
    let layer = LayerExtent(file: file, table: table)
    guard var whole = table.layer.envelope else { return try layer.computed() }
    whole.formUnion(extent)
    return try layer.indexAgrees(whole) == false ? layer.computed() : whole
  }

  /// Appends `-2` and so on to the second and further equal content ids, in the order of the file.
  private func numberEqualContents() throws(FieldpackError) {
    let (t, c) = (quoted(table.table), quoted(LoadedIDs.contentIDColumn))
    // The file may have columns called n or rowid, so these names are unlikely ones.
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
