import FieldpackCore
import FieldpackFieldTestSupport
import FieldpackGeoPackage
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackServices

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Programs that synchronise and are killed leave nothing lost, nothing twice and nothing out of order.
/// 20 kills, or as many as `FIELDPACK_KILLS` says.
@Suite(.serialized, .programs) struct SyncKillTests {
  private static let kills =
    ProcessInfo.processInfo.environment["FIELDPACK_KILLS"].flatMap { Int($0) } ?? 20

  @Test func `a device that is killed, and loses every third reply, loses no edit`() async throws {
    let survey = try await SyncSurvey(["office", "a"])
    let office = try await survey.open("office")
    let service = SyncService(of: office)
    let count = Locked(0)
    let server = try SyncServer(service) { request in
      let isLost = count.withLock { count in
        count += 1
        return count % 3 == 0
      }
      guard isLost else { return nil }
      // The receiver has got the request; its reply is lost.
      _ = SyncServer.answer(request, by: service)
      return .nothing
    }
    for _ in 0..<(Self.kills + 1) / 2 { try Self.killOne(survey, with: server.address) }
    try await Self.check(survey, office)
  }

  @Test func `a device and a receiver that are killed together lose no edit`() async throws {
    let survey = try await SyncSurvey(["office", "a"])
    for _ in 0..<(Self.kills + 1) / 2 {
      try Self.killOne(survey, with: survey.folder.file("office.gpkg").path)
    }
    try await Self.check(survey, try await survey.open("office"))
  }

  private static func killOne(_ survey: SyncSurvey, with receiver: String) throws {
    let program = try Program(
      Tool.built("FieldpackTestSubject"),
      ["sync", survey.folder.file("a.gpkg").path, receiver],
      environment: ["TMPDIR": survey.folder.url.path])
    try program.block(for: "its first edits") { !program.outputSoFar.isEmpty }
    usleep(UInt32.random(in: 0...40_000))
    program.destroy()
  }

  private static func check(_ survey: SyncSurvey, _ office: GeoPackageStore) async throws {
    let a = try await survey.open("a")
    _ = try await SyncRun(of: a, with: SyncService(of: office)).run()
    #expect(try await a.contents() == office.contents())
    let edits = try await a.texts("SELECT edit_id FROM wells_audit WHERE audit_op > 0 ORDER BY 1")
    #expect(edits.count > kills)
    // Each once: an update that changes nothing at the receiver is no row of its log.
    let kept = try await office.texts(
      "SELECT edit_id FROM fieldpack_sync_received ORDER BY edit_id")
    #expect(kept == edits)
    let twice = try await office.texts(
      "SELECT edit_id FROM wells_audit WHERE audit_op > 0 GROUP BY edit_id HAVING count(*) > 1")
    #expect(twice == [])
    let unsent = try await a.texts("SELECT edit_id FROM wells_audit WHERE sent IS NULL")
    #expect(unsent == [])
    let order = try await a.texts(
      "SELECT edit_id FROM wells_audit WHERE audit_op > 0 ORDER BY audit_id")
    var positions: [String: Int] = [:]
    for row in try await office.texts("SELECT edit_id, position FROM fieldpack_sync_received") {
      let parts = row.split(separator: "|")
      positions[String(parts[0])] = Int(parts[1])
    }
    let places = order.compactMap { positions[$0] }
    #expect(places.count == order.count && places == places.sorted())
    for store in [a, office] { await store.close() }
  }
}
