import FieldpackCore
import FieldpackGeoPackage
import FieldpackGeometry
import FieldpackMedia
import FieldpackProjection

/// How one tile of a web map is made out of a pyramid.
struct WebTile {
  let address: TileAddress
  let area: Envelope
  let pyramid: TilePyramid

  /// How many stored tiles one tile is made of at most.
  static let pieceLimit = 256
  /// How many bytes these have at most, together.
  static let byteLimit = 256 << 20
  /// How many pixels these have at most, together.
  static let pixelLimit = 1 << 26
  /// How many pixels one of them has at most: 128 MiB.
  static let piecePixelLimit = 1 << 25

  /// What the file has for it.
  enum Source: Sendable {
    /// The tile as it is stored.
    case stored(Tile)
    case pieces([Tile], TileMatrix)
    case warped([(tile: Tile, pixels: [Int])], TileMatrix, TileWarp)
  }

  // MARK: Reading

  /// - Parameter system: the pyramid's own system.
  /// - Returns: `nil` where the pyramid has nothing there.
  func source(
    in snapshot: GeoPackageSnapshot, system: SRSReference?
  ) throws(FieldpackError) -> Source? {
    guard let system else { return try source(in: snapshot) }
    let transformation: CoordinateTransformation
    do throws(ProjectionError) {
      transformation = try CoordinateTransformation(
        from: SRSReference(WebMercator.srs), to: system)
    } catch { throw FieldpackError(error, location: location) }
    let warp = TileWarp(area, by: transformation)
    guard let size = warp.pixelSize, let matrix = pyramid.matrix(matching: size) else { return nil }
    let pixels = warp.pixels(of: pyramid, in: matrix)
    guard let columns = Self.range(pixels.keys.map(\.column)),
      let rows = Self.range(pixels.keys.map(\.row))
    else { return nil }
    let stored = try addresses(in: snapshot, matrix, columns, rows)
    let tiles = try tiles(stored.filter { pixels[$0] != nil }, in: snapshot)
    guard !tiles.isEmpty else { return nil }
    return .warped(tiles.map { ($0, pixels[$0.address] ?? []) }, matrix, warp)
  }

  private static func range(_ numbers: [Int]) -> ClosedRange<Int>? {
    guard let low = numbers.min(), let high = numbers.max() else { return nil }
    return low...high
  }

  private func source(in snapshot: GeoPackageSnapshot) throws(FieldpackError) -> Source? {
    let size = WebMercator.tileSize
    guard let matrix = pyramid.matrix(matching: area.width / Double(size)) else { return nil }
    if let stored = pyramid.address(covering: area, pixels: size, in: matrix) {
      return try tiles([stored], in: snapshot).first.map {
        .stored(Tile(address: address, mediaType: $0.mediaType, bytes: $0.bytes))
      }
    }
    guard let (columns, rows) = pyramid.tiles(touching: area, in: matrix) else { return nil }
    let tiles = try tiles(try addresses(in: snapshot, matrix, columns, rows), in: snapshot)
    return tiles.isEmpty ? nil : .pieces(tiles, matrix)
  }

  private func addresses(
    in snapshot: GeoPackageSnapshot, _ matrix: TileMatrix, _ columns: ClosedRange<Int>,
    _ rows: ClosedRange<Int>
  ) throws(FieldpackError) -> [TileAddress] {
    let found = try snapshot.tileAddresses(
      of: pyramid.name, zoom: matrix.zoom, columns: columns, rows: rows, limit: Self.pieceLimit + 1)
    guard found.count <= Self.pieceLimit else { throw tooMuch("\(Self.pieceLimit) stored tiles") }
    return found
  }

  private func tiles(
    _ addresses: [TileAddress], in snapshot: GeoPackageSnapshot
  ) throws(FieldpackError) -> [Tile] {
    var tiles: [Tile] = []
    var byteCount = 0
    for address in addresses {
      let tile = try snapshot.withTile(at: address, of: pyramid.name) {
        (bytes, type) throws(FieldpackError) in
        byteCount += bytes.byteCount
        guard byteCount <= Self.byteLimit else { throw tooMuch("\(Self.byteLimit) bytes") }
        return Tile(
          address: address, mediaType: type, bytes: bytes.withUnsafeBytes { Array($0) })
      }
      if let tile { tiles.append(tile) }
    }
    return tiles
  }

  private func tooMuch(_ what: String) -> FieldpackError {
    FieldpackError(
      .unsupported,
      "tile \(address) of '\(pyramid.name)' would be made of more than \(what); its zoom levels "
        + "are \(pyramid.matrices.map { "\($0.zoom)" }.joined(separator: ", "))",
      location: location)
  }

  private var location: KeyTuple.Partial { .init(layer: pyramid.name) }

  // MARK: Making

  func tile(from source: Source, _ ffmpeg: FFmpeg) async throws(FieldpackError) -> Tile {
    let bitmap: Bitmap
    var decoder = TileDecoder(pyramid: pyramid.name, ffmpeg: ffmpeg)
    switch source {
    case .stored(let tile): return tile
    case .pieces(let tiles, let matrix):
      var composer = TileComposer(area, size: WebMercator.tileSize)
      for tile in tiles {
        composer.add(
          try await decoder.bitmap(of: tile), of: pyramid.envelope(of: tile.address, in: matrix))
      }
      bitmap = composer.bitmap
    case .warped(let tiles, let matrix, let warp):
      var made = Bitmap(PictureSize(width: WebMercator.tileSize, height: WebMercator.tileSize))
      for (tile, pixels) in tiles {
        warp.copy(
          pixels, from: try await decoder.bitmap(of: tile),
          of: pyramid.envelope(of: tile.address, in: matrix), into: &made)
      }
      bitmap = made
    }
    return Tile(
      address: address, mediaType: "image/png", bytes: try PNGEncoder.bytes(of: bitmap))
  }
}

/// Decodes the tiles that one is made of.
private struct TileDecoder {
  let pyramid: LayerID
  let ffmpeg: FFmpeg
  /// How many pixels may still be decoded.
  private var rest = WebTile.pixelLimit

  init(pyramid: LayerID, ffmpeg: FFmpeg) {
    self.pyramid = pyramid
    self.ffmpeg = ffmpeg
  }

  /// The pixels of a PNG, which need no program, or of a JPEG or WebP.
  mutating func bitmap(of tile: Tile) async throws(FieldpackError) -> Bitmap {
    let name = "tile \(tile.address) of '\(pyramid)'"
    let limit = min(rest, WebTile.piecePixelLimit)
    let bitmap =
      MediaType(tile.bytes) == .png
      ? try PNGDecoder.bitmap(of: tile.bytes, name: name, limit: limit)
      : try await ffmpeg.bitmap(
        of: tile.bytes, name: name, limit: limit, else: .storeTilesAsPNG)
    rest -= bitmap.size.width * bitmap.size.height
    return bitmap
  }
}
