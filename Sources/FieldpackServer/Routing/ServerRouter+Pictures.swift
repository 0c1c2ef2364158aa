import FieldpackCore
import FieldpackGeoPackage
import FieldpackHTTP
import FieldpackMedia
import FieldpackTiles

/// Tiles of pictures: as they are stored, or on the grid of web maps.
extension ServerRouter {
  func picture(
    _ place: [String], on set: String, of pyramid: ServedPyramid, _ request: ServerRequest
  ) async throws(FieldpackError) -> ServerResponse {
    try ServerOperation.getMapTile.check(request.query, in: nil)
    let isStored = set == pyramid.setID
    guard let address = Self.address(place),
      isStored
        ? pyramid.pyramid.matrix(zoom: address.zoom)?.contains(address) == true
        : Self.isOnWebGrid(address)
    else { return problem(ProblemDocument(404, "There is no such tile."), request) }
    return try await tile(
      at: address, of: [pyramid.id], properties: nil, on: set, request
    ) { [published] () async throws(FieldpackError) in
      let tile =
        isStored
        ? try await published.store.storedTile(address, of: pyramid.id)
        : try await published.store.webTile(address, of: pyramid.id, ffmpeg: .standard)
      return KeptTiles.Tile(type: tile?.mediaType, bytes: tile?.bytes ?? [])
    }
  }
}

extension GeoPackageStore {
  /// A tile as it is stored; `nil` where there is none.
  fileprivate func storedTile(
    _ address: TileAddress, of pyramid: LayerID
  ) async throws(FieldpackError) -> Tile? {
    try await read { (snapshot: GeoPackageSnapshot) throws(FieldpackError) in
      try snapshot.withTile(at: address, of: pyramid) {
        (bytes, type) throws(FieldpackError) in
        Tile(address: address, mediaType: type, bytes: bytes.withUnsafeBytes { Array($0) })
      }
    }
  }
}
