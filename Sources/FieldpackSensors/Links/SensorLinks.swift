package import FieldpackCore
package import FieldpackField
import FieldpackHTTP

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

  package nonisolated let events = Broadcast<SensorEvent>(capacity: 1024)
  private let journal: any SensorJournal
  private let options: SensorLink.Options
  private let clock: FieldClock
  private let opening: Opening
  private var links: [SensorAddress: SensorLink] = [:]
  private var connecting: [SensorAddress: Task<Void, Never>] = [:]

  /// - Parameter opening: gives what answers at an address.
  package init(
    journal: any SensorJournal, options: SensorLink.Options = SensorLink.Options(),
    clock: FieldClock = .system, opening: @escaping Opening
  ) {
    self.journal = journal
    self.options = options
    self.clock = clock
    self.opening = opening
  }

  /// Links to sensors on the network, and to cameras by addresses `cam://`.
  ///
  /// - Parameter folder: where captures lie while they come, by default `TMPDIR`, else `/tmp`.
  package init(
    journal: any SensorJournal, folder: String? = nil, clock: FieldClock = .system
  ) throws(FieldpackError) {
    let http = try SensorClient.http()
    self.init(journal: journal, clock: clock) { (address) throws(FieldpackError) in
      if let camera = try CameraSensor(address.uri) { return camera }
      var options = SensorClient.Options()
      options.folder = folder
      return try SensorClient(address.uri, http: http, options: options)
    }
  }

  /// The link to a sensor, which connects at once where it is new or not ready; `nil` where there is no
  /// address.
  ///
  /// - Throws: `.invalidArgument` for what is no address.
  @discardableResult
  package func link(to address: SensorAddress?) throws(FieldpackError) -> SensorLink? {
    guard let address, !address.uri.isEmpty else { return nil }
    let link = try made(address)
    if connecting[address] == nil {
      connecting[address] = Task {
        if await !link.isReady { await link.runNext(.connect) }
        connecting[address] = nil
      }
    }
    return link
  }

  private func made(_ address: SensorAddress) throws(FieldpackError) -> SensorLink {
    if let known = links[address] { return known }
    let link = SensorLink(
      address, service: try opening(address), journal: journal, events: events, options: options,
      clock: clock)
    links[address] = link
    return link
  }

  /// Whether there is a link to a sensor that is ready.
  package func isActive(_ address: SensorAddress) async -> Bool {
    await links[address]?.isReady ?? false
  }

  // MARK: Selections

  /// Connects the sensors of all items of a person.
  package func select(person targets: [SensorTarget]) throws(FieldpackError) {
    for target in targets { try link(to: target.address) }
  }

  /// Sets a sensor up for an item.
  @discardableResult
  package func select(item target: SensorTarget) async throws(FieldpackError) -> SensorLink.Outcome?
  {
    guard !target.address.uri.isEmpty else { return nil }
    let link = try made(target.address)
    return await link.configure(target.configuration, for: target.item)
  }

  /// Captures for an item.
  @discardableResult
  package func capture(_ target: SensorTarget) async throws(FieldpackError) -> SensorLink.Outcome? {
    guard !target.address.uri.isEmpty else { return nil }
    let link = try made(target.address)
    events.send(SensorEvent(.startCapture, device: target.address, item: target.item))
    return await link.capture(target.configuration, for: target.item)
  }

  /// Stops what a sensor is at.
  package func stop(_ target: SensorTarget) async {
    events.send(SensorEvent(.stopCapture, device: target.address, item: target.item))
    await links[target.address]?.cancel()
  }

  /// Gives all sessions back, and waits for that.
  package func close() async {
    let links = links.values
    self.links = [:]
    await withTaskGroup(of: Void.self) { group in
      for link in links {
        group.addTask {
          await link.cancel()
          if await link.session != nil { await link.runNext(.disconnect) }
        }
      }
    }
  }

  // MARK: An earlier run

  /// Does what an earlier run has left: downloads what was captured, and gives locks and sessions back.
  /// To be called before the first link is made.
  ///
  /// A capture that cannot be had any more is lost, and told so. A session whose sensor cannot be asked
  /// stays for the next time.
  package func finishEarlierWork() async throws(FieldpackError) {
    let left = try await journal.unfinished()
    var devices: [SensorAddress: UnfinishedWork] = [:]
    for capture in left.captures {
      devices[capture.device, default: .init()].captures.append(capture)
    }
    for session in left.sessions {
      devices[session.device, default: .init()].sessions.append(session)
    }
    let failures = await withTaskGroup(of: FieldpackError?.self) { group in
      for (address, work) in devices where links[address] == nil {
        group.addTask { await self.finish(work, at: address) }
      }
      var failures: [FieldpackError] = []
      for await failure in group { if let failure { failures.append(failure) } }
      return failures
    }
    if let failure = failures.first { throw failure }
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
