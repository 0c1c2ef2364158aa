import FieldpackCore
import FieldpackFieldTestSupport
import FieldpackGeoPackage
import FieldpackMotion
import FieldpackSQL
import FieldpackTestSupport
import Testing

@Suite struct MotionQueryTests {
  /// Session `a` sends az 0 to 14 in the seconds 10 to 12 at 5 Hz, `b` one batch at second 11.5.
  private static func package() async throws -> FieldFile {
    let package = try FieldFile()
    let bodies = [
      try MadeMotion.rising(session: "a", at: 10.8, from: 0),
      try MadeMotion.rising(session: "a", at: 11.8, from: 5),
      try MadeMotion.rising(session: "a", at: 12.8, from: 10),
      try MadeMotion.rising(session: "b", at: 11.5, from: 100),
    ]
    let log = try package.file(
      "log", bodies.map { String(decoding: $0, as: UTF8.self) }.joined(separator: "\n"))
    try await package.withStore { store in
      _ = try await store.importMotion(from: [log], rate: 5)
    }
    return package
  }

  private static func values(_ query: MotionQuery) async throws -> [[Value]] {
    let package = try await package()
    return try await package.withStore { try await $0.values(query) }
  }

  @Test func `the last seconds of a channel`() async throws {
    let rows = try await Self.values(.last(1, of: .az, session: "a"))
    #expect(rows.map { $0[1] } == [.real(10), .real(11), .real(12), .real(13), .real(14)])
    #expect(rows[4][0] == .real(12.8))
  }

  @Test func `the samples nearest to a moment, of all sessions`() async throws {
    let rows = try await Self.values(.nearest(to: 11.48, within: 0.2, limit: 3))
    #expect(rows.map { $0[0] } == [.text("b"), .text("a"), .text("a")])
    #expect(rows.map { $0[9] } == [.real(104), .real(7), .real(8)])
    #expect(rows.map { $0[4] } == [.null, .null, .null])
  }

  @Test func `steps of time hold means`() async throws {
    let rows = try await Self.values(.resampled(to: 1, session: "a"))
    #expect(rows.map { $0[0] } == [.real(10), .real(11), .real(12)])
    #expect(rows.map { $0[1] } == [.integer(5), .integer(5), .integer(5)])
    #expect(rows.map { $0[7] } == [.real(2), .real(7), .real(12)])
    #expect(rows.map { $0[2] } == [.null, .null, .null])
  }

  @Test func `what a channel does in each second`() async throws {
    let rows = try await Self.values(.perSecond(.az, session: "a"))
    #expect(
      rows == [
        [.integer(10), .integer(5), .real(0), .real(2), .real(4)],
        [.integer(11), .integer(5), .real(5), .real(7), .real(9)],
        [.integer(12), .integer(5), .real(10), .real(12), .real(14)],
      ])
  }

  @Test func `the nearest samples are found by the index of times`() async throws {
    let package = try await Self.package()
    let query = MotionQuery.nearest(to: 11)
    let plan = try await package.withStore { store in
      try await store.explain(sql: query.sql, parameters: query.parameters).plan
    }
    #expect(plan.contains { $0.contains("daco_sample_time") }, "\(plan)")
  }

  @Test func `a file without motion has no sessions`() async throws {
    let package = try FieldFile()
    try await package.withStore { store in
      let sessions = try await store.motionSessions()
      let samples = try await store.motionSamples(ofSession: "a")
      #expect(sessions.isEmpty && samples.isEmpty)
    }
  }
}
