public import FieldpackCore
import FieldpackField
public import FieldpackGeoPackage
import FieldpackHTTP

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Serves a GeoPackage by HTTP, as OGC API Features.
///
///     let server = FieldServer(of: store)
///     let address = try server.listen(on: ListenAddress())
///     …
///     await server.close()
///
/// It needs libmicrohttpd: a build without the package trait `Server` has the type, but does not listen.
public final class FieldServer: Sendable {
  public struct Options: Sendable {
    /// What the landing page is called.
    public var title = "Fieldpack"
    /// The address that clients know the server by, where a proxy stands before it.
    public var publicURL: String?
    /// Whether clients may create, change and delete features, and other copies of the file may bring their
    /// edits to `/sync`. A file that cannot be written is only read.
    public var isWritable = false
    /// Whether a change of a feature needs `If-Match` with the entity tag of the feature as it was read.
    public var requiresIfMatch = false
    /// What is watched in the positions that devices send to `/fixes`, where the server is writable.
    public var positions = PositionOptions()
    /// Gets what clients are not told of failures.
    public var logger = Logger.silent

    public init() {}
  }

  private let file: ServedFile
  private let options: Options
  private let events: EventHub
  private let fixes: FixIntake
  #if Server
    private let listener = Locked<ServerListener?>(nil)
  #endif

  public init(of store: GeoPackageStore, options: Options = Options()) {
    self.options = options
    var documents = ServerDocuments.Options(title: options.title)
    documents.isWritable = options.isWritable && access(store.path, W_OK) == 0
    documents.requiresIfMatch = options.requiresIfMatch
    documents.hasMap = true
    file = ServedFile(store, documents) { FieldClock.system.uptime }
    events = EventHub(of: store, logger: options.logger)
    fixes = FixIntake(of: store, options.positions, logger: options.logger)
  }

  /// Begins to answer requests.
  ///
  /// - Returns: the address, with the port that was free where 0 was asked for.
  /// - Throws: `.unavailable`, `.permission`, `.invalidArgument` for a public address that is none, and
  ///   `.unsupported` in a build without the trait `Server`.
  public func listen(on address: ListenAddress) throws(FieldpackError) -> ListenAddress {
    #if Server
      let router = ServerRouter(
        file, events: events, fixes: fixes, publicBase: options.publicURL.map { LinkBase($0) },
        hosts: try hosts(address), isWritable: options.isWritable, logger: options.logger)
      let listener = try ServerListener(address, handler: router)
      self.listener.withLock { $0 = listener }
      var address = address
      address.port = listener.port
      return address
    #else
      throw FieldpackError(
        .unsupported,
        "this build of Fieldpack cannot listen. Try: install libmicrohttpd-dev, and build with the "
          + "package trait Server")
    #endif
  }

  #if Server
    /// The names that clients may ask for; `nil` for any, where other machines can reach the address. A
    /// proxy may ask for the name that its clients know.
    private func hosts(_ address: ListenAddress) throws(FieldpackError) -> Set<String>? {
      var hosts: Set<String> = ["localhost", "127.0.0.1", "[::1]", address.host]
      if let url = options.publicURL { hosts.insert(try HTTPAddress(url).host) }
      return address.isLoopback ? hosts : nil
    }
  #endif

  /// Answers the requests that run, and closes all connections. The store stays open.
  public func close() async {
    await events.close()
    #if Server
      await listener.withLock { $0 }?.close()
    #endif
    await fixes.close()
    file.close()
  }
}
