public import FieldpackCore
import FieldpackSQLite

extension GeoPackageWriter {
  /// Creates an empty tile pyramid, and registers zoom intervals other than powers of two.
  ///
  ///     try writer.createTilePyramid(.webMercator("map", zooms: 0...14))
  /// - Throws: `.cannotCreate` where a table has that name, `.invalidArgument` for matrices that do
  ///   not cover the bounds or do not get finer.
  public func createTilePyramid(_ pyramid: TilePyramid) throws(FieldpackError) {
    try whole { () throws(FieldpackError) in try TileTables(file: file).create(pyramid) }
  }

  /// Stores a tile, and replaces one that exists.
  ///
  /// The bytes are not copied before SQLite gets them. A WebP tile registers the WebP extension.
  /// - Throws: `.invalidArgument` for an address outside the matrices, `.invalidData` for bytes
  ///   that are neither PNG nor JPEG nor WebP, `.notFound` for an unknown pyramid.
  public func putTile(
    _ content: RawSpan, at address: TileAddress, of pyramid: LayerID
  ) throws(FieldpackError) {
    let pyramid = try writablePyramid(pyramid)
    try TileTables(file: file).put(content, at: address, of: pyramid)
  }

  public func putTile(
    _ content: [UInt8], at address: TileAddress, of pyramid: LayerID
  ) throws(FieldpackError) {
    try putTile(content.span.bytes, at: address, of: pyramid)
  }

  /// Deletes a tile with its links; returns whether there was one.
  @discardableResult
  public func deleteTile(
    at address: TileAddress, of pyramid: LayerID
  ) throws(FieldpackError) -> Bool {
    let pyramid = try writablePyramid(pyramid)
    return try TileTables(file: file).delete(address, of: pyramid)
  }

  /// Removes a pyramid with its tiles, matrices, relations and metadata.
  public func removeTilePyramid(_ pyramid: LayerID) throws(FieldpackError) {
    try whole { () throws(FieldpackError) in try TileTables(file: file).remove(pyramid) }
    forgetPyramid(pyramid)
  }
}

extension GeoPackageBulkWriter {
  /// Creates an empty tile pyramid, as ``GeoPackageWriter/createTilePyramid(_:)`` does.
  package func createTilePyramid(_ pyramid: TilePyramid) throws(FieldpackError) {
    try TileTables(file: file).create(pyramid)
  }

  /// Removes a pyramid where there is one of that name.
  package func removeTilePyramid(_ name: LayerID) throws(FieldpackError) {
    let tables = TileTables(file: file)
    let name = SQLName(name.rawValue)
    let known = try tables.pyramids().first { SQLName($0.name.rawValue) == name }
    if let known { try tables.remove(known.name) }
  }

  /// Stores a tile, as ``GeoPackageWriter/putTile(_:at:of:)-(RawSpan,_,_)`` does.
  package func putTile(
    _ content: RawSpan, at address: TileAddress, of pyramid: TilePyramid
  ) throws(FieldpackError) {
    try TileTables(file: file).put(content, at: address, of: pyramid)
  }
}

extension GeoPackageSnapshot {
  /// The tile pyramids of the file, including gridded coverages.
  public func tilePyramids() throws(FieldpackError) -> [TilePyramid] {
    try TileTables(file: file).pyramids()
  }

  /// Lends a tile's bytes with their media type.
  ///
  /// - Returns: the result of `body`; `nil`, without a call, where there is no such tile.
  /// - Throws: `.notFound` for an unknown pyramid.
  public func withTile<R>(
    at address: TileAddress, of pyramid: LayerID,
    _ body: (RawSpan, _ mediaType: String?) throws(FieldpackError) -> R
  ) throws(FieldpackError) -> R? {
    try TileTables(file: file).withTile(address, of: pyramid, body)
  }

  /// The addresses of the existing tiles, by zoom level, then row by row from the top.
  public func tileAddresses(
    of pyramid: LayerID, zoom: Int? = nil
  ) throws(FieldpackError) -> [TileAddress] {
    try TileTables(file: file).addresses(of: pyramid, zoom: zoom)
  }

  /// The pyramid of that name, in any case of its letters.
  ///
  /// - Throws: `.notFound` for an unknown pyramid.
  public func tilePyramid(_ name: LayerID) throws(FieldpackError) -> TilePyramid {
    try TileTables(file: file).pyramid(name)
  }

  /// Whether a zoom level of a pyramid has tiles. GDAL describes levels that it has not filled.
  package func hasTiles(of pyramid: LayerID, zoom: Int) throws(FieldpackError) -> Bool {
    try TileTables(file: file).hasTiles(of: pyramid, zoom: zoom)
  }

  /// The addresses of the existing tiles in a part of a zoom level; `limit` at most.
  package func tileAddresses(
    of pyramid: LayerID, zoom: Int, columns: ClosedRange<Int>, rows: ClosedRange<Int>, limit: Int
  ) throws(FieldpackError) -> [TileAddress] {
    try TileTables(file: file).addresses(
      of: pyramid, zoom: zoom, columns: columns, rows: rows, limit: limit)
  }
}

extension GeoPackageStore {
  /// The tile pyramids of the file, including gridded coverages.
  public func tilePyramids() async throws(FieldpackError) -> [TilePyramid] {
    try await read { (snapshot) throws(FieldpackError) in try snapshot.tilePyramids() }
  }

  /// A copy of a tile; `nil` where there is none.
  ///
  /// ``GeoPackageSnapshot/withTile(at:of:_:)`` lends the bytes instead.
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
