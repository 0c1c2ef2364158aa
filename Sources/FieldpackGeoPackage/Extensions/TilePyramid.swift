public import FieldpackCore
public import FieldpackGeometry

/// The tiles of one table: pictures on grids of several zoom levels.
public struct TilePyramid: Hashable, Sendable {
  public enum Kind: String, Hashable, Sendable {
    /// Pictures.
    case tiles
    /// Values on a grid, such as heights, as in the Tiled Gridded Coverage extension. They are read
    /// only.
    case griddedCoverage = "2d-gridded-coverage"
  }

  /// The table's name.
  public var name: LayerID
  public var kind: Kind = .tiles
  public var title: String?
  public var description: String?
  public var srs: SRS
  /// The area that every matrix covers, in the units of `srs`. Row 0 is at the top, column 0 at the
  /// left.
  public var bounds: Envelope
  /// The area that has content, according to the file.
  public var envelope: Envelope?
  /// The zoom levels, ascending; there may be gaps.
  public var matrices: [TileMatrix]
  /// Notes on what is unusual about the pyramid.
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

  /// Creates zoom levels that each halve the pixel size of the one before.
  ///
  /// - Parameters:
  ///   - width: the number of tiles side by side at zoom 0. Another level has `2^zoom` times as
  ///     many.
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

  /// The usual grid of web maps: EPSG:3857, with one tile of the whole world at zoom 0.
  public static func webMercator(_ name: LayerID, zooms: ClosedRange<Int>) -> TilePyramid {
    let edge = 20_037_508.342789244
    return TilePyramid(
      name, srs: SRS("EPSG", 3857),
      bounds: Envelope(minX: -edge, minY: -edge, maxX: edge, maxY: edge), zooms: zooms)
  }

  public func matrix(zoom: Int) -> TileMatrix? { matrices.first { $0.zoom == zoom } }

  /// The area of a tile; `nil` for an address outside the matrix.
  public func envelope(of address: TileAddress) -> Envelope? {
    guard let matrix = matrix(zoom: address.zoom), matrix.contains(address) else { return nil }
    let (width, height) = (matrix.tileUnitsWide, matrix.tileUnitsHigh)
    let left = bounds.minX + Double(address.column) * width
    let top = bounds.maxY - Double(address.row) * height
    return Envelope(minX: left, minY: top - height, maxX: left + width, maxY: top)
  }

  /// The tile at a position in the units of ``srs``; `nil` outside the matrix.
  ///
  /// A position on an edge belongs to the tile on its right and below. On the far edges of the
  /// matrix it belongs to the last tiles.
  public func address(x: Double, y: Double, zoom: Int) -> TileAddress? {
    guard let matrix = matrix(zoom: zoom), x >= bounds.minX, x <= bounds.maxX, y >= bounds.minY,
      y <= bounds.maxY
    else { return nil }
    func index(_ distance: Double, _ size: Double, _ count: Int) -> Int? {
      let position = (distance / size).rounded(.down)
      guard count > 0, let whole = Int(exactly: position) else { return nil }
      return min(whole, count - 1)
    }
    guard let column = index(x - bounds.minX, matrix.tileUnitsWide, matrix.width),
      let row = index(bounds.maxY - y, matrix.tileUnitsHigh, matrix.height)
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

/// The address of a tile in its pyramid. Rows count from the top.
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

/// A tile's bytes with their media type.
public struct Tile: Hashable, Sendable {
  public var address: TileAddress
  /// Such as `image/png`, detected from the bytes; `nil` for what is not known.
  public var mediaType: String?
  public var bytes: [UInt8]

  public init(address: TileAddress, mediaType: String?, bytes: [UInt8]) {
    self.address = address
    self.mediaType = mediaType
    self.bytes = bytes
  }
}
