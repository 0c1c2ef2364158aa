import FieldpackCore
import FieldpackFieldTestSupport
import FieldpackGeoPackage
import FieldpackSensors
import Testing

@Suite struct InteractionLogTests {
  @Test func `what a user does is logged only where that is turned on`() async throws {
    let file = try SensorFile()
    try await file.run { persons, _ in
      let person = try await persons.add()
      try await InteractionLog(persons.store).note("startCapture", on: person.key)
      let log = InteractionLog(persons.store, isOn: true, clock: file.clock.clock)
      let schemas = try await persons.store.schemas()
      #expect(!schemas.map(\.layer).contains(InteractionLog.layer))
      try await log.note("startCapture", on: person.key)
      file.clock.advance(by: .seconds(1))
      try await log.note("showWalkthrough")
    }
    #expect(
      try file.file.rows("SELECT what, key, at FROM bio_interaction") == [
        "startCapture|ZmllbGQ=.YmlvX3BlcnNvbg==.MQ==|2020-09-13T12:26:40.000Z",
        "showWalkthrough|NULL|2020-09-13T12:26:41.000Z",
      ])
    #expect(try file.file.findings() == [])
  }
}
