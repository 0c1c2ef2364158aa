public import Fieldpack
public import FieldpackCore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// `postgis.1`: the tables of a schema in a PostgreSQL database with PostGIS.
///
///     var registry = StoreRegistry.standard
///     registry.register(PostGISStoreType.self)
///     let workspace = try await Workspace.open([config], registry: registry)
///
/// It needs libpq: a build without the package trait `PostGIS` has the type, but opens nothing.
public struct PostGISStoreType: StoreType {
  public static let identifier = "postgis.1"
  public static let downloadsFile = false

  /// Connects once, so that a wrong address fails here.
  ///
  /// - Throws: `.unsupported` in a build without the trait `PostGIS`; `.configuration` for a config that
  ///   is not right, such as one with a password; `.unavailable` and `.permission` as the server answers.
  public static func open(
    _ config: StoreConfig, in context: StoreContext
  ) async throws(FieldpackError) -> any Store {
    #if PostGIS
      var described = try PostGISConfig(config)
      if let descriptor = described.passwordDescriptor {
        described.address.password = try password(from: descriptor, config)
      }
      let store = PostGISStore(
        id: config.id, address: described.address, scope: described.scope,
        limits: described.limits, servers: try ShardServer.all(of: config), editor: context.editor)
      _ = try await store.catalogue()
      if let mode = described.address.unverifiedMode {
        context.logger.warning(
          "nobody knows whether this is the database that was meant",
          ["store": .text("\(config.id)"), "sslmode": .text(mode)])
      }
      return store
    #else
      _ = try PostGISConfig(config)
      throw config.failure(
        .unsupported,
        "stores on PostgreSQL need libpq, and this was built without. Try: a build with the package "
          + "trait PostGIS")
    #endif
  }

  /// The first line of what an open file gives.
  static func password(
    from descriptor: Int32, _ config: StoreConfig
  ) throws(FieldpackError) -> String {
    var bytes: [UInt8] = []
    var byte: UInt8 = 0
    while bytes.count <= 4_096 {
      let count = read(descriptor, &byte, 1)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else {
        throw config.failure(
          .configuration,
          "no password can be read from descriptor \(descriptor): \(String(cString: strerror(errno)))"
        )
      }
      if count == 0 || byte == UInt8(ascii: "\n") { break }
      bytes.append(byte)
    }
    if bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
    guard !bytes.isEmpty, bytes.count <= 4_096,
      let text = String(validating: bytes, as: UTF8.self)
    else {
      throw config.failure(
        .configuration, "descriptor \(descriptor) gives no password in its first line")
    }
    return text
  }
}
