import FieldpackCore
import FieldpackField
import FieldpackGeoPackage
import FieldpackGeometry
import FieldpackSQLite
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackServices

/// Two devices and a receiver come to the same state, whatever becomes of their messages.
@Suite struct SyncModelTests {
  /// A connection that loses requests and replies, repeats them, and brings old ones late.
  private final class BadConnection: SyncPeer {
    private struct State {
      var random: FilterGenerator.SplitMix
      var late: [(edits: [SyncEdit], layer: LayerID)] = []
    }

    let service: SyncService
    var name: String { "office" }
    private let state: Locked<State>
    /// Of 100 messages so many have bad luck.
    private let badLuck: Int

    init(_ service: SyncService, seed: UInt64, badLuck: Int) {
      (self.service, self.badLuck) = (service, badLuck)
      state = Locked(State(random: FilterGenerator.SplitMix(state: seed)))
    }

    private func luck() -> Int { state.withLock { Int.random(in: 0..<100, using: &$0.random) } }

    private func lose() throws(FieldpackError) {
      if luck() < badLuck { throw FieldpackError(.unavailable, "lost") }
    }

    func layers() async throws(FieldpackError) -> [SyncLayer] {
      try lose()
      return try await service.layers()
    }

    func edit(at position: Int64, of layer: LayerID) async throws(FieldpackError) -> String? {
      try await service.edit(at: position, of: layer)
    }

    func edits(
      of layer: LayerID, after position: Int64, limit: Int
    ) async throws(FieldpackError) -> SyncPage {
      try lose()
      return try await service.edits(of: layer, after: position, limit: limit)
    }

    func send(
      _ edits: [SyncEdit], of layer: LayerID
    ) async throws(FieldpackError) -> SyncReceipt {
      // The request is lost, and may arrive late.
      if luck() < badLuck {
        state.withLock { $0.late.append((edits, layer)) }
        throw FieldpackError(.unavailable, "lost")
      }
      if luck() < badLuck, let late = state.withLock({ $0.late.popLast() }) {
        _ = try? await service.send(late.edits, of: late.layer)
      }
      let receipt = try await service.send(edits, of: layer)
      if luck() < badLuck { _ = try await service.send(edits, of: layer) }
      try lose()
      return receipt
    }
  }

  /// Makes one random edit.
  private static func edit(
    _ store: GeoPackageStore, _ random: inout FilterGenerator.SplitMix
  ) async throws {
    let seed = random.next()
    try await store.write { (writer: GeoPackageWriter) throws(FieldpackError) in
      var random = FilterGenerator.SplitMix(state: seed)
      let ids = try writer.rows("SELECT fid FROM wells").compactMap { $0[0].integerValue }
      let kind = Int.random(in: 0..<10, using: &random)
      var attributes = Attributes()
      for column in ["name", "note"] where Bool.random(using: &random) {
        attributes[column] = .text("v\(Int.random(in: 0..<6, using: &random))")
      }
      if Bool.random(using: &random) {
        attributes["state"] = .integer(Int64.random(in: 0..<4, using: &random))
      }
      let place = Geometry.point(x: Double(Int.random(in: 0..<9, using: &random)), y: 1)
      guard kind > 1, let id = ids.randomElement(using: &random) else {
        try writer.create(Feature(geometry: place, attributes: attributes), in: "wells")
        return
      }
      if kind == 2 { return try writer.delete(.integer(id), in: "wells") }
      try writer.update(
        .integer(id), in: "wells", set: attributes, geometry: kind < 5 ? .set(place) : .keep)
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
