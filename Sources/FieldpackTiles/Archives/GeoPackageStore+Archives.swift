package import FieldpackCore
package import FieldpackGeoPackage

extension GeoPackageSnapshot {
  /// Writes all tiles of a pyramid on the grid of web maps, unchanged.
  ///
  /// - Parameter progress: called after each tile with how many are written; throws to stop.
  /// - Returns: how many tiles there were.
  /// - Throws: `.notFound` for an unknown pyramid and one without tiles, `.unsupported` for one on another grid.
  package func writeTiles(
    of name: LayerID, to writer: any TileArchiveWriter,
    progress: (Int) throws(FieldpackError) -> Void
  ) throws(FieldpackError) -> Int {
    let pyramid = try tilePyramid(name)
    var count = 0
    for matrix in pyramid.matrices {
      for address in try tileAddresses(of: pyramid.name, zoom: matrix.zoom) {
        guard pyramid.kind == .tiles, let target = pyramid.webAddress(of: address, in: matrix)
        else {
          throw FieldpackError(
            .unsupported,
            "the tiles of '\(pyramid.name)' are not those of web maps, so they cannot be written as "
              + "they are",
            location: .init(layer: pyramid.name))
        }
        _ = try withTile(at: address, of: pyramid.name) { (bytes, _) throws(FieldpackError) in
          try writer.put(bytes, at: target)
        }
        count += 1
        try progress(count)
      }
    }
    guard count > 0 else {
      throw FieldpackError(
        .notFound, "'\(pyramid.name)' has no tiles to write", location: .init(layer: pyramid.name))
    }
    return count
  }
}
