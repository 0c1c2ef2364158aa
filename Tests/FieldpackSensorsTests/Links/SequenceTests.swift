import FieldpackCore
import FieldpackField
import FieldpackFieldTestSupport
import FieldpackSensors
import Testing

/// Sequences do the steps of their table, and one thing that helps (W1).
@Suite struct SequenceTests {
  private let item = LinkedSensor.item
  private let configuration = LinkedSensor.configuration

  @Test(arguments: SensorSequence.allCases.filter { $0 != .none && $0 != .recovery })
  func stepsAreThoseOfTheTable(sequence: SensorSequence) async throws {
    let sensor = LinkedSensor(clock: TestClock(.movedBySleep()).clock)
    if !sequence.steps.contains(.register) { await sensor.link.run(.connect) }
    let outcome = await sensor.link.run(sequence, configuration, for: item)
    #expect(outcome.isCompleted)
    #expect(
      await sensor.journal.operations(of: sequence) == sequence.steps.map(\.name))
    #expect(!sensor.simulator.isLocked)
    let isConnected = sequence != .disconnect
    #expect(await sensor.link.isReady == isConnected)
    #expect(await (sensor.journal.sessions.values.first?.holdsLock ?? false) == false)
    #expect(sensor.simulator.sessionCount == (isConnected ? 1 : 0))
  }

  @Test func aCaptureIsStoredAndToldOnce() async throws {
    let sensor = LinkedSensor(clock: TestClock(.movedBySleep()).clock, thrifty: false)
    let outcome = await sensor.link.capture(configuration, for: item)
    let id = try #require(sensor.simulator.captureIds.first)
    #expect(outcome == .completed(captures: [id]))
    // The whole picture is smaller than what a thrifty download gives.
    #expect(
      await sensor.journal.operations() == [
        "register", "lock", "initialize", "configure", "capture", "unlock", "thriftyDownload",
        "download",
      ])
    #expect(await sensor.journal.stored[id] == SimulatedPicture().make(1, 32))
    #expect(await sensor.journal.pending.isEmpty)
    #expect(await sensor.journal.metadata[id]?.contains(#""width":640"#) == true)
    // A second capture needs no connection any more.
    await sensor.journal.forget()
    #expect(await sensor.link.capture(configuration, for: item).isCompleted)
    #expect(
      await sensor.journal.operations() == [
        "lock", "configure", "capture", "unlock", "thriftyDownload", "download",
      ])
    let told = await sensor.allTold()
    let posted = told.filter { $0.name == .downloadPosted }
    #expect(posted.map(\.captureId) == sensor.simulator.captureIds)
    #expect(posted.allSatisfy { $0.item == item })
    #expect(told.filter { $0.name == .connectedStatusChanged }.map(\.isReady) == [true])
    #expect(told.filter { $0.name == .fullCompleted }.count == 2)
    #expect(told.filter { $0.name == .operationCompleted }.allSatisfy { $0.item == item })
  }

  private static let afterCapture: [(SensorStatus, [String])] = [
    (.invalidId, ["register", "lock", "capture"]), (.lockNotHeld, ["lock", "capture"]),
    (.lockHeldByAnother, ["stealLock", "capture"]),
    (.initializationNeeded, ["initialize", "configure", "capture"]),
    (.sensorFailure, ["initialize", "configure", "capture"]),
    (.configurationNeeded, ["configure", "capture"]),
    (.noSuchParameter, ["configure", "capture"]), (.sensorBusy, ["capture"]),
    (.sensorTimeout, ["capture"]), (.failure, []), (.unsupported, []), (.badValue, []),
  ]

  /// Each status once: what helps is done, and the sequence goes on.
  @Test(arguments: afterCapture)
  func recoversOnce(status: SensorStatus, help: [String]) async throws {
    let sensor = LinkedSensor(clock: TestClock(.movedBySleep()).clock) {
      $0.faults = [SensorFault(.capture, .status(status), times: 1)]
    }
    await sensor.link.run(.connect)
    let outcome = await sensor.link.run(.configCaptureDownload, configuration, for: item)
    let end = help.isEmpty ? ["unlock"] : help + ["unlock", "thriftyDownload"]
    #expect(
      await sensor.journal.operations(of: .configCaptureDownload)
        == ["lock", "configure", "capture"] + end)
    #expect(outcome.isCompleted == !help.isEmpty)
    #expect(!sensor.simulator.isLocked)
    let told = await sensor.allTold()
    let last = try #require(told.last)
    #expect(last.name == (help.isEmpty ? .sequenceFailed : .fullCompleted))
    #expect(last.operation == (help.isEmpty ? .recoverySequence : nil))
    #expect(told.filter { $0.name == .operationFailed }.map(\.status) == [status.rawValue])
  }

  private static let beforeCapture: [(SensorOperation, SensorStatus, [String])] = [
    (.lock, .invalidId, ["register", "lock"]), (.lock, .lockHeldByAnother, ["stealLock"]),
    (.lock, .sensorBusy, ["lock"]), (.lock, .sensorTimeout, ["lock"]),
    (.initialize, .invalidId, ["register", "lock", "initialize"]),
    (.initialize, .lockNotHeld, ["lock", "initialize"]),
    (.initialize, .lockHeldByAnother, ["stealLock", "initialize"]),
    (.initialize, .initializationNeeded, ["initialize"]),
    (.initialize, .sensorFailure, ["initialize"]), (.initialize, .sensorBusy, ["initialize"]),
    (.initialize, .sensorTimeout, ["initialize"]),
    (.configure, .invalidId, ["register", "lock", "configure"]),
    (.configure, .lockNotHeld, ["lock", "configure"]),
    (.configure, .lockHeldByAnother, ["stealLock", "configure"]),
    (.configure, .initializationNeeded, ["initialize", "configure"]),
    (.configure, .sensorFailure, ["initialize", "configure"]),
    (.configure, .configurationNeeded, ["configure"]),
    (.configure, .noSuchParameter, ["configure"]), (.configure, .sensorBusy, ["configure"]),
    (.configure, .sensorTimeout, ["configure"]),
  ]

  /// The same at the steps before the capture.
  @Test(arguments: beforeCapture)
  func recoversOnceBefore(step: SensorOperation, status: SensorStatus, help: [String]) async throws
  {
    let sensor = LinkedSensor(clock: TestClock(.movedBySleep()).clock) {
      $0.faults = [SensorFault(step, .status(status), times: 1)]
    }
    #expect(await sensor.link.run(.full, configuration, for: item).isCompleted)
    var expected = SensorSequence.full.steps.map(\.name)
    expected.insert(contentsOf: help, at: (expected.firstIndex(of: step.name) ?? 0) + 1)
    #expect(await sensor.journal.operations() == expected)
    #expect(!sensor.simulator.isLocked)
    #expect(await sensor.allTold().last?.name == .fullCompleted)
  }

  /// Each status at each step, again and again: one try to help, then failure, and the lock is free.
  @Test(arguments: [SensorOperation.lock, .initialize, .configure, .capture])
  func failsAfterOneRecovery(step: SensorOperation) async throws {
    for status in SensorStatus.allCases where status != .success {
      // Who has stolen the lock has it.
      if step == .lock, status == .lockHeldByAnother { continue }
      let sensor = LinkedSensor(clock: TestClock(.movedBySleep()).clock) {
        $0.faults = [SensorFault(step, .status(status))]
      }
      let outcome = await sensor.link.run(.full, configuration, for: item)
      let operations = await sensor.journal.operations()
      let isCanceled = status == .canceled || status == .canceledWithSensorFailure
      #expect(!outcome.isCompleted)
      #expect((outcome == .canceled) == isCanceled, "\(step) \(status)")
      #expect(!sensor.simulator.isLocked, "\(step) \(status)")
      let tries = operations.filter { $0 == step.name }.count
      #expect(tries <= 3, "\(step) \(status): \(operations)")
      let told = await sensor.allTold()
      #expect(told.last?.name == (isCanceled ? .operationCanceled : .sequenceFailed))
    }
  }

  @Test func aLockOfSomebodyElseIsStolenOnceItMayBe() async throws {
    let time = TestClock(.byHand)
    let sensor = LinkedSensor(clock: time.clock)
    let other = try await sensor.simulator.perform(SensorRequest(.register)).result.sessionId
    for operation in [SensorOperation.lock, .initialize] {
      _ = try await sensor.simulator.perform(SensorRequest(operation, session: other))
    }
    // The service says 61,440 ms and holds to 60,000.
    time.advance(by: .milliseconds(59_999))
    #expect(await !sensor.link.run(.connect).isCompleted)
    #expect(
      await sensor.journal.operations() == ["register", "lock", "stealLock"])
    time.advance(by: .milliseconds(1))
    #expect(await sensor.link.run(.connect).isCompleted)
    #expect(!sensor.simulator.isLocked)
  }

  @Test func oneSequenceRunsAtATime() async throws {
    let time = TestClock(.byHand)
    let sensor = LinkedSensor(clock: time.clock) { $0.captureTime = .seconds(5) }
    await sensor.link.run(.connect)
    let link = sensor.link
    let first = Task { await link.capture(LinkedSensor.configuration, for: nil) }
    await time.untilAsleep(1)
    let second = Task { await link.configure(LinkedSensor.configuration, for: nil) }
    time.advance(by: .seconds(5))
    #expect(await first.value.isCompleted)
    #expect(await second.value.isCompleted)
    #expect(
      await sensor.journal.operations().suffix(4)
        == ["thriftyDownload", "lock", "configure", "unlock"])
  }

  @Test func aCaptureCanBeCanceled() async throws {
    let time = TestClock(.byHand)
    let sensor = LinkedSensor(clock: time.clock) { $0.captureTime = .seconds(5) }
    await sensor.link.run(.connect)
    await sensor.journal.forget()
    let link = sensor.link
    let capture = Task { await link.capture(LinkedSensor.configuration, for: nil) }
    await time.untilAsleep(1)
    await link.cancel()
    #expect(await capture.value == .canceled)
    #expect(
      await Set(sensor.journal.operations()) == [
        "lock", "configure", "capture", "cancel", "unlock",
      ])
    #expect(await sensor.journal.operations().last == "unlock")
    #expect(!sensor.simulator.isLocked)
    #expect(await sensor.allTold().last?.name == .operationCanceled)
  }

  @Test func aCanceledTaskCancelsItsCapture() async throws {
    let time = TestClock(.byHand)
    let sensor = LinkedSensor(clock: time.clock) { $0.captureTime = .seconds(5) }
    await sensor.link.run(.connect)
    let link = sensor.link
    let capture = Task { await link.capture(LinkedSensor.configuration, for: nil) }
    await time.untilAsleep(1)
    capture.cancel()
    #expect(await capture.value == .canceled)
    #expect(!sensor.simulator.isLocked)
  }

  @Test func onlyTheCaptureOfItsItemIsStopped() async throws {
    let time = TestClock(.byHand)
    let sensor = LinkedSensor(clock: time.clock) { $0.captureTime = .seconds(5) }
    await sensor.link.run(.connect)
    let link = sensor.link
    let other = KeyTuple(store: "store", layer: "bio_item", feature: 8)
    let first = Task {
      await link.capture(LinkedSensor.configuration, for: LinkedSensor.item)
    }
    await time.untilAsleep(1)
    let second = Task { await link.capture(LinkedSensor.configuration, for: other) }
    await link.cancel(other)
    second.cancel()
    time.advance(by: .seconds(5))
    #expect(await first.value.isCompleted)
    #expect(await second.value == .canceled)
    #expect(sensor.simulator.captureIds.count == 1)
    #expect(!sensor.simulator.isLocked)
  }

  @Test func aFailureOfTheJournalGivesTheLockBack() async throws {
    let sensor = LinkedSensor(clock: TestClock(.movedBySleep()).clock)
    await sensor.journal.refuse(FieldpackError(.full, "the disk is full"))
    let outcome = await sensor.link.capture(configuration, for: item)
    #expect(outcome == .failed(.full, message: "the disk is full"))
    #expect(!sensor.simulator.isLocked)
    #expect(await sensor.journal.stored.isEmpty)
  }
}
