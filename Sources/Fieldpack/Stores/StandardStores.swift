public import FieldpackCore
import FieldpackGeoPackage

/// `gpkg.1`: a GeoPackage, readable and, where its file can be written, writable.
///
/// With `"options": {"triggers": true}` the file's triggers run whatever they do; see
/// `OpeningProfile.runsTriggers`.
public struct GeoPackageStoreType: StoreType {
  public static let identifier = "gpkg.1"

  public static func open(
    _ config: StoreConfig, in context: StoreContext
  ) async throws(FieldpackError) -> any Store {
    var profile = OpeningProfile.foreign
    profile.runsTriggers = try config.flag("triggers") || context.runsTriggers
    profile.editor = context.editor
    return try await GeoPackageStore(
      path: try context.file(of: config), id: config.id, profile: profile,
      usesWAL: context.usesWAL, style: config.layerStyle, logger: context.logger)
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

  public static func open(
    _ config: StoreConfig, in context: StoreContext
  ) async throws(FieldpackError) -> any Store {
    try await FileStore(config, in: context, format: .geoJSON, layer: FileStore.defaultLayer)
  }
}

/// `gpx.1`: a GPX file with its layers.
public struct GPXStoreType: StoreType {
  public static let identifier = "gpx.1"

  public static func open(
    _ config: StoreConfig, in context: StoreContext
  ) async throws(FieldpackError) -> any Store {
    try await FileStore(config, in: context, format: .gpx)
  }
}

/// `csv.1`: a CSV file as one layer, named like the file.
public struct CSVStoreType: StoreType {
  public static let identifier = "csv.1"

  public static func open(
    _ config: StoreConfig, in context: StoreContext
  ) async throws(FieldpackError) -> any Store {
    try await FileStore(config, in: context, format: .csv)
  }
}

/// `fgb.1`: a FlatGeobuf file as one layer, named like the file.
public struct FlatGeobufStoreType: StoreType {
  public static let identifier = "fgb.1"

  public static func open(
    _ config: StoreConfig, in context: StoreContext
  ) async throws(FieldpackError) -> any Store {
    try await FileStore(config, in: context, format: .flatGeobuf)
  }
}

/// `shp.1`: a shapefile as one layer, named like the `.shp`, or a ZIP archive with one or more.
public struct ShapefileStoreType: StoreType {
  public static let identifier = "shp.1"

  public static func open(
    _ config: StoreConfig, in context: StoreContext
  ) async throws(FieldpackError) -> any Store {
    try await FileStore(config, in: context, format: .shapefile)
  }
}

/// `kml.1`: a KML or KMZ file with its layers.
public struct KMLStoreType: StoreType {
  public static let identifier = "kml.1"

  public static func open(
    _ config: StoreConfig, in context: StoreContext
  ) async throws(FieldpackError) -> any Store {
    let isPacked = Format.fileExtension(try context.file(of: config)) == "kmz"
    return try await FileStore(config, in: context, format: isPacked ? .kmz : .kml)
  }
}

extension FileStore {
  convenience init(
    _ config: StoreConfig, in context: StoreContext, format: Format, layer: LayerID? = nil
  ) async throws(FieldpackError) {
    var options = Options()
    options.format = format
    options.layer = layer
    options.cache = context.cache
    options.style = config.layerStyle
    options.importing.logger = context.logger
    try await self.init(path: try context.file(of: config), id: config.id, options: options)
  }
}

extension StoreRegistry {
  /// The built-in types: `csv.1`, `fgb.1`, `geojson.1`, `gpkg.1`, `gpx.1`, `kml.1`, `shp.1`,
  /// `wfs.1.1.0`, `wfs.2.0.0` and `xyz.1`; in the tool also `postgis.1`.
  public static var standard: StoreRegistry { StoreRegistry(builtIn + added.withLock { $0 }) }

  private static let builtIn: [any StoreType.Type] = [
    GeoPackageStoreType.self, GeoJSONStoreType.self, GPXStoreType.self, CSVStoreType.self,
    FlatGeobufStoreType.self, ShapefileStoreType.self, KMLStoreType.self, WFS11StoreType.self,
    WFS20StoreType.self, XYZStoreType.self,
  ]

  private static let added = Locked<[any StoreType.Type]>([])

  /// Adds a type of another module to those that every workspace of this process knows.
  package static func addToStandard(_ type: any StoreType.Type) {
    added.withLock { $0.append(type) }
  }
}
