public import FieldpackCore
import FieldpackHTTP
import FieldpackWFS

/// A type of services whose stores can be copied whole, and answer from the copy.
package protocol CopiedStoreType: StoreType {
  /// Writes the layers that a config asks for to a new GeoPackage.
  static func copy(
    _ config: StoreConfig, to path: String, maximumLength: Int, in context: StoreContext
  ) async throws(FieldpackError)
}

extension StoreRegistry {
  /// Whether a store is opened from a file that comes from its server.
  package func downloadsFile(_ config: StoreConfig) throws(FieldpackError) -> Bool {
    let type = try type(of: config)
    if type.downloadsFile { return true }
    guard type is any CopiedStoreType.Type else { return false }
    return try config.polling() != nil
  }
}

/// `wfs.1.1.0`: the layers of a Web Feature Service of version 1.1.0, which are read.
///
/// The service is asked when a query needs it, so that the store opens without a network.
public struct WFS11StoreType: StoreType {
  public static let identifier = "wfs.1.1.0"
  public static let downloadsFile = false

  public static func open(
    _ config: StoreConfig, in context: StoreContext
  ) async throws(FieldpackError) -> any Store {
    if try config.polling() != nil { return try await FileStore(copyFor: config, in: context) }
    return try WFSStore(config, in: context, .wfs11)
  }
}

extension WFS11StoreType: CopiedStoreType {
  package static func copy(
    _ config: StoreConfig, to path: String, maximumLength: Int, in context: StoreContext
  ) async throws(FieldpackError) {
    try await WFSStore(config, in: context, .wfs11)
      .copy(config.defaultLayers, to: path, maximumLength: maximumLength)
  }
}

/// `wfs.2.0.0`: the layers of a Web Feature Service of version 2.0.0, which can be changed where the
/// service takes transactions.
///
/// The service is asked when a query needs it, so that the store opens without a network.
public struct WFS20StoreType: StoreType {
  public static let identifier = "wfs.2.0.0"
  public static let downloadsFile = false

  public static func open(
    _ config: StoreConfig, in context: StoreContext
  ) async throws(FieldpackError) -> any Store {
    if try config.polling() != nil { return try await FileStore(copyFor: config, in: context) }
    return try WritableWFSStore(WFSStore(config, in: context, .wfs20))
  }
}

extension WFS20StoreType: CopiedStoreType {
  package static func copy(
    _ config: StoreConfig, to path: String, maximumLength: Int, in context: StoreContext
  ) async throws(FieldpackError) {
    try await WFSStore(config, in: context, .wfs20)
      .copy(config.defaultLayers, to: path, maximumLength: maximumLength)
  }
}

extension FileStore {
  fileprivate convenience init(
    copyFor config: StoreConfig, in context: StoreContext
  ) async throws(FieldpackError) {
    try await self.init(
      copyOf: try context.file(of: config), id: config.id, style: config.layerStyle,
      logger: context.logger)
  }
}

extension WFSStore {
  /// The default layers of the config are the workspace's affair.
  fileprivate convenience init(
    _ config: StoreConfig, in context: StoreContext, _ version: WFSVersion
  ) throws(FieldpackError) {
    guard config.isRemote else {
      throw config.failure(
        .configuration,
        "'\(config.shownURI)' is no address of a service: it begins with http or https")
    }
    let request = try config.request()
    // An answer may be read for longer than other exchanges take.
    var limits = try context.client().configuration
    limits.timeout = nil
    try self.init(
      address: request.address, id: config.id, version: version, client: HTTPClient(limits),
      fields: request.fields, style: config.layerStyle, logger: context.logger)
  }
}
