public import FieldpackCore
public import FieldpackGeometry

/// The tiles of one table: pictures on grids of several zoom levels.
public struct TilePyramid: Hashable, Sendable {
  public enum Kind: String, Hashable, Sendable {
    /// Pictures.
    case tiles
    /// Values on a grid, such as heights, of the Tiled Gridded Coverage extension; read only.
    case griddedCoverage = "2d-gridded-coverage"
  }

  /// The table's name.
  public var name: LayerID
  public var kind: Kind = .tiles
  public var title: String?
  public var description: String?
  public var srs: SRS
  /// What every matrix covers, in the units of `srs`. Row 0 is at the top, column 0 at the left.
  public var bounds: Envelope
  /// Where the file says that there is something to see.
  public var envelope: Envelope?
  /// The zoom levels, ascending; there may be gaps.
  public var matrices: [TileMatrix]
  /// What is unusual about it, in words.
  public var notes: [String] = []

  public init(
    _ name: LayerID, srs: SRS, bounds: Envelope, matrices: [TileMatrix], title: String? = nil,
    description: String? = nil
  ) {
    self.name = name
    self.srs = srs
    self.bounds = bounds
    self.matrices = matrices
    self.title = title
    self.description = description
  }

  /// Zoom levels that each halve the pixels of the one before.
  ///
  /// - Parameters:
  ///   - width: tiles side by side at zoom 0; so many times `2^zoom` at another level.
  public init(
    _ name: LayerID, srs: SRS, bounds: Envelope, zooms: ClosedRange<Int>, width: Int = 1,
    height: Int = 1, tileSize: Int = 256
  ) {
    let matrices = zooms.map { zoom in
      let (columns, rows) = (width << zoom, height << zoom)
      return TileMatrix(
        zoom: zoom, width: columns, height: rows, tileWidth: tileSize, tileHeight: tileSize,
        pixelWidth: (bounds.maxX - bounds.minX) / (Double(columns) * Double(tileSize)),
        pixelHeight: (bounds.maxY - bounds.minY) / (Double(rows) * Double(tileSize)))
    }
    self.init(name, srs: srs, bounds: bounds, matrices: matrices)
  }

  /// The grid of the web's maps: EPSG:3857, one tile of the whole world at zoom 0.
  public static func webMercator(_ name: LayerID, zooms: ClosedRange<Int>) -> TilePyramid {
    let edge = 20_037_508.342789244
    return TilePyramid(
      name, srs: SRS("EPSG", 3857),
      bounds: Envelope(minX: -edge, minY: -edge, maxX: edge, maxY: edge), zooms: zooms)
  }

  public func matrix(zoom: Int) -> TileMatrix? { matrices.first { $0.zoom == zoom } }

  /// What a tile covers; `nil` for an address outside the matrix.
  public func envelope(of address: TileAddress) -> Envelope? {
    guard let matrix = matrix(zoom: address.zoom), matrix.contains(address) else { return nil }
    let (width, height) = (matrix.tileUnitsWide, matrix.tileUnitsHigh)
    let left = bounds.minX + Double(address.column) * width
    let top = bounds.maxY - Double(address.row) * height
    return Envelope(minX: left, minY: top - height, maxX: left + width, maxY: top)
  }

  /// The tile at a position in the units of ``srs``; `nil` outside the matrix.
  ///
  /// A position on an edge belongs to the tile right of it and below; on the far edges of the
  /// matrix to its last tiles.
  public func address(x: Double, y: Double, zoom: Int) -> TileAddress? {
    guard let matrix = matrix(zoom: zoom), x >= bounds.minX, x <= bounds.maxX, y >= bounds.minY,
      y <= bounds.maxY
    else { return nil }
    func place(_ distance: Double, _ size: Double, _ count: Int) -> Int? {
      let place = (distance / size).rounded(.down)
      guard count > 0, let whole = Int(exactly: place) else { return nil }
      return min(whole, count - 1)
    }
    guard let column = place(x - bounds.minX, matrix.tileUnitsWide, matrix.width),
      let row = place(bounds.maxY - y, matrix.tileUnitsHigh, matrix.height)
    else { return nil }
    return TileAddress(zoom: zoom, column: column, row: row)
  }
}

/// The grid of one zoom level.
public struct TileMatrix: Hashable, Sendable {
  public var zoom: Int
  /// In tiles.
  public var width: Int
  public var height: Int
  /// In pixels.
  public var tileWidth: Int
  public var tileHeight: Int
  /// In units of the pyramid's SRS.
  public var pixelWidth: Double
  public var pixelHeight: Double

  public init(
    zoom: Int, width: Int, height: Int, tileWidth: Int, tileHeight: Int, pixelWidth: Double,
    pixelHeight: Double
  ) {
    self.zoom = zoom
    self.width = width
    self.height = height
    self.tileWidth = tileWidth
    self.tileHeight = tileHeight
    self.pixelWidth = pixelWidth
    self.pixelHeight = pixelHeight
  }

  public func contains(_ address: TileAddress) -> Bool {
    address.zoom == zoom && address.column >= 0 && address.column < width && address.row >= 0
      && address.row < height
  }

  var tileUnitsWide: Double { Double(tileWidth) * pixelWidth }
  var tileUnitsHigh: Double { Double(tileHeight) * pixelHeight }
}

/// Where a tile lies in its pyramid; rows count from the top.
public struct TileAddress: Hashable, Sendable, CustomStringConvertible {
  public var zoom: Int
  public var column: Int
  public var row: Int

  public init(zoom: Int, column: Int, row: Int) {
    self.zoom = zoom
    self.column = column
    self.row = row
  }

  public var description: String { "\(zoom)/\(column)/\(row)" }
}

/// A tile's bytes with what they are.
public struct Tile: Hashable, Sendable {
  public var address: TileAddress
  /// `image/png`, `image/jpeg`, `image/webp`, `image/tiff` or `image/gif`, told from the bytes;
  /// `nil` for anything else.
  public var mediaType: String?
  public var bytes: [UInt8]
}

/// What the first bytes of a picture tell.
package enum PictureFormat {
  package static let png = "image/png"
  package static let jpeg = "image/jpeg"
  package static let webp = "image/webp"
  package static let tiff = "image/tiff"

  package static func mediaType(of bytes: UnsafeRawBufferPointer) -> String? {
    func begins(_ marks: [UInt8], at place: Int = 0) -> Bool {
      bytes.count >= place + marks.count && bytes[place..<place + marks.count].elementsEqual(marks)
    }
    if begins([0x89, 0x50, 0x4E, 0x47]) { return png }
    if begins([0xFF, 0xD8, 0xFF]) { return jpeg }
    if begins(Array("RIFF".utf8)), begins(Array("WEBP".utf8), at: 8) { return webp }
    if begins([0x49, 0x49, 0x2A, 0]) || begins([0x4D, 0x4D, 0, 0x2A]) { return tiff }
    if begins(Array("GIF8".utf8)) { return "image/gif" }
    return nil
  }
}
