public import FieldpackCore
import FieldpackSQLite

extension FeatureWriter {
  /// Creates an empty tile pyramid, and registers zoom intervals other than powers of two.
  ///
  ///     try writer.createTilePyramid(.webMercator("map", zooms: 0...14))
  /// - Throws: `.cannotCreate` where a table has that name, `.invalidArgument` for matrices that do
  ///   not cover the bounds or do not get finer, `.unsupported` where the store is no GeoPackage.
  public mutating func createTilePyramid(_ pyramid: TilePyramid) throws(FieldpackError) {
    let transaction = try geoPackage
    try transaction.whole { () throws(FieldpackError) in
      try TileTables(file: transaction.file).create(pyramid)
    }
  }

  /// Stores a tile, and replaces one that exists.
  ///
  /// The bytes are not copied before SQLite gets them. A WebP tile registers the WebP extension.
  /// - Throws: `.invalidArgument` for an address outside the matrices, `.invalidData` for bytes
  ///   that are neither PNG nor JPEG nor WebP, `.notFound` for an unknown pyramid.
  public mutating func putTile(
    _ content: RawSpan, at address: TileAddress, of pyramid: LayerID
  ) throws(FieldpackError) {
    let transaction = try geoPackage
    let pyramid = try transaction.writablePyramid(pyramid)
    try TileTables(file: transaction.file).put(content, at: address, of: pyramid)
  }

  public mutating func putTile(
    _ content: [UInt8], at address: TileAddress, of pyramid: LayerID
  ) throws(FieldpackError) {
    try putTile(content.span.bytes, at: address, of: pyramid)
  }

  /// Deletes a tile with its links; returns whether there was one.
  @discardableResult
  public mutating func deleteTile(
    at address: TileAddress, of pyramid: LayerID
  ) throws(FieldpackError) -> Bool {
    let transaction = try geoPackage
    let pyramid = try transaction.writablePyramid(pyramid)
    return try TileTables(file: transaction.file).delete(address, of: pyramid)
  }

  /// Removes a pyramid with its tiles, matrices, relations and metadata.
  public mutating func removeTilePyramid(_ pyramid: LayerID) throws(FieldpackError) {
    let transaction = try geoPackage
    try transaction.whole { () throws(FieldpackError) in
      try TileTables(file: transaction.file).remove(pyramid)
    }
    transaction.forgetPyramid(pyramid)
  }
}

extension StoreSnapshot {
  /// The tile pyramids of the file; none where the store is no GeoPackage.
  public borrowing func tilePyramids() throws(FieldpackError) -> [TilePyramid] {
    guard backing is GeoPackageReading else { return [] }
    return try TileTables(file: geoPackage.file).pyramids()
  }

  /// Lends a tile's bytes with their media type.
  ///
  /// - Returns: the result of `body`; `nil`, without a call, where there is no such tile.
  /// - Throws: `.notFound` for an unknown pyramid.
  public borrowing func withTile<R>(
    at address: TileAddress, of pyramid: LayerID,
    _ body: (RawSpan, _ mediaType: String?) throws(FieldpackError) -> R
  ) throws(FieldpackError) -> R? {
    try TileTables(file: geoPackage.file).withTile(address, of: pyramid, body)
  }

  /// The addresses of the existing tiles, by zoom level, then row by row from the top.
  public borrowing func tileAddresses(
    of pyramid: LayerID, zoom: Int? = nil
  ) throws(FieldpackError) -> [TileAddress] {
    try TileTables(file: geoPackage.file).addresses(of: pyramid, zoom: zoom)
  }
}

extension GeoPackageStore {
  /// The tile pyramids of the file, including gridded coverages.
  public func tilePyramids() async throws(FieldpackError) -> [TilePyramid] {
    try await reading { (reading) throws(FieldpackError) in
      try TileTables(file: reading.file).pyramids()
    }
  }

  /// A copy of a tile; `nil` where there is none.
  ///
  /// ``StoreSnapshot/withTile(at:of:_:)`` lends the bytes instead.
  public func tile(
    at address: TileAddress, of pyramid: LayerID
  ) async throws(FieldpackError) -> Tile? {
    try await read { (snapshot) throws(FieldpackError) in
      try snapshot.withTile(at: address, of: pyramid) { (bytes, type) throws(FieldpackError) in
        Tile(address: address, mediaType: type, bytes: bytes.withUnsafeBytes { Array($0) })
      }
    }
  }
}
