public import FieldpackCore
public import FieldpackGeoPackage
public import FieldpackGeometry
import FieldpackMedia

/// A store that gives tiles of web maps: a GeoPackage with tile pyramids, or a store of the type `xyz.1`.
///
///     if let streets = try workspace.store("streets") as? any RasterStore {
///       let tile = try await streets.webTile(.init(zoom: 14, column: 8587, row: 5664), of: "streets")
///     }
public protocol RasterStore: Store {
  /// The layers of tiles, with their grids.
  func tilePyramids() async throws(FieldpackError) -> [TilePyramid]

  /// A tile of the usual grid of web maps.
  ///
  /// - Parameter address: zoom, x and y; row 0 is at the top.
  /// - Returns: `nil` where the layer has nothing there.
  /// - Throws: `.notFound` for an unknown layer, `.invalidArgument` for an address that the grid
  ///   does not have; of a store that asks a server `.unavailable` where there is no answer.
  func webTile(
    _ address: TileAddress, of layer: LayerID
  ) async throws(FieldpackError) -> Tile?

  /// The area that the layer has tiles for, in its own SRS.
  ///
  /// - Parameter zoom: the level whose tiles are meant; `nil` for the whole area of the layer.
  /// - Throws: `.notFound` for an unknown layer.
  func tileCoverage(of layer: LayerID, zoom: Int?) async throws(FieldpackError) -> Geometry
}

extension GeoPackageStore: RasterStore {
  /// As ``webTile(_:of:ffmpeg:)``, with the `ffmpeg` that is installed.
  public func webTile(
    _ address: TileAddress, of pyramid: LayerID
  ) async throws(FieldpackError) -> Tile? {
    try await webTile(address, of: pyramid, ffmpeg: .standard)
  }
}
