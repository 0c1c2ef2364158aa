import Fieldpack
import FieldpackCore
import FieldpackGeoPackage
import FieldpackServer
import FieldpackServices

extension FieldpackTool {
  static var serveCommand: Command {
    Command(
      "serve", abstract: "Serve the layers of a GeoPackage or a database by HTTP.",
      discussion: """
        Clients read the layers as OGC API Features: QGIS, ogr2ogr and browsers use the address \
        that is printed. Features come as GeoJSON, HTML, GeoJSON lines, CSV, GPX and GeoPackages, \
        and conditions are CQL2. A browser shows the layers on a map, too, which needs Debian's \
        package libjs-leaflet on the server. At /events clients follow what happens in the file, \
        as server-sent events; webhooks get the same by POST, and brokers of MQTT as messages.

        Without --writable the command only reads the file. With --writable clients create, change \
        and delete features, and 'fieldpack sync' sends the edits of copies to /sync. Devices send \
        captures to /upload, motion to /motion, and positions to /fixes, where regions and \
        distances are watched as by 'fieldpack monitor --record'. Other programs may change the \
        file meanwhile.

        CONFIG:STORE serves a store on PostgreSQL of a config in the same way. Captures, motion, \
        positions, sensors and the apps of --config are for GeoPackages alone, and a user who may \
        only read the tables serves them for reading.

        With --config old apps find the stores and forms of a config: their pages at /bridge, the \
        clients of SpatialConnect's server under /api/. The apps of --bundles, a folder of ZIP \
        archives with pages, are under /bundles/. --fixes tells them where this device is.

        The command runs until it is interrupted. It then answers the requests that it has begun, \
        and ends with status 0. Only programs of this machine can connect, unless --listen names \
        another of its addresses. Such an address needs --token-file, which says who may do what, \
        or --open, with which everybody may read. With both, clients without a token may read. \
        Tokens go to other machines only by TLS, or through a proxy.
        """,
      examples: [
        "fieldpack serve field.gpkg", "fieldpack serve field.gpkg --listen 127.0.0.1:0 --json",
        "fieldpack serve field.gpkg --listen 0.0.0.0:443 --token-file tokens.json --tls-cert c.pem "
          + "--tls-key k.pem --writable",
        "fieldpack serve team.scfg:survey --writable",
        "fieldpack serve field.gpkg --config survey.scfg --bundles apps --writable",
        "curl 'http://127.0.0.1:8085/collections/wells/items?filter=depth>20'",
      ],
      family: positionsFamily, body: ServeCommand.self)
  }
}

/// `fieldpack serve`.
struct ServeCommand: CommandBody {
  struct Options: OptionGroup {
    @Required var source: SourceName
    let address: ListenAddress?
    let access: ServeAccess
    let isWritable: Bool
    let requiresIfMatch: Bool
    let live: LiveArguments
    let hasPublicCaptures: Bool
    let hasSensors: Bool
    let logsInteractions: Bool
    let cameras: [String]
    let config: String?
    let bundles: String?
    let positions: PositionArguments
    let allowsPaths: [String]
    let profile: OpeningProfile

    init(_ reader: inout OptionReader) {
      _source = reader.argument(
        .fileOrStore, help: "The GeoPackage to serve, or CONFIG:STORE.")
      address = reader.value(
        "listen", .address, help: "Where to listen; port 0 is a free one. (default: 127.0.0.1:8085)"
      )
      access = reader.group()
      isWritable = reader.flag(
        "writable",
        help: "Let clients change features, copies send their edits, and devices send data.")
      requiresIfMatch = reader.flag(
        "require-if-match",
        help: "Refuse a change of a feature that does not say, by If-Match, which state it changes."
      )
      hasPublicCaptures = reader.flag(
        "public-captures", help: "Let pages of other sites load captures, as scripts.")
      hasSensors = reader.flag(
        "sensors",
        help: "Let operators capture persons by biometric sensors, whose addresses they name.")
      logsInteractions = reader.flag(
        "log-interactions",
        help: "With --sensors: log in the file what operators click, the person or item, the time.")
      cameras = reader.values(
        "camera", .text("path"),
        help: "Let operators capture with this camera, at cam://PATH; may be repeated.")
      live = reader.group()
      config = reader.value(
        "config", .text("config", completion: .source(["scfg"])),
        help: "The .scfg with the stores and forms of old apps."
      ).map(ShellWord.expandingHome)
      bundles = reader.value(
        "bundles", .text("folder", completion: .folder),
        help: "A folder of apps, a ZIP archive each; with --config.")
      positions = reader.group()
      allowsPaths = reader.allowedPaths()
      profile = reader.editingProfile()
    }
  }

  let invocation: Invocation
  let options: Options

  func run() async throws(FieldpackError) -> Int32 {
    ServerMemory.spare()
    let address = options.address ?? ListenAddress()
    try options.access.check(address, isWritable: options.isWritable, source: shownSource)
    if options.source.isConfig { return try await serveDatabase(at: address) }
    try checkSensors()
    try checkApps(address)
    try options.live.check()
    OpenFiles.allowMost()
    let webhooks = try options.live.allWebhooks()
    var profile = options.profile
    profile.mapsReads = true
    return try await invocation.withGeoPackage(options.source.path, profile) {
      (store) throws(FieldpackError) in
      try await invocation.withPositions(options.positions) {
        (positions) throws(FieldpackError) in
        try await serve(store, at: address, webhooks, with: positions)
      }
    }
  }

  /// Serves the file while the services of the config run.
  private func serve(
    _ store: GeoPackageStore, at address: ListenAddress, _ webhooks: [Webhook],
    with positions: (any LocationSource)?
  ) async throws(FieldpackError) -> Int32 {
    let services = try await services(positions)
    do throws(FieldpackError) {
      let bridge = services?.bridge
      let status = try await serve(store.id, at: address, webhooks, bridge) { settings in
        FieldServer(of: store, options: settings)
      }
      if let failure = await services?.location?.failure { invocation.console.note("\(failure)") }
      _ = await services?.stop()
      return status
    } catch {
      _ = await services?.stop()
      throw error
    }
  }

  private func checkSensors() throws(FieldpackError) {
    guard options.hasSensors || !options.logsInteractions else {
      throw FieldpackError(
        .invalidArgument,
        "--log-interactions logs what operators click on the page of sensors. Try: --sensors")
    }
    guard options.hasSensors || options.cameras.isEmpty else {
      throw FieldpackError(
        .invalidArgument, "--camera is for the page of an operator. Try: --sensors")
    }
    if let name = options.cameras.first(where: { !$0.hasPrefix("/") }) {
      throw FieldpackError(
        .invalidArgument,
        "--camera '\(name)' is no whole path, which begins with /. Try: --camera /dev/video0")
    }
  }

  private func checkApps(_ address: ListenAddress) throws(FieldpackError) {
    let isForApps =
      options.bundles != nil || options.positions.name != nil || !options.allowsPaths.isEmpty
    guard options.config != nil || !isForApps else {
      throw FieldpackError(
        .invalidArgument,
        "--bundles, --fixes and --allow-path need the stores of a config. Try: --config survey.scfg"
      )
    }
    let isForOthers = try options.access.addressForOthers != nil
    guard (address.isLoopback && !isForOthers) || options.config == nil else {
      throw FieldpackError(
        .invalidArgument,
        "--config is for addresses of this machine alone, such as 127.0.0.1, because whoever "
          + "reaches the server uses the stores and the sign-in of the config")
    }
    guard let folder = options.bundles else { return }
    guard FileSystem.isFolder(folder) else {
      throw FieldpackError(
        .notFound, "there is no folder \(folder)", position: FilePosition(file: folder))
    }
  }

  /// The services of the config, which run.
  private func services(
    _ positions: (any LocationSource)?
  ) async throws(FieldpackError) -> StartedServices? {
    guard let config = options.config else { return nil }
    _ = try WorkspaceConfig([config], allowing: options.allowsPaths)
    var context = StoreContext()
    context.logger = invocation.logger
    let services = try await StartedServices(
      config, allowing: options.allowsPaths, in: context, connects: true, positions: positions)
    await services.start()
    for failure in await services.configs.failures { invocation.console.note(failure.text) }
    return services
  }

  /// Serves until the command is interrupted.
  func serve(
    _ store: StoreID, at address: ListenAddress, _ webhooks: [Webhook], _ bridge: Bridge?,
    _ make: (FieldServer.Options) -> FieldServer
  ) async throws(FieldpackError) -> Int32 {
    var settings = FieldServer.Options()
    settings.title = store.rawValue
    settings.isWritable = options.isWritable
    settings.requiresIfMatch = options.requiresIfMatch
    settings.positions = options.live.positions
    (settings.webhooks, settings.broker) = (webhooks, options.live.broker)
    settings.allowsUnencryptedWebhooks = options.live.isInsecure
    settings.hasPublicCaptures = options.hasPublicCaptures
    settings.hasSensors = options.hasSensors
    settings.logsInteractions = options.logsInteractions
    settings.cameras = Set(options.cameras)
    (settings.bridge, settings.bundles) = (bridge, options.bundles)
    settings.logger = invocation.logger
    settings.givesMemoryBack = true
    try options.access.apply(to: &settings, invocation.console)
    let server = make(settings)
    let listening = try server.listen(on: address)
    let url = options.access.url(of: listening)
    let base = url.hasSuffix("/") ? url : url + "/"
    let map = base + "map"
    let sensors = options.hasSensors ? base + "sensors" : nil
    do throws(FieldpackError) {
      if invocation.isJSON {
        try invocation.print(
          .members([
            "address": .text(url), "map": .text(map), "sensors": sensors.map { .text($0) },
            "health": server.healthAddress.map { .text("http://\($0)/") },
          ]))
      } else {
        let more = sensors.map { "sensors at \($0)\n" } ?? ""
        try invocation.print("serving \(shownSource) at \(url)\nmap at \(map)\n\(more)")
      }
      try invocation.output.flush()
    } catch {
      await server.close()
      throw error
    }
    while !Task.isCancelled { try? await Task.sleep(for: .seconds(3600)) }
    await server.close()
    return ExitStatus.success
  }
}
