package import FieldpackCore
package import FieldpackField
import FieldpackGeoPackage

/// An operator's work with persons, items and their sensors.
///
/// It holds what the button of each item shows, and does with the sensor what a click on it asks for.
///
///     let desk = SensorDesk(persons, links)
///     try await desk.begin()
///     try await desk.tap(item)   // captures, stops, or connects again
package actor SensorDesk {
  /// What has changed for those who look on.
  package enum Change: Hashable, Sendable {
    case person(KeyTuple)
    case item(KeyTuple)
    case gone(person: KeyTuple)
    /// A problem that the operator waits for.
    case told(item: KeyTuple, String)
    /// A sensor has become ready, or is not ready any more.
    case sensor(SensorAddress, isReady: Bool)
    /// So much that everything is to be read anew.
    case everything
  }

  /// What the button of an item shows.
  package struct Button: Hashable, Sendable {
    package var state: ItemCapture.State
    package var words: String
  }

  private struct Entry {
    var capture: ItemCapture
    /// Tells it from an entry that was reset meanwhile.
    var number: Int
    /// Whether the state has lasted so long that its words are shown.
    var isDue = true
    var timer: Task<Void, Never>?
  }

  package nonisolated let persons: PersonCatalogue
  /// Where those who let operators click log what was clicked.
  package nonisolated let interactions: InteractionLog
  /// Which cameras of this machine are sensors.
  package nonisolated var cameras: CameraAccess { links.cameras }
  package nonisolated let changes = Broadcast<Change>(capacity: 1024)
  private let links: SensorLinks
  private let previews: SensorPreviews
  private let clock: FieldClock
  private let logger: Logger
  private var entries: [KeyTuple: Entry] = [:]
  private var work: [KeyTuple: Task<Void, Never>] = [:]
  private var watch: Task<Void, Never>?
  private var entryCount = 0
  /// The sensors that have given a session and are initialized, as far as is known.
  package private(set) var ready: Set<SensorAddress> = []
  /// Held while this desk works with the sensors of its file.
  private var lock: SensorLock?
  /// Begins what an earlier run has left, for which all work of this desk waits.
  private var beginning: Task<Void, Never>?
  private var isClosed = false

  package init(
    _ persons: PersonCatalogue, _ links: SensorLinks, interactions: InteractionLog? = nil,
    clock: FieldClock = .system, logger: Logger = .silent
  ) {
    self.persons = persons
    self.interactions = interactions ?? InteractionLog(persons.store)
    self.links = links
    previews = SensorPreviews(links)
    self.clock = clock
    self.logger = logger
  }

  /// Begins to follow the links, and does what an earlier run has left: captures that were made are
  /// downloaded, locks are given back.
  ///
  /// - Throws: `.busy` where another program works with the sensors of this file; `.unavailable` after
  ///   ``close()``; other errors where what was left cannot be stored.
  package func begin() async throws(FieldpackError) {
    try takeLock()
    await beginning?.value
    try await links.finishEarlierWork()
  }

  /// Takes the sensors of the file for this desk. What an earlier run has left is begun then, too: the
  /// file may have been busy when the program began.
  private func hold() throws(FieldpackError) {
    guard try takeLock() else { return }
    Task { [links, logger, beginning] in
      await beginning?.value
      do throws(FieldpackError) {
        try await links.finishEarlierWork()
      } catch { logger.warning("what sensors had left is not done: \(error.message)") }
    }
  }

  /// Takes the sensors of the file for this desk, and follows the links from then on.
  ///
  /// - Returns: whether the desk did not have them already.
  @discardableResult
  private func takeLock() throws(FieldpackError) -> Bool {
    guard !isClosed else { throw FieldpackError(.unavailable, "the desk is closed") }
    guard lock == nil else { return false }
    lock = try SensorLock(of: persons.store.path, named: persons.store.shownPath)
    let events = links.events.subscribe()
    watch = Task { [weak self] in
      for await event in events.stream {
        if events.takeLost() > 0 { await self?.takeAnew() }
        await self?.take(event)
      }
    }
    beginning = Task { [links] in _ = await links.beginEarlierWork() }
    return true
  }

  /// Reads anew what was lost because the links told more than was taken.
  private func takeAnew() async {
    ready = await links.ready()
    changes.send(.everything)
  }

  /// Ends the work at all sensors and gives their sessions back.
  package func close() async {
    isClosed = true
    for task in work.values { task.cancel() }
    await previews.close()
    await links.close()
    for task in work.values { await task.value }
    watch?.cancel()
    for entry in entries.values { entry.timer?.cancel() }
    changes.finish()
    lock = nil
  }

  // MARK: Asking

  package func button(of item: Item) -> Button {
    let entry = entries[item.key]
    let state = Self.present(entry?.capture, hasData: item.hasData).state
    let words = state == .capture ? ItemCapture.hint : state.message ?? ""
    return Button(state: state, words: entry?.isDue ?? true ? words : "")
  }

  /// What a button goes on from. One that only shows whether there are data begins anew where others
  /// have changed that.
  private static func present(_ capture: ItemCapture?, hasData: Bool?) -> ItemCapture {
    guard let capture else { return ItemCapture(hasData: hasData ?? false) }
    guard let hasData, capture.hasData != hasData,
      capture.state == .inactive || capture.state == .capture
    else { return capture }
    return ItemCapture(hasData: hasData)
  }

  /// Does what a click on the button of an item asks for.
  ///
  /// - Throws: `.constraint` for an item without a sensor, `.busy` as ``begin()``.
  package func tap(_ item: Item) throws(FieldpackError) {
    let target = try target(of: item)
    try hold()
    take(.tapped, item, target)
  }

  /// Captures for an item, and waits for the end.
  ///
  /// - Returns: what became of the capture.
  /// - Throws: `.constraint` for an item without a sensor, `.busy` as ``begin()``.
  package func capture(_ item: Item) async throws(FieldpackError) -> SensorLink.Outcome? {
    let target = try target(of: item)
    try hold()
    await beginning?.value
    return try await links.capture(target)
  }

  /// What the sensor of an item sees from now on. All who look at the same sensor share one stream of it.
  ///
  /// - Throws: `.constraint` for an item without a sensor, `.unsupported` for a sensor without a preview,
  ///   `.busy` as ``begin()``.
  package func preview(
    of item: Item
  ) async throws(FieldpackError) -> Subscription<PreviewFrame> {
    let target = try target(of: item)
    try hold()
    await beginning?.value
    return try await previews.follow(target.address)
  }

  /// Sets the sensor of an item up, so that its next capture begins at once.
  ///
  /// - Throws: `.constraint` for an item without a sensor, `.busy` as ``begin()``.
  package func select(_ item: Item) throws(FieldpackError) {
    let target = try target(of: item)
    try hold()
    take(.connecting, item, target)
    configure(item, target)
  }

  /// Connects the sensors of all items of a person.
  package func select(person: KeyTuple) async throws(FieldpackError) {
    try hold()
    await beginning?.value
    let targets = try await persons.items(of: person).compactMap { item in try? target(of: item) }
    try await links.select(person: targets)
  }

  /// Forgets what was captured for an item, after ``PersonCatalogue/clear(_:scrubbing:)`` or
  /// a change of what it captures.
  package func reset(_ item: KeyTuple) {
    entries.removeValue(forKey: item)?.timer?.cancel()
    work[item]?.cancel()
  }

  private func target(of item: Item) throws(FieldpackError) -> SensorTarget {
    guard let device = item.device else {
      throw FieldpackError(
        .constraint, "there is no sensor behind this item. Try: set it up with the address of one",
        location: .init(layer: item.key.layer, feature: item.key.feature))
    }
    return SensorTarget(
      device.address,
      SensorDictionary(device.configuration.map { .init($0.name, SensorValue(json: $0.value)) }),
      item: item.key)
  }

  // MARK: Working

  private func take(_ event: ItemCapture.Event, _ item: Item, _ target: SensorTarget) {
    for effect in advance(item.key, hasData: item.hasData, event) {
      switch effect {
      case .startCapture: capture(item, target)
      case .cancelCapture:
        work[item.key]?.cancel()
        Task { await links.stop(target) }
      case .reconnect: configure(item, target)
      default: break
      }
    }
  }

  private func capture(_ item: Item, _ target: SensorTarget) {
    run(item.key, thenTaking: .ended) { [links] () async throws(FieldpackError) in
      try await links.capture(target)
    }
  }

  private func configure(_ item: Item, _ target: SensorTarget) {
    run(item.key, thenTaking: .connected) { [links] () async throws(FieldpackError) in
      try await links.select(item: target)
    }
  }

  /// Runs something at a sensor, and tells the button how it ended.
  private func run(
    _ item: KeyTuple, thenTaking end: ItemCapture.Event,
    _ body: @escaping @Sendable () async throws(FieldpackError) -> SensorLink.Outcome?
  ) {
    let (before, number) = (work[item], entries[item]?.number)
    work[item] = Task {
      await before?.value
      await beginning?.value
      let event: ItemCapture.Event
      do throws(FieldpackError) {
        switch try await body() {
        case .completed: event = end
        case .canceled, nil: event = .cancelled
        case .failed(let code, let message): event = .failed(status: code.name, message: message)
        }
      } catch { event = .failed(status: error.code.name, message: error.message) }
      if entries[item]?.number == number { advance(item, event) }
    }
  }

  /// Takes what the links tell of an item.
  private func take(_ event: SensorEvent) {
    if event.name == .connectedStatusChanged, let device = event.device {
      let isReady = event.isReady == true
      if isReady { ready.insert(device) } else { ready.remove(device) }
      changes.send(.sensor(device, isReady: isReady))
    }
    guard let item = event.item, event.name == .downloadPosted else { return }
    advance(item, .posted)
    changes.send(.item(item))
  }

  @discardableResult
  private func advance(
    _ item: KeyTuple, hasData: Bool? = nil, _ event: ItemCapture.Event
  ) -> [ItemCapture.Effect] {
    let capture = Self.present(entries[item]?.capture, hasData: hasData)
    if entries[item] == nil { entryCount += 1 }
    var entry = entries[item] ?? Entry(capture: capture, number: entryCount)
    entry.capture = capture
    let state = capture.state
    let effects = entry.capture.take(event)
    if entry.capture.state != state {
      entry.timer?.cancel()
      let delay = entry.capture.state.delay
      (entry.isDue, entry.timer) = (delay == .zero, nil)
      if delay > .zero {
        entry.timer = Task {
          try? await clock.sleep(for: delay)
          if !Task.isCancelled { show(item) }
        }
      }
    }
    entries[item] = entry
    if entry.capture.state != state { changes.send(.item(item)) }
    for effect in effects {
      switch effect {
      case .tell(let text): changes.send(.told(item: item, text))
      case .log:
        // What the sensor said may tell of a person.
        guard case .failed(let status, _) = event else { break }
        logger.debug("\(item): a sensor failed: \(status)")
      default: break
      }
    }
    return effects
  }

  /// Shows the words of a state that has lasted.
  private func show(_ item: KeyTuple) {
    entries[item]?.isDue = true
    changes.send(.item(item))
  }
}
