import FieldpackCore
import FieldpackField
import FieldpackFieldTestSupport
import FieldpackSensors
import FieldpackTestSupport
import Foundation
import Testing

/// What the buttons of a desk do, and whose the sensors of a file are.
@Suite struct SensorDeskTests {
  private func desk(
    _ persons: PersonCatalogue, _ journal: GeoPackageJournal, _ sensor: SensorSimulator,
    _ time: TestClock
  ) -> SensorDesk {
    let links = SensorLinks(journal: journal, clock: time.clock) { _ in sensor }
    return SensorDesk(persons, links, clock: time.clock)
  }

  @Test func `one desk at a time works with the sensors of a file`() async throws {
    let file = try SensorFile()
    let time = TestClock()
    let sensor = SensorSimulator(SensorSimulator.Options(), clock: time.clock)
    try await file.run { persons, journal in
      let person = try await persons.add()
      let item = try await persons.add(.finger(by: .north), to: person.key)
      let first = desk(persons, journal, sensor, time)
      let second = desk(persons, journal, sensor, time)
      try await first.begin()
      let begun = await failure { try await second.begin() }
      #expect(begun?.code == .busy)
      let tapped = await failure { try await second.tap(item) }
      #expect(tapped?.code == .busy)
      await first.close()
      try await second.begin()
      await second.close()
      let late = await failure { try await second.begin() }
      #expect(late?.code == .unavailable)
    }
    #expect(sensor.captureIds.isEmpty)
    let names = try FileManager.default.contentsOfDirectory(atPath: file.file.folder.url.path)
    #expect(names.filter { $0.contains("sensors") } == [])
  }

  /// The file may have been busy when the program began, and free at the first click.
  @Test func `what was left is finished before the first capture`() async throws {
    let file = try SensorFile()
    let time = TestClock(.movedBySleep())
    var options = SensorSimulator.Options()
    options.picture.longerSide = 32
    let sensor = SensorSimulator(options, clock: time.clock)
    let old = try await sensor.perform(SensorRequest(.register)).result.sessionId
    _ = try await sensor.perform(SensorRequest(.lock, session: old))
    try await file.run { persons, journal in
      let person = try await persons.add()
      let item = try await persons.add(.finger(by: .north), to: person.key)
      try await journal.session(SensorSession(device: .north, id: old, holdsLock: true))
      let desk = desk(persons, journal, sensor, time)
      #expect(try await desk.capture(item)?.isCompleted == true)
      await desk.close()
    }
    #expect(!sensor.isLocked)
    #expect(sensor.sessionCount == 0)
  }

  @Test func `who stops an item leaves the capture of another`() async throws {
    let file = try SensorFile()
    let time = TestClock()
    var options = SensorSimulator.Options()
    options.captureTime = .seconds(5)
    options.picture.longerSide = 32
    let sensor = SensorSimulator(options, clock: time.clock)
    try await file.run { persons, journal in
      let person = try await persons.add()
      let first = try await persons.add(.finger(by: .north), to: person.key)
      let second = try await persons.add(.finger(.rightSlap, by: .north), to: person.key)
      let desk = desk(persons, journal, sensor, time)
      let told = desk.changes.subscribe()
      try await desk.begin()
      try await desk.tap(first)
      await time.untilAsleep(1)
      // It waits for the other one, and is stopped while it does.
      try await desk.tap(second)
      try await desk.tap(second)
      time.advance(by: .seconds(5))
      for await _ in told.stream {
        let captured = await desk.button(of: try await persons.item("1")).state
        let stopped = await desk.button(of: try await persons.item("2")).state
        if captured == .inactive, stopped == .capture { break }
      }
      #expect(try await persons.item("1").hasData)
      #expect(try await !persons.item("2").hasData)
      // What others clear can be captured again.
      try await persons.clear([first.key])
      #expect(await desk.button(of: try await persons.item("1")).state == .capture)
      await desk.close()
    }
    #expect(sensor.captureIds.count == 1)
    #expect(sensor.sessionCount == 0)
  }
}
