public import FieldpackCore
public import FieldpackGeoPackage
public import FoundationEssentials

/// The stores opened from one or more `.scfg`, asked and changed together.
///
///     let workspace = try await Workspace.open([config])
///     var names: [String] = []
///     for try await well in try await workspace.query(Query("wells").limit(3)).features {
///       names.append(well[Column<String>("name")] ?? "")
///     }
///     await workspace.close()
public actor Workspace {
  /// A store of the workspace and whether it answers.
  public struct Member: Sendable {
    public let config: StoreConfig
    public let store: (any Store)?
    public let state: StoreState

    public var id: StoreID { config.id }
  }

  /// The stores in config order.
  public nonisolated let members: [Member]
  /// The forms of the configs.
  public nonisolated let forms: [FormConfig]
  /// The backend that the configs name.
  public nonisolated let remote: RemoteConfig?
  /// Diagnostics of the configs: unknown keys, collisions and the like.
  public nonisolated let diagnostics: [ConfigDiagnostic]
  nonisolated let hub = ChangeHub()
  private var isClosed = false

  /// - Parameter config: what stands beside the stores; `nil` where no config names them.
  init(members: [Member], config: WorkspaceConfig? = nil) {
    self.members = members
    forms = config?.forms ?? []
    remote = config?.remote
    diagnostics = config?.diagnostics ?? []
    for member in members {
      member.store?.geoPackage?.observe { [hub] in hub.publish($0, of: member.id) }
    }
  }

  /// Opens every store of the configs; a store that cannot be opened is a failed member.
  ///
  /// - Parameters:
  ///   - configs: `.scfg` files, or folders whose `*.scfg` are loaded by file name; of stores with
  ///     one id the last loaded counts.
  ///   - allowing: folders that uris may lead to beside each config's own.
  ///   - stores: the only stores to open, `nil` for all; the others are members that stay closed.
  ///   - registry: the store types at hand.
  ///   - cache: where GeoJSON, GPX and CSV stores keep their GeoPackages.
  ///   - usesWAL: whether GeoPackages are in WAL mode from their first change until ``close()``.
  ///   - runsTriggers: lets all triggers of all GeoPackages run, see `OpeningProfile.runsTriggers`.
  ///   - logger: gets what is opened and how long that takes, but no values.
  /// - Throws: `.notFound` or `.invalidData` for a config that cannot be read, `.interrupted` when the
  ///   task is cancelled.
  public static func open(
    _ configs: [URL], allowing: [URL] = [], only stores: [StoreID]? = nil,
    registry: StoreRegistry = .standard, cache: CachePolicy = .shared, usesWAL: Bool = true,
    runsTriggers: Bool = false, logger: Logger = .silent
  ) async throws(FieldpackError) -> Workspace {
    let config = try WorkspaceConfig(configs, allowing: allowing)
    let workspace = await open(
      config, only: stores, registry: registry, cache: cache, usesWAL: usesWAL,
      runsTriggers: runsTriggers, logger: logger)
    for member in workspace.members {
      guard case .failed(let error) = member.state, error.code == .interrupted else { continue }
      await workspace.close()
      throw error
    }
    return workspace
  }

  /// Opens the stores of a config that was read before. When the task is cancelled, stores that are
  /// not open by then become failed members with the code `.interrupted` and stay so.
  public static func open(
    _ config: WorkspaceConfig, only stores: [StoreID]? = nil, registry: StoreRegistry = .standard,
    cache: CachePolicy = .shared, usesWAL: Bool = true, runsTriggers: Bool = false,
    logger: Logger = .silent
  ) async -> Workspace {
    let opening = StoreOpening(
      cache: cache, usesWAL: usesWAL, runsTriggers: runsTriggers, logger: logger)
    let members = await StoreOpening.$current.withValue(opening) {
      var members: [Member] = []
      for store in config.stores {
        members.append(
          stores?.contains(store.id) ?? true
            ? await Self.opened(store, registry)
            : Member(config: store, store: nil, state: .notAsked))
      }
      return members
    }
    return Workspace(members: members, config: config)
  }

  private static func opened(_ config: StoreConfig, _ registry: StoreRegistry) async -> Member {
    let log = OpeningLog(config, StoreOpening.current.logger)
    do throws(FieldpackError) {
      let store = try await log.store { () async throws(FieldpackError) in
        try await registry.open(config)
      }
      return Member(config: config, store: store, state: .open)
    } catch {
      return Member(config: config, store: nil, state: .failed(error))
    }
  }

  /// Opens one file as a workspace of one store, whose id is the file's name without extension.
  ///
  /// - Throws: what opening the file throws.
  public static func open(
    file: URL, id: StoreID? = nil, options: FileStore.Options = .init(), usesWAL: Bool = true,
    profile: OpeningProfile = .foreign, logger: Logger = .silent
  ) async throws(FieldpackError) -> Workspace {
    try await open(
      path: file.path, id: id, options: options, usesWAL: usesWAL, profile: profile,
      logger: logger)
  }

  /// Opens the file at a path as its user typed it, which is how errors name it.
  static func open(
    path: String, id: StoreID? = nil, options: FileStore.Options, usesWAL: Bool,
    profile: OpeningProfile = .foreign, logger: Logger
  ) async throws(FieldpackError) -> Workspace {
    let id = id ?? StoreID(Importer.stem(path).rawValue)
    let format =
      if let given = options.format { given } else {
        try Format.detect(try ByteInput(path: path, name: options.name))
      }
    let config = StoreConfig(id: id, type: format.name, uri: path)
    var options = options
    options.importing.logger = logger
    let store = try await OpeningLog(config, logger).store {
      [options] () async throws(FieldpackError) -> any Store in
      format == .geoPackage
        ? try await GeoPackageStore(
          path: path, id: id, profile: profile, usesWAL: usesWAL, logger: logger)
        : try await FileStore(path: path, id: id, options: options)
    }
    return Workspace(members: [Member(config: config, store: store, state: .open)])
  }

  /// The store of that id.
  ///
  /// - Throws: `.notFound`, listing the ids, or the reason why the store could not be opened.
  public nonisolated func store(_ id: StoreID) throws(FieldpackError) -> any Store {
    guard let member = members.first(where: { $0.id == id }) else {
      let known = members.map(\.id.rawValue).joined(separator: ", ")
      throw FieldpackError(
        .notFound,
        "store '\(id)' is not in the workspace (it has: \(known.isEmpty ? "none" : known))",
        location: .init(store: id))
    }
    if case .failed(let error) = member.state { throw error }
    if let store = member.store { return store }
    throw FieldpackError(
      .unavailable, "store '\(id)' is closed: the workspace was opened for other stores only",
      location: .init(store: id))
  }

  /// The store of that id for writing. What is written is told by ``changes(matching:polling:)``.
  ///
  /// - Throws: as ``store(_:)``; `.readOnly` for a store that takes no changes.
  public nonisolated func writableStore(
    _ id: StoreID
  ) throws(FieldpackError) -> any WritableStore {
    if let store = try store(id) as? any WritableStore {
      return store.geoPackage ?? ObservedStore(store, hub)
    }
    throw FieldpackError(
      .readOnly, "store '\(id)' cannot be changed", advice: .importIntoGeoPackage,
      location: .init(store: id))
  }

  /// Ends all work and closes the stores. Their files are left in the journal mode in which they
  /// came.
  public func close() async {
    guard !isClosed else { return }
    isClosed = true
    hub.stopWatching()
    for member in members { await member.store?.close() }
    hub.finish()
  }
}
