public import Fieldpack
public import FieldpackCore
public import FieldpackField

/// The stores of an application: they come, go, download their files, and rest while their servers
/// cannot be reached.
///
///     let data = DataService(context: context)
///     try await data.registerAndStart(config)
///     let count = try await data.workspace.count(Query("wells"))
///
/// Queries go to its ``workspace``, whose running stores answer them.
public actor DataService: Service {
  public nonisolated let id = ServiceID.data
  /// The stores with what they do; it is closed with ``close()``.
  public nonisolated let workspace: Workspace
  nonisolated let log = EventLog<StoreEvent>()
  let registry: StoreRegistry
  let context: StoreContext
  let clock: FieldClock
  private let hasRunning = Broadcast<Bool>(capacity: 1, present: false)
  private var isClosed = false
  private var waiters: [StoreID: [AsyncStream<StoreEvent>.Continuation]] = [:]
  /// The stores that are being opened, or whose files are on their way.
  private var works: [StoreID: Work] = [:]
  private var lastWork = 0
  let downloads = DownloadTurns()
  nonisolated let feeds: Feeds
  /// The stores that others opened.
  private var given: [StoreID: any Store] = [:]
  var isConnected = true
  /// Why stores rest that nobody paused.
  var resting: [StoreID: Set<RestCause>] = [:]

  private struct Work {
    let number: Int
    let task: Task<Result<Void, FieldpackError>, Never>
    /// Whether somebody waits for its end, who tells what becomes of the store.
    var isGivenUp = false
  }

  /// - Parameters:
  ///   - registry: the store types at hand.
  ///   - context: what holds for all stores; its folder is where their files are kept.
  public init(
    registry: StoreRegistry = .standard, context: StoreContext = StoreContext(),
    clock: FieldClock = .system
  ) {
    self.registry = registry
    self.context = context
    self.clock = clock
    workspace = Workspace(registry: registry, context: context)
    feeds = Feeds(of: workspace, registry, context, clock, log)
  }

  deinit {
    for list in waiters.values { for waiter in list { waiter.finish() } }
  }

  // MARK: Looking

  /// All that happens to stores, from now on or from the event of that number.
  public nonisolated func events(from number: Int? = nil) -> EventBatches<StoreEvent> {
    log.batches(from: number)
  }

  /// One event: when the store runs, which may be now. The store may be registered later. There is none
  /// where the service is closed before.
  public func storeStarted(_ id: StoreID) -> AsyncStream<StoreEvent> {
    let (stream, continuation) = AsyncStream.makeStream(of: StoreEvent.self)
    if (try? workspace.member(id))?.store != nil {
      continuation.yield(StoreEvent(.running, id, status: .running))
      continuation.finish()
    } else if isClosed {
      continuation.finish()
    } else {
      waiters[id, default: []].append(continuation)
    }
    return stream
  }

  /// Whether any store runs: now, and whenever that changes.
  public nonisolated var hasStores: AsyncStream<Bool> { hasRunning.subscribe().stream }

  /// The stores that run.
  public nonisolated var activeStores: [Workspace.Member] {
    workspace.members.filter { $0.store != nil }
  }

  // MARK: Coming and going

  /// Adds a store, which is stopped. Of two stores of one id the last one counts: the other is removed,
  /// and its downloaded file with it where that came from elsewhere.
  ///
  /// - Throws: `.configuration` for a type that is not known, listing those that are, and for an id
  ///   that is kept for forms or positions; else as `Workspace.add(_:)`.
  public func register(_ config: StoreConfig) async throws(FieldpackError) {
    try config.refuseBuiltIn()
    do throws(FieldpackError) {
      _ = try registry.type(of: config)
    } catch {
      context.logger.warning("store type is not known", ["type": .text(config.typeIdentifier)])
      throw error
    }
    try await replace(config)
  }

  /// Adds a store that somebody else opened, such as that of forms. To start it takes it into the
  /// queries, and to stop it calls its `close()`, which does nothing where its owner goes on with it.
  ///
  /// - Throws: `.invalidArgument` where store and config have different ids, else as
  ///   `Workspace.add(_:)`.
  public func register(
    _ store: any Store, as config: StoreConfig
  ) async throws(FieldpackError) {
    guard store.id == config.id else {
      throw config.failure(
        .invalidArgument, "the store is '\(store.id)', and its config says '\(config.id)'")
    }
    try await replace(config)
    workspace.observe(store)
    given[store.id] = store
  }

  private func replace(_ config: StoreConfig) async throws(FieldpackError) {
    let before = try? workspace.member(config.id)
    if before != nil { await cancel(config.id) }
    try await workspace.register(config)
    given[config.id] = nil
    guard let before else { return }
    if before.config.uri != config.uri { removeFile(of: before.config) }
    send(StoreEvent(.removed, config.id))
  }

  /// Adds a store and opens it, see ``register(_:)`` and ``start(_:)-(StoreID)``.
  public func registerAndStart(_ config: StoreConfig) async throws(FieldpackError) {
    try await register(config)
    try await start(config.id)
  }

  /// Closes a store, and opens it by another config of the same id.
  ///
  /// - Throws: `.notFound` where there is no such store, else as ``registerAndStart(_:)``.
  public func update(_ config: StoreConfig) async throws(FieldpackError) {
    let before = try workspace.member(config.id).config
    try config.refuseBuiltIn()
    _ = try registry.type(of: config)
    await cancel(config.id)
    try await workspace.register(config)
    given[config.id] = nil
    if before.uri != config.uri { removeFile(of: before) }
    send(StoreEvent(.stopped, config.id, status: .stopped))
    try await start(config.id)
  }

  /// Closes a store and takes it out. A file that was downloaded for it is deleted, never one that is
  /// the user's own.
  ///
  /// - Throws: `.notFound` where there is no such store.
  public func unregister(_ id: StoreID) async throws(FieldpackError) {
    try await unregister(id, keepingFile: false)
  }

  /// Closes a store and takes it out, with or without its downloaded file.
  func unregister(_ id: StoreID, keepingFile: Bool) async throws(FieldpackError) {
    let config = try workspace.member(id).config
    await cancel(id)
    try await workspace.remove(id)
    given[id] = nil
    if !keepingFile { removeFile(of: config) }
    resting[id] = nil
    send(StoreEvent(.removed, id))
  }

  // MARK: One store

  /// Opens a store, and downloads its file before where that is not there. One that runs goes on.
  ///
  /// - Throws: why it does not run, `.notFound` where there is no such store.
  public func start(_ id: StoreID) async throws(FieldpackError) {
    try await outcome(of: begin(id)).get()
  }

  /// What becomes of a store that is being opened; it is given up with the task that waits.
  private func outcome(
    of task: Task<Result<Void, FieldpackError>, Never>
  ) async -> Result<Void, FieldpackError> {
    await withTaskCancellationHandler {
      await task.value
    } onCancel: {
      task.cancel()
    }
  }

  /// Closes a store, which stays registered. A download that runs is given up.
  ///
  /// - Throws: `.notFound` where there is no such store.
  public func stop(_ id: StoreID) async throws(FieldpackError) {
    let isStopped = try workspace.member(id).state.status == .stopped
    await cancel(id)
    try await workspace.stop(id)
    resting[id] = nil
    if !isStopped { send(StoreEvent(.stopped, id, status: .stopped)) }
  }

  /// Leaves a store that runs out of the queries, without closing it.
  ///
  /// - Throws: `.notFound` where there is no such store.
  public func pause(_ id: StoreID) throws(FieldpackError) {
    _ = try workspace.member(id)
    resting[id] = nil
    if workspace.pause(id) { send(StoreEvent(.paused, id, status: .paused)) }
  }

  /// Takes a store that is paused into the queries again.
  ///
  /// - Throws: `.notFound` where there is no such store.
  public func resume(_ id: StoreID) throws(FieldpackError) {
    _ = try workspace.member(id)
    resting[id] = nil
    guard workspace.pause(id, false) else { return }
    send(StoreEvent(.resumed, id, status: .running))
    tellWaiters(of: id)
  }

  // MARK: The service

  /// Opens all stores that are registered. It waits for those whose files are there; those that need a
  /// server go on afterwards. A store that fails stops no other.
  public func start() async { await start(workspace.members.map(\.id)) }

  /// Opens stores, see ``start()``.
  func start(_ ids: [StoreID]) async {
    var later: [Task<Result<Void, FieldpackError>, Never>] = []
    for id in ids {
      let isLater = needsServer(id)
      let task = begin(id)
      if isLater { later.append(task) } else { _ = await outcome(of: task) }
    }
    if ids.isEmpty { return }
    guard !later.isEmpty else { return send(StoreEvent(.allStarted)) }
    Task { [later] in
      for task in later { _ = await task.value }
      send(StoreEvent(.allStarted))
    }
  }

  /// Closes all stores, which stay registered.
  public func stop() async {
    for member in workspace.members { try? await stop(member.id) }
  }

  /// Leaves all stores out of the queries, without closing them.
  public func pause() async { rest(workspace.members, for: .service) }

  /// Takes the stores back that ``pause()`` left out, but for those that rest without a network.
  public func resume() async { wake(from: .service) }

  /// Closes all stores for good.
  public func close() async {
    isClosed = true
    for id in workspace.members.map(\.id) { await cancel(id) }
    await workspace.close()
    for list in waiters.values { for waiter in list { waiter.finish() } }
    waiters = [:]
    log.finish()
    hasRunning.finish()
  }

  // MARK: Opening

  private func needsServer(_ id: StoreID) -> Bool {
    guard let config = (try? workspace.member(id))?.config else { return false }
    return asksServer(config) || needsDownload(id)
  }

  /// Begins to open a store, or gives what has begun.
  @discardableResult
  func begin(_ id: StoreID) -> Task<Result<Void, FieldpackError>, Never> {
    if let work = works[id] { return work.task }
    lastWork += 1
    let number = lastWork
    let task = Task { () -> Result<Void, FieldpackError> in
      defer { if works[id]?.number == number { works[id] = nil } }
      do throws(FieldpackError) {
        try await open(id)
        return .success(())
      } catch {
        return .failure(error)
      }
    }
    works[id] = Work(number: number, task: task)
    return task
  }

  private func cancel(_ id: StoreID) async {
    repeat {
      // Another opening may have begun meanwhile.
      while let work = works[id] {
        works[id]?.isGivenUp = true
        work.task.cancel()
        _ = await work.task.value
      }
      await feeds.end(id)
    } while works[id] != nil
  }

  private func open(_ id: StoreID) async throws(FieldpackError) {
    let member = try workspace.member(id)
    guard member.store == nil else { return }
    if case .paused = member.state {
      guard isConnected || !asksServer(member.config) else {
        resting[id] = [.network]
        return
      }
      return try resume(id)
    }
    resting[id] = nil
    do throws(FieldpackError) {
      _ = try member.config.polling()
      if needsDownload(id) { try await download(id) }
      guard !Task.isCancelled else {
        throw FieldpackError(.interrupted, "store '\(id)' is stopped", location: .init(store: id))
      }
      send(StoreEvent(.statusChange, id, status: .started))
      if let store = given[id] {
        try await workspace.open(store)
      } else {
        _ = try await workspace.start(id)
      }
    } catch {
      guard error.code != .interrupted else {
        await stopped(id)
        throw error
      }
      let status = (try? workspace.member(id))?.state.status
      if let status { send(StoreEvent(.statusChange, id, status: status)) }
      send(StoreEvent(.startFailed, id, status: status))
      throw error
    }
    await feeds.begin(id)
    send(StoreEvent(.running, id, status: .running))
    tellWaiters(of: id)
    if !isConnected, asksServer(member.config) { rest([member], for: .network) }
  }

  /// Lets a store whose opening was given up be stopped, and tells it.
  private func stopped(_ id: StoreID) async {
    guard let state = (try? workspace.member(id))?.state else { return }
    if case .stopped = state { return }
    try? await workspace.stop(id)
    guard works[id]?.isGivenUp != true else { return }
    send(StoreEvent(.stopped, id, status: .stopped))
  }

  // MARK: Telling

  func send(_ event: StoreEvent) {
    log.send(event)
    let isAny = workspace.members.contains { $0.store != nil }
    guard isAny != anyRuns else { return }
    anyRuns = isAny
    hasRunning.send(isAny)
  }

  private var anyRuns = false

  /// Tells those who wait for a store that it runs.
  func tellWaiters(of id: StoreID) {
    for waiter in waiters.removeValue(forKey: id) ?? [] {
      waiter.yield(StoreEvent(.running, id, status: .running))
      waiter.finish()
    }
  }
}
