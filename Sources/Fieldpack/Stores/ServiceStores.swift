public import FieldpackCore
import FieldpackHTTP
import FieldpackWFS

/// `wfs.1.1.0`: the layers of a Web Feature Service of version 1.1.0, which are read.
///
/// The service is asked when a query needs it, so that the store opens without a network.
public struct WFS11StoreType: StoreType {
  public static let identifier = "wfs.1.1.0"
  public static let downloadsFile = false

  public static func open(
    _ config: StoreConfig, in context: StoreContext
  ) async throws(FieldpackError) -> any Store {
    try WFSStore(config, in: context, .wfs11)
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
    try WritableWFSStore(WFSStore(config, in: context, .wfs20))
  }
}

extension WFSStore {
  /// The default layers of the config are the workspace's affair.
  fileprivate convenience init(
    _ config: StoreConfig, in context: StoreContext, _ version: WFSVersion
  ) throws(FieldpackError) {
    guard config.isRemote else {
      throw config.failure(
        .configuration, "'\(config.uri)' is no address of a service: it begins with http or https")
    }
    // An answer may be read for longer than other exchanges take.
    var limits = try context.client().configuration
    limits.timeout = nil
    try self.init(
      address: config.uri, id: config.id, version: version, client: HTTPClient(limits),
      style: config.layerStyle, logger: context.logger)
  }
}
