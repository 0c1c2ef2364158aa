package import FieldpackCore
import FieldpackGeometry
import FieldpackRTree
import FieldpackSQLite

/// Orders and indexes one layer of a file, in the transaction that the caller has open.
struct LayerOptimization {
  let file: GeoPackageSession
  let table: LayerTable
  let options: OptimizeOptions

  /// - Parameter done: how many features are done so far.
  func run(
    _ notes: inout [Note], _ done: inout Int
  ) throws(FieldpackError) -> OptimizeReport.OptimizedLayer {
    var result = OptimizeReport.OptimizedLayer(layer: table.layer.id, index: .none)
    guard table.schema.geometry != nil, table.idSQL != nil else { return result }
    let clustering = LayerClustering(file: file, table: table)
    var clusters = options.clusters
    if clusters, let reason = try clustering.obstacle() {
      guard options.layers.isEmpty else {
        throw FieldpackError(
          .constraint, "layer '\(table.layer.id)' keeps its order: \(reason)",
          location: .init(store: file.store, layer: table.layer.id))
      }
      notes.append("layer '\(table.layer.id)' keeps its order: \(reason)")
      clusters = false
    }
    let isIndexed = table.rtree != nil
    guard isIndexed || options.createsIndexes || clusters else { return result }
    var tree = try gather(&done)
    if clusters {
      result.renumbered = try clustering.run(&tree)
      tree = try gather(&done)
    }
    guard isIndexed || options.createsIndexes else { return result }
    result.entries = tree.count
    result.index = isIndexed ? .packed : .created
    try write(&tree)
    return result
  }

  private func gather(_ done: inout Int) throws(FieldpackError) -> PackedRTree {
    var tree = PackedRTree(folder: file.folder)
    try IndexEntries(file: file, table: table).visitTable { (id, envelope) throws(FieldpackError) in
      try tree.add(RTreeEntry(id, envelope))
      done += 1
      if done & 4095 == 0 { try options.progress?(done) }
    }
    return tree
  }

  private func write(_ tree: inout PackedRTree) throws(FieldpackError) {
    if let rtree = table.rtree {
      try tree.write(to: file.shadow(ofRTree: rtree))
      if table.lacksIndexTriggers {
        try LayerChange(file: file).createIndexTriggers(of: table)
      }
      return
    }
    let rtree = RTreeSQL(table)
    try LayerCreation(file: file).createRTree(
      rtree, try file.catalogue().triggerSet, withTriggers: true)
    file.forgetCatalogue()
    try tree.write(to: file.shadow(ofRTree: rtree.name))
  }
}

/// Stores the features of a layer along a Hilbert curve, with new ids from 1 up.
struct LayerClustering {
  let file: GeoPackageSession
  let table: LayerTable

  /// Why the ids must stay; `nil` where nothing refers to the ids.
  func obstacle() throws(FieldpackError) -> String? {
    guard table.schema.idColumn != nil else { return "its ids have no column of their own" }
    guard try EditLog(of: table.table, in: file) == nil else {
      return "its edits are logged by the ids of features"
    }
    if let other = try relation() { return "its ids are referred to in \(other)" }
    if let other = try foreignKey() { return "its ids are referred to by table '\(other)'" }
    if let other = try numberedPath() {
      return "its ids are referred to by layer '\(other)', as tracks are by their points"
    }
    if let trigger = try trigger() { return "it has a trigger '\(trigger)' of its own" }
    return nil
  }

  private func relation() throws(FieldpackError) -> String? {
    let name = SQLiteValue.text(table.table)
    if try file.hasTable("gpkgext_relations"),
      try file.integer(
        "SELECT 1 FROM gpkgext_relations WHERE lower(base_table_name) = lower(?1) "
          + "OR lower(related_table_name) = lower(?1) LIMIT 1", [name]) != nil
    {
      return "gpkgext_relations"
    }
    if try file.hasTable("gpkg_metadata_reference"),
      try file.integer(
        "SELECT 1 FROM gpkg_metadata_reference WHERE lower(table_name) = lower(?) "
          + "AND row_id_value NOT NULL LIMIT 1", [name]) != nil
    {
      return "gpkg_metadata_reference"
    }
    return nil
  }

  private func foreignKey() throws(FieldpackError) -> String? {
    try file.rows(
      "SELECT m.name FROM sqlite_master m, pragma_foreign_key_list(m.name) k "
        + "WHERE m.type = 'table' AND lower(k.\"table\") = lower(?) LIMIT 1",
      [.text(table.table)]
    ).first?.first?.textValue
  }

  /// A layer that refers to the features of this one by number.
  private func numberedPath() throws(FieldpackError) -> String? {
    try file.catalogue().layers.first {
      $0.table != table.table && $0.schema.numbersFeatures(of: table.layer.id)
    }?.layer.id.rawValue
  }

  private func trigger() throws(FieldpackError) -> String? {
    let known =
      RTreeSQL(table).triggerNames + FeatureCount(file: file, table: table.table).triggerNames
    let own = Set(known.map(SQLName.init))
    let foreign = file.triggers?.foreign(on: table.table) ?? []
    if let first = foreign.first { return first.name }
    return try file.rows(
      "SELECT name FROM sqlite_master WHERE type = 'trigger' AND lower(tbl_name) = lower(?)",
      [.text(table.table)]
    ).compactMap { $0.first?.textValue }.first { !own.contains(SQLName($0)) }
  }

  /// Rewrites the table in the order of `tree`, and empties `tree`. Features without an entry
  /// follow at the end. Returns the number of features.
  func run(_ tree: inout PackedRTree) throws(FieldpackError) -> Int {
    let triggers = try dropTriggers()
    let names = try self.columns().map { quoted($0) }
    let columns = names.sqlList
    // The columns get names of ours, because a column of the layer may be called rowid.
    let renamed = names.enumerated().map { "\($1) AS c\($0)" }.sqlList
    let (t, id) = ("main.\(quoted(table.table))", table.idExpression)
    let waiting = "temp.fieldpack_rows"
    try file.execute("CREATE TEMP TABLE fieldpack_order (id INTEGER PRIMARY KEY)")
    // A second pass through the same column affinities does not change values.
    try file.execute("CREATE TEMP TABLE fieldpack_rows AS SELECT \(renamed) FROM \(t) WHERE 0")
    try copyAlongCurve(&tree, "INSERT INTO \(waiting) SELECT \(columns) FROM \(t) WHERE \(id) = ?")
    try file.execute(
      "INSERT INTO \(waiting) SELECT \(columns) FROM \(t) "
        + "WHERE \(id) NOT IN (SELECT id FROM temp.fieldpack_order) ORDER BY \(id)")
    try file.execute("DELETE FROM \(t)")
    try file.execute(
      "INSERT INTO \(t) (\(id), \(columns)) SELECT rowid, * FROM \(waiting) ORDER BY rowid")
    let count = try file.integer("SELECT count(*) FROM \(t)") ?? 0
    for name in ["rows", "order"] { try file.execute("DROP TABLE temp.fieldpack_\(name)") }
    for trigger in triggers { try file.execute(trigger) }
    file.forgetCatalogue()
    return Int(count)
  }

  private func copyAlongCurve(
    _ tree: inout PackedRTree, _ sql: String
  ) throws(FieldpackError) {
    let layer = table.layer.id
    let copy = try file.prepare(sql, in: layer, caching: false)
    let note = try file.prepare(
      "INSERT INTO temp.fieldpack_order VALUES (?)", in: layer, caching: false)
    try tree.takeAlongCurve { (entry) throws(FieldpackError) in
      for statement in [copy, note] {
        try statement.bind(entry.id, at: 1)
        try statement.run()
      }
    }
  }

  private func columns() throws(FieldpackError) -> [String] {
    try file.rows("PRAGMA table_xinfo(\(quoted(table.table)))").compactMap { row in
      guard let name = row[1].textValue, row[6].integerValue == 0, !table.schema.isID(name) else {
        return nil
      }
      return name
    }
  }

  /// Drops the triggers of index and count; returns the SQL that creates them again.
  private func dropTriggers() throws(FieldpackError) -> [String] {
    let rows = try file.rows(
      "SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND lower(tbl_name) = lower(?)",
      [.text(table.table)])
    for row in rows {
      try file.execute("DROP TRIGGER \(quoted(row[0].textValue ?? ""))")
    }
    return rows.compactMap { $0[1].textValue }
  }
}

extension Schema {
  /// Whether a column's name says that it holds the ids of features in `layer`. For example, track
  /// points have the id of their track in `track_fid`, and the layer is `tracks` or ends with
  /// `_tracks`.
  package func numbersFeatures(of layer: LayerID) -> Bool {
    let name = layer.rawValue.lowercased()
    return columns.contains { column in
      guard column.name.lowercased().hasSuffix("_fid") else { return false }
      let plural = column.name.lowercased().dropLast("_fid".count) + "s"
      return name == plural || name.hasSuffix("_" + plural)
    }
  }
}
