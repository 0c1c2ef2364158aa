public import FieldpackCore
import FieldpackField
public import FieldpackGeoPackage
import FieldpackHTTP
import FieldpackSensors
public import FieldpackServices

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
/// The server needs libmicrohttpd: a build without the package trait `Server` has the type, but does not
/// listen.
public final class FieldServer: Sendable {
  public struct Options: Sendable {
    /// What the landing page is called.
    public var title = "Fieldpack"
    /// The address that clients know the server by, where a proxy stands before it.
    public var publicURL: String?
    /// Whether clients may create, change and delete features, other copies of the file may send their
    /// edits to `/sync`, and devices may send captures, motion and positions. A file that cannot be
    /// written is only read.
    public var isWritable = false
    /// Whether a change of a feature needs `If-Match` with the entity tag of the feature as it was read.
    public var requiresIfMatch = false
    /// Whether pages of other sites may load captures, as scripts at `/TOKEN/TOKEN.js`.
    public var hasPublicCaptures = false
    /// What the server watches in the positions that devices send to `/fixes`, where it is writable.
    public var positions = PositionOptions()
    /// Who may do what. Without tokens, clients of this machine may do everything, and where others reach
    /// the server, by the address, a public URL or a proxy, all clients may only read.
    public var tokens: AccessTokens?
    /// Whether clients without a token may read all layers but those about people.
    public var isOpen = false
    /// The requests per second of each token, or of each address where there are no tokens. Ten times as
    /// many may come at once.
    public var requestsPerSecond = 100
    /// The certificate, with which the server speaks only HTTPS; `nil` for HTTP.
    public var certificate: ServerCertificate?
    /// The sites whose pages may send requests, such as `https://map.example`.
    public var origins: Set<String> = []
    /// Whether a proxy stands before the server and names the client of each request.
    public var isBehindProxy = false
    /// The address of `/healthz`, `/readyz` and `/metrics`; `nil` for none.
    public var health: ListenAddress?
    /// Gets a line for each request, without anything secret.
    public var journal: (@Sendable (String) -> Void)?
    /// The services that get the events of the file.
    public var webhooks: [Webhook] = []
    /// Whether webhooks and brokers on other machines may get events without encryption.
    public var allowsUnencryptedWebhooks = false
    /// Makes what connects to the broker of a webhook, such as an `MQTTClient` of the library
    /// `FieldpackMQTT`; `nil` where no webhook has an address of MQTT.
    public var broker: (@Sendable () throws(FieldpackError) -> any MessageBroker)?
    /// The folder that keeps which events each webhook has got; `nil` for the folder of the user.
    public var stateFolder: String?
    /// What old apps and pages find at `/bridge` and under `/api/`.
    public var bridge: Bridge?
    /// A folder of bundles, whose pages are served under `/bundles/` with the bridge.
    public var bundles: String?
    /// Whether the server has a page at `/sensors`, where operators capture persons by biometric sensors. The
    /// server then asks sensors at the addresses that operators name.
    public var hasSensors = false
    /// Whether the file keeps what operators do at that page, in the layer `bio_interaction`.
    public var logsInteractions = false
    /// The cameras of this machine that operators may use as sensors at `cam://PATH`, such as `/dev/video0`.
    /// The picture or film of a path stands for a camera, too, and is shown to whoever may capture.
    public var cameras: Set<String> = []
    /// Whether memory that nobody uses goes back to the system while there are clients, which takes some
    /// milliseconds every few seconds: for a process that only serves.
    package var givesMemoryBack = false
    /// Gets the details of failures, which clients do not get.
    public var logger = Logger.silent

    public init() {}
  }

  private let published: PublishedStore
  private let options: Options
  private let events: EventHub
  /// What devices send; `nil` for a database, which takes none of it.
  private let intake: DeviceIntake?
  private let webhooks = WebhookService()
  private let apps: AppHost?
  private let desk: SensorDesk?
  #if Server
    private let listener = Locked<ServerListener?>(nil)
    private let health = Locked<ServerListener?>(nil)
  #endif

  public convenience init(of store: GeoPackageStore, options: Options = Options()) {
    var documents = Self.documents(options)
    documents.isWritable = options.isWritable && access(store.path, W_OK) == 0
    self.init(
      options, PublishedStore(store, documents) { FieldClock.system.uptime },
      DeviceIntake(of: store, options.positions, logger: options.logger),
      options.hasSensors ? Self.desk(of: store, options) : nil)
  }

  /// Serves a database. What devices send, sensors and the apps of a config are not offered then.
  package convenience init(
    ofDatabase database: any ServedDatabase, options: Options = Options()
  ) {
    var options = options
    (options.bridge, options.bundles, options.hasSensors) = (nil, nil, false)
    var documents = Self.documents(options)
    documents.isOfDatabase = true
    self.init(
      options, PublishedStore(database, documents) { FieldClock.system.uptime }, nil, nil)
  }

  private init(
    _ options: Options, _ published: PublishedStore, _ intake: DeviceIntake?, _ desk: SensorDesk?
  ) {
    (self.options, self.published) = (options, published)
    events = EventHub(following: published.followed(options.logger), logger: options.logger)
    (self.intake, self.desk) = (intake, desk)
    // Apps may change the stores of their config also where the served file is only read.
    apps = options.bridge.map { bridge in
      AppHost(
        bridge, bundles: options.bundles.map { BundleFolder($0) }, isWritable: options.isWritable)
    }
  }

  private static func documents(_ options: Options) -> ServerDocuments.Options {
    var documents = ServerDocuments.Options(title: options.title)
    documents.isWritable = options.isWritable
    documents.requiresIfMatch = options.requiresIfMatch
    documents.hasMap = true
    documents.hasSensors = options.hasSensors
    documents.hasTokens = options.tokens != nil
    documents.isOpen = options.isOpen
    documents.hasApps = options.bridge != nil
    documents.hasBundles = options.bridge != nil && options.bundles != nil
    documents.hasHealth = options.health != nil
    return documents
  }

  private static func desk(of store: GeoPackageStore, _ options: Options) -> SensorDesk? {
    do throws(FieldpackError) {
      let links = try SensorLinks(
        journal: GeoPackageJournal(store), cameras: .only(options.cameras))
      return SensorDesk(
        PersonCatalogue(store), links,
        interactions: InteractionLog(store, isOn: options.logsInteractions),
        logger: options.logger)
    } catch {
      options.logger.error("there is no page of sensors: \(error.message)")
      return nil
    }
  }

  /// Begins to answer requests.
  ///
  /// - Returns: the address, with the port that was free where 0 was asked for.
  /// - Throws: `.unavailable`, `.permission`, `.invalidArgument` for a public URL that is not one, and
  ///   `.unsupported` in a build without the trait `Server`.
  public func listen(on address: ListenAddress) throws(FieldpackError) -> ListenAddress {
    #if Server
      let router = ServerRouter(
        published, events: events, intake: intake, publicBase: try publicBase(),
        hosts: try hosts(address), origins: options.origins,
        scheme: options.certificate == nil ? "http" : "https",
        hasPublicCaptures: options.hasPublicCaptures, apps: apps, logger: options.logger,
        mapPage: MapPage(), desk: desk)
      try webhooks.start(options, of: published.content.place, hub: events)
      let gate = try gate(router, address)
      let needsJournal = options.health != nil || options.journal != nil
      let journal =
        needsJournal
        ? ServerJournal(uptime: { FieldClock.system.uptime }, line: options.journal) : nil
      var limits = ServerListener.Limits()
      // A token has a limit of its own, and behind a proxy all connections have one address.
      let isForAll = !address.isLoopback && options.tokens == nil && !options.isBehindProxy
      if isForAll { limits.connectionsPerAddress = 100 }
      let listener = try ServerListener(
        address, limits: limits, certificate: options.certificate, journal: journal, handler: gate
      ) { [published, options] in
        guard options.givesMemoryBack else { return }
        await published.giveBackMemory()
        ServerMemory.giveBack()
      }
      self.listener.withLock { $0 = listener }
      if let desk, published.options.isWritable {
        Task { [logger = options.logger] in
          do throws(FieldpackError) {
            try await desk.begin()
          } catch { logger.warning("what sensors had left is not done: \(error.message)") }
        }
      }
      if let place = options.health, let journal { try listenForHealth(on: place, journal) }
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

  /// The address of `/healthz`, `/readyz` and `/metrics`, with the port that was free where 0 was asked
  /// for.
  public var healthAddress: ListenAddress? {
    #if Server
      guard var address = options.health, let port = health.withLock({ $0 })?.port else {
        return nil
      }
      address.port = port
      return address
    #else
      return nil
    #endif
  }

  #if Server
    private func gate(
      _ router: ServerRouter, _ address: ListenAddress
    ) throws(FieldpackError) -> ServerGate {
      var rules = ServerGate.Rules()
      rules.tokens = options.tokens
      rules.origins = options.origins
      rules.isBehindProxy = options.isBehindProxy
      rules.perSecond = options.requestsPerSecond
      let isPublicEncrypted =
        try options.publicURL.map { (url) throws(FieldpackError) in
          try HTTPAddress(url).isEncrypted
        } ?? false
      rules.isEncrypted = options.certificate != nil || isPublicEncrypted
      if options.tokens != nil {
        rules.withoutToken = options.isOpen ? [.read(nil)] : nil
      } else {
        let isForOthers =
          try options.publicURL.map { (url) throws(FieldpackError) in
            try !HTTPAddress(url).isLoopback
          }
          ?? options.isBehindProxy
        rules.withoutToken = address.isLoopback && !isForOthers ? nil : [.read(nil)]
      }
      // A file of tokens that cannot be read fails now, and not with the first request.
      _ = try options.tokens?.all()
      return ServerGate(router, rules) { FieldClock.system.uptime }
    }

    private func listenForHealth(
      on address: ListenAddress, _ journal: ServerJournal
    ) throws(FieldpackError) {
      var limits = ServerListener.Limits()
      limits.connections = 100
      let (listener, webhooks) = (listener, webhooks)
      let handler = HealthHandler(
        published: published, journal: journal,
        connections: { listener.withLock { $0 }?.openConnections },
        switchedOff: { webhooks.switchedOff })
      let health = try ServerListener(address, limits: limits, handler: handler)
      self.health.withLock { $0 = health }
    }

    /// The public address with its scheme and host in small letters, as browsers write them.
    private func publicBase() throws(FieldpackError) -> LinkBase? {
      guard let url = options.publicURL else { return nil }
      let address = try HTTPAddress(url)
      return LinkBase(address.webOrigin + address.path)
    }

    /// The host names that requests may have; `nil` for any, where other machines can reach the address. A
    /// proxy may pass on the name that its clients know.
    private func hosts(_ address: ListenAddress) throws(FieldpackError) -> Set<String>? {
      var hosts: Set<String> = ["localhost", "127.0.0.1", "[::1]", address.host]
      if let url = options.publicURL { hosts.insert(try HTTPAddress(url).host) }
      return address.isLoopback ? hosts : nil
    }
  #endif

  /// Answers the requests that run, and closes all connections. The store stays open.
  public func close() async {
    await events.close()
    await webhooks.close()
    await apps?.close()
    await desk?.close()
    #if Server
      await listener.withLock { $0 }?.close()
      await health.withLock { $0 }?.close()
    #endif
    await intake?.fixes.close()
    published.close()
  }
}
