public import FieldpackCore
import FieldpackGeoPackage
import FieldpackHTTP
import FieldpackMedia

/// `xyz.1`: tiles of a web map, by an address such as `https://example.org/{z}/{x}/{y}.png`, or `{-y}`
/// where the server counts rows from the bottom.
///
/// The tiles that were fetched are kept in a GeoPackage in the store folder, and are given without a
/// network. The uri `grid:` makes tiles that show their own address. The store is a `RasterStore` and
/// has no features.
public struct XYZStoreType: StoreType {
  public static let identifier = "xyz.1"
  public static let downloadsFile = false

  private static let gridAddress = "grid:"

  public static func open(
    _ config: StoreConfig, in context: StoreContext
  ) async throws(FieldpackError) -> any Store {
    let isGrid = config.uri == gridAddress
    let most = isGrid ? 30 : TileCache.zooms.upperBound
    let zooms = "a whole number from 0 to \(most)"
    let low = try config.number("minZoom", in: 0...most, zooms) ?? 0
    let high = try config.number("maxZoom", in: 0...most, zooms) ?? (isGrid ? most : max(low, 19))
    guard low <= high else {
      throw config.failure(
        .configuration, "the option 'minZoom' of store '\(config.id)' is above its 'maxZoom'")
    }
    var pyramid = TilePyramid.webMercator(LayerID(config.id.rawValue), zooms: low...high)
    pyramid.title = config.name
    if isGrid {
      return TileStore(id: config.id, pyramid: pyramid) { (address) throws(FieldpackError) in
        let bytes = try PNGEncoder.bytes(of: GridPicture(address).bitmap)
        return Tile(address: address, mediaType: MediaType.png.rawValue, bytes: bytes)
      }
    }
    let template = try XYZTemplate(config)
    let room =
      try config.number("maxBytes", in: 1...Int.max, "a whole number above 0")
      ?? TileCache.standardRoom
    let cache = TileCache(
      path: try cachePath(of: config, in: context), store: config.id, source: template.digest,
      room: room, logger: context.logger)
    let fetcher = TileFetcher(
      store: config.id, template: template, client: try context.client(), cache: cache,
      logger: context.logger)
    return TileStore(id: config.id, pyramid: pyramid, end: fetcher.close) {
      (address) async throws(FieldpackError) in try await fetcher.tile(at: address)
    }
  }

  /// `ID.gpkg` in the store folder.
  private static func cachePath(
    of config: StoreConfig, in context: StoreContext
  ) throws(FieldpackError) -> String {
    var cache = config
    (cache.type, cache.uri) = ("gpkg", "https://")
    guard let path = try context.downloadPath(of: cache) else {
      throw config.failure(
        .configuration, "store '\(config.id)' needs a store folder, where its tiles are kept")
    }
    return path
  }
}

/// An address with places for zoom, x and y.
struct XYZTemplate: Sendable {
  private let text: String
  /// What a request has beside.
  let fields: HTTPFields

  init(_ config: StoreConfig) throws(FieldpackError) {
    (text, fields) = try config.request()
    guard config.isRemote else {
      throw config.failure(
        .configuration, "the uri of store '\(config.id)' begins with http or https, or is 'grid:'")
    }
    let rows = ["{y}", "{-y}"].count { text.contains($0) }
    guard text.contains("{z}"), text.contains("{x}"), rows == 1 else {
      throw config.failure(
        .configuration,
        "the uri of store '\(config.id)' has the places {z}, {x}, and {y} or {-y} for rows from the "
          + "bottom")
    }
    let rest = address(of: TileAddress(zoom: 0, column: 0, row: 0))
    guard !rest.contains(where: { $0 == "{" || $0 == "}" }) else {
      throw config.failure(
        .configuration,
        "the uri of store '\(config.id)' has a place that is not known (known: {z}, {x}, {y}, {-y})"
      )
    }
  }

  func address(of tile: TileAddress) -> String {
    text.replacing("{z}", with: "\(tile.zoom)").replacing("{x}", with: "\(tile.column)")
      .replacing("{y}", with: "\(tile.row)")
      .replacing("{-y}", with: "\((1 << tile.zoom) - 1 - tile.row)")
  }

  /// Tells tiles of one address from those of another, without what may be secret in it.
  var digest: String { SHA256.hex(Array(text.utf8)) }
}
