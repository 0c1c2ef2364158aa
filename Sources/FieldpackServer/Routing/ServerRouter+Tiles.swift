import FieldpackArchive
import FieldpackCore
import FieldpackGeoPackage
import FieldpackHTTP
import FieldpackServices
import FieldpackTiles

/// Vector tiles of a collection, or of all.
extension ServerRouter {
  /// More features than this are thinned, which the tile says.
  static let budget = 50_000

  func tile(
    _ place: [String], of layer: ServedLayer, _ request: ServerRequest
  ) async throws(FieldpackError) -> ServerResponse {
    try ServerOperation.getTile.check(request.query, in: layer)
    _ = try Negotiation.format(of: request, for: .getTile)
    let properties = try request.last(.properties).map { (text) throws(FieldpackError) in
      try ItemsRequest.columns(text, of: layer)
    }
    return try await tile(place, of: [layer], properties, request)
  }

  /// A tile of all collections at `/tiles/Z/X/Y.mvt`, and its TileJSON at `/tiles`.
  func sharedTile(_ request: ServerRequest) async -> ServerResponse {
    if let answer = answer(toMethodOf: request, taking: ["GET", "HEAD"]) { return answer }
    do throws(FieldpackError) {
      try ServerOperation.getTile.check(request.query, in: nil)
      let documents = shown(try await published.documents(), to: request)
      let layers = documents.layers.filter(\.hasTiles)
      if request.path.count == 1 {
        let document = TileDocuments.tileJSON(
          of: layers, title: published.options.title, base: base(of: request))
        return ServerResponse(200, MediaType.json, Array(document.text.utf8)).packed(for: request)
      }
      guard let place = Self.place(request.path.dropFirst()) else {
        return problem(ProblemDocument(404, "There is no such address."), request)
      }
      let names = request.last(.properties)?.split(separator: ",").map(String.init)
      return try await tile(place, of: layers, names, request)
    } catch {
      return problem(error, request, while: .parameters)
    }
  }

  // MARK: Addresses

  /// Zoom, x and `y.mvt` as zoom, row and column.
  static func place(_ parts: ArraySlice<String>) -> [String]? {
    guard parts.count == 3, let zoom = parts.first, let last = parts.last, last.hasSuffix(".mvt")
    else { return nil }
    return [zoom, String(last.dropLast(4)), parts[parts.startIndex + 1]]
  }

  /// The tile of a zoom, a row and a column.
  static func address(_ place: [String]) -> TileAddress? {
    let numbers = place.compactMap { Int($0) }
    guard place.count == 3, numbers.count == 3 else { return nil }
    return TileAddress(zoom: numbers[0], column: numbers[2], row: numbers[1])
  }

  static func isOnWebGrid(_ address: TileAddress) -> Bool {
    guard TileDocuments.zooms.contains(address.zoom) else { return false }
    let all = 0..<1 << address.zoom
    return all.contains(address.row) && all.contains(address.column)
  }

  // MARK: Tiles

  /// - Parameter properties: the columns in the tile, of the layers that have them; `nil` for all.
  private func tile(
    _ place: [String], of layers: [ServedLayer], _ properties: [String]?, _ request: ServerRequest
  ) async throws(FieldpackError) -> ServerResponse {
    guard let address = Self.address(place), Self.isOnWebGrid(address) else {
      return problem(ProblemDocument(404, "There is no such tile."), request)
    }
    let ids = layers.map(\.id)
    return try await tile(
      at: address, of: ids, properties: properties, on: nil, request
    ) { [published] () async throws(FieldpackError) in
      guard let store = published.ownFile?.store else {
        let bytes = try await published.vectorTile(of: layers, at: address, properties)
        return KeptTiles.Tile(type: VectorTile.mediaType, bytes: bytes)
      }
      var bytes: [UInt8] = []
      if layers.count == 1 {
        bytes = try await store.vectorTileSoon(
          of: ids[0], at: address, options: Self.options(layers[0], properties)
        ).bytes
      } else {
        // All layers come from one state of the file. A tile is the bytes of its layers, one after
        // another.
        bytes = try await store.read { (snapshot: GeoPackageSnapshot) throws(FieldpackError) in
          var bytes: [UInt8] = []
          for layer in layers {
            let options = Self.options(layer, properties)
            bytes += try snapshot.vectorTile(of: layer.id, at: address, options: options).bytes
          }
          return bytes
        }
      }
      return KeptTiles.Tile(type: VectorTile.mediaType, bytes: bytes)
    }
  }

  fileprivate static func options(_ layer: ServedLayer, _ properties: [String]?)
    -> VectorTileOptions
  {
    var options = VectorTileOptions()
    options.budget = budget
    options.properties = properties.map { names in
      names.filter { layer.schema.columnIndex($0) != nil }
    }
    return options
  }

  /// A tile that is kept, or is made now.
  ///
  /// - Parameter set: the grid of a picture; `nil` for a vector tile.
  func tile(
    at address: TileAddress, of layers: [LayerID], properties: [String]?, on set: String?,
    _ request: ServerRequest, make: () async throws(FieldpackError) -> KeptTiles.Tile
  ) async throws(FieldpackError) -> ServerResponse {
    let turn = published.tiles.takeTurn()
    let counter = try await published.content.counter(of: layers)
    var fields: HTTPFields = ["Vary": ContentCoding.vary]
    if let counter {
      let tag = published.tag(of: counter, set == nil ? "mvt" : "picture")
      fields["ETag"] = tag
      if Negotiation.has(tag, in: request.fields["If-None-Match"]) {
        return ServerResponse(304, fields: fields)
      }
    }
    let key = counter.map {
      KeptTiles.Key(
        layers: layers, properties: properties, set: set, address: address, counter: $0)
    }
    let takesGzip = set == nil && ContentCoding.takesGzip(request)
    let kept = key.flatMap { published.tiles[$0] }
    if let body = kept?.body(asGzip: takesGzip) { return Self.answer(kept?.type, body, fields) }
    var tile: KeptTiles.Tile
    do throws(FieldpackError) {
      tile = if let kept, kept.bytes != nil { kept } else { try await make() }
    } catch {
      return problem(error, request, while: .resource)
    }
    let bytes = tile.bytes ?? []
    tile.packed = kept?.packed
    if takesGzip, bytes.count >= ContentCoding.shortest {
      tile.packed = try? GzipPacker.packed(bytes)
      // Browsers ask for gzip only, and the packed bytes of a tile are a third of its bytes.
      if tile.packed != nil { tile.bytes = kept?.bytes }
    }
    // A client could fill the memory with long lists of names.
    let isShort = (properties ?? []).reduce(0) { $0 + $1.utf8.count + 16 } <= 1_000
    if let key, isShort { published.tiles.keep(tile, for: key, in: turn) }
    return Self.answer(tile.type, tile.body(asGzip: takesGzip) ?? (bytes, false), fields)
  }

  private static func answer(
    _ type: String?, _ body: (bytes: [UInt8], isPacked: Bool), _ fields: HTTPFields
  ) -> ServerResponse {
    var fields = fields
    fields["Content-Type"] = type ?? "application/octet-stream"
    if body.isPacked { fields["Content-Encoding"] = "gzip" }
    return ServerResponse(
      body.bytes.isEmpty ? 204 : 200, fields: fields, body: .bytes(body.bytes))
  }
}

extension PublishedStore {
  /// A tile of layers of a database, all from one state.
  fileprivate func vectorTile(
    of layers: [ServedLayer], at address: TileAddress, _ properties: [String]?
  ) async throws(FieldpackError) -> [UInt8] {
    try await content.read { (snapshot) throws(FieldpackError) in
      var bytes: [UInt8] = []
      for layer in layers {
        let options = ServerRouter.options(layer, properties)
        bytes += try VectorTile.make(of: layer.schema, at: address, options, in: snapshot).bytes
      }
      return bytes
    }
  }
}
