public import FieldpackCore
import FieldpackGeoPackage
import FoundationEssentials

/// `gpkg.1`: a GeoPackage, readable and, where its file can be written, writable.
///
/// With `"options": {"triggers": true}` the file's triggers run whatever they do; see
/// `OpeningProfile.runsTriggers`.
public struct GeoPackageStoreType: StoreType {
  public static let identifier = "gpkg.1"

  public static func open(_ config: StoreConfig) async throws(FieldpackError) -> any Store {
    let opening = StoreOpening.current
    var profile = OpeningProfile.foreign
    profile.runsTriggers = try config.flag("triggers") || opening.runsTriggers
    return try await GeoPackageStore(
      path: try config.localFile().path, id: config.id, profile: profile,
      usesWAL: opening.usesWAL, style: config.layerStyle, logger: opening.logger)
  }
}

extension StoreConfig {
  /// A member of the options that is true or false; absent, it is false.
  fileprivate func flag(_ name: String) throws(FieldpackError) -> Bool {
    switch options?[name]?.content {
    case nil, .null: return false
    case .boolean(let value): return value
    default: throw failure(.configuration, "the option '\(name)' of store '\(id)' is true or false")
    }
  }
}

/// `geojson.1`: a GeoJSON file with its one layer `default`.
public struct GeoJSONStoreType: StoreType {
  public static let identifier = "geojson.1"

  public static func open(_ config: StoreConfig) async throws(FieldpackError) -> any Store {
    try await FileStore(config, format: .geoJSON, layer: FileStore.defaultLayer)
  }
}

/// `gpx.1`: a GPX file with its layers.
public struct GPXStoreType: StoreType {
  public static let identifier = "gpx.1"

  public static func open(_ config: StoreConfig) async throws(FieldpackError) -> any Store {
    try await FileStore(config, format: .gpx)
  }
}

/// `csv.1`: a CSV file as one layer, named like the file.
public struct CSVStoreType: StoreType {
  public static let identifier = "csv.1"

  public static func open(_ config: StoreConfig) async throws(FieldpackError) -> any Store {
    try await FileStore(config, format: .csv)
  }
}

/// `fgb.1`: a FlatGeobuf file as one layer, named like the file.
public struct FlatGeobufStoreType: StoreType {
  public static let identifier = "fgb.1"

  public static func open(_ config: StoreConfig) async throws(FieldpackError) -> any Store {
    try await FileStore(config, format: .flatGeobuf)
  }
}

/// `shp.1`: a shapefile as one layer, named like the `.shp`, or a ZIP archive with one or more.
public struct ShapefileStoreType: StoreType {
  public static let identifier = "shp.1"

  public static func open(_ config: StoreConfig) async throws(FieldpackError) -> any Store {
    try await FileStore(config, format: .shapefile)
  }
}

/// `kml.1`: a KML or KMZ file with its layers.
public struct KMLStoreType: StoreType {
  public static let identifier = "kml.1"

  public static func open(_ config: StoreConfig) async throws(FieldpackError) -> any Store {
    let isPacked = Format.fileExtension(try config.localFile().path) == "kmz"
    return try await FileStore(config, format: isPacked ? .kmz : .kml)
  }
}

extension FileStore {
  convenience init(
    _ config: StoreConfig, format: Format, layer: LayerID? = nil
  ) async throws(FieldpackError) {
    var options = Options()
    options.format = format
    options.layer = layer
    options.cache = StoreOpening.current.cache
    options.style = config.layerStyle
    options.importing.logger = StoreOpening.current.logger
    try await self.init(path: try config.localFile().path, id: config.id, options: options)
  }
}

/// What a workspace decides for the stores that it opens.
struct StoreOpening: Sendable {
  var cache = CachePolicy.shared
  var usesWAL = true
  var runsTriggers = false
  var logger = Logger.silent

  @TaskLocal static var current = StoreOpening()
}

extension StoreRegistry {
  /// The built-in types: `csv.1`, `fgb.1`, `geojson.1`, `gpkg.1`, `gpx.1`, `kml.1` and `shp.1`.
  public static let standard = StoreRegistry([
    GeoPackageStoreType.self, GeoJSONStoreType.self, GPXStoreType.self, CSVStoreType.self,
    FlatGeobufStoreType.self, ShapefileStoreType.self, KMLStoreType.self,
  ])
}
