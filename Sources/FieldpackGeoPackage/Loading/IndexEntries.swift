package import FieldpackCore
package import FieldpackGeometry
package import FieldpackRTree
import FieldpackSQLite

/// Finds the entries that belong into a layer's R-tree.
package struct IndexEntries {
  package let file: GeoPackageSession
  package let table: LayerTable

  package init(file: GeoPackageSession, table: LayerTable) {
    self.file = file
    self.table = table
  }

  /// Reads the envelope of every geometry of the table. Empty and damaged geometries have none.
  package func visitTable(
    _ body: (Int64, Envelope) throws(FieldpackError) -> Void
  ) throws(FieldpackError) {
    guard let geometry = table.schema.geometry else { return }
    let rows = try file.prepare(
      "SELECT \(table.idExpression), \(quoted(geometry.name)) FROM \(quoted(table.table))",
      in: table.layer.id)
    defer { rows.reset() }
    while try rows.step() {
      guard rows.row.kind(1) == .blob else { continue }
      let envelope = rows.row.withBytes(1) { blob in
        (try? GeoPackageBinary.envelope(of: blob)) ?? nil
      }
      if let envelope { try body(rows.row.integer(0), envelope) }
    }
  }

  /// Reads the entries of the R-tree from its nodes. Returns `false` where the nodes are no tree;
  /// then some entries may not have been given.
  package func visitTree(
    _ rtree: String, _ body: (RTreeEntry) throws(FieldpackError) -> Void
  ) throws(FieldpackError) -> Bool {
    let shadow = file.shadow(ofRTree: rtree)
    let reader = RTreeReader(name: rtree, on: file.connection)
    var (waiting, seen): ([(number: Int64, depth: Int)], Set<Int64>) = ([], [])
    var entriesLeft = try file.integer("SELECT count(*) FROM \(shadow.table("rowid"))") ?? 0
    do throws(FieldpackError) {
      waiting.append(try read { () throws(SQLiteError) in try reader.root() })
      while let (number, depth) = waiting.popLast() {
        let cells = try read { () throws(SQLiteError) in
          try reader.note(number, in: &seen)
          return try reader.content(of: number, depth: depth)
        }
        guard depth == 0 else {
          waiting += cells.map { ($0.id, depth - 1) }
          continue
        }
        entriesLeft -= Int64(cells.count)
        for (id, bounds) in cells { try body(RTreeEntry(id, bounds)) }
      }
    } catch  where error.isRTreeDamage {
      return false
    }
    return entriesLeft == 0
  }

  private func read<R>(_ body: () throws(SQLiteError) -> R) throws(FieldpackError) -> R {
    try file.sql(layer: table.layer.id, body)
  }
}
