#if MQTT
  import Fieldpack
  import FieldpackCore
  import FieldpackGeoPackage
  import FieldpackServices
  import FieldpackSQLite
  import FieldpackTestSupport
  import Foundation
  import Testing

  @testable import FieldpackMQTT

  #if canImport(Glibc)
    import Glibc
  #elseif canImport(Darwin)
    import Darwin
  #endif

  /// A device that is killed again and again while it edits and sends its edits through a broker.
  private final class KilledDevice: Sendable {
    let folder: TemporaryFolder
    let broker: TestBroker
    let edits = KeptEdits()
    let backend: TestBackend
    /// How many edits counted as sent the last time, and the number of the last of them.
    private let checked = Locked((count: 0, last: Int64(0)))

    init() async throws {
      folder = try TemporaryFolder()
      let edits = edits
      backend = TestBackend(.numbered) { edits.answer($0) }
      let writer = try GeoPackageBulkWriter(
        creating: folder.file("device.gpkg").path, version: .v14, store: "field")
      try writer.create(
        Schema(
          layer: "wells", geometry: GeometryColumn(type: .point, srs: .wgs84),
          columns: [ColumnDefinition("name", .text()), ColumnDefinition("state", .integer)]))
      _ = try writer.commit()
      // Otherwise each edit would wait 40 ms for the acknowledgement of a packet.
      broker = try await TestBroker(["allow_anonymous true", "set_tcp_nodelay true"])
      let store = try await open()
      try await store.write { (writer: GeoPackageWriter) throws(FieldpackError) in
        _ = try writer.logEdits(of: "wells")
      }
      await store.close()
      try await backend.run(at: broker.port)
    }

    func open() async throws -> GeoPackageStore {
      try await GeoPackageStore(path: folder.file("device.gpkg").path, id: "field")
    }

    /// Who is away for a while before the device is killed.
    enum Away { case backend, broker }

    /// Starts the device and kills it at a random moment.
    func kill(with away: Away?) async throws {
      let program = try Program(
        Tool.built("FieldpackTestSubject"),
        ["deliver", folder.file("device.gpkg").path, "\(broker.port)"],
        environment: ["TMPDIR": folder.url.path])
      try await goOn(program, by: .random(in: 0...4))
      guard let away else { return try await end(program) }
      switch away {
      case .backend:
        // The broker takes the device's edits, and hands them to nobody.
        await backend.client.disconnect()
        try await Task.sleep(for: .milliseconds(.random(in: 0...100)))
      case .broker: try await broker.kill()
      }
      let goesOn = Bool.random()
      if !goesOn { try await end(program) }
      switch away {
      case .backend: try await backend.run(at: broker.port)
      case .broker: try await broker.start()
      }
      guard goesOn else { return }
      try await goOn(program, by: .random(in: 1...4))
      try await end(program)
    }

    /// Waits until so many new edits came, and a little.
    private func goOn(_ program: Program, by count: Int) async throws {
      let end = edits.count + count
      try await program.wait(for: "its edits") { edits.count >= end }
      try await Task.sleep(for: .microseconds(.random(in: 0...30_000)))
    }

    private func end(_ program: Program) async throws {
      program.send(SIGKILL)
      let result = try await program.result()
      #expect(result.status == 128 + SIGKILL, "\(result)")
    }

    /// What counts as sent came to the backend before, and in this order.
    func checkSent(in store: GeoPackageStore) async throws {
      let (count, last) = checked.withLock { $0 }
      let rows = try await store.read { (snapshot: GeoPackageSnapshot) throws(FieldpackError) in
        try snapshot.rows(
          "SELECT audit_id, edit_id FROM wells_audit WHERE sent IS NOT NULL AND audit_id > ? "
            + "ORDER BY audit_id", [.integer(last)])
      }
      let came = edits.present.order.dropFirst(count).prefix(rows.count)
      #expect(Array(came) == rows.map { $0[1].textValue })
      checked.withLock { $0 = (count + rows.count, rows.last?[0].integerValue ?? last) }
    }

    /// Sends what is left, with no loss.
    func deliverRest(of store: GeoPackageStore) async throws -> SyncReport {
      edits.loseNoMoreReplies()
      try await backend.untilConnected()
      let device = try await TestDevice(in: folder, broker)
      try await device.backend.start()
      await device.untilReady()
      let delivery = EditDelivery(of: store, to: "the backend", by: device.backend.transport)
      let report = try await delivery.run()
      await device.stop()
      await backend.client.disconnect()
      try await broker.kill()
      return report
    }

    /// The device's features by the backend's ids.
    static func features(of store: GeoPackageStore) async throws -> [String: String] {
      try await store.read { (snapshot: GeoPackageSnapshot) throws(FieldpackError) in
        var features: [String: String] = [:]
        for feature in try snapshot.features(Query("wells")) {
          guard case .integer(let number)? = feature.id else { continue }
          let row = try snapshot.rows(
            "SELECT id FROM fieldpack_sync_server WHERE feature = ?", [.integer(number)])
          let edit = OutgoingEdit(
            id: "", store: store.id, layer: "wells", operation: .update, feature: feature)
          let json = try? JSONValueReader.read(String(decoding: edit.geoJSON(), as: UTF8.self))
          features[row.first?[0].textValue ?? "none"] = json.map(KeptEdits.text)
        }
        return features
      }
    }
  }

  /// Each third reply of the backend is lost, and the backend is away now and then.
  ///
  /// 20 kills, or as many as `FIELDPACK_KILLS` says.
  @Suite(
    .serialized, .programs,
    .enabled(if: TestBroker.program != nil, Comment(rawValue: TestBroker.missing)))
  struct MQTTKillTests {
    private static let kills =
      ProcessInfo.processInfo.environment["FIELDPACK_KILLS"].flatMap { Int($0) } ?? 20
    /// The broker is killed with each of so many kills: 100 times, or with each fifth of a few kills.
    private static let turn = max(5, kills / 100)

    @Test func `a device that is killed, with its broker at times, loses no edit`() async throws {
      let device = try await KilledDevice()
      for number in 0..<Self.kills {
        let away: KilledDevice.Away? =
          number % Self.turn == 0 ? .broker : number % 5 == 2 ? .backend : nil
        try await device.kill(with: away)
        // The check mends the file; elsewhere the next start finds it as the kill left it.
        guard number % 3 == 0 else { continue }
        let store = try await device.open()
        try await device.checkSent(in: store)
        await store.close()
      }
      let store = try await device.open()
      try await device.checkSent(in: store)
      let report = try await device.deliverRest(of: store)
      #expect(report.layers.map(\.parked) == [0])
      try await device.checkSent(in: store)

      let backend = device.edits.present
      #expect(backend.faults == [])
      #expect(backend.repeats > 0)
      let log = try await store.read { (snapshot: GeoPackageSnapshot) throws(FieldpackError) in
        try snapshot.rows(
          "SELECT edit_id, sent FROM wells_audit WHERE audit_op > 0 ORDER BY audit_id")
      }
      #expect(log.count { $0[1] == .null } == 0)
      // One fact: a difference would be shown with all edits.
      let isInOrder = log.map { $0[0].textValue } == backend.order
      #expect(isInOrder && !log.isEmpty)
      #expect(try await KilledDevice.features(of: store) == backend.features)
      await store.close()
    }
  }
#endif
