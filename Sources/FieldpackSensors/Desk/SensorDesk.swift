package import FieldpackCore
package import FieldpackField

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
  }

  /// What the button of an item shows.
  package struct Button: Hashable, Sendable {
    package var state: ItemCapture.State
    package var words: String
  }

  private struct Entry {
    var capture: ItemCapture
    /// Whether the state has lasted so long that its words are shown.
    var isDue = true
    var timer: Task<Void, Never>?
  }

  package nonisolated let persons: PersonCatalogue
  package nonisolated let changes = Broadcast<Change>(capacity: 1024)
  private let links: SensorLinks
  private let clock: FieldClock
  private let logger: Logger
  private var entries: [KeyTuple: Entry] = [:]
  private var work: [KeyTuple: Task<Void, Never>] = [:]
  private var watch: Task<Void, Never>?

  package init(
    _ persons: PersonCatalogue, _ links: SensorLinks, clock: FieldClock = .system,
    logger: Logger = .silent
  ) {
    self.persons = persons
    self.links = links
    self.clock = clock
    self.logger = logger
  }

  /// Begins to follow the links, and does what an earlier run has left: captures that were made are
  /// downloaded, locks are given back.
  ///
  /// - Throws: where that cannot be stored.
  package func begin() async throws(FieldpackError) {
    let events = links.events.subscribe()
    watch = Task { [weak self] in
      for await event in events.stream { await self?.take(event) }
    }
    try await links.finishEarlierWork()
  }

  /// Ends the work at all sensors and gives their sessions back.
  package func close() async {
    for task in work.values { task.cancel() }
    await links.close()
    for task in work.values { await task.value }
    watch?.cancel()
    for entry in entries.values { entry.timer?.cancel() }
    changes.finish()
  }

  // MARK: Asking

  package func button(of item: Item) -> Button {
    let entry = entries[item.key] ?? Entry(capture: ItemCapture(hasData: item.hasData))
    let state = entry.capture.state
    let words = state == .capture ? ItemCapture.hint : state.message ?? ""
    return Button(state: state, words: entry.isDue ? words : "")
  }

  /// Does what a click on the button of an item asks for.
  ///
  /// - Throws: `.constraint` for an item without a sensor.
  package func tap(_ item: Item) throws(FieldpackError) {
    let target = try target(of: item)
    take(.tapped, item, target)
  }

  /// Captures for an item, and waits for the end.
  ///
  /// - Returns: what became of the capture.
  /// - Throws: `.constraint` for an item without a sensor.
  package func capture(_ item: Item) async throws(FieldpackError) -> SensorLink.Outcome? {
    try await links.capture(try target(of: item))
  }

  /// Sets the sensor of an item up, so that its next capture begins at once.
  ///
  /// - Throws: `.constraint` for an item without a sensor.
  package func select(_ item: Item) throws(FieldpackError) {
    let target = try target(of: item)
    take(.connecting, item, target)
    configure(item, target)
  }

  /// Connects the sensors of all items of a person.
  package func select(person: KeyTuple) async throws(FieldpackError) {
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
      SensorDictionary(device.configuration.map { .init($0.name, .init($0.value)) }),
      item: item.key)
  }

  // MARK: Working

  private func take(_ event: ItemCapture.Event, _ item: Item, _ target: SensorTarget) {
    for effect in advance(item.key, hasData: item.hasData, event) {
      switch effect {
      case .startCapture: capture(item, target)
      case .cancelCapture: Task { await links.stop(target) }
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
    let before = work[item]
    work[item] = Task {
      await before?.value
      let event: ItemCapture.Event
      do throws(FieldpackError) {
        switch try await body() {
        case .completed: event = end
        case .canceled, nil: event = .cancelled
        case .failed(let code, let message): event = .failed(status: code.name, message: message)
        }
      } catch { event = .failed(status: error.code.name, message: error.message) }
      if !Task.isCancelled { advance(item, hasData: false, event) }
    }
  }

  /// Takes what the links tell of an item.
  private func take(_ event: SensorEvent) {
    guard let item = event.item, event.name == .downloadPosted else { return }
    advance(item, hasData: false, .posted)
    changes.send(.item(item))
  }

  @discardableResult
  private func advance(
    _ item: KeyTuple, hasData: Bool, _ event: ItemCapture.Event
  ) -> [ItemCapture.Effect] {
    var entry = entries[item] ?? Entry(capture: ItemCapture(hasData: hasData))
    let state = entry.capture.state
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
      case .log(let text): logger.debug("\(item): \(text)")
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

extension SensorValue {
  /// A parameter of an item as the file keeps it.
  init(_ json: JSONValue) {
    switch json {
    case .null: self = .null
    case .boolean(let value): self = .boolean(value)
    case .text(let text): self = .string(text)
    case .array(let values): self = .array(values.map { SensorValue($0) })
    case .integer(let number): self = .integer(Int(number))
    case .real(let number): self = .double(number)
    case .object: self = .string(json.text)
    }
  }
}
