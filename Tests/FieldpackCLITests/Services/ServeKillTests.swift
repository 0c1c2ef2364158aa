import FieldpackCore
import FieldpackTestSupport
import Foundation
import Testing

#if Server
  /// A server that is killed under load loses nothing that it has acknowledged. 5 kills, or as many as
  /// `FIELDPACK_KILLS` says.
  @Suite(
    .serialized, .programs,
    .enabled(if: Programs.curl != nil, Comment(rawValue: Programs.noCurl)))
  struct ServeKillTests {
    private static let kills =
      ProcessInfo.processInfo.environment["FIELDPACK_KILLS"].flatMap { Int($0) } ?? 5

    @Test func `what was acknowledged is there once, and who follows misses and repeats nothing`()
      async throws
    {
      let server = try await KilledServer()
      for round in 0..<Self.kills { try await server.kill(round) }
      try await Self.checkEdits(server)
      try await Self.checkFixes(server)
      try await server.followToTheEnd()
      let check = try await server.survey.run("check", "field.gpkg")
      #expect(check.status == 0, "\(check)")
    }

    private static func checkEdits(_ server: KilledServer) async throws {
      let acknowledged = server.edits.withLock { $0 }
      #expect(acknowledged.count >= kills)
      let rows = Set(try await server.rows("SELECT fid || '=' || name FROM wells WHERE fid > 12"))
      let lost = acknowledged.map { "\($0.key)=\($0.value)" }.filter { !rows.contains($0) }
      #expect(lost == [])
      // Each feature is there once, in the log once, by its author, and in the index.
      let whole = try await server.rows(
        "SELECT (SELECT count(*) FROM wells) - 2 = (SELECT count(*) FROM wells_audit "
          + "WHERE audit_op = 1 AND author = 'Ada') AND (SELECT count(*) FROM wells) "
          + "= (SELECT count(*) FROM rtree_wells_geom) AND (SELECT count(*) FROM wells) "
          + "= (SELECT count(DISTINCT name) FROM wells) AS whole")
      #expect(whole == ["1"])
    }

    private static func checkFixes(_ server: KilledServer) async throws {
      let acknowledged = server.fixes.withLock { $0 }
      #expect(acknowledged.count >= kills)
      let rows = try await server.rows(
        "SELECT device || ' ' || CAST(round(time_unix) AS INTEGER) FROM detection")
      #expect(acknowledged.subtracting(rows) == [])
      #expect(Set(rows).count == rows.count)
    }
  }
#endif
