import FieldpackCore
import FieldpackField
import FieldpackFieldTestSupport
import FieldpackGeoPackage
import FieldpackGeometry
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackServices

/// A synchronisation that goes on, one that is only planned, and parked edits.
@Suite(.programs) struct SyncFollowingTests {
  /// A receiver that is not there for some time, or refuses edits.
  private final class Office: SyncPeer {
    let service: SyncService
    var name: String { "office" }
    private let failures: Locked<Int>
    let refuses = Locked(false)

    init(_ service: SyncService, failures: Int = 0) {
      (self.service, self.failures) = (service, Locked(failures))
    }

    func layers() async throws(FieldpackError) -> [SyncLayer] {
      let fails = failures.withLock { failures in
        failures -= 1
        return failures >= 0
      }
      if fails { throw FieldpackError(.unavailable, "no network") }
      return try await service.layers()
    }

    func edit(at position: Int64, of layer: LayerID) async throws(FieldpackError) -> String? {
      try await service.edit(at: position, of: layer)
    }

    func edits(
      of layer: LayerID, after position: Int64, limit: Int
    ) async throws(FieldpackError) -> SyncPage {
      try await service.edits(of: layer, after: position, limit: limit)
    }

    func send(
      _ edits: [SyncEdit], of layer: LayerID
    ) async throws(FieldpackError) -> SyncReceipt {
      guard refuses.withLock({ $0 }) else { return try await service.send(edits, of: layer) }
      let refusal = SyncAnswer(edits[0].id, .refused, at: 0, message: "no")
      return SyncReceipt(answers: [refusal], before: 0, position: 0)
    }
  }

  private static func editNotes(
    of store: GeoPackageStore, _ ids: ClosedRange<Int64>, _ note: String
  ) async throws {
    try await store.write { (writer: GeoPackageWriter) throws(FieldpackError) in
      for id in ids { try writer.update(.integer(id), in: "wells", set: ["note": .text(note)]) }
    }
  }

  // MARK: Going on

  @Test func `a receiver that is away is asked again, later each time`() async throws {
    let survey = try await SyncSurvey()
    let (office, a) = (try await survey.open("office"), try await survey.open("a"))
    try await Self.editNotes(of: a, 1...1, "x")
    let clock = TestClock(.movedBySleep())
    let run = SyncRun(
      of: a, with: Office(SyncService(of: office), failures: 9), clock: clock.clock)
    var pauses: [Duration] = []
    var backOff = SyncRun.backOff
    backOff.jitter = 0
    await #expect(throws: FieldpackError.self) {
      try await run.follow(backOff: backOff) { (event) throws(FieldpackError) in
        switch event {
        case .waiting(let pause, _): pauses.append(pause)
        case .finished(let report):
          #expect(report.layers[0].sent == 1)
          throw FieldpackError(.interrupted, "enough")
        }
      }
    }
    let expected: [Duration] = [0.5, 1, 2, 4, 8, 16, 30, 30, 30].map { .seconds($0) }
    #expect(pauses == expected)
    let jobs = try await a.texts("SELECT subject, target, state, attempt, layer FROM sync_job")
    #expect(jobs == ["a.gpkg|office|succeeded|10|NULL"])
    for store in [office, a] { await store.close() }
  }

  @Test func `edits go at once, and those of others come after the pause`() async throws {
    let survey = try await SyncSurvey()
    let (office, a) = (try await survey.open("office"), try await survey.open("a"))
    let other = try await survey.open("a")
    let clock = TestClock(.movedBySleep())
    let run = SyncRun(of: a, with: SyncService(of: office), clock: clock.clock)
    let (seen, start) = (Locked<[String]>([]), clock.clock.uptime)
    let events = AsyncStream.makeStream(of: Int.self)
    let task = Task {
      try await run.follow { (event) throws(FieldpackError) in
        guard case .finished(let report) = event else { return }
        let count = seen.withLock { seen in
          let layer = report.layers[0]
          if seen.isEmpty || layer.sent + layer.received > 0 {
            seen.append("\(layer.sent) \(layer.received)")
          }
          return seen.count
        }
        events.continuation.yield(count)
      }
    }
    var step = 0
    for await count in events.stream where count > step {
      step = count
      if step == 1 { try await Self.editNotes(of: other, 1...3, "x") }
      if step == 2 { try await Self.editNotes(of: office, 4...5, "y") }
      if step == 3 { break }
    }
    task.cancel()
    await #expect(throws: FieldpackError.self) { try await task.value }
    let told = seen.withLock { $0 }
    #expect(told == ["0 0", "3 0", "0 2"])
    #expect(clock.clock.uptime - start >= .seconds(30))
    for store in [office, a, other] { await store.close() }
  }

  @Test(.enabled(if: Programs.python != nil, Comment(rawValue: Programs.noPython)))
  func `two programs edit the file while it is synchronised`() async throws {
    let survey = try await SyncSurvey()
    let (office, a) = (try await survey.open("office"), try await survey.open("a"))
    let clock = FieldClock(
      wall: { .seconds(FieldClock.system.unixSeconds) }, uptime: { FieldClock.system.uptime },
      sleep: { _ in try await Task.sleep(for: .milliseconds(1)) })
    let run = SyncRun(of: a, with: SyncService(of: office), clock: clock)
    let task = Task { try await run.follow { _ in } }
    // Python's sqlite3 has none of the functions that triggers of spatial indexes name. Where no
    // geometry changes, they are not called. Dropped triggers would come back with our next edit.
    let script = """
      import sqlite3, sys
      file = sqlite3.connect(sys.argv[1], timeout=60, isolation_level=None)
      for name in ("ST_IsEmpty", "ST_MinX", "ST_MaxX", "ST_MinY", "ST_MaxY"):
          file.create_function(name, 1, lambda geometry: 1 / 0)
      for number in range(40):
          file.execute("UPDATE wells SET note = ? WHERE fid = ?", (f"p{number}", 1 + number % 5))
      file.close()
      """
    let path = survey.folder.file("a.gpkg").path
    async let python = Program.run(Programs.python ?? "", ["-c", script, path])
    let own = try await survey.open("a")
    for number in 0..<40 {
      try await Self.editNotes(of: own, 6...6, "f\(number)")
    }
    let result = try await python
    #expect(result.status == 0, "\(result)")
    while try await a.texts("SELECT 1 FROM wells_audit WHERE sent IS NULL LIMIT 1") != [] {
      try await Task.sleep(for: .milliseconds(5))
    }
    task.cancel()
    await #expect(throws: FieldpackError.self) { try await task.value }
    let counts = "SELECT count(*), count(author) FROM wells_audit WHERE audit_op > 0"
    #expect(try await office.texts(counts) == ["80|40"])
    #expect(try await office.contents() == a.contents())
    for store in [office, a, own] { await store.close() }
  }

  // MARK: Plans

  @Test func `a plan lists what a run then does, and writes nothing`() async throws {
    let survey = try await SyncSurvey()
    var (office, a) = (try await survey.open("office"), try await survey.open("a"))
    // Both have this one, because the file is copied after it.
    try await Self.editNotes(of: office, 1...1, "before")
    for store in [office, a] { await store.close() }
    let (first, second) = (survey.folder.file("office.gpkg"), survey.folder.file("a.gpkg"))
    try FileManager.default.removeItem(at: second)
    try FileManager.default.copyItem(at: first, to: second)
    (office, a) = (try await survey.open("office"), try await survey.open("a"))
    try await Self.editNotes(of: a, 1...2, "a")
    try await a.write { (writer: GeoPackageWriter) throws(FieldpackError) in
      try writer.delete(3, in: "wells")
    }
    try await office.write { (writer: GeoPackageWriter) throws(FieldpackError) in
      try writer.update(4, in: "wells", set: ["depth": 2.5, "state": 7])
      try writer.create(
        Feature(geometry: .point(x: 0, y: 0), attributes: ["name": "new"]), in: "wells")
    }
    for store in [office, a] { await store.close() }
    let before = try [first, second].map { try Data(contentsOf: $0) }
    (office, a) = (try await survey.open("office"), try await survey.open("a"))
    let run = SyncRun(of: a, with: SyncService(of: office), batch: 2)
    let plan = try await run.plan()
    let lines = plan.steps.map { step in
      "\(step.direction) \(step.operation) \(step.feature.map { "\($0)" } ?? "new") "
        + "\(step.columns.joined(separator: ",")) \(step.author ?? "-")"
    }
    #expect(
      lines == [
        "send update 1 note author a", "send update 2 note author a",
        "send delete 3 geom,name,depth,note,state author a",
        "receive update 4 depth,state author office",
        "receive insert new geom,name,depth,note,state author office",
      ])
    #expect([plan.parked, plan.notes.count] as [Int] == [0, 0])
    for store in [office, a] { await store.close() }
    let after = try [first, second].map { try Data(contentsOf: $0) }
    #expect(after == before)
    (office, a) = (try await survey.open("office"), try await survey.open("a"))
    let report = try await SyncRun(of: a, with: SyncService(of: office)).run()
    #expect([report.layers[0].sent, report.layers[0].received] as [Int] == [3, 2])
    #expect(try await SyncRun(of: a, with: SyncService(of: office)).plan() == SyncPlan())
    for store in [office, a] { await store.close() }
  }

  // MARK: Parked edits

  @Test func `parked edits are sent again when that is asked for`() async throws {
    let survey = try await SyncSurvey()
    let (store, a) = (try await survey.open("office"), try await survey.open("a"))
    let office = Office(SyncService(of: store))
    office.refuses.withLock { $0 = true }
    try await Self.editNotes(of: a, 1...2, "x")
    try await Self.editNotes(of: a, 1...1, "y")
    var run = SyncRun(of: a, with: office)
    var report = try await run.run()
    #expect([report.layers[0].sent, report.layers[0].parked] as [Int] == [0, 3])
    office.refuses.withLock { $0 = false }
    report = try await run.run()
    #expect([report.layers[0].sent, report.layers[0].parked] as [Int] == [0, 3])
    #expect(try await run.plan().parked == 3)
    run.retriesParked = true
    #expect(try await run.plan().steps.count == 3)
    report = try await run.run()
    #expect([report.layers[0].sent, report.layers[0].parked] as [Int] == [3, 0])
    #expect(try await a.texts("SELECT subject FROM sync_job") == [])
    #expect(try await a.contents() == store.contents())
    for store in [store, a] { await store.close() }
  }

  // MARK: Conflicts

  @Test func `a report tells the values that do not stand`() async throws {
    let survey = try await SyncSurvey()
    let (office, a) = (try await survey.open("office"), try await survey.open("a"))
    try await Self.editNotes(of: office, 1...2, "office")
    try await Self.editNotes(of: a, 1...1, "a")
    try await a.write { (writer: GeoPackageWriter) throws(FieldpackError) in
      try writer.delete(2, in: "wells")
    }
    let report = try await SyncRun(of: a, with: SyncService(of: office)).run()
    #expect(
      report.conflicts.map(\.text) == [
        "feature 1, note: 'a' does not stand, 'office' does",
        "feature 2 was deleted here; it stays, because others changed it",
      ])
    #expect(report.layers[0].conflicts == 2)
    for store in [office, a] { await store.close() }
  }
}
