import FieldpackCore
import FieldpackGeometry
import FieldpackSQLite

/// Finds the entries that belong into a layer's R-tree.
struct IndexEntries {
  let file: GeoPackageFile
  let table: LayerTable

  /// Reads the envelope of every geometry of the table. Empty and damaged geometries have none.
  func visitTable(
    _ body: (Int64, Envelope) throws(FieldpackError) -> Void
  ) throws(FieldpackError) {
    guard let geometry = table.schema.geometry else { return }
    let rows = try prepare(
      "SELECT \(table.idExpression), \(quoted(geometry.name)) FROM \(quoted(table.table))")
    defer { rows.reset() }
    while try step(rows) {
      guard rows.kind(1) == .blob else { continue }
      let envelope = rows.withBytes(1) { blob in
        (try? GeoPackageBinary.envelope(of: blob)) ?? nil
      }
      if let envelope { try body(rows.integer(0), envelope) }
    }
  }

  /// Reads the entries of the R-tree from its nodes. Returns `false` where the nodes are no tree;
  /// then some entries may not have been given.
  func visitTree(
    _ rtree: String, _ body: (RTreeEntry) throws(FieldpackError) -> Void
  ) throws(FieldpackError) -> Bool {
    let shadow = RTreeShadow(file: file, name: rtree)
    let node = try prepare("SELECT data FROM \(shadow.table("node")) WHERE nodeno = ?")
    defer { node.reset() }
    guard var level = try depth(of: node) else { return false }
    // Each waiting node has its level above the leaves. A child is one level lower than its parent
    // and no more nodes are read than there are, so that even a circle of nodes ends.
    var waiting: [(number: Int64, level: Int)] = [(1, level)]
    var nodesLeft = try file.integer("SELECT count(*) FROM \(shadow.table("node"))") ?? 0
    var entriesLeft = try file.integer("SELECT count(*) FROM \(shadow.table("rowid"))") ?? 0
    while let next = waiting.popLast() {
      nodesLeft -= 1
      level = next.level
      guard nodesLeft >= 0, let cells = try cells(of: next.number, with: node) else {
        return false
      }
      if level == 0 { entriesLeft -= Int64(cells.count) }
      for cell in cells {
        if level == 0 { try body(cell) } else { waiting.append((cell.id, level - 1)) }
      }
    }
    return entriesLeft == 0
  }

  private static let maximumDepth = 40

  private func depth(of node: Statement) throws(FieldpackError) -> Int? {
    let root = try bytes(of: 1, with: node)
    guard let depth = root?.withUnsafeBytes({ RTreeNodeBytes($0)?.depth }) else { return nil }
    return depth <= Self.maximumDepth ? depth : nil
  }

  private func bytes(of number: Int64, with node: Statement) throws(FieldpackError) -> [UInt8]? {
    node.reset()
    try file.sql { () throws(SQLiteError) in try node.bind(number, at: 1) }
    guard try step(node), node.kind(0) == .blob else { return nil }
    return node.blob(0)
  }

  private func cells(
    of number: Int64, with node: Statement
  ) throws(FieldpackError) -> [RTreeEntry]? {
    try bytes(of: number, with: node)?.withUnsafeBytes { RTreeNodeBytes($0)?.entries }
  }

  private func prepare(_ sql: String) throws(FieldpackError) -> Statement {
    try file.sql(layer: table.layer.id) { () throws(SQLiteError) in
      try file.connection.prepare(sql)
    }
  }

  private func step(_ statement: Statement) throws(FieldpackError) -> Bool {
    try file.sql(layer: table.layer.id) { () throws(SQLiteError) in try statement.step() }
  }
}
