#if PostGIS
  import FieldpackCore
  import FieldpackField
  import FieldpackGeoPackage
  import FieldpackGeometry
  import FieldpackSQLite
  import FieldpackSyncTestSupport
  import FieldpackTestSupport
  import Foundation
  import Testing

  @testable import FieldpackPostGIS
  @testable import FieldpackServices

  /// Two field copies and a database come to the same state, whatever becomes of their messages.
  @Suite(.programs, .enabled(if: TestCluster.isInstalled, "\(TestCluster.missing)"))
  struct CheckinModelTests {
    private static let seeds =
      ProcessInfo.processInfo.environment["FIELDPACK_SYNC_SEEDS"].flatMap { UInt64($0) } ?? 2
    private static let edits =
      ProcessInfo.processInfo.environment["FIELDPACK_SYNC_EDITS"].flatMap { Int($0) } ?? 120

    @Test(arguments: 1...seeds)
    func `all end equal, and no edit is lost that is not told`(seed: UInt64) async throws {
      let survey = try await CheckedOutSurvey(features: 12)
      var copies: [GeoPackageStore] = []
      for name in ["a", "b"] {
        try await survey.checkOut(name)
        copies.append(try await survey.open(name))
      }
      var random = FilterGenerator.SplitMix(state: seed)
      let peer = PostGISSyncPeer(of: survey.store, clock: Self.clock(0))
      let connections = [1, 2].map { BadConnection(peer, seed: seed &* 77 &+ $0, badLuck: 20) }
      for _ in 0..<Self.edits {
        let side = Int.random(in: 0..<3, using: &random)
        let seed = random.next()
        if side == 2 {
          try Self.edit(survey, seed)
        } else {
          try await Self.edit(copies[side], seed)
        }
        guard Int.random(in: 0..<12, using: &random) == 0 else { continue }
        let device = Int.random(in: 0...1, using: &random)
        _ = try? await SyncRun(
          of: copies[device], with: connections[device],
          clock: Self.clock(device == 0 ? -3600 : 3600), batch: 5
        ).run()
      }
      for device in [0, 1, 0, 1] {
        let report = try await SyncRun(of: copies[device], with: peer, batch: 7).run()
        #expect(report.layers[0].parked == 0)
      }
      let office = try await survey.contents()
      for copy in copies {
        #expect(try await survey.contents(of: copy) == office)
        #expect(try await copy.rows("SELECT edit_id FROM wells_audit WHERE sent IS NULL") == [])
      }
      for (copy, name) in zip(copies, ["a", "b"]) {
        #expect(try await Self.missing(of: copy, named: name, in: survey) == [])
        await copy.close()
      }
    }

    private static func clock(_ skew: Int64) -> FieldClock {
      FieldClock(
        wall: { .seconds(1_700_000_000 + skew) }, uptime: { .zero }, sleep: { _ in })
    }

    // MARK: Edits

    private static func edit(_ store: GeoPackageStore, _ seed: UInt64) async throws {
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

    /// An edit of another program, in SQL.
    private static func edit(_ survey: CheckedOutSurvey, _ seed: UInt64) throws {
      var random = FilterGenerator.SplitMix(state: seed)
      let ids = try survey.rows("SELECT fid FROM wells").compactMap {
        Int64($0.dropFirst().dropLast())
      }
      func sets(_ attributes: Attributes, _ place: Geometry?) -> [(String, String)] {
        var sets = attributes.elements.map { element in
          let text = if case .text(let text) = element.value { "'\(text)'" } else { "2" }
          return (element.name, text)
        }
        if let place, case .point(let position?, _) = place {
          sets.append(("geom", "ST_SetSRID(ST_Point(\(position.x), \(position.y)), 4326)"))
        }
        return sets
      }
      switch RandomEdit(of: ids, &random) {
      case .insert(let place, let attributes):
        let sets = sets(attributes, place)
        try survey.schema.run(
          "INSERT INTO wells (\(sets.map(\.0).joined(separator: ", "))) "
            + "VALUES (\(sets.map(\.1).joined(separator: ", ")))")
      case .update(let id, let place, let attributes):
        let sets = sets(attributes, place)
        guard !sets.isEmpty else { return }
        try survey.schema.run(
          "UPDATE wells SET \(sets.map { "\($0) = \($1)" }.joined(separator: ", ")) WHERE fid = \(id)"
        )
      case .delete(let id): try survey.schema.run("DELETE FROM wells WHERE fid = \(id)")
      }
    }

    // MARK: What has to be there

    /// The edits of a device that neither stood in the database when they came, nor are told.
    private static func missing(
      of device: GeoPackageStore, named name: String, in survey: CheckedOutSurvey
    ) async throws -> [String] {
      let own = try await device.read {
        (snapshot: GeoPackageSnapshot) throws(FieldpackError) -> [SyncEdit] in
        let log = try SyncService.log(of: "wells", in: snapshot)
        var found: [SyncEdit] = []
        for edit in try log.edits(after: 0, limit: 1_000_000)
        where edit.device == name && edit.received == nil {
          let made = try SyncEdit(
            edit, changed: log.changedColumns(edit), in: log, LinkColumns(of: log, in: snapshot),
            snapshot)
          if let made { found.append(made) }
        }
        return found
      }
      #expect(!own.isEmpty)
      return try await survey.store.snapshot { (snapshot) throws(FieldpackError) in
        try Stood(log: snapshot.log(of: "wells")).missing(own)
      }
    }
  }

  /// What stood in a database when edits came.
  private struct Stood {
    let log: PostGISLog

    func missing(_ edits: [SyncEdit]) throws(FieldpackError) -> [String] {
      var (missing, last): ([String], Int64) = ([], 0)
      for edit in edits {
        let row = try log.connection.execute(
          "SELECT position FROM \(log.tables.received) WHERE edit_id = $1", [.text(edit.id)])
        guard row.count == 1, let number = row.integer(0, 0) else {
          missing.append("\(edit.id) never came")
          continue
        }
        if number < last { missing.append("\(edit.id) came out of order") }
        last = number
        guard let place = try log.place(of: edit.identity) else {
          missing.append("\(edit.identity) is unknown")
          continue
        }
        let state = try state(place, number)
        if edit.operation == .delete {
          if state?.operation != 3, try !told(edit, "kept", nil) {
            missing.append("\(edit.id) did not delete")
          }
          continue
        }
        for name in edit.changed {
          guard let column = log.values.names.firstIndex(of: name) else { continue }
          let wanted = edit.values[column]
          if state?.values[column] != wanted, try !told(edit, name, SyncJSON.value(wanted).text) {
            missing.append("\(edit.id) \(name) = \(wanted)")
          }
        }
      }
      return missing
    }

    private func state(
      _ place: EditLog.Place, _ number: Int64
    ) throws(FieldpackError) -> (operation: Int64, values: [SQLiteValue])? {
      let rows = try log.connection.execute(
        "SELECT audit_op, \(log.values.selection.joined(separator: ", ")) FROM (SELECT * FROM "
          + "\(log.shape.log) WHERE fid = $1 AND audit_id >= $2 AND audit_id < $3 AND audit_id <= $4 "
          + "ORDER BY audit_id DESC LIMIT 1) AS r",
        [place.feature, place.start, place.end, number].map { .integer($0) })
      guard rows.count == 1 else { return nil }
      let values = try log.values.values(rows, 0, from: 1)
      return (rows.integer(0, 0) ?? 0, Array(values.dropFirst()))
    }

    private func told(
      _ edit: SyncEdit, _ what: String, _ lost: String?
    ) throws(FieldpackError) -> Bool {
      try log.connection.execute(
        "SELECT FROM \(log.tables.conflict) WHERE edit_id = $1 "
          + "AND coalesce(column_name, kind) = $2 AND lost IS NOT DISTINCT FROM $3::text",
        [.text(edit.id), .text(what), lost.map { .text($0) } ?? .null]
      ).count > 0
    }
  }
#else
  import Testing

  @Suite(.disabled("built without the trait PostGIS"))
  struct CheckinModelTests {
    @Test func `the model of edits of two field copies`() {}
  }
#endif
