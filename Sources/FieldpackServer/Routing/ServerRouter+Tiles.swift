import FieldpackCore
import FieldpackGeoPackage
import FieldpackHTTP
import FieldpackTiles

/// Vector tiles of a collection.
extension ServerRouter {
  /// More features than this are thinned, which the tile says.
  static let budget = 50_000

  func tile(
    _ place: [String], of layer: ServedLayer, _ request: ServerRequest
  ) async throws(FieldpackError) -> ServerResponse {
    try ServerOperation.getTile.check(request.query, in: layer)
    _ = try Negotiation.format(of: request, for: .getTile)
    // The row stands before the column.
    let numbers = place.compactMap { Int($0) }
    guard numbers.count == 3, TileDocuments.zooms.contains(numbers[0]),
      (0..<1 << numbers[0]).contains(numbers[1]), (0..<1 << numbers[0]).contains(numbers[2])
    else { return problem(ProblemDocument(404, "There is no such tile."), request) }
    let tag = file.version().map { file.tag(of: $0, "mvt") }
    var fields: HTTPFields = ["Content-Type": VectorTile.mediaType]
    if let tag {
      fields["ETag"] = tag
      if Negotiation.has(tag, in: request.fields["If-None-Match"]) {
        return ServerResponse(304, fields: fields)
      }
    }
    var options = VectorTileOptions()
    options.budget = Self.budget
    if let text = request.last(.properties) {
      options.properties = try ItemsRequest.columns(text, of: layer)
    }
    do throws(FieldpackError) {
      let tile = try await file.store.vectorTileSoon(
        of: layer.id, at: TileAddress(zoom: numbers[0], column: numbers[2], row: numbers[1]),
        options: options)
      return ServerResponse(
        tile.bytes.isEmpty ? 204 : 200, fields: fields, body: .bytes(tile.bytes)
      ).packed(for: request)
    } catch {
      return problem(error, request, while: .resource)
    }
  }
}
