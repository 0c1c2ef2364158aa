import FieldpackCore
import FieldpackField
import FieldpackGeoPackage
import FieldpackGeometry
import FieldpackSQLite
import FieldpackSyncTestSupport
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackServices

/// Two devices and a receiver come to the same state, whatever becomes of their messages.
@Suite struct SyncModelTests {
  /// Makes one random edit.
  private static func edit(
    _ store: GeoPackageStore, _ random: inout FilterGenerator.SplitMix
  ) async throws {
    let seed = random.next()
    try await store.write { (writer: GeoPackageWriter) throws(FieldpackError) in
      var random = FilterGenerator.SplitMix(state: seed)
      let ids = try writer.rows("SELECT fid FROM wells").compactMap { $0[0].integerValue }
      switch RandomEdit(of: ids, &random) {
      case .insert(let place, let attributes):
        try writer.create(Feature(geometry: place, attributes: attributes), in: "wells")
      case .update(let id, let place, let attributes):
        try writer.update(
          .integer(id), in: "wells", set: attributes, geometry: place.map { .set($0) } ?? .keep)
      case .delete(let id): try writer.delete(.integer(id), in: "wells")
      }
    }
  }

  private static let seeds =
    ProcessInfo.processInfo.environment["FIELDPACK_SYNC_SEEDS"].flatMap { UInt64($0) } ?? 3
  private static let edits =
    ProcessInfo.processInfo.environment["FIELDPACK_SYNC_EDITS"].flatMap { Int($0) } ?? 120

  @Test(arguments: 1...seeds)
  func `all end equal, and no edit is lost that is not told`(seed: UInt64) async throws {
    let survey = try await SyncSurvey(features: 12)
    let names = ["office", "a", "b"]
    var stores: [GeoPackageStore] = []
    for name in names { stores.append(try await survey.open(name)) }
    var random = FilterGenerator.SplitMix(state: seed)
    let service = SyncService(of: stores[0], clock: Self.clock(0))
    let connections = [1, 2].map { BadConnection(service, seed: seed &* 77 &+ $0, badLuck: 20) }
    for _ in 0..<Self.edits {
      try await Self.edit(stores[Int.random(in: 0..<3, using: &random)], &random)
      guard Int.random(in: 0..<12, using: &random) == 0 else { continue }
      let device = Int.random(in: 1...2, using: &random)
      _ = try? await SyncRun(
        of: stores[device], with: connections[device - 1],
        clock: Self.clock(device == 1 ? -3600 : 3600), batch: 5
      ).run()
    }
    for device in [1, 2, 1, 2] {
      let report = try await SyncRun(of: stores[device], with: service, batch: 7).run()
      #expect(report.layers[0].parked == 0)
    }
    let office = try await stores[0].contents()
    for store in stores[1...] {
      #expect(try await store.contents() == office)
      #expect(try await store.texts("SELECT * FROM wells_audit WHERE sent IS NULL") == [])
    }
    for device in [1, 2] {
      try await Self.checkEdits(of: stores[device], named: names[device], in: stores[0])
    }
    for store in stores { await store.close() }
  }

  private static func clock(_ skew: Int64) -> FieldClock {
    FieldClock(
      wall: { .seconds(1_700_000_000 + skew) }, uptime: { .zero }, sleep: { _ in })
  }

  /// Each value that a device wrote stood at the receiver when its edit came, or is told as a conflict.
  private static func checkEdits(
    of device: GeoPackageStore, named name: String, in office: GeoPackageStore
  ) async throws {
    let lost = Set(
      try await office.texts("SELECT edit_id, coalesce(column_name, kind), lost FROM conflict"))
    let own = try await device.read {
      (snapshot: GeoPackageSnapshot) throws(FieldpackError) -> [(SyncEdit, [SQLiteValue])] in
      let log = try SyncService.log(of: "wells", in: snapshot)
      var found: [(SyncEdit, [SQLiteValue])] = []
      for edit in try log.edits(after: 0, limit: 1_000_000) where edit.device == name {
        guard edit.received == nil,
          let made = try SyncEdit(
            edit, changed: log.changedColumns(edit), in: log, LinkColumns(of: log, in: snapshot),
            snapshot)
        else {
          continue
        }
        found.append((made, edit.values))
      }
      return found
    }
    let missing = try await office.read {
      (snapshot: GeoPackageSnapshot) throws(FieldpackError) -> [String] in
      let log = try SyncService.log(of: "wells", in: snapshot)
      var missing: [String] = []
      var last: Int64 = 0
      for (edit, values) in own {
        let row = try snapshot.rows(
          "SELECT position FROM fieldpack_sync_received WHERE edit_id = ?", [.text(edit.id)])
        guard let position = row.first?[0].integerValue else {
          missing.append("\(edit.id) never came")
          continue
        }
        if position < last { missing.append("\(edit.id) came out of order") }
        last = position
        guard let place = try log.place(of: edit.identity) else {
          missing.append("\(edit.identity) is unknown")
          continue
        }
        let state = try log.history(of: place, after: 0).last { $0.number <= position }
        if edit.operation == .delete {
          let isDone = state?.operation == .delete || lost.contains("\(edit.id)|kept|NULL")
          if !isDone { missing.append("\(edit.id) did not delete") }
          continue
        }
        for name in edit.changed {
          guard let column = log.columns.firstIndex(of: name) else { continue }
          let told = "\(edit.id)|\(name)|\(SyncJSON.value(values[column]).text)"
          if state?.values[column] != values[column], !lost.contains(told) {
            missing.append("\(edit.id) \(name) = \(values[column])")
          }
        }
      }
      return missing
    }
    #expect(missing == [])
  }
}
