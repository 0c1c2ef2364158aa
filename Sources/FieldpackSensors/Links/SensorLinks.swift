package import FieldpackCore
package import FieldpackField
package import FieldpackHTTP

/// What is captured for an item, and with which sensor.
package struct SensorTarget: Hashable, Sendable {
  package var address: SensorAddress
  package var configuration: SensorDictionary
  package var item: KeyTuple?

  package init(
    _ address: SensorAddress, _ configuration: SensorDictionary, item: KeyTuple? = nil
  ) {
    self.address = address
    self.configuration = configuration
    self.item = item
  }
}

/// The links to all sensors, one for each address and name.
package actor SensorLinks {
  package typealias Opening =
    @Sendable (SensorAddress) throws(FieldpackError) -> any BiometricSensor

  /// Which cameras of this machine are linked to.
  package nonisolated let cameras: CameraAccess
  package nonisolated let events = Broadcast<SensorEvent>(capacity: 1024)
  private let journal: any SensorJournal
  private let options: SensorLink.Options
  private let clock: FieldClock
  private let opening: Opening
  private var links: [SensorAddress: SensorLink] = [:]
  private var connecting: [SensorAddress: Task<Void, Never>] = [:]
  /// Reads what an earlier run has left, and fills ``earlier``.
  private var reading: Task<FieldpackError?, Never>?
  /// What does the work that an earlier run has left.
  private var earlier: [SensorAddress: Task<FieldpackError?, Never>] = [:]
  /// Sessions of an earlier run that could not be given back.
  private var kept: [SensorAddress: SensorSession] = [:]
  /// How many captures run or wait at an address, whatever the names of its links.
  private var capturing: [String: Int] = [:]
  /// The previews that wait for the end of the captures at an address.
  private var waiting: [String: [CheckedContinuation<Void, Never>]] = [:]
  private var isClosed = false

  /// - Parameter opening: gives what answers at an address.
  package init(
    journal: any SensorJournal, options: SensorLink.Options = SensorLink.Options(),
    clock: FieldClock = .system, cameras: CameraAccess = .all, opening: @escaping Opening
  ) {
    self.cameras = cameras
    self.journal = journal
    self.options = options
    self.clock = clock
    self.opening = opening
  }

  /// Links to sensors on the network, and to cameras by addresses `cam://`.
  ///
  /// - Parameters:
  ///   - folder: where captures lie while they come, by default `TMPDIR`, else `/tmp`.
  ///   - cameras: which cameras and files of this machine are sensors, too.
  package init(
    journal: any SensorJournal, folder: String? = nil, cameras: CameraAccess = .all,
    clock: FieldClock = .system
  ) throws(FieldpackError) {
    let http = try SensorClient.http()
    self.init(journal: journal, clock: clock, cameras: cameras) {
      (address) throws(FieldpackError) in
      var options = SensorClient.Options()
      options.folder = folder
      return try SensorClient.sensor(
        at: address.uri, http: http, options: options, cameras: cameras)
    }
  }

  /// The link to a sensor, which connects at once where it is new or not ready; `nil` where there is no
  /// address.
  ///
  /// - Throws: `.invalidArgument` for what is no address, `.unavailable` after ``close()``.
  @discardableResult
  package func link(to address: SensorAddress?) throws(FieldpackError) -> SensorLink? {
    guard let address, !address.uri.isEmpty else { return nil }
    let link = try made(address)
    if connecting[address] == nil {
      connecting[address] = Task {
        await untilFinished(address, link)
        if await !link.isReady { await link.run(.connect) }
        connecting[address] = nil
      }
    }
    return link
  }

  private func made(_ address: SensorAddress) throws(FieldpackError) -> SensorLink {
    guard !isClosed else { throw Self.closed }
    if let known = links[address] { return known }
    let link = SensorLink(
      address, service: try opening(address), journal: journal, events: events, options: options,
      clock: clock)
    links[address] = link
    return link
  }

  private static let closed = FieldpackError(.unavailable, "the links to sensors are closed")

  /// The sensors that are ready now.
  package func ready() async -> Set<SensorAddress> {
    var ready: Set<SensorAddress> = []
    for (address, link) in links {
      if await link.isReady { ready.insert(address) }
    }
    return ready
  }

  // MARK: Selections

  /// Connects the sensors of all items of a person.
  ///
  /// - Throws: why one of them cannot be connected; the others are.
  package func select(person targets: [SensorTarget]) throws(FieldpackError) {
    var failure: FieldpackError?
    for target in targets {
      do throws(FieldpackError) { try link(to: target.address) } catch {
        failure = failure ?? error
      }
    }
    if let failure { throw failure }
  }

  /// Sets a sensor up for an item.
  @discardableResult
  package func select(item target: SensorTarget) async throws(FieldpackError) -> SensorLink.Outcome?
  {
    guard !target.address.uri.isEmpty else { return nil }
    let link = try made(target.address)
    await untilFinished(target.address, link)
    return await link.configure(target.configuration, for: target.item)
  }

  /// Captures for an item.
  @discardableResult
  package func capture(_ target: SensorTarget) async throws(FieldpackError) -> SensorLink.Outcome? {
    guard !target.address.uri.isEmpty else { return nil }
    let link = try made(target.address)
    await untilFinished(target.address, link)
    events.send(SensorEvent(.startCapture, device: target.address, item: target.item))
    let uri = target.address.uri
    capturing[uri, default: 0] += 1
    defer { endCapture(at: uri) }
    // A camera of this machine is for one program at a time, whatever name the link has.
    for (address, other) in links where address.uri == uri && address != target.address {
      await other.stopPreview()
    }
    return await link.capture(target.configuration, for: target.item)
  }

  private func endCapture(at uri: String) {
    let left = (capturing[uri] ?? 0) - 1
    capturing[uri] = left > 0 ? left : nil
    guard left <= 0 else { return }
    for continuation in waiting.removeValue(forKey: uri) ?? [] { continuation.resume() }
  }

  /// Waits until nothing is captured at an address.
  private func untilCaptured(at uri: String) async {
    while capturing[uri] != nil {
      await withCheckedContinuation { waiting[uri, default: []].append($0) }
    }
  }

  /// Begins the live preview of a sensor once nothing is captured at its address. No session is
  /// needed for it.
  package func preview(
    of address: SensorAddress, http: HTTPClient, limit: Int
  ) async throws(FieldpackError) -> SensorPreview {
    let link = try made(address)
    while true {
      await untilCaptured(at: address.uri)
      let preview = try await link.startPreview(http: http, limit: limit)
      if capturing[address.uri] == nil { return preview }
      // A capture has begun meanwhile.
      await link.stopPreview()
    }
  }

  /// Stops what a sensor is at for an item; what it is at for another one goes on.
  package func stop(_ target: SensorTarget) async {
    events.send(SensorEvent(.stopCapture, device: target.address, item: target.item))
    await links[target.address]?.cancel(target.item)
  }

  /// Gives all sessions back, and waits for that. What is not downloaded yet stays in the journal.
  package func close() async {
    isClosed = true
    cancelEarlierWork()
    _ = await reading?.value
    for task in Array(earlier.values) { _ = await task.value }
    let links = Array(links.values)
    self.links = [:]
    await withTaskGroup(of: Void.self) { group in
      for link in links { group.addTask { await link.close() } }
    }
  }

  // MARK: An earlier run

  /// Does what an earlier run has left: downloads what was captured, and gives locks and sessions back.
  /// What is asked of the links from then on waits for the work at its sensor. Where a link has a
  /// session already, the work stays for the next time.
  ///
  /// A capture that the sensor does not have any more is lost, and told so. What a sensor cannot be
  /// asked for stays for the next time.
  package func finishEarlierWork() async throws(FieldpackError) {
    guard !isClosed else { throw Self.closed }
    let reading = beginEarlierWork()
    let failure = await withTaskCancellationHandler {
      await earlierFailure(reading)
    } onCancel: {
      Task { await self.cancelEarlierWork() }
    }
    if let failure { throw failure }
  }

  /// Begins to do what an earlier run has left. What is asked of the links after that waits for the
  /// work at its sensor.
  @discardableResult
  func beginEarlierWork() -> Task<FieldpackError?, Never> {
    if let reading { return reading }
    let begun = Task { await readEarlierWork() }
    reading = begun
    return begun
  }

  private func readEarlierWork() async -> FieldpackError? {
    guard !isClosed else { return nil }
    let left: UnfinishedWork
    do throws(FieldpackError) { left = try await journal.unfinished() } catch { return error }
    // Their sessions have taken the place of the earlier ones in the journal.
    var known: Set<SensorAddress> = []
    for (address, link) in links {
      if await link.session != nil { known.insert(address) }
    }
    guard !isClosed, !Task.isCancelled else { return nil }
    var devices: [SensorAddress: UnfinishedWork] = [:]
    for capture in left.captures {
      devices[capture.device, default: .init()].captures.append(capture)
    }
    for session in left.sessions {
      devices[session.device, default: .init()].sessions.append(session)
    }
    for (address, work) in devices where !known.contains(address) {
      earlier[address] = Task { await self.finish(work, at: address) }
    }
    return nil
  }

  /// Waits for the end of the earlier work.
  private func earlierFailure(_ reading: Task<FieldpackError?, Never>) async -> FieldpackError? {
    var failure = await reading.value
    for task in Array(earlier.values) {
      let end = await task.value
      failure = failure ?? end
    }
    // Another caller may have waited for the same work, and begun anew since.
    if self.reading == reading { (self.reading, earlier) = (nil, [:]) }
    return failure
  }

  private func cancelEarlierWork() {
    reading?.cancel()
    for task in earlier.values { task.cancel() }
  }

  /// Waits until what an earlier run has left at a sensor is done.
  private func untilFinished(_ address: SensorAddress, _ link: SensorLink) async {
    _ = await reading?.value
    _ = await earlier[address]?.value
    if let session = kept[address] {
      await link.adopt(session)
      kept[address] = nil
    }
  }

  private func keep(_ session: SensorSession) { kept[session.device] = session }

  private nonisolated func finish(
    _ work: UnfinishedWork, at address: SensorAddress
  ) async -> FieldpackError? {
    do throws(FieldpackError) {
      let link = SensorLink(
        address, service: try opening(address), journal: journal, events: events,
        options: options, clock: clock)
      for capture in work.captures {
        try await link.download(capture.id, for: capture.item, isLast: true)
      }
      for session in work.sessions {
        do throws(FieldpackError) {
          if try await !link.release(session) { await keep(session) }
        } catch {
          guard error.httpFailure != nil || error.code == .invalidData else { throw error }
          await keep(session)
        }
      }
      return nil
    } catch { return error }
  }
}
