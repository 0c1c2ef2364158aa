import FieldpackCore
import FieldpackField
import FieldpackFieldTestSupport
import FieldpackHTTP
import FieldpackSensors
import Testing

/// What a sensor captured ends stored once or reported lost.
@Suite struct DownloadTests {
  private let item = LinkedSensor.item
  private let configuration = LinkedSensor.configuration

  @Test func aDownloadWaitsWhileItIsPrepared() async throws {
    let time = TestClock(.movedBySleep())
    let sensor = LinkedSensor(clock: time.clock) { $0.preparationTime = .seconds(10) }
    let outcome = await sensor.link.capture(configuration, for: item)
    #expect(outcome.isCompleted)
    #expect(
      time.sleeps == [0.5, 1.5, 3.5, 7.5].map { .milliseconds(Int($0 * 1000)) })
    #expect(await sensor.journal.stored.count == 1)
  }

  @Test func sixTriesAreMadeForEachCapture() async throws {
    let time = TestClock(.movedBySleep())
    let sensor = LinkedSensor(clock: time.clock) {
      $0.preparationTime = .seconds(100)
      $0.capturesAtOnce = 2
    }
    let outcome = await sensor.link.capture(configuration, for: item)
    #expect(
      outcome
        == .failed(.unavailable, message: "a capture is not here yet: preparing download"))
    let waits: [Duration] = [0.5, 1.5, 3.5, 7.5, 15.5].map { .milliseconds(Int($0 * 1000)) }
    #expect(time.sleeps == waits + waits)
    #expect(await sensor.journal.operations { $0.operation == .thriftyDownload }.count == 12)
    // They are not lost: the next start downloads them.
    #expect(await sensor.journal.pending.map(\.id) == sensor.simulator.captureIds)
    time.advance(by: .seconds(100))
    try await links(sensor, time).finishEarlierWork()
    #expect(await Set(sensor.journal.stored.keys) == Set(sensor.simulator.captureIds))
  }

  @Test func withoutRetriesThereIsOneTry() async throws {
    let time = TestClock(.movedBySleep())
    var options = SensorLink.Options()
    options.retriesDownloads = false
    var simulated = SensorSimulator.Options()
    simulated.preparationTime = .seconds(1)
    let journal = MemoryJournal()
    let link = SensorLink(
      SensorAddress(uri: "a"), service: SensorSimulator(simulated, clock: time.clock),
      journal: journal, events: Broadcast(capacity: 10), options: options, clock: time.clock)
    #expect(await !link.capture(configuration, for: item).isCompleted)
    #expect(time.sleeps.isEmpty)
    #expect(await journal.pending.count == 1)
  }

  @Test(arguments: [
    SensorFault.Kind.status(.invalidId), .status(.failure), .status(.badValue),
  ])
  func whatCannotBeHadIsLostAndTold(kind: SensorFault.Kind) async throws {
    let sensor = LinkedSensor(clock: TestClock(.movedBySleep()).clock) {
      $0.faults = [SensorFault(.thriftyDownload, kind)]
    }
    #expect(await !sensor.link.capture(configuration, for: item).isCompleted)
    let id = try #require(sensor.simulator.captureIds.first)
    #expect(await sensor.journal.lost.keys.contains(id))
    #expect(await sensor.journal.pending.isEmpty)
    let told = await sensor.allTold()
    #expect(told.contains { $0.captureId == id && $0.name == .operationFailed })
    #expect(!told.contains { $0.name == .downloadPosted })
  }

  @Test func aDownloadThatFailsOnItsWayIsTriedAgain() async throws {
    let time = TestClock(.movedBySleep())
    let sensor = LinkedSensor(clock: time.clock) {
      $0.faults = [
        SensorFault(.thriftyDownload, .http(503), times: 1),
        SensorFault(.thriftyDownload, .broken, times: 1),
        SensorFault(.thriftyDownload, .bomb, times: 1),
        SensorFault(.thriftyDownload, .redirect("http://elsewhere/"), times: 1),
      ]
    }
    #expect(await sensor.link.capture(configuration, for: item).isCompleted)
    #expect(time.sleeps.count == 4)
    #expect(await sensor.journal.stored.count == 1)
  }

  @Test func aCaptureOfAnItemThatIsGoneIsLost() async throws {
    let sensor = LinkedSensor(clock: TestClock(.movedBySleep()).clock)
    await sensor.journal.loseItems()
    #expect(await !sensor.link.capture(configuration, for: item).isCompleted)
    #expect(await Array(sensor.journal.lost.values) == ["the item is gone"])
  }

  // MARK: An earlier run

  private func links(_ sensor: LinkedSensor, _ time: TestClock) -> SensorLinks {
    SensorLinks(journal: sensor.journal, clock: time.clock) { _ in sensor.simulator }
  }

  /// A program that is killed leaves a lock, and captures of which nobody knows whether they came.
  @Test func `what a killed program left is finished`() async throws {
    let time = TestClock(.movedBySleep())
    let sensor = LinkedSensor(clock: time.clock)
    let simulator = sensor.simulator
    let session = try await simulator.perform(SensorRequest(.register)).result.sessionId
    for operation in [SensorOperation.lock, .initialize] {
      _ = try await simulator.perform(SensorRequest(operation, session: session))
    }
    let ids = try await simulator.perform(SensorRequest(.capture, session: session)).result
      .captureIds
    let address = sensor.link.address
    await sensor.journal.leave(SensorSession(device: address, id: session, holdsLock: true))
    let gone = "00000000-0000-0000-0000-000000000000"
    try await sensor.journal.captured(ids + [gone], by: address, for: item)
    #expect(simulator.isLocked)

    let links = links(sensor, time)
    let told = links.events.subscribe()
    try await links.finishEarlierWork()
    #expect(!simulator.isLocked)
    #expect(simulator.sessionCount == 0)
    #expect(await Array(sensor.journal.stored.keys) == ids)
    #expect(await Array(sensor.journal.lost.keys) == [gone])
    #expect(await sensor.journal.sessions.isEmpty)
    links.events.finish()
    var names: [SensorEvent.Name] = []
    for await event in told.stream where event.name == .downloadPosted { names.append(event.name) }
    #expect(names == [.downloadPosted])
    // The second start has nothing to do.
    await sensor.journal.forget()
    try await links.finishEarlierWork()
    #expect(await sensor.journal.operations().isEmpty)
  }

  @Test func aSessionWhoseSensorIsAwayStays() async throws {
    let sensor = LinkedSensor(clock: TestClock(.movedBySleep()).clock) {
      $0.faults = [SensorFault(nil, .http(503))]
    }
    let session = SensorSession(
      device: sensor.link.address, id: "11111111-1111-1111-1111-111111111111", holdsLock: true)
    await sensor.journal.leave(session)
    try await sensor.journal.captured(["a"], by: session.device, for: item)
    try await links(sensor, TestClock(.movedBySleep())).finishEarlierWork()
    #expect(await sensor.journal.sessions == [session.device: session])
    // Nobody knows yet whether the sensor has it.
    #expect(await sensor.journal.pending.map(\.id) == ["a"])
    #expect(await sensor.journal.lost.isEmpty)
  }

  /// Nobody knows what a sensor has that does not answer, so its captures are asked for at each start.
  @Test func `captures of a sensor that was off are stored once it is back`() async throws {
    let time = TestClock(.movedBySleep())
    let sensor = LinkedSensor(clock: time.clock)
    let (simulator, address) = (sensor.simulator, sensor.link.address)
    let id = try await simulator.perform(SensorRequest(.register)).result.sessionId
    for operation in [SensorOperation.lock, .initialize, .capture] {
      _ = try await simulator.perform(SensorRequest(operation, session: id))
    }
    let session = SensorSession(device: address, id: id, holdsLock: true)
    await sensor.journal.leave(session)
    try await sensor.journal.captured(simulator.captureIds, by: address, for: item)
    for isOff in [true, true, false] {
      let links = SensorLinks(journal: sensor.journal, clock: time.clock) { _ in
        SwitchedSensor(sensor: simulator, isOff: isOff)
      }
      try await links.finishEarlierWork()
      await links.close()
      #expect(await sensor.journal.sessions == (isOff ? [address: session] : [:]))
      #expect(await sensor.journal.pending.map(\.id) == (isOff ? simulator.captureIds : []))
    }
    #expect(await Array(sensor.journal.stored.keys) == simulator.captureIds)
    #expect(await sensor.journal.lost.isEmpty)
    #expect(!simulator.isLocked)
  }

  /// A sensor that does not take its session back is asked again at the next start.
  @Test(arguments: [SensorOperation.unlock, .unregister])
  func aSessionThatIsNotTakenBackStays(operation: SensorOperation) async throws {
    let sensor = LinkedSensor(clock: TestClock(.movedBySleep()).clock) {
      $0.faults = [SensorFault(operation, .status(.failure), times: 1)]
    }
    let id = try await sensor.simulator.perform(SensorRequest(.register)).result.sessionId
    let session = SensorSession(device: sensor.link.address, id: id, holdsLock: true)
    await sensor.journal.leave(session)
    let links = links(sensor, TestClock(.movedBySleep()))
    try await links.finishEarlierWork()
    #expect(await sensor.journal.sessions == [session.device: session])
    try await links.finishEarlierWork()
    #expect(await sensor.journal.sessions.isEmpty)
    #expect(sensor.simulator.sessionCount == 0)
  }

  /// A new session would take the place of the old one in the journal, and the lock would stay held.
  @Test func `a lock that could not be given back is used, and given back then`() async throws {
    let sensor = LinkedSensor(clock: TestClock(.movedBySleep()).clock) {
      $0.faults = [SensorFault(.unlock, .http(503), times: 1)]
    }
    let id = try await sensor.simulator.perform(SensorRequest(.register)).result.sessionId
    _ = try await sensor.simulator.perform(SensorRequest(.lock, session: id))
    let address = sensor.link.address
    await sensor.journal.leave(SensorSession(device: address, id: id, holdsLock: true))
    let links = links(sensor, TestClock(.movedBySleep()))
    try await links.finishEarlierWork()
    #expect(sensor.simulator.isLocked)
    await sensor.journal.forget()
    let target = SensorTarget(address, configuration, item: item)
    #expect(try await links.capture(target)?.isCompleted == true)
    #expect(
      await sensor.journal.operations() == [
        "lock", "initialize", "configure", "capture", "unlock", "thriftyDownload", "download",
      ])
    #expect(!sensor.simulator.isLocked)
    #expect(
      await sensor.journal.sessions.values.map(\.id) == [id], "the session goes on")
  }

  @Test func aLinkThatClosesLeavesItsDownloads() async throws {
    let time = TestClock(.byHand)
    let sensor = LinkedSensor(clock: time.clock) { $0.preparationTime = .seconds(100) }
    let links = links(sensor, time)
    let target = SensorTarget(sensor.link.address, configuration, item: item)
    let capture = Task { try await links.capture(target) }
    await time.untilAsleep(1)
    await links.close()
    #expect(try await capture.value?.isCompleted == false)
    #expect(await sensor.journal.pending.map(\.id) == sensor.simulator.captureIds)
    #expect(await sensor.journal.sessions.isEmpty)
    #expect(sensor.simulator.sessionCount == 0)
    let error = await #expect(throws: FieldpackError.self) { try await links.capture(target) }
    #expect(error?.code == .unavailable)
  }
}

/// A sensor that may be switched off.
private struct SwitchedSensor: BiometricSensor {
  let sensor: SensorSimulator
  let isOff: Bool

  func perform(_ request: SensorRequest) async throws(FieldpackError) -> SensorAnswer {
    guard !isOff else {
      throw FieldpackError(.unavailable, "nothing answers", underlying: HTTPFailure.connection)
    }
    return try await sensor.perform(request)
  }
}
