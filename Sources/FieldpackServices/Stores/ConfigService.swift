public import Fieldpack
public import FieldpackCore

/// What gets the forms that configs describe.
public protocol FormReceiver: Sendable {
  /// Takes a form, or another version of one that it has.
  func take(_ form: FormConfig) async throws(FieldpackError)
  /// Forgets a form that no config describes any more. What was submitted stays.
  func drop(_ key: String) async
}

/// The configs of an application: what they describe is there while the service runs.
///
///     let configs = ConfigService([folder], data: data)
///     try await configs.start()
///     try await configs.addStore(.object(of: ["id": "wells", "store_type": "gpkg", "uri": "wells.gpkg"]))
///
/// A change of a store or a form rewrites its config and keeps all else in it, byte by byte.
public actor ConfigService: Service {
  public nonisolated let id = ServiceID.config
  /// What the configs say together; `nil` before the first start.
  public private(set) var config: WorkspaceConfig?
  /// Which configs could not be read, which forms were refused, and why.
  public private(set) var failures: [FieldpackError] = []
  private nonisolated let log = EventLog<ConfigEvent>()
  private let data: DataService
  private let forming: (any FormReceiver)?
  private let allowing: [String]
  private var paths: [String]
  private var isRunning = false
  /// The stores that were taken from configs, also those whose configs cannot be read by now.
  private var taken: [StoreConfig] = []
  /// The paths of configs that could not be read the last time.
  private var unread: [String] = []
  /// The stores that somebody takes out of their configs.
  private var removing: Set<StoreID> = []
  /// Ends with the reading that began last.
  private var last: Task<Void, Never>?

  /// - Parameters:
  ///   - paths: `.scfg` files, or folders of them.
  ///   - allowing: folders that uris may lead to beside each config's own.
  ///   - data: gets the stores.
  ///   - forms: gets the forms, before the stores are opened.
  public init(
    _ paths: [String] = [], allowing: [String] = [], data: DataService,
    forms: (any FormReceiver)? = nil
  ) {
    (self.paths, self.allowing, self.data, forming) = (paths, allowing, data, forms)
  }

  /// All changes of stores, forms and backend, from now on or from the event of that number.
  public nonisolated func events(from number: Int? = nil) -> EventBatches<ConfigEvent> {
    log.batches(from: number)
  }

  /// The forms that the configs describe.
  public var forms: [FormConfig] { config?.forms ?? [] }

  /// The backend that the configs name.
  public var remote: RemoteConfig? { config?.remote }

  // MARK: The service

  /// Reads the configs, and opens their stores. A config or a store that fails stops no other; see
  /// ``failures`` and the store's state.
  ///
  /// - Throws: why the first config cannot be read, where none can.
  public func start() async throws(FieldpackError) {
    isRunning = true
    try await readAll()
    // Of a start after a stop no store is new.
    let ids = config?.stores.map(\.id) ?? []
    await data.start(ids + taken.map(\.id).filter { !ids.contains($0) })
  }

  /// Does no more than to let the configs be: the stores stay with the data service.
  public func stop() async { isRunning = false }

  /// Nothing: the configs are not looked at between their changes.
  public func pause() async {}

  /// Nothing, as ``pause()``.
  public func resume() async {}

  /// Reads all configs again, and opens, replaces and removes the stores that changed in them. The
  /// stores of a config that cannot be read, or describes them with errors, stay as they are.
  ///
  /// - Throws: as ``start()``.
  public func reload() async throws(FieldpackError) {
    await data.start(try await readAll())
  }

  /// Gives the stores that are new, or described anew; they are registered. One reading comes after the
  /// other.
  @discardableResult
  private func readAll() async throws(FieldpackError) -> [StoreID] {
    let before = last
    let task = Task { () -> Result<[StoreID], FieldpackError> in
      await before?.value
      do throws(FieldpackError) {
        return .success(try await readEach())
      } catch {
        return .failure(error)
      }
    }
    last = Task { _ = await task.value }
    return try await task.value.get()
  }

  private func readEach() async throws(FieldpackError) -> [StoreID] {
    var new = try WorkspaceConfig([])
    (failures, unread) = ([], [])
    for path in paths {
      do throws(FieldpackError) {
        for file in try WorkspaceConfig.files(at: path) { try read(file, into: &new) }
      } catch {
        failures.append(error)
        unread.append(path)
      }
    }
    if new.documents.isEmpty, let error = failures.first { throw error }
    return await apply(new)
  }

  private func read(_ file: String, into config: inout WorkspaceConfig) throws(FieldpackError) {
    do throws(FieldpackError) {
      config.add(
        try ConfigDocument(contentsOf: file), folder: FileSystem.folder(of: file),
        allowing: allowing)
    } catch {
      failures.append(error)
      unread.append(file)
    }
  }

  /// Adds a config, or a folder of them, behind the others. It is read at once where the service runs.
  ///
  /// - Throws: why it cannot be read; it is not added then.
  public func addConfig(_ path: String) async throws(FieldpackError) {
    for file in try WorkspaceConfig.files(at: path) { _ = try ConfigDocument(contentsOf: file) }
    paths.append(path)
    if isRunning { try await reload() }
  }

  /// Whether a config was added by that path.
  func has(_ path: String) -> Bool {
    let path = FileSystem.absolute(path)
    return paths.contains { FileSystem.absolute($0) == path }
  }

  // MARK: Changes

  /// Forms first, then stores, then the backend; each by itself.
  private func apply(_ new: WorkspaceConfig) async -> [StoreID] {
    let old = config
    config = new
    data.workspace.take(new)
    await applyForms(old?.forms ?? [], new.forms)
    let changed = await applyStores(new)
    switch (old?.remote, new.remote) {
    case (nil, .some): log.send(ConfigEvent(.serviceAdded))
    case (.some, nil): log.send(ConfigEvent(.serviceRemoved))
    default: break
    }
    return changed
  }

  private func applyForms(_ old: [FormConfig], _ new: [FormConfig]) async {
    let (before, after) = (old.map(\.placeless), new.map(\.placeless))
    for form in before where !after.contains(form) {
      if !after.contains(where: { $0.key == form.key }) { await forming?.drop(form.key) }
      log.send(ConfigEvent(.formRemoved, form.key))
    }
    for form in new where !before.contains(form.placeless) {
      do throws(FieldpackError) {
        try await forming?.take(form)
        log.send(ConfigEvent(.formAdded, form.key))
      } catch {
        failures.append(error.adding(position: form.position))
      }
    }
  }

  private func applyStores(_ config: WorkspaceConfig) async -> [StoreID] {
    let old = taken
    let kept = old.filter { isKept($0, without: config) }
    // A store of the services is no config's, whatever a config says.
    let new = config.stores.filter { store in
      !store.isBuiltIn && !kept.contains { $0.id == store.id }
    }
    taken = new + kept
    for store in old where !taken.contains(where: { $0.id == store.id }) {
      let isMeant = removing.contains(store.id) || isWhole(store.position?.file, in: config)
      try? await data.unregister(store.id, keepingFile: !isMeant)
      log.send(ConfigEvent(.storeRemoved, store.id.rawValue))
    }
    var changed: [StoreID] = []
    for store in new {
      let before = old.first { $0.id == store.id }
      if let before, before.saysSame(as: store), (try? data.workspace.member(store.id)) != nil {
        continue
      }
      changed.append(store.id)
      // The data service tells, and remembers, why a store does not open.
      do throws(FieldpackError) {
        try await data.register(store)
      } catch {
        if before != nil { try? await data.unregister(store.id, keepingFile: true) }
      }
      if before != nil { log.send(ConfigEvent(.storeRemoved, store.id.rawValue)) }
      log.send(ConfigEvent(.storeAdded, store.id.rawValue))
    }
    return changed
  }

  /// Whether a store stays as it is: its config cannot be read, or describes it with errors.
  private func isKept(_ store: StoreConfig, without config: WorkspaceConfig) -> Bool {
    guard !removing.contains(store.id) else { return false }
    if let file = store.position?.file {
      let folder = FileSystem.absolute(FileSystem.folder(of: file))
      if unread.contains(where: { $0 == file || FileSystem.absolute($0) == folder }) { return true }
    }
    if let new = config.stores.first(where: { $0.id == store.id }) {
      return new.uri.isEmpty || new.type.isEmpty
    }
    return config.documents.contains {
      !ConfigEntryKind.store.places(of: store.id.rawValue, in: $0).isEmpty
    }
  }

  /// Whether a config was read, without any error.
  private func isWhole(_ file: String?, in config: WorkspaceConfig) -> Bool {
    config.documents.contains { $0.file == file }
      && !config.diagnostics.contains { $0.severity == .error && $0.file == file }
  }

  /// Adds a store to a config, and opens it. One of the same id in another config is replaced.
  ///
  /// - Parameters:
  ///   - store: the object that describes it, with a member `id`.
  ///   - file: the config that gets it; `nil` for the first.
  /// - Throws: `.invalidArgument` for a store without an id, or that the config has; `.notFound` for a
  ///   config that the service does not have; what reading or writing the config throws.
  public func addStore(
    _ store: ConfigValue.Content, to file: String? = nil
  ) async throws(FieldpackError) {
    try await add(store, .store, to: file)
  }

  /// Describes a store anew, and opens it again.
  ///
  /// - Parameter store: the object that describes it, with the `id` of the store.
  /// - Throws: `.notFound` where no config has such a store, else as ``addStore(_:to:)``.
  public func updateStore(_ store: ConfigValue.Content) async throws(FieldpackError) {
    try await update(store, .store)
  }

  /// Takes a store out of all configs, and closes it.
  ///
  /// - Throws: `.notFound` where no config has such a store, else as ``addStore(_:to:)``.
  public func removeStore(_ id: StoreID) async throws(FieldpackError) {
    removing.insert(id)
    defer { removing.remove(id) }
    try await remove(id.rawValue, .store)
  }

  /// Adds a form to a config.
  ///
  /// - Parameter form: the object that describes it, with a member `form_key`.
  /// - Throws: as ``addStore(_:to:)``; `.invalidArgument` for a form with errors.
  public func addForm(
    _ form: ConfigValue.Content, to file: String? = nil
  ) async throws(FieldpackError) {
    try await add(form, .form, to: file)
  }

  /// Describes a form anew.
  ///
  /// - Throws: as ``updateStore(_:)``; `.invalidArgument` for a form with errors.
  public func updateForm(_ form: ConfigValue.Content) async throws(FieldpackError) {
    try await update(form, .form)
  }

  /// Takes a form out of all configs. What was submitted stays.
  ///
  /// - Throws: as ``removeStore(_:)``.
  public func removeForm(_ key: String) async throws(FieldpackError) {
    try await remove(key, .form)
  }

  // MARK: Editing

  private func add(
    _ entry: ConfigValue.Content, _ kind: ConfigEntryKind, to file: String?
  ) async throws(FieldpackError) {
    let name = try kind.name(of: entry)
    let files = try files()
    guard let target = file ?? files.first else {
      throw FieldpackError(.notFound, "there is no config to add to")
    }
    let place = FileSystem.absolute(target)
    guard files.contains(where: { FileSystem.absolute($0) == place }) else {
      throw FieldpackError(
        .notFound, "\(target) is none of the configs",
        position: FilePosition(file: target))
    }
    var document = try ConfigDocument(contentsOf: target)
    guard kind.places(of: name, in: document).isEmpty else {
      throw FieldpackError(
        .invalidArgument, "the config has a \(kind.title) '\(name)' already",
        position: FilePosition(file: target))
    }
    let list = document.value(at: [.key(kind.list)])
    if let list, !list.isNull {
      try document.set(entry, at: [.key(kind.list), .index(list.elements.count)])
    } else {
      try document.set(.list([entry]), at: [.key(kind.list)])
    }
    try await write([(target, document)], expecting: name, kind)
  }

  private func update(
    _ entry: ConfigValue.Content, _ kind: ConfigEntryKind
  ) async throws(FieldpackError) {
    let name = try kind.name(of: entry)
    // Of several the last one counts.
    for file in try files().reversed() {
      var document = try ConfigDocument(contentsOf: file)
      guard let place = kind.places(of: name, in: document).last else { continue }
      try document.set(entry, at: [.key(kind.list), .index(place)])
      return try await write([(file, document)], expecting: name, kind)
    }
    throw kind.unknown(name)
  }

  private func remove(_ name: String, _ kind: ConfigEntryKind) async throws(FieldpackError) {
    var changed: [(String, ConfigDocument)] = []
    for file in try files() {
      var document = try ConfigDocument(contentsOf: file)
      let places = kind.places(of: name, in: document)
      guard !places.isEmpty else { continue }
      for place in places.reversed() {
        try document.remove(at: [.key(kind.list), .index(place)])
      }
      changed.append((file, document))
    }
    guard !changed.isEmpty else { throw kind.unknown(name) }
    try await write(changed, expecting: nil, kind)
  }

  private func files() throws(FieldpackError) -> [String] {
    var files: [String] = []
    for path in paths { files += try WorkspaceConfig.files(at: path) }
    return files
  }

  /// - Parameter name: the entry that the changed config must have without an error.
  private func write(
    _ documents: [(String, ConfigDocument)], expecting name: String?, _ kind: ConfigEntryKind
  ) async throws(FieldpackError) {
    for (file, document) in documents {
      if let name {
        try kind.check(
          name, in: WorkspaceConfig(document, folder: FileSystem.folder(of: file)))
      }
    }
    for (file, document) in documents { try document.write(to: file, overwrite: true) }
    if isRunning { try await reload() }
  }
}
