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
        await untilFinished(address)
        if await !link.isReady { await link.runNext(.connect) }
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
    await untilFinished(target.address)
    return await link.configure(target.configuration, for: target.item)
  }

  /// Captures for an item.
  @discardableResult
  package func capture(_ target: SensorTarget) async throws(FieldpackError) -> SensorLink.Outcome? {
    guard !target.address.uri.isEmpty else { return nil }
    let link = try made(target.address)
    await untilFinished(target.address)
    events.send(SensorEvent(.startCapture, device: target.address, item: target.item))
    return await link.capture(target.configuration, for: target.item)
  }

  /// Begins the live preview of a sensor, for which no session is needed.
  package func preview(
    of address: SensorAddress, http: HTTPClient, limit: Int
  ) async throws(FieldpackError) -> SensorPreview {
    let link = try made(address)
    return try await link.startPreview(http: http, limit: limit)
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
  /// To be called before the first link is made. Links that are made meanwhile wait for the work at
  /// their sensor.
  ///
  /// A capture that the sensor does not have any more is lost, and told so. What a sensor cannot be
  /// asked for stays for the next time.
  package func finishEarlierWork() async throws(FieldpackError) {
    guard !isClosed else { throw Self.closed }
    let known = Set(links.keys)
    let reading = Task { await readEarlierWork(besides: known) }
    self.reading = reading
    let failure = await withTaskCancellationHandler {
      await earlierFailure(reading)
    } onCancel: {
      Task { await self.cancelEarlierWork() }
    }
    if let failure { throw failure }
  }

  private func readEarlierWork(besides known: Set<SensorAddress>) async -> FieldpackError? {
    let left: UnfinishedWork
    do throws(FieldpackError) { left = try await journal.unfinished() } catch { return error }
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
    earlier = [:]
    return failure
  }

  private func cancelEarlierWork() {
    reading?.cancel()
    for task in earlier.values { task.cancel() }
  }

  /// Waits until what an earlier run has left at a sensor is done.
  private func untilFinished(_ address: SensorAddress) async {
    _ = await reading?.value
    _ = await earlier[address]?.value
  }

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
          try await link.release(session)
        } catch {
          guard error.httpFailure != nil || error.code == .invalidData else { throw error }
        }
      }
      return nil
    } catch { return error }
  }
}
