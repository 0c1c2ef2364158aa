/// What goes into a vector tile.
public struct VectorTileOptions: Hashable, Sendable {
  /// How many steps a side of the tile has; positions are rounded to them.
  public var extent: Int
  /// How far geometries reach beyond the tile, in steps.
  public var buffer: Int
  /// The attributes of the features, by the names of their columns; `nil` for all, without blobs.
  public var properties: [String]?
  /// How many features the tile has at most; `nil` for as many as there are.
  public var budget: Int?

  /// - Precondition: `extent` is 1 to 65,536, `buffer` 0 to `extent`, and `budget` not negative.
  public init(
    extent: Int = 4_096, buffer: Int = 64, properties: [String]? = nil, budget: Int? = nil
  ) {
    precondition(1...65_536 ~= extent && 0...extent ~= buffer && budget ?? 0 >= 0)
    self.extent = extent
    self.buffer = buffer
    self.properties = properties
    self.budget = budget
  }
}

/// A tile of a web map with features: a Mapbox Vector Tile of version 2.1.
///
/// It has one layer named as the layer of the store. Where features were left out because of a budget,
/// a second layer `NAME:thinned` has one point in the middle of the tile with two properties: `shown`,
/// the number of features in the tile, and `of`, how many there are.
public struct VectorTile: Hashable, Sendable {
  public static let mediaType = "application/vnd.mapbox-vector-tile"

  /// Without a byte where nothing is in the tile, which is a valid tile.
  public let bytes: [UInt8]
  /// The number of features of the layer. A geometry collection gives one feature for points, one for
  /// lines and one for polygons.
  public let featureCount: Int
  /// How many features of the layer touch the tile and its buffer by their envelopes, where
  /// a budget left some out; else `nil`.
  public let thinnedFrom: Int?
  /// The number of features that are left out because their geometry cannot be read or has no place on
  /// the grid of web maps.
  public let skippedCount: Int

  public var isThinned: Bool { thinnedFrom != nil }
}
