import FieldpackCore
import FieldpackField
import FieldpackFieldTestSupport
import FieldpackGeoPackage
import FieldpackTestSupport
import Foundation
import Testing

@Suite struct JobTests {
  private static let table = JobTable(
    "sent", subject: .text(), extra: [ColumnDefinition("radius_m", .double)])
  private static let rules = JobRules(
    attempts: 3, backOff: BackOff(first: .seconds(30), limit: .seconds(3600)))
  private static let broken = FieldpackError(.unavailable, "no answer")

  private func package() async throws -> FieldFile {
    let package = try FieldFile()
    try await package.withStore { store in
      try await store.write { (writer) throws(FieldpackError) in
        try FieldLayers(version: 1, [Self.table.definition()]).prepare(in: writer)
      }
    }
    return package
  }

  private func states(_ package: FieldFile) throws -> [String] {
    try package.rows(
      "SELECT subject, target, state, attempt, next_at, http_status, message, bytes_sent, "
        + "bytes_total FROM sent ORDER BY id")
  }

  // MARK: Rules

  @Test func `a job is tried again ever later, and fails after its last try`() {
    var job = Job("t", with: "flickr")
    var seen: [String] = []
    let answers: [JobAnswer] = [
      .failed(Self.broken, again: true), .unreachable(Self.broken),
      .failed(Self.broken, again: true, asked: .seconds(100)),
      .failed(Self.broken, again: true),
    ]
    for answer in answers {
      job = Self.rules.job(job, after: answer, at: .at(0))
      let pause = job.next.map { "\(($0.milliseconds - Instant.at(0).milliseconds) / 1000) s" }
      seen.append("\(job.state) \(job.attempt) \(pause ?? "-")")
    }
    #expect(seen == ["queued 1 30 s", "queued 1 -", "queued 2 100 s", "failed 3 -"])
    #expect(job.message == "no answer")
  }

  @Test(arguments: [
    (JobAnswer.done, Job.State.succeeded, 1), (.failed(broken, again: false), .failed, 1),
    (.notStarted(broken), .failedToStart, 0), (.unreachable(broken), .queued, 0),
  ])
  func `an answer decides the state`(answer: JobAnswer, state: Job.State, attempt: Int) {
    let job = Self.rules.job(Job("t", with: "x"), after: answer, at: .at(0))
    #expect(job.state == state)
    #expect(job.attempt == attempt)
    #expect(job.isDue(at: .at(0)))
  }

  @Test func `a job waits until it is due`() {
    let job = Self.rules.job(
      Job("t", with: "x"), after: .failed(Self.broken, again: true), at: .at(0))
    #expect(!job.isDue(at: .at(29.9)))
    #expect(job.isDue(at: .at(30)))
  }

  // MARK: Rows

  @Test func `a row is read back as it was written, and once for subject and target`() async throws
  {
    let package = try await package()
    try await package.withStore { store in
      try await store.write { (writer) throws(FieldpackError) in
        var job = Job("t", with: "a")
        job.next = .at(5)
        (job.status, job.message) = (503, "later")
        (job.bytesSent, job.bytesTotal) = (3, 9)
        let saved = try Self.table.save(job, at: .at(0), writer, with: ["radius_m": 2.5])
        guard try Self.table.job(of: "t", with: "a", writer) == saved else {
          throw FieldpackError(.invalidData, "not the same")
        }
        try Self.table.save(saved, at: .at(1), writer)
        try Self.table.save(Job("t", with: "b"), at: .at(2), writer)
      }
    }
    #expect(
      try states(package) == [
        "t|a|queued|0|2020-09-13T12:26:45.000Z|503|later|3|9", "t|b|queued|0|NULL|NULL|NULL|0|0",
      ])
    #expect(try package.rows("SELECT radius_m FROM sent") == ["2.5", "NULL"])
    #expect(try package.findings() == [])
  }

  @Test func `rows of others are jobs as far as they go`() async throws {
    let package = try await package()
    try package.run(
      """
      PRAGMA ignore_check_constraints = ON;
      INSERT INTO sent (subject, target, state, attempt, bytes_sent) VALUES
        ('a', 'x', 'lost', 9223372036854775807, -1), (7, 'x', 'failed', -5, 'much'),
        ('c', x'00', 'queued', 'many', 1)
      """)
    let jobs = try await package.withStore { store in
      try await store.read { (snapshot) throws(FieldpackError) in try Self.table.all(snapshot) }
    }
    #expect(
      jobs.map { "\($0.subject) \($0.state) \($0.attempt) \($0.bytesSent)" } == [
        "text(\"a\") queued \(1 << 30) 0", "text(\"7\") failed 0 0", "text(\"c\") queued 0 1",
      ])
  }

  // MARK: The runner

  private func run(
    _ package: FieldFile, _ answers: [Result<JobAnswer, FieldpackError>]
  ) async throws -> [String] {
    let clock = TestClock(.movedBySleep(), at: .at(0))
    var left = answers
    return try await package.withStore { store in
      let runner = JobRunner(Self.table, in: store, Self.rules, clock: clock.clock)
      let jobs = try await runner.queue(["t"], with: "a")
      var seen: [String] = []
      do throws(FieldpackError) {
        let end = try await runner.run(jobs[0]) {
          (job: inout Job) async throws(FieldpackError) -> JobAnswer in
          job.bytesSent += 4
          return try left.removeFirst().get()
        } waiting: { pause in
          seen.append("waits \(pause)")
        } done: { writer throws(FieldpackError) in
          try writer.execute("UPDATE sent SET radius_m = 1")
        }
        seen.append("\(end.error?.message ?? "no error")")
      } catch {
        seen.append("throws \(error.message)")
      }
      return seen
    }
  }

  @Test func `a job is tried until it is done, with what belongs to that`() async throws {
    let package = try await package()
    #expect(
      try await run(package, [.success(.failed(Self.broken, again: true)), .success(.done)])
        == ["waits 30.0 seconds", "no error"])
    #expect(try states(package) == ["t|a|succeeded|2|NULL|NULL|NULL|8|0"])
    #expect(try package.rows("SELECT radius_m FROM sent") == ["1.0"])
  }

  @Test(arguments: [
    (FieldpackError(.interrupted, "enough"), "stopped"),
    (FieldpackError(.io, "torn"), "failedToStart"),
  ])
  func `what ends a run ends its job, and the next run begins anew`(
    error: FieldpackError, state: String
  ) async throws {
    let package = try await package()
    #expect(
      try await run(package, [.success(.failed(Self.broken, again: true)), .failure(error)])
        == ["waits 30.0 seconds", "throws \(error.message)"])
    #expect(
      try states(package)
        == ["t|a|\(state)|1|2020-09-13T12:27:10.000Z|NULL|\(error.message)|8|0"])
    let failing = [Result<JobAnswer, FieldpackError>](
      repeating: .success(.failed(Self.broken, again: true)), count: 3)
    #expect(
      try await run(package, failing)
        == ["waits 30.0 seconds", "waits 60.0 seconds", "no answer"])
    #expect(try states(package) == ["t|a|failed|3|NULL|NULL|no answer|12|0"])
    #expect(try package.rows("SELECT radius_m FROM sent") == ["NULL"])
  }

  @Test func `a job that a killed program began is one as others`() async throws {
    let package = try await package()
    try package.run(
      "INSERT INTO sent (subject, target, state, attempt) VALUES ('t', 'a', 'started', 2)")
    #expect(try await run(package, [.success(.done)]) == ["no error"])
    #expect(try states(package) == ["t|a|succeeded|1|NULL|NULL|NULL|4|0"])
  }

  @Test func `an address as a target is without its query`() {
    #expect(
      ["http://a/up?key=1?2", "http://a/", "?"].map(Job.target(ofAddress:))
        == ["http://a/up", "http://a/", ""])
  }
}
