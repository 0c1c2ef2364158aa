package import FieldpackCore
package import FieldpackGeometry
package import FieldpackProjection
import FieldpackRTree
import FieldpackSQLite

extension GeoPackageSnapshot {
  /// Transforms positions of a layer to `srs`; `nil` where they are in it already.
  package func transformation(
    from layer: LayerID, to srs: SRS
  ) throws(FieldpackError) -> CoordinateTransformation? {
    let catalogue = try file.catalogue()
    return try file.transformation(from: try table(layer), to: srs, in: catalogue)
  }

  /// Transforms positions in `srs` to the SRS of a layer.
  package func transformation(
    from srs: SRS, to layer: LayerID
  ) throws(FieldpackError) -> CoordinateTransformation {
    try file.transformation(from: srs, to: try table(layer), in: try file.catalogue())
  }

  /// How many features this snapshot's queries have passed over.
  package var skippedCount: Int { report.current.skipped.count }

  /// The error for a layer that the file does not have.
  package func missing(_ layer: LayerID) -> FieldpackError {
    do throws(FieldpackError) {
      return file.missingLayer(layer, in: try file.catalogue())
    } catch { return error }
  }

  private func table(_ layer: LayerID) throws(FieldpackError) -> LayerTable {
    guard let table = try file.catalogue().layer(layer) else { throw missing(layer) }
    return table
  }

  /// Gives the bounds of each feature that may touch `box`, as the R-tree of the layer has them: minx,
  /// maxx, miny, maxy, rounded outwards. No row is read.
  ///
  /// - Parameter box: in the SRS of the layer.
  /// - Returns: `false` where no R-tree tells it surely; what `body` was given then does not count.
  package func visitIndex(
    of layer: LayerID, touching box: Envelope, _ body: (Int64, SIMD4<Float>) -> Void
  ) throws(FieldpackError) -> Bool {
    let table = try table(layer)
    guard let rtree = indexToBelieve(of: table) else { return false }
    let window = RTreeWindow(.intersects, box)
    let isSure = try file.sql(layer: table.layer.id) { () throws(SQLiteError) in
      try file.indexes.believing(rtree) { (verdict) throws(SQLiteError) in
        guard verdict == .sound else { return false }
        try file.indexes.reader(rtree).visit(window, body)
        return true
      } otherwise: { _ in
        false
      }
    }
    file.reportIndexes(to: report)
    return isSure
  }

  /// The R-tree of a layer, where it has the rowids of all its features.
  private func indexToBelieve(of table: LayerTable) -> String? {
    guard !table.lacksIndexTriggers, table.textID == nil, !table.layer.isView else { return nil }
    return table.rtree
  }

  /// How many features may touch `box`, as the R-tree of the layer has them; `nil` where there is none.
  ///
  /// - Parameter box: in the SRS of the layer.
  package func indexedCount(
    of layer: LayerID, touching box: Envelope
  ) throws(FieldpackError) -> Int? {
    let table = try table(layer)
    guard let rtree = indexToBelieve(of: table) else { return nil }
    let (certain, uncertain) = try file.sql(layer: table.layer.id) { () throws(SQLiteError) in
      try file.indexes.count(rtree, RTreeWindow(.intersects, box))
    }
    file.reportIndexes(to: report)
    return certain + uncertain.count
  }

  /// Whether the R-tree of the layer has what may touch `box` in few leaves. No leaf is read for the answer.
  ///
  /// - Parameter box: in the SRS of the layer.
  package func isFoundSoon(
    in layer: LayerID, touching box: Envelope
  ) throws(FieldpackError) -> Bool {
    let table = try table(layer)
    guard let rtree = indexToBelieve(of: table) else { return false }
    return try file.sql(layer: table.layer.id) { () throws(SQLiteError) in
      // A damaged index has no short way: the query that follows reads all rows, and tells so.
      guard try file.indexes.isBelieved(rtree) else { return false }
      do throws(SQLiteError) {
        return try file.indexes.reader(rtree)
          .leafCount(RTreeWindow(.intersects, box), upTo: 64) != nil
      } catch {
        guard error.extendedCode == RTreeReader.damageCode else { throw error }
        file.indexes.disbelieve(rtree)
        return false
      }
    }
  }
}
