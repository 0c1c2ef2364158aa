package import FieldpackCore
package import FieldpackGeometry
import FieldpackRTree
import FieldpackSQLite

/// The extent of a layer's geometries.
package struct LayerExtent {
  package let file: GeoPackageSession
  package let table: LayerTable

  package init(file: GeoPackageSession, table: LayerTable) {
    self.file = file
    self.table = table
  }

  /// The extent in `gpkg_contents` where the R-tree's root agrees with it. Otherwise the true
  /// extent, found by reading every geometry's header.
  package func current() throws(FieldpackError) -> Envelope? {
    guard table.schema.geometry != nil else { return nil }
    if let stated = table.layer.envelope, try indexAgrees(stated) == true { return stated }
    return try computed()
  }

  /// Whether the R-tree's root has the bounds of `extent`; `nil` where there is no R-tree.
  package func indexAgrees(_ extent: Envelope) throws(FieldpackError) -> Bool? {
    guard table.rtree != nil else { return nil }
    guard let root = try rootBounds() else { return false }
    return agrees(extent, root)
  }

  /// The true extent of all geometries, without bounds that are infinite; `nil` where there are no
  /// geometries.
  package func computed() throws(FieldpackError) -> Envelope? {
    guard let all = try computed(where: "") else { return nil }
    guard !all.hasInfiniteBounds else {
      // One geometry with an infinite position must not hide where all others are.
      return try computed(where: " WHERE \(isFinite)")
    }
    return all
  }

  private func computed(where condition: String) throws(FieldpackError) -> Envelope? {
    guard let g = table.schema.geometry.map({ quoted($0.name) }) else { return nil }
    let row = try file.rows(
      "SELECT min(ST_MinX(\(g))), min(ST_MinY(\(g))), max(ST_MaxX(\(g))), max(ST_MaxY(\(g))) "
        + "FROM \(quoted(table.table))\(condition)"
    ).first?.compactMap(\.realValue)
    guard let row, row.count == 4 else { return nil }
    return Envelope(minX: row[0], minY: row[1], maxX: row[2], maxY: row[3])
  }

  private var isFinite: String {
    let g = quoted(table.schema.geometry?.name ?? "")
    return ["ST_MinX", "ST_MinY", "ST_MaxX", "ST_MaxY"].map { "abs(\($0)(\(g))) < 9e999" }
      .joined(separator: " AND ")
  }

  /// The union of the cells of the R-tree's root node: minx, maxx, miny, maxy.
  private func rootBounds() throws(FieldpackError) -> SIMD4<Float>? {
    guard let rtree = table.rtree else { return nil }
    let rows = try file.rows("SELECT data FROM \(quoted("\(rtree)_node")) WHERE nodeno = 1")
    guard case .blob(let node)?? = rows.first?.first else { return nil }
    let boxes = node.withUnsafeBytes { RTreeNode($0)?.entries.map(\.box) } ?? []
    guard var union = boxes.first else { return nil }
    for box in boxes {
      for axis in 0..<4 {
        union[axis] = axis % 2 == 0 ? min(union[axis], box[axis]) : max(union[axis], box[axis])
      }
    }
    return union
  }

  private func agrees(_ stated: Envelope, _ root: SIMD4<Float>) -> Bool {
    func near(_ exact: Double, _ rounded: Float) -> Bool {
      let step = Double(max(rounded.ulp, Float(exact).ulp))
      return abs(exact - Double(rounded)) <= 4 * step
    }
    return near(stated.minX, root[0]) && near(stated.maxX, root[1]) && near(stated.minY, root[2])
      && near(stated.maxY, root[3])
  }
}

extension Envelope {
  /// Whether a bound is infinite, as a geometry with an infinite position has it.
  package var hasInfiniteBounds: Bool {
    !minX.isFinite || !minY.isFinite || !maxX.isFinite || !maxY.isFinite
  }
}
