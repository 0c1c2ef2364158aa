public import FieldpackCore

/// Services that start after those that they need, and stop before them.
///
///     let graph = try ServiceGraph([sensors, data, configs])
///     await graph.startAll()
///     for await event in await graph.running(.config) { print(event.kind) }
///     await graph.stopAll()
///
/// Changes are made one after the other, in the order in which they were asked for.
public actor ServiceGraph {
  private struct Node {
    let service: any Service
    var status = ServiceStatus.stopped
    /// Why it is in the state `error`.
    var failure: FieldpackError?
    var id: ServiceID { service.id }
  }

  /// In the order in which they were added.
  private var nodes: [Node] = []
  private var waiters: [ServiceID: [AsyncStream<ServiceEvent>.Continuation]] = [:]
  private nonisolated let log = EventLog<ServiceEvent>()
  /// The change that was asked for last.
  private var last: Task<Void, Never>?
  /// What did not start in the change that is being made.
  private var attempted: [ServiceID: FieldpackError] = [:]

  /// - Throws: `.invalidArgument` for two services of one name.
  public init(_ services: [any Service] = []) throws(FieldpackError) {
    for service in services {
      guard !nodes.contains(where: { $0.id == service.id }) else { throw Self.twice(service.id) }
      nodes.append(Node(service: service))
    }
  }

  deinit {
    for list in waiters.values { for waiter in list { waiter.finish() } }
  }

  private static func twice(_ id: ServiceID) -> FieldpackError {
    FieldpackError(.invalidArgument, "the service \(id) is there already")
  }

  // MARK: Looking

  /// The names of the services, in the order in which they were added.
  public var ids: [ServiceID] { nodes.map(\.id) }

  /// The service of that name.
  public func service(_ id: ServiceID) -> (any Service)? { index(id).map { nodes[$0].service } }

  /// `nil` for a service that is not there.
  public func status(_ id: ServiceID) -> ServiceStatus? { index(id).map { nodes[$0].status } }

  /// Why a service is in the state `error`.
  public func failure(_ id: ServiceID) -> FieldpackError? {
    index(id).flatMap { nodes[$0].failure }
  }

  /// All changes of states, from now on or from the event of that number.
  public nonisolated func events(from number: Int? = nil) -> EventBatches<ServiceEvent> {
    log.batches(from: number)
  }

  /// One event: when the service runs, which may be now. The service may be added later.
  public func running(_ id: ServiceID) -> AsyncStream<ServiceEvent> {
    let (stream, continuation) = AsyncStream.makeStream(of: ServiceEvent.self)
    if status(id) == .running {
      continuation.yield(ServiceEvent(.running, id))
      continuation.finish()
    } else {
      waiters[id, default: []].append(continuation)
    }
    return stream
  }

  private func index(_ id: ServiceID) -> Int? { nodes.firstIndex { $0.id == id } }

  private func known(_ id: ServiceID) throws(FieldpackError) -> Int {
    if let index = index(id) { return index }
    let ids = nodes.map(\.id.rawValue).joined(separator: ", ")
    throw FieldpackError(
      .notFound, "there is no service \(id) (there are: \(ids.isEmpty ? "none" : ids))")
  }

  // MARK: Changing

  /// Adds a service, which is stopped.
  ///
  /// - Throws: `.invalidArgument` where there is one of its name.
  public func add(_ service: any Service) throws(FieldpackError) {
    guard index(service.id) == nil else { throw Self.twice(service.id) }
    nodes.append(Node(service: service))
  }

  /// Stops a service and all that need it, and takes them out. Nothing happens where there is none.
  public func remove(_ id: ServiceID) async {
    await inTurn { graph in
      for gone in graph.dependents(of: id) + [id] {
        await graph.stopOne(gone)
        graph.drop(gone)
      }
    }
  }

  /// Starts a service, after those that it needs. One that runs goes on.
  ///
  /// - Throws: why it does not start: what it throws itself, `.unavailable` where one that it needs does
  ///   not start, `.notFound` for a service that is not there.
  public func start(_ id: ServiceID) async throws(FieldpackError) {
    try await inTurn { graph in await graph.startOne(id, for: []) }.get()
  }

  /// Stops a service, after those that need it. One that is stopped stays so.
  ///
  /// - Throws: `.notFound` for a service that is not there.
  public func stop(_ id: ServiceID) async throws(FieldpackError) {
    _ = try known(id)
    await inTurn { graph in await graph.stopWithDependents(id) }
  }

  /// Stops a service and those that need it, and starts those that ran.
  ///
  /// - Throws: as ``start(_:)`` for the first that does not start.
  public func restart(_ id: ServiceID) async throws(FieldpackError) {
    _ = try known(id)
    try await inTurn { graph -> Result<Void, FieldpackError> in
      let running = graph.dependents(of: id).reversed().filter { graph.runs($0) }
      await graph.stopWithDependents(id)
      var outcome = Result<Void, FieldpackError>.success(())
      for id in [id] + running {
        let started = await graph.startOne(id, for: [])
        if case .success = outcome { outcome = started }
      }
      return outcome
    }.get()
  }

  /// Starts all services, each after those that it needs. One that fails stops no other but those
  /// that need it.
  ///
  /// - Returns: why services do not run; empty where all do.
  @discardableResult
  public func startAll() async -> [ServiceID: FieldpackError] {
    await inTurn { graph in await graph.startEach() }
  }

  /// Stops all services, those first that others do not need.
  public func stopAll() async {
    await inTurn { graph in
      for id in graph.ids.reversed() { await graph.stopWithDependents(id) }
    }
  }

  /// Stops all services and starts them again.
  @discardableResult
  public func restartAll() async -> [ServiceID: FieldpackError] {
    await stopAll()
    return await startAll()
  }

  /// Lets a service that runs rest, and those that need it before. Others stay as they are.
  ///
  /// - Throws: `.notFound` for a service that is not there.
  public func pause(_ id: ServiceID) async throws(FieldpackError) {
    _ = try known(id)
    await inTurn { graph in
      for id in graph.dependents(of: id) + [id] { await graph.pauseOne(id) }
    }
  }

  /// Lets a service that rests work again, after those that it needs. Others stay as they are.
  ///
  /// - Throws: `.notFound` for a service that is not there.
  public func resume(_ id: ServiceID) async throws(FieldpackError) {
    _ = try known(id)
    await inTurn { graph in await graph.resumeOne(id, for: []) }
  }

  /// Runs one change after the other.
  private func inTurn<R: Sendable>(
    _ body: @escaping @Sendable (isolated ServiceGraph) async -> R
  ) async -> R {
    let before = last
    let task = Task {
      await before?.value
      attempted = [:]
      return await body(self)
    }
    last = Task { _ = await task.value }
    return await withTaskCancellationHandler {
      await task.value
    } onCancel: {
      task.cancel()
    }
  }

  // MARK: One by one

  /// The services that need this one, directly or by others, those first that no other of them needs.
  private func dependents(of id: ServiceID) -> [ServiceID] {
    var found: [ServiceID] = []
    func visit(_ id: ServiceID) {
      for node in nodes where node.service.requires.contains(id) && !found.contains(node.id) {
        found.append(node.id)
        visit(node.id)
      }
    }
    visit(id)
    // A service comes before those that it needs.
    var sorted: [ServiceID] = []
    func place(_ id: ServiceID) {
      guard !sorted.contains(id), found.contains(id) else { return }
      found.removeAll { $0 == id }
      for node in nodes where node.service.requires.contains(id) { place(node.id) }
      sorted.append(id)
    }
    for id in found { place(id) }
    return sorted
  }

  private func runs(_ id: ServiceID) -> Bool { status(id) == .running }

  private func drop(_ id: ServiceID) { nodes.removeAll { $0.id == id } }

  private func set(_ status: ServiceStatus, of id: ServiceID, _ failure: FieldpackError? = nil) {
    guard let index = index(id) else { return }
    nodes[index].status = status
    nodes[index].failure = failure
    attempted[id] = failure
    let kind: ServiceEvent.Kind =
      switch status {
      case .running: .running
      case .paused: .paused
      case .stopped: .stopped
      case .error: .error
      }
    log.send(ServiceEvent(kind, id))
    guard status == .running else { return }
    for waiter in waiters.removeValue(forKey: id) ?? [] {
      waiter.yield(ServiceEvent(.running, id))
      waiter.finish()
    }
  }

  private func startEach() async -> [ServiceID: FieldpackError] {
    var failures: [ServiceID: FieldpackError] = [:]
    for id in ids {
      if case .failure(let error) = await startOne(id, for: []) { failures[id] = error }
    }
    if failures.isEmpty { log.send(ServiceEvent(.allStarted)) }
    return failures
  }

  /// - Parameter path: the services that need this one and are being started.
  private func startOne(
    _ id: ServiceID, for path: [ServiceID]
  ) async -> Result<Void, FieldpackError> {
    let index: Int
    do { index = try known(id) } catch { return .failure(error) }
    guard nodes[index].status != .running else { return .success(()) }
    if nodes[index].status == .paused {
      await resumeOne(id, for: path)
      return .success(())
    }
    if let error = attempted[id] { return .failure(error) }
    let service = nodes[index].service
    log.send(ServiceEvent(.started, id))
    for needed in service.requires {
      var cause: FieldpackError?
      if path.contains(needed) || needed == id {
        cause = FieldpackError(.invalidArgument, "\(id) and \(needed) need each other")
      } else if case .failure(let error) = await startOne(needed, for: path + [id]) {
        cause = error
      }
      guard let cause else { continue }
      let error = FieldpackError(
        .unavailable, "Not all of the dependencies started: \(needed): \(cause.message)",
        underlying: cause)
      set(.error, of: id, error)
      return .failure(error)
    }
    do throws(FieldpackError) {
      try await service.start()
    } catch {
      set(.error, of: id, error)
      return .failure(error)
    }
    set(.running, of: id)
    return .success(())
  }

  private func stopWithDependents(_ id: ServiceID) async {
    for id in dependents(of: id) + [id] { await stopOne(id) }
  }

  private func stopOne(_ id: ServiceID) async {
    guard let index = index(id), nodes[index].status != .stopped else { return }
    // One that failed may hold what it began.
    await nodes[index].service.stop()
    set(.stopped, of: id)
  }

  private func pauseOne(_ id: ServiceID) async {
    guard let index = index(id), nodes[index].status == .running else { return }
    await nodes[index].service.pause()
    set(.paused, of: id)
  }

  private func resumeOne(_ id: ServiceID, for path: [ServiceID]) async {
    guard let index = index(id), nodes[index].status == .paused else { return }
    let service = nodes[index].service
    for needed in service.requires where !path.contains(needed) && needed != id {
      await resumeOne(needed, for: path + [id])
    }
    await service.resume()
    set(.running, of: id)
  }
}
