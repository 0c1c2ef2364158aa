import FieldpackCore
import FieldpackGeoPackage
import FieldpackGeometry
import FieldpackRTree
import FieldpackSQLite

extension Repairer {
  // MARK: R-tree

  /// Packs the R-tree again, and creates it where it is missing.
  mutating func rebuildIndex(of name: String) throws(FieldpackError) {
    guard var table = try layer(name), let geometry = table.schema.geometry, table.idSQL != nil
    else { return }
    let sql = RTreeSQL(table)
    if try file.hasTable(sql.name) {
      try makeShadowTables(sql.name)
      table.rtree = sql.name
    } else {
      for trigger in sql.triggerNames {
        try file.execute("DROP TRIGGER IF EXISTS \(quoted(trigger))")
      }
      try LayerCreation(file: file).createRTree(sql, try file.triggerSet, withTriggers: true)
    }
    var tree = PackedRTree(folder: file.folder)
    try IndexEntries(file: file, table: table).visitTable { (id, envelope) throws(FieldpackError) in
      try tree.add(RTreeEntry(id, envelope))
    }
    let count = tree.count
    try tree.write(to: file.shadow(ofRTree: sql.name))
    let entries = "\(count) \(count == 1 ? "entry" : "entries")"
    note("R-tree of \(geometry.name) packed anew, \(entries)", table: name)
  }

  /// Creates missing tables of an R-tree, as SQLite creates them.
  private func makeShadowTables(_ rtree: String) throws(FieldpackError) {
    for (suffix, columns) in [
      ("node", "nodeno INTEGER PRIMARY KEY, data"), ("rowid", "rowid INTEGER PRIMARY KEY, nodeno"),
      ("parent", "nodeno INTEGER PRIMARY KEY, parentnode"),
    ] where try !file.hasTable("\(rtree)_\(suffix)") {
      try file.execute("CREATE TABLE \(quoted("\(rtree)_\(suffix)")) (\(columns))")
    }
  }

  mutating func makeTriggers(of name: String) throws(FieldpackError) {
    guard let table = try layer(name), table.schema.geometry != nil,
      try file.hasTable(RTreeSQL(table).name)
    else { return }
    try LayerChange(file: file).createIndexTriggers(of: table)
    note("the triggers of its R-tree made anew", table: name)
  }

  // MARK: Headers

  mutating func mendHeaders(of name: String) throws(FieldpackError) {
    guard let table = try layer(name) else { return }
    let systems = Set(try knownCatalogue().systems.map(\.id))
    let count = try BlobHeaderRepair(file: file, layer: table, systems: systems).run()
    guard count > 0 else { return }
    let geometries = "\(count) \(count == 1 ? "geometry" : "geometries")"
    note("the headers of \(geometries) written anew", table: name)
  }

  // MARK: Validity

  mutating func mendGeometries(of name: String) throws(FieldpackError) {
    guard let table = try layer(name) else { return }
    let (count, type) = try GeometryRepair(file: file, layer: table).run()
    guard count > 0 else { return }
    let geometries = "\(count) \(count == 1 ? "geometry" : "geometries")"
    let change = type.map { ", and its type \($0.name)" } ?? ""
    note("\(geometries) made valid\(change)", table: name)
  }

  // MARK: Extent and count

  mutating func mendExtent(of name: String) throws(FieldpackError) {
    guard let table = try layer(name), table.schema.geometry != nil else { return }
    let layer = LayerExtent(file: file, table: table)
    let extent =
      table.layer.isView
      ? try file.limited("the extent of a view") { () throws(FieldpackError) in
        try layer.computed()
      } : try layer.computed()
    let bounds = extent.map { [$0.minX, $0.minY, $0.maxX, $0.maxY].map(SQLiteValue.real) }
    try file.execute(
      "UPDATE gpkg_contents SET min_x = ?, min_y = ?, max_x = ?, max_y = ? "
        + "WHERE lower(table_name) = lower(?)",
      (bounds ?? [.null, .null, .null, .null]) + [.text(name)])
    note("the extent in gpkg_contents set", table: name)
  }

  mutating func mendCount(of name: String) throws(FieldpackError) {
    try file.execute(
      "INSERT INTO gpkg_ogr_contents (table_name, feature_count) SELECT ?1, 0 WHERE NOT EXISTS "
        + "(SELECT 1 FROM gpkg_ogr_contents WHERE lower(table_name) = lower(?1))", [.text(name)])
    let count = FeatureCount(file: file, table: name)
    try count.recount()
    try count.dropTriggers()
    try count.createTriggers()
    note("its count in gpkg_ogr_contents set", table: name)
  }
}

/// Rewrites headers that contradict their geometries.
struct BlobHeaderRepair {
  let file: GeoPackageSession
  let layer: LayerTable
  let systems: Set<Int64>

  private static let rowsAtOnce = 256
  private static let bytesAtOnce = 16 << 20

  /// Returns the number of changed geometries.
  func run() throws(FieldpackError) -> Int {
    guard let geometry = layer.schema.geometry, let id = layer.idSQL else { return 0 }
    let rules = BlobExamination.Rules(
      column: GeometryRules(srsID: layer.srsID), systems: systems)
    let column = quoted(geometry.name)
    let update = "UPDATE \(quoted(layer.table)) SET \(column) = ? WHERE \(id) = ?"
    var count = 0
    var last: Int64?
    while true {
      let (mended, end) = try read(id, column, after: last, rules)
      for (row, blob) in mended { try file.execute(update, [.blob(blob), .integer(row)]) }
      count += mended.count
      guard let end else { return count }
      last = end
    }
  }

  /// Some rows with their new blobs, and the id after which to continue; `nil` at the end.
  private func read(
    _ id: String, _ column: String, after last: Int64?, _ rules: BlobExamination.Rules
  ) throws(FieldpackError) -> ([(Int64, [UInt8])], Int64?) {
    let rows = try file.prepare(
      "SELECT \(id), \(column) FROM \(quoted(layer.table)) \(last == nil ? "" : "WHERE \(id) > ?") "
        + "ORDER BY \(id)", last.map { [.integer($0)] } ?? [])
    defer { rows.reset() }
    var mended: [(Int64, [UInt8])] = []
    var bytes = 0
    while try rows.step() {
      guard rows.row.kind(1) == .blob else { continue }
      let row = rows.row.integer(0)
      guard let blob = rows.row.withBytes(1, { BlobExamination.mended($0, rules) }) else {
        continue
      }
      mended.append((row, blob))
      bytes += blob.count
      if mended.count == Self.rowsAtOnce || bytes >= Self.bytesAtOnce { return (mended, row) }
    }
    return (mended, nil)
  }
}
