#if PostGIS
  import FieldpackFieldTestSupport
  import FieldpackGeoPackage
  import FieldpackSQLite
  import FieldpackServices
  import FieldpackTestSupport
  import Foundation
  import Testing

  @testable import FieldpackPostGIS

  #if canImport(Glibc)
    import Glibc
  #elseif canImport(Darwin)
    import Darwin
  #endif

  /// Check-ins that are killed leave nothing lost, nothing twice and nothing out of order. 10 kills, or as
  /// many as `FIELDPACK_KILLS` says; every third kills the server's process as well.
  @Suite(
    .serialized, .programs, .enabled(if: TestCluster.isInstalled, "\(TestCluster.missing)"))
  struct CheckinKillTests {
    private static let kills =
      ProcessInfo.processInfo.environment["FIELDPACK_KILLS"].flatMap { Int($0) } ?? 10

    @Test func `a check-in that is killed loses no edit, and doubles none`() async throws {
      let survey = try await CheckedOutSurvey()
      try await survey.checkOut("a")
      for number in 0..<Self.kills { try Self.killOne(survey, withServer: number % 3 == 2) }
      let a = try await survey.open("a")
      _ = try await FieldCheckin.run(of: a, with: survey.store).run()
      #expect(try await survey.contents(of: a) == survey.contents())
      let edits = try await a.rows(
        "SELECT edit_id FROM wells_audit WHERE audit_op > 0 ORDER BY audit_id"
      ).compactMap { $0[0].textValue }
      #expect(edits.count > Self.kills)
      // Each once, in the order in which it was made.
      let kept = try survey.rows("SELECT edit_id FROM fieldpack_sync_received ORDER BY position")
      let names = kept.map { String($0.dropFirst().dropLast()) }
      #expect(names.sorted() == edits.sorted())
      #expect(
        try survey.rows(
          "SELECT edit_id FROM wells_audit WHERE audit_op > 0 GROUP BY edit_id HAVING count(*) > 1")
          == [])
      #expect(try await a.rows("SELECT edit_id FROM wells_audit WHERE sent IS NULL") == [])
      await a.close()
    }

    private static func killOne(_ survey: CheckedOutSurvey, withServer: Bool) throws {
      let program = try Program(
        Tool.built("FieldpackTestSubject"),
        ["checkin", survey.path("a"), survey.schema.cluster.folder, survey.schema.name],
        environment: ["TMPDIR": survey.folder.url.path])
      try program.block(for: "its first edits") { !program.outputSoFar.isEmpty }
      usleep(UInt32.random(in: 0...40_000))
      if withServer {
        _ = try survey.rows(
          "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE "
            + "'%\(survey.schema.name)%' AND pid <> pg_backend_pid()")
        usleep(UInt32.random(in: 0...20_000))
      }
      program.destroy()
    }
  }
#else
  import Testing

  @Suite(.disabled("built without the trait PostGIS"))
  struct CheckinKillTests {
    @Test func `check-ins that are killed`() {}
  }
#endif
