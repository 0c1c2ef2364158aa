import Fieldpack
import FieldpackCore
import FieldpackServices

/// The services of a config: sensors, stores with that of its forms, configs, and where it names a
/// backend who is signed in to it.
struct StartedServices {
  let data: DataService
  let configs: ConfigService
  private let graph: ServiceGraph
  /// The events of stores from the first on.
  private let starts: EventBatches<StoreEvent>
  private let authentication: AuthenticationService?
  private let backend: StartedBackend?
  /// Sends what is submitted to forms, and the edits of logged layers, to the backend.
  private let deliveries: EditDeliveries?
  private let sending = Locked<Task<Void, Never>?>(nil)
  private let forms: FormStore?
  private let formConfig: StoreConfig
  /// Where this device is; `nil` where nothing tells.
  let location: LocationService?
  private let locationConfig: StoreConfig
  /// Why the store of forms cannot be opened.
  private let formFailure: FieldpackError?

  init(
    _ arguments: ServiceArguments, allowsUnencrypted: Bool, connects: Bool,
    positions: (any LocationSource)? = nil, _ logger: Logger
  ) async throws(FieldpackError) {
    try await self.init(
      arguments.config, allowing: arguments.allowsPaths, in: arguments.context(logger),
      allowsUnencrypted: allowsUnencrypted, connects: connects, positions: positions)
  }

  /// - Parameters:
  ///   - connects: whether the backend is connected to.
  ///   - positions: where this device is.
  init(
    _ path: String, allowing: [String] = [], in context: StoreContext,
    allowsUnencrypted: Bool = false,
    connects: Bool, positions: (any LocationSource)? = nil
  ) async throws(FieldpackError) {
    data = DataService(context: context)
    // What is wrong with a config is told by its service.
    let config = try? WorkspaceConfig([path])
    let folder = context.folder ?? config?.storeFolder
    formConfig = Self.config(of: FormStore.id, in: folder)
    locationConfig = Self.config(of: LocationStore.id, in: folder)
    var (forms, failure): (FormStore?, FieldpackError?) = (nil, nil)
    if let folder, config?.forms.isEmpty == false {
      do throws(FieldpackError) {
        forms = try await FormStore.open(folder: folder, usesWAL: false)
      } catch {
        failure = error
      }
    }
    (self.forms, formFailure) = (forms, failure)
    if let positions, let folder {
      location = try await LocationService.open(folder: folder, usesWAL: false) { _ in positions }
    } else {
      location = nil
    }
    configs = ConfigService([path], allowing: allowing, data: data, forms: forms)
    authentication = config?.remote.map {
      AuthenticationService($0, allowsUnencrypted: allowsUnencrypted)
    }
    var services: [any Service] = [SensorService(data, location), data, configs]
    if let authentication { services.append(authentication) }
    if connects, let authentication {
      backend = try StartedBackend(
        authentication.remote, signedIn: authentication, configs: configs,
        allowsUnencrypted: allowsUnencrypted)
    } else {
      backend = nil
    }
    if let backend { services.append(backend.service) }
    deliveries = backend.map { EditDeliveries(by: $0.service.transport, to: $0.words) }
    graph = try ServiceGraph(services)
    starts = data.events(from: 0)
  }

  private static func config(of store: StoreID, in folder: String?) -> StoreConfig {
    StoreConfig(id: store, type: "gpkg", uri: "\(folder.map(FileSystem.name) ?? "")/\(store).gpkg")
  }

  /// Starts all; stores that need a server go on afterwards.
  func start() async {
    await graph.startAll()
    guard await graph.status(.data) == .running else { return }
    if let location { await add(location.store.readOnly, locationConfig) }
    guard let forms else { return }
    await add(forms.readOnly, formConfig)
    guard let deliveries, let backend else { return }
    await addDeliveries(deliveries, forms)
    sending.withLock { task in
      task = Task { await deliveries.follow(backend.service.isReady) }
    }
  }

  private func add(_ store: ReadOnlyStore, _ config: StoreConfig) async {
    try? await data.register(store, as: config)
    try? await data.start(config.id)
  }

  private func addDeliveries(_ deliveries: EditDeliveries, _ forms: FormStore) async {
    var ids: [LayerID: Int64] = [:]
    for form in await configs.forms { ids[LayerID(form.key)] = form.id }
    await deliveries.add(forms.store, forms: ids)
  }

  /// What pages reach of the services.
  var bridge: Bridge {
    var bridge = Bridge(data: data)
    (bridge.configs, bridge.graph, bridge.forms) = (configs, graph, forms)
    (bridge.authentication, bridge.backend) = (authentication, backend?.service)
    bridge.location = location
    bridge.device = try? MachineIdentity.stored(.device).uuid
    return bridge
  }

  /// Waits until no store is being opened any more, or the task is cancelled, and tells what happens
  /// to stores meanwhile.
  func settle(_ tell: (StoreEvent) -> Void) async {
    guard await graph.status(.config) == .running,
      await configs.config?.stores.isEmpty == false
    else { return }
    for await batch in starts {
      // What was missed came before, and the last event is never missed.
      for event in batch.all { tell(event) }
      if batch.all.contains(where: { $0.kind == .allStarted }) { return }
    }
  }

  /// The states of services and stores.
  func lines() async -> [ServiceLine] {
    var lines: [ServiceLine] = []
    for id in await graph.ids {
      var line = ServiceLine(id, await graph.status(id), await graph.failure(id))
      if id == .authentication, line.error == nil { line.detail = await authentication?.words }
      if id == .backend, line.error == nil { line.detail = backend?.words }
      lines.append(line)
    }
    let members = data.workspace.members
    let stores = await configs.config?.stores ?? []
    for store in stores {
      if !store.isBuiltIn, let member = members.first(where: { $0.id == store.id }) {
        lines.append(await Self.asking(member, ServiceLine(member)))
      } else {
        lines.append(ServiceLine(store, Self.reason(store)))
      }
    }
    if let formFailure {
      lines.append(ServiceLine(formConfig, formFailure))
    } else if let member = members.first(where: { $0.id == formConfig.id }) {
      lines.append(ServiceLine(member))
    }
    return lines
  }

  /// The line about a store that runs, or about its server where that gives no answer.
  private static func asking(_ member: Workspace.Member, _ line: ServiceLine) async -> ServiceLine {
    guard let error = await refusal(of: member) else { return line }
    var line = line
    line.error = error
    line.state = error.code == .unavailable ? "unreachable" : "failed"
    return line
  }

  /// Why a store that asks a server at each query would get no answer.
  private static func refusal(of member: Workspace.Member) async -> FieldpackError? {
    guard case .open = member.state, let store = member.store, member.config.isRemote,
      (try? StoreRegistry.standard.downloadsFile(member.config)) == false
    else { return nil }
    do throws(FieldpackError) {
      _ = try await store.schemas()
      return nil
    } catch {
      return error.code == .interrupted ? nil : error
    }
  }

  /// Why a store of a config was not taken.
  private static func reason(_ store: StoreConfig) -> FieldpackError {
    do throws(FieldpackError) {
      try store.refuseBuiltIn()
      _ = try StoreRegistry.standard.type(of: store)
    } catch {
      return error
    }
    return FieldpackError(.configuration, "store '\(store.id)' cannot be added")
  }

  /// All that happens from now on, until the task of who iterates is cancelled.
  func events() -> AsyncStream<ServiceLine> {
    let (stream, sink) = AsyncStream.makeStream(of: ServiceLine.self)
    let (graph, workspace, backend) = (graph, data.workspace, backend)
    let services = graph.events()
    let stores = data.events()
    let configs = configs.events()
    let task = Task {
      await withTaskGroup { group in
        group.addTask {
          for await batch in services {
            for event in batch.all {
              var failure: FieldpackError?
              if let id = event.service { failure = await graph.failure(id) }
              sink.yield(ServiceLine(event, error: failure))
            }
          }
        }
        group.addTask {
          for await batch in stores {
            for event in batch.all {
              let member = event.store.flatMap { try? workspace.member($0) }
              var line = ServiceLine(event, member)
              if event.kind == .running, let member { line = await Self.asking(member, line) }
              sink.yield(line)
            }
          }
        }
        group.addTask {
          for await batch in configs {
            for event in batch.all { sink.yield(ServiceLine(event)) }
          }
        }
        group.addTask { await backend?.tell { sink.yield($0) } }
        if let deliveries {
          let sent = deliveries.events()
          group.addTask {
            for await batch in sent { for event in batch.all { sink.yield(ServiceLine(event)) } }
          }
        }
        group.addTask {
          do {
            for try await change in workspace.changes() { sink.yield(ServiceLine(change)) }
          } catch {
            let error = error as? FieldpackError
            var line = ServiceLine()
            line.store = error?.location.store
            line.error = error
            line.detail = "changes are not told any more"
            sink.yield(line)
          }
        }
      }
    }
    sink.onTermination = { _ in task.cancel() }
    return stream
  }

  /// Stops all, first what needs others, also where the task is cancelled.
  ///
  /// - Returns: what stopped, in that order.
  func stop() async -> [ServiceLine] {
    let (graph, data, forms, location) = (graph, data, forms, location)
    let sending = sending.withLock { $0 }
    return await Task.detached {
      sending?.cancel()
      await sending?.value
      let before = await Self.all(graph).count
      await graph.stopAll()
      let lines = await Self.all(graph).dropFirst(before).map { ServiceLine($0, error: nil) }
      await data.close()
      await forms?.close()
      await location?.close()
      return lines
    }.value
  }

  /// All events of the graph so far.
  private static func all(_ graph: ServiceGraph) async -> [ServiceEvent] {
    var batches = graph.events(from: 0).makeAsyncIterator()
    return await batches.next(isolation: nil)?.all ?? []
  }
}

extension AuthenticationService {
  /// Who is signed in, for people.
  fileprivate var words: String {
    guard status == .authenticated else { return "nobody is signed in to \(remote.uri)" }
    return "\(user ?? "without a user") at \(remote.uri)"
  }
}

extension EventBatch {
  /// The events that are there; what was missed is left out.
  fileprivate var all: [Event] {
    switch self {
    case .events(let events): events
    case .missed: []
    }
  }
}
