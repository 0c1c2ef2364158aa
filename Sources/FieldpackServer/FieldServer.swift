public import FieldpackCore
import FieldpackField
public import FieldpackGeoPackage
import FieldpackHTTP
public import FieldpackServices

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
    /// Whether other copies of the file may bring their edits to `/sync`.
    public var isWritable = false
    /// What old apps and pages find at `/bridge` and under `/api/`.
    public var bridge: Bridge?
    /// A folder of bundles, whose pages are served under `/bundles/` with the bridge.
    public var bundles: String?
    /// Gets what clients are not told of failures.
    public var logger = Logger.silent

    public init() {}
  }

  private let file: ServedFile
  private let options: Options
  private let apps: AppHost?
  #if Server
    private let listener = Locked<ServerListener?>(nil)
  #endif

  public init(of store: GeoPackageStore, options: Options = Options()) {
    self.options = options
    apps = options.bridge.map { bridge in
      AppHost(
        bridge, bundles: options.bundles.map { BundleFolder($0) }, isWritable: options.isWritable)
    }
    file = ServedFile(store, .init(title: options.title)) { FieldClock.system.uptime }
  }

  /// Begins to answer requests.
  ///
  /// - Returns: the address, with the port that was free where 0 was asked for.
  /// - Throws: `.unavailable`, `.permission`, `.invalidArgument` for a public address that is none, and
  ///   `.unsupported` in a build without the trait `Server`.
  public func listen(on address: ListenAddress) throws(FieldpackError) -> ListenAddress {
    #if Server
      let router = ServerRouter(
        file, publicBase: options.publicURL.map { LinkBase($0) }, hosts: try hosts(address),
        isWritable: options.isWritable, apps: apps, logger: options.logger)
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
    await apps?.close()
    #if Server
      await listener.withLock { $0 }?.close()
    #endif
    file.close()
  }
}
