import Fieldpack
import FieldpackCore
import FieldpackField
import FieldpackGeoPackage
import FieldpackSensors

/// Tells all pages of operators what happens to persons and items, as server-sent events.
///
/// As long as a page follows, the hub looks four times a second whether persons or items are other than the
/// pages were told, because another program or another part of the server has changed them. Each event is made
/// once, however many pages follow, and what changes several times before its event is made is told once.
actor SensorEventHub {
  private nonisolated let desk: SensorDesk
  private nonisolated let pieces = Broadcast<[UInt8]>(capacity: 1024)
  private nonisolated let store: GeoPackageStore
  private let clock: FieldClock
  private let logger: Logger
  private var beginning: Task<FieldpackError?, Never>?
  /// What the pages were told last; `nil` while nobody follows, and where that is not known.
  private var told: ToldPersons?
  private var watcher: Int?
  /// How many commits of others were found.
  private var commits = 0
  /// Whether this server has committed something about persons since the last look.
  private nonisolated let hasCommitted = Locked(false)
  private var waiting: [SensorDesk.Change] = []
  private var isTelling = false

  private static let pause = Duration.milliseconds(250)
  /// Proxies close a connection that says nothing for long.
  private static let beatPause = Duration.seconds(15)
  /// Where more has changed at once, pages read everything anew.
  private static let mostChanges = 50

  init(of desk: SensorDesk, logger: Logger = .silent, clock: FieldClock = .system) {
    self.desk = desk
    self.logger = logger
    self.clock = clock
    store = desk.persons.store
  }

  // MARK: Following

  /// The events from now on, as the answer to one page.
  ///
  /// - Parameters:
  ///   - room: where what a slow page has not taken is kept.
  ///   - isStillAllowed: whether the page may read on; `nil` for always.
  nonisolated func stream(
    in room: SpillRoom, while isStillAllowed: (@Sendable () -> Bool)? = nil
  ) async throws(FieldpackError) -> ResponseStream {
    let pieces = pieces.subscribe()
    try await begin()
    let stream = ResponseStream(in: room)
    try stream.send(Array("retry: 1000\n\n".utf8))
    Task {
      for await piece in pieces.stream {
        // A page that comes again reads everything anew.
        guard isStillAllowed?() ?? true, pieces.takeLost() == 0 else { break }
        do throws(FieldpackError) { try stream.send(piece) } catch { break }
      }
      stream.finish()
    }
    return stream
  }

  /// Comes back once the hub knows the file, so that a page that then reads everything misses nothing.
  private func begin() async throws(FieldpackError) {
    let task = beginning ?? Task { await self.start() }
    beginning = task
    guard let error = await task.value else { return }
    if beginning == task { beginning = nil }
    throw error
  }

  private func start() async -> FieldpackError? {
    if watcher == nil {
      watcher = store.beginWatching()
      let hasCommitted = hasCommitted
      store.observe { log in
        guard log.runs.contains(where: { Self.layers.contains($0.layer) }) else { return }
        hasCommitted.withLock { $0 = true }
      }
    }
    let changes = desk.changes.subscribe()
    do throws(FieldpackError) {
      commits = try await store.foreignCommits(watcher ?? 0)
      told = try await desk.persons.told()
    } catch { return error }
    let taking = Task {
      for await change in changes.stream {
        take(changes.takeLost() == 0 ? [change] : [.everything])
      }
      // The desk is closed, or nobody follows.
      if !Task.isCancelled { pieces.finish() }
    }
    Task {
      await watch()
      taking.cancel()
    }
    return nil
  }

  private static let layers: Set<LayerID> = [
    SensorLayers.person, SensorLayers.item, SensorLayers.device,
  ]

  // MARK: Looking

  /// Looks until nobody follows any more.
  private func watch() async {
    var beat = clock.uptime
    var pause = Self.pause
    var isFailing = false
    while !pieces.isFinished {
      try? await clock.sleep(for: pause)
      guard pieces.hasSubscribers else { break }
      let start = clock.uptime
      if start - beat >= Self.beatPause {
        beat = start
        pieces.send(Array(": here\n\n".utf8))
      }
      do throws(FieldpackError) {
        try await look()
        isFailing = false
      } catch {
        if !isFailing {
          logger.warning("persons could not be read", ["reason": .text("\(error)")])
        }
        isFailing = true
      }
      // A file with very many persons is not read all the time.
      pause = max(Self.pause, (clock.uptime - start) * 10)
    }
    beginning = nil
    told = nil
  }

  private func look() async throws(FieldpackError) {
    guard let watcher else { return }
    let commits = try await store.foreignCommits(watcher)
    let isOwn = hasCommitted.withLock { has in
      defer { has = false }
      return has
    }
    guard commits != self.commits || isOwn || told == nil else { return }
    let present: ToldPersons
    do throws(FieldpackError) {
      present = try await desk.persons.told()
    } catch {
      if isOwn { hasCommitted.withLock { $0 = true } }
      throw error
    }
    self.commits = commits
    guard let told else {
      // A change could not be read, and nobody knows what pages have read since.
      self.told = present
      return take([.everything])
    }
    let changes = told.changes(to: present)
    take(changes.count > Self.mostChanges ? [.everything] : changes)
  }

  // MARK: Telling

  private func take(_ changes: [SensorDesk.Change]) {
    waiting += changes
    guard !isTelling, !waiting.isEmpty else { return }
    isTelling = true
    Task { await self.tell() }
  }

  private func tell() async {
    while !waiting.isEmpty {
      var seen: Set<SensorDesk.Change> = []
      let batch = waiting.filter { seen.insert($0).inserted }
      waiting = []
      var hasFailed = false
      var items: [KeyTuple: Item]?
      for change in seen.contains(.everything) ? [.everything] : batch {
        do throws(FieldpackError) {
          if case .item = change, items == nil { items = try await self.items(of: batch) }
          // A person is told with all items as they are then, and what was read before is old.
          if case .person = change { items = nil }
          if let (kind, data) = try await event(of: change, items ?? [:]) { send(kind, data) }
        } catch {
          // What is gone by now is told as gone.
          guard error.code != .notFound else { continue }
          told = nil
          if !hasFailed { send("everything", .object([])) }
          hasFailed = true
        }
      }
    }
    isTelling = false
  }

  private func send(_ kind: String, _ data: JSONValue) {
    pieces.send(Array("event: \(kind)\ndata: \(data.text)\n\n".utf8))
  }

  /// The items of several changes, read at once: after each commit the file's layers are looked up anew.
  private func items(
    of changes: [SensorDesk.Change]
  ) async throws(FieldpackError) -> [KeyTuple: Item] {
    try await desk.persons.items(
      changes.compactMap { change in
        if case .item(let key) = change { key } else { nil }
      })
  }

  /// - Parameter items: those of the changes that are told together.
  /// - Returns: `nil` for an item that is gone, whose person is told then.
  private func event(
    of change: SensorDesk.Change, _ items: [KeyTuple: Item]
  ) async throws(FieldpackError) -> (String, JSONValue)? {
    switch change {
    case .person(let key):
      let person = try await desk.persons.person("\(key.feature)")
      let items = try await desk.persons.items(of: person.key)
      let document = await desk.document(of: person, items)
      told?.note(person, items)
      return ("person", document)
    case .item(let key):
      guard let item = items[key] else { return nil }
      let button = await desk.button(of: item)
      told?.note(item)
      return ("item", SensorDocuments.item(item, button))
    case .gone(let person):
      told?.forget(person)
      return ("gone", .members(["person": SensorDocuments.number(person)]))
    case .told(let item, let text):
      return ("told", .members(["item": SensorDocuments.number(item), "text": .text(text)]))
    case .sensor(let address, let isReady):
      return (
        "sensor",
        .members([
          "device": SensorDocuments.device(SensorDevice(address)), "isReady": .boolean(isReady),
        ])
      )
    case .everything:
      told = try await desk.persons.told()
      return ("everything", .object([]))
    }
  }
}

/// What pages were told last of each person and item, as hashes.
struct ToldPersons: Sendable {
  private struct Row: Hashable {
    var person: KeyTuple
    var hash: Int
  }

  private var persons: [KeyTuple: Int] = [:]
  private var items: [KeyTuple: Row] = [:]

  init(_ persons: [Person], _ items: [Item]) {
    let rows = Dictionary(grouping: items, by: \.person)
    for person in persons { note(person, rows[person.key] ?? []) }
  }

  /// - Parameter items: all items of the person in their order.
  mutating func note(_ person: Person, _ items: [Item]) {
    var hasher = Hasher()
    hasher.combine(person)
    hasher.combine(items.map(\.key))
    persons[person.key] = hasher.finalize()
    for item in items { note(item) }
  }

  mutating func note(_ item: Item) {
    items[item.key] = Row(person: item.person, hash: item.hashValue)
  }

  mutating func forget(_ person: KeyTuple) { persons[person] = nil }

  /// What has to be told, where `present` is read from the file. A person is told with all items.
  func changes(to present: ToldPersons) -> [SensorDesk.Change] {
    let gone = persons.keys.filter { present.persons[$0] == nil }
    let changed = Set(present.persons.keys.filter { persons[$0] != present.persons[$0] })
    let others = present.items.filter { key, row in
      items[key] != row && !changed.contains(row.person)
    }
    func sorted(_ keys: some Sequence<KeyTuple>) -> [KeyTuple] {
      keys.sorted { $0.feature < $1.feature }
    }
    return sorted(gone).map { .gone(person: $0) } + sorted(changed).map { .person($0) }
      + sorted(others.keys).map { .item($0) }
  }
}

extension PersonCatalogue {
  fileprivate func told() async throws(FieldpackError) -> ToldPersons {
    ToldPersons(try await persons(), try await items())
  }
}

extension SensorDesk {
  nonisolated func document(ofItem key: KeyTuple) async throws(FieldpackError) -> JSONValue {
    let item = try await persons.item("\(key.feature)")
    return SensorDocuments.item(item, await button(of: item))
  }

  nonisolated func document(ofPerson key: KeyTuple) async throws(FieldpackError) -> JSONValue {
    let person = try await persons.person("\(key.feature)")
    return await document(of: person, try await persons.items(of: person.key))
  }

  nonisolated func document(of person: Person, _ items: [Item]) async -> JSONValue {
    var documents: [JSONValue] = []
    for item in items { documents.append(SensorDocuments.item(item, await button(of: item))) }
    return SensorDocuments.person(person, documents)
  }

  /// All persons with their items.
  nonisolated func documents() async throws(FieldpackError) -> JSONValue {
    let rows = Dictionary(grouping: try await persons.items(), by: \.person)
    var documents: [JSONValue] = []
    for person in try await persons.persons() {
      documents.append(await document(of: person, rows[person.key] ?? []))
    }
    return .array(documents)
  }
}
