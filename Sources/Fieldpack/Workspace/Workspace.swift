public import FieldpackCore
public import FieldpackGeoPackage

/// The stores opened from one or more `.scfg`, asked and changed together.
///
///     let workspace = try await Workspace.open([config])
///     var names: [String] = []
///     for try await well in try await workspace.query(Query("wells").limit(3)).features {
///       names.append(well[Column<String>("name")] ?? "")
///     }
///     await workspace.close()
public actor Workspace {
  /// A store of the workspace and whether it answers, at one moment.
  public struct Member: Sendable {
    public let config: StoreConfig
    public let state: StoreState
    /// The store while it is open, also where it is paused.
    let kept: (any Store)?
    /// Which of the openings of the workspace's stores it comes from.
    let opening: Int

    public var id: StoreID { config.id }

    /// The store, where it answers.
    public var store: (any Store)? {
      if case .open = state { kept } else { nil }
    }

    init(config: StoreConfig, store: (any Store)? = nil, state: StoreState, opening: Int = 0) {
      self.config = config
      self.state = state
      kept = store
      self.opening = opening
    }
  }

  nonisolated let table: Locked<MemberTable>
  nonisolated let hub = ChangeHub()
  nonisolated let registry: StoreRegistry
  nonisolated let context: StoreContext

  /// The stores in config order.
  public nonisolated var members: [Member] { table.withLock { $0.members } }
  /// The forms of the configs.
  public nonisolated var forms: [FormConfig] { table.withLock { $0.config?.forms ?? [] } }
  /// The backend that the configs name.
  public nonisolated var remote: RemoteConfig? { table.withLock { $0.config?.remote } }
  /// Diagnostics of the configs: unknown keys, collisions and the like.
  public nonisolated var diagnostics: [ConfigDiagnostic] {
    table.withLock { $0.config?.diagnostics ?? [] }
  }

  /// - Parameter config: what stands beside the stores; `nil` where no config names them.
  package init(
    members: [Member] = [], config: WorkspaceConfig? = nil, registry: StoreRegistry = .standard,
    context: StoreContext = StoreContext()
  ) {
    table = Locked(MemberTable(members: members, config: config))
    self.registry = registry
    self.context = context
    for member in members {
      if let store = member.kept { observe(store) }
    }
  }

  /// Tells the subscribers what is written to a store.
  package nonisolated func observe(_ store: any Store) {
    store.observedFile?.observe { [hub, id = store.id] in hub.publish($0, of: id) }
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
    _ configs: [String], allowing: [String] = [], only stores: [StoreID]? = nil,
    registry: StoreRegistry = .standard, cache: CachePolicy = .shared, usesWAL: Bool = true,
    runsTriggers: Bool = false, logger: Logger = .silent
  ) async throws(FieldpackError) -> Workspace {
    let config = try WorkspaceConfig(configs, allowing: allowing)
    var context = StoreContext()
    (context.cache, context.usesWAL, context.runsTriggers) = (cache, usesWAL, runsTriggers)
    context.logger = logger
    return try await open(config, only: stores, registry: registry, asked: context)
  }

  /// As ``open(_:only:registry:in:)``, but for a task that is cancelled, which throws.
  static func open(
    _ config: WorkspaceConfig, only stores: [StoreID]?, registry: StoreRegistry,
    asked context: StoreContext
  ) async throws(FieldpackError) -> Workspace {
    let workspace = await open(config, only: stores, registry: registry, in: context)
    for member in workspace.members {
      guard case .failed(let error) = member.state, error.code == .interrupted else { continue }
      await workspace.close()
      throw error
    }
    return workspace
  }

  /// Opens the stores of a config that was read before. When the task is cancelled, stores that are
  /// not open by then become failed members with the code `.interrupted`.
  public static func open(
    _ config: WorkspaceConfig, only stores: [StoreID]? = nil, registry: StoreRegistry = .standard,
    in context: StoreContext = StoreContext()
  ) async -> Workspace {
    let members = config.stores.map { store in
      let isAsked = stores?.contains(store.id) ?? true
      return Member(config: store, state: isAsked ? .stopped : .notAsked)
    }
    let workspace = Workspace(
      members: members, config: config, registry: registry, context: context)
    for member in members {
      guard case .stopped = member.state else { continue }
      _ = try? await workspace.start(member.id)
    }
    return workspace
  }

  /// Opens one file as a workspace of one store, whose id is the file's name without extension.
  ///
  /// - Parameter file: its path, by which errors name it.
  /// - Throws: what opening the file throws.
  public static func open(
    file: String, id: StoreID? = nil, options: FileStore.Options = .init(), usesWAL: Bool = true,
    profile: OpeningProfile = .foreign, logger: Logger = .silent
  ) async throws(FieldpackError) -> Workspace {
    let id = id ?? StoreID(Importer.stem(file).rawValue)
    let format =
      if let given = options.format { given } else {
        try Format.detect(try ByteInput(path: file, name: options.name))
      }
    let config = StoreConfig(id: id, type: format.name, uri: file)
    var options = options
    options.importing.logger = logger
    let store = try await OpeningLog(config, logger).store {
      [options] () async throws(FieldpackError) -> any Store in
      format == .geoPackage
        ? try await GeoPackageStore(
          path: file, id: id, profile: profile, usesWAL: usesWAL, logger: logger)
        : try await FileStore(path: file, id: id, options: options)
    }
    return Workspace(members: [Member(config: config, store: store, state: .open)])
  }

  /// The store of that id.
  ///
  /// - Throws: `.notFound`, listing the ids, or the reason why the store could not be opened.
  public nonisolated func store(_ id: StoreID) throws(FieldpackError) -> any Store {
    let member = try member(id)
    if let store = member.store { return store }
    throw member.silence
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
    let members = table.withLock { table in
      defer { table.isClosed = true }
      return table.isClosed ? nil : table.members
    }
    guard let members else { return }
    hub.stopWatching()
    for member in members { await member.kept?.close() }
    hub.finish()
  }
}

/// A store that answers from another one of the same id, whose changes are its own.
package protocol StoreView: Store {
  var wrapped: any Store { get }
}

extension Store {
  /// The GeoPackage whose commits are changes of this store.
  var observedFile: GeoPackageStore? { geoPackage ?? (self as? any StoreView)?.wrapped.geoPackage }
}
