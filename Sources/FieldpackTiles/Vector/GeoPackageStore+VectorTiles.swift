public import FieldpackCore
public import FieldpackGeoPackage

extension GeoPackageStore {
  /// A tile of the usual grid of web maps with the features of a layer, as a Mapbox Vector Tile.
  ///
  ///     let tile = try await store.vectorTile(
  ///       of: "wells", at: .init(zoom: 14, column: 8587, row: 5664),
  ///       options: .init(properties: ["name"], budget: 5_000))
  ///
  /// Geometries are cut to the tile and its buffer and rounded to the grid; polygons stay valid. Points
  /// without properties come from the R-tree alone up to zoom 12. ``FieldpackTiles/VectorTile`` tells
  /// what the bytes hold.
  ///
  /// - Parameter address: zoom, x and y; row 0 is at the top.
  /// - Throws: `.notFound` for an unknown layer or property, `.invalidArgument` for an address that the
  ///   grid does not have and for a layer without geometry, `.unsupported` for a layer without an SRS.
  public func vectorTile(
    of layer: LayerID, at address: TileAddress, options: VectorTileOptions = .init()
  ) async throws(FieldpackError) -> VectorTile {
    let id = id
    return try await read { (snapshot) throws(FieldpackError) in
      do throws(FieldpackError) {
        return try snapshot.vectorTile(of: layer, at: address, options: options)
      } catch { throw error.adding(location: .init(store: id, layer: layer)) }
    }
  }

  /// As ``vectorTile(of:at:options:)``; the thread of the caller makes a tile that has few features.
  package func vectorTileSoon(
    of layer: LayerID, at address: TileAddress, options: VectorTileOptions = .init()
  ) async throws(FieldpackError) -> VectorTile {
    let id = id
    let small = try await readSoon { (snapshot) throws(FieldpackError) in
      do throws(FieldpackError) {
        return try VectorTileMaker(layer, address, options, in: snapshot).tile(ofAtMost: 1_000)
      } catch { throw error.adding(location: .init(store: id, layer: layer)) }
    }
    if let small { return small }
    return try await vectorTile(of: layer, at: address, options: options)
  }
}

extension GeoPackageSnapshot {
  /// As ``FieldpackGeoPackage/GeoPackageStore/vectorTile(of:at:options:)``, in this state of the file.
  package func vectorTile(
    of layer: LayerID, at address: TileAddress, options: VectorTileOptions = .init()
  ) throws(FieldpackError) -> VectorTile {
    try VectorTileMaker(layer, address, options, in: self).tile()
  }
}
