import FieldpackCore
import FieldpackField
import FieldpackGeoPackage
import FieldpackGeometry
import FieldpackSQLite
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackServices

/// What two files make of each other's edits.
@Suite struct SyncRunTests {
  /// An office and two devices, whose edits are made by SQL.
  private struct Office {
    let survey: SyncSurvey
    let office, a, b: GeoPackageStore

    init() async throws {
      survey = try await SyncSurvey(features: 3)
      office = try await survey.open("office")
      a = try await survey.open("a")
      b = try await survey.open("b")
    }

    func close() async { for store in [office, a, b] { await store.close() } }

    @discardableResult
    func sync(_ device: GeoPackageStore) async throws -> SyncReport.Layer {
      let report = try await SyncRun(of: device, with: SyncService(of: office)).run()
      return try #require(report.layers.first)
    }

    func edit(_ store: GeoPackageStore, _ sql: String) async throws {
      try await store.write { (writer: GeoPackageWriter) throws(FieldpackError) in
        try writer.execute(sql)
      }
    }
  }

  private static let wells = "SELECT fid, name, note FROM wells ORDER BY fid"

  @Test func `different columns are merged, and for the same one the first stands`() async throws {
    let office = try await Office()
    try await office.edit(office.a, "UPDATE wells SET name = 'A', note = 'by a' WHERE fid = 1")
    try await office.edit(office.b, "UPDATE wells SET name = 'B', state = 7 WHERE fid = 1")
    #expect(try await office.sync(office.a).conflicts == 0)
    let told = try await office.sync(office.b)
    #expect(told.conflicts == 1 && told.sent == 1 && told.received == 1)
    try await office.sync(office.a)
    for store in [office.office, office.a, office.b] {
      #expect(
        try await store.texts("SELECT name, note, state FROM wells WHERE fid = 1") == ["A|by a|7"])
    }
    let conflict =
      "SELECT kind, layer, feature, column_name, lost, kept, author, device FROM conflict"
    let expected = [#"column|wells|1|name|"B"|"A"|author b|b"#]
    #expect(try await office.office.texts(conflict) == expected)
    #expect(try await office.b.texts(conflict) == expected)
    await office.close()
  }

  /// Counts the edits that come back.
  private final class Counting: SyncPeer {
    let service: SyncService
    let taken = Locked(0)
    var name: String { service.name }

    init(_ store: GeoPackageStore) { service = SyncService(of: store) }

    func layers() async throws(FieldpackError) -> [SyncLayer] { try await service.layers() }

    func edit(at position: Int64, of layer: LayerID) async throws(FieldpackError) -> String? {
      try await service.edit(at: position, of: layer)
    }

    func edits(
      of layer: LayerID, after position: Int64, limit: Int
    ) async throws(FieldpackError) -> SyncPage {
      let page = try await service.edits(of: layer, after: position, limit: limit)
      taken.withLock { $0 += page.edits.count }
      return page
    }

    func send(_ edits: [SyncEdit], of layer: LayerID) async throws(FieldpackError) -> SyncReceipt {
      try await service.send(edits, of: layer)
    }
  }

  @Test func `edits that are applied as they are come to others, and do not come back`()
    async throws
  {
    let office = try await Office()
    let (toA, toB) = (Counting(office.office), Counting(office.office))
    for note in ["one", "two"] {
      try await office.edit(office.a, "UPDATE wells SET note = '\(note)'")
      _ = try await SyncRun(of: office.a, with: toA, batch: 2).run()
    }
    #expect(toA.taken.withLock { $0 } == 0)
    try await office.edit(office.b, "UPDATE wells SET name = 'by b'")
    _ = try await SyncRun(of: office.b, with: toB, batch: 2).run()
    // The edits of the other came before, so that all come.
    #expect(toB.taken.withLock { $0 } == 9)
    _ = try await SyncRun(of: office.a, with: toA, batch: 2).run()
    #expect(toA.taken.withLock { $0 } == 3)
    #expect(try await office.a.contents() == office.b.contents())
    await office.close()
  }

  @Test func `a change brings a deleted feature back, and a deletion does not pass it`()
    async throws
  {
    let office = try await Office()
    try await office.edit(office.a, "DELETE FROM wells WHERE fid = 1")
    try await office.edit(office.b, "UPDATE wells SET note = 'b' WHERE fid = 1")
    try await office.sync(office.a)
    #expect(try await office.sync(office.b).conflicts == 1)
    try await office.edit(office.b, "UPDATE wells SET note = 'b' WHERE fid = 2")
    try await office.edit(office.a, "DELETE FROM wells WHERE fid = 2")
    try await office.sync(office.b)
    #expect(try await office.sync(office.a).conflicts == 1)
    for store in [office.office, office.a, office.b] {
      #expect(
        try await store.texts(Self.wells) == [
          "1|well 0|b", "2|well 1|b", "3|well 2|NULL",
        ])
    }
    #expect(
      try await office.office.texts("SELECT kind, feature FROM conflict") == [
        "revived|1", "kept|2",
      ])
    await office.close()
  }

  @Test func `edits of one file count as its own, whichever program made them`() async throws {
    let office = try await Office()
    // The engine names its device, and QGIS names none.
    try await office.edit(office.a, "INSERT INTO wells (name) VALUES ('new')")
    try await office.edit(office.a, "UPDATE wells SET name = 'engine' WHERE fid = 1")
    await office.a.close()
    let other = try await GeoPackageStore(
      path: office.survey.folder.file("a.gpkg").path, id: "survey")
    try await office.edit(other, "DELETE FROM wells WHERE fid = 4")
    try await office.edit(other, "UPDATE wells SET name = 'qgis' WHERE fid = 1")
    await other.close()
    let a = try await office.survey.open("a")
    #expect(try await office.sync(a).conflicts == 0)
    #expect(try await office.office.contents() == a.contents())
    #expect(
      try await office.office.texts("SELECT name FROM wells") == ["qgis", "well 1", "well 2"])
    await a.close()
    for store in [office.office, office.b] { await store.close() }
  }

  @Test func `a receiver is not the device of its device, and one file has one receiver`()
    async throws
  {
    let office = try await Office()
    try await office.edit(office.a, "UPDATE wells SET note = 'a' WHERE fid = 1")
    try await office.sync(office.a)
    let swapped = await error {
      _ = try await SyncRun(of: office.office, with: SyncService(of: office.a)).run()
    }
    #expect(swapped?.message.contains("not the other way round") == true)
    try await office.edit(office.b, "UPDATE wells SET note = 'b' WHERE fid = 2")
    let second = await error {
      _ = try await SyncRun(of: office.a, with: SyncService(of: office.b)).run()
    }
    #expect(second?.code == .constraint)
    #expect(try await office.b.texts("SELECT note FROM wells WHERE fid = 1") == ["NULL"])
    await office.close()
  }

  @Test func `what does not fit into the file is told, and the rest comes`() async throws {
    let office = try await Office()
    try await office.edit(office.a, "CREATE UNIQUE INDEX names ON wells (name)")
    try await office.edit(office.a, "INSERT INTO wells (name) VALUES ('twelve')")
    try await office.edit(office.office, "CREATE UNIQUE INDEX names ON wells (name)")
    try await office.edit(office.office, "INSERT INTO wells (name) VALUES ('twelve')")
    try await office.edit(office.office, "UPDATE wells SET note = 'x' WHERE fid = 1")
    let first = try await office.sync(office.a)
    #expect(first.parked == 1 && first.conflicts == 1 && first.received == 1)
    #expect(try await office.a.texts("SELECT kind FROM conflict") == ["unfit"])
    #expect(try await office.sync(office.a).conflicts == 0)
    await office.close()
  }

  @Test func `features keep their ids in each file`() async throws {
    let office = try await Office()
    for (store, name) in [(office.a, "a"), (office.b, "b"), (office.office, "office")] {
      try await office.edit(store, "INSERT INTO wells (name) VALUES ('\(name)')")
    }
    try await office.sync(office.a)
    try await office.sync(office.b)
    try await office.sync(office.a)
    #expect(
      try await office.a.texts("SELECT fid, name FROM wells WHERE fid > 3 ORDER BY fid") == [
        "4|a", "5|office", "6|b",
      ])
    #expect(
      try await office.b.texts("SELECT fid, name FROM wells WHERE fid > 3 ORDER BY fid") == [
        "4|b", "5|office", "6|a",
      ])
    #expect(try await office.a.contents() == office.office.contents())
    #expect(try await office.b.contents() == office.office.contents())
    await office.close()
  }

  @Test func `an edit that is refused is parked with the later ones of its feature`() async throws {
    let office = try await Office()
    try await office.edit(office.office, "CREATE UNIQUE INDEX names ON wells (name)")
    try await office.edit(office.a, "INSERT INTO wells (name) VALUES ('well 0')")
    try await office.edit(office.a, "UPDATE wells SET note = 'x' WHERE fid = 4")
    try await office.edit(office.a, "UPDATE wells SET note = 'y' WHERE fid = 1")
    let first = try await office.sync(office.a)
    #expect(first.sent == 1 && first.parked == 2)
    #expect(
      try await office.a.texts("SELECT state, layer FROM sync_job") == ["failed|wells"])
    let message = try await office.a.texts("SELECT message FROM sync_job")
    #expect(message.first?.contains("UNIQUE") == true)
    #expect(try await office.sync(office.a).parked == 2)
    #expect(try await office.office.texts(Self.wells).first == "1|well 0|y")
    await office.close()
  }

  @Test func `files without a common origin, with other columns or of another time are refused`()
    async throws
  {
    let office = try await Office()
    let other = try await SyncSurvey(["other"], features: 3)
    let stranger = try await other.open("other")
    let refusal = await error { try await office.sync(stranger) }
    #expect(refusal?.code == .constraint && refusal?.message.contains("another origin") == true)
    try await office.edit(office.a, "ALTER TABLE wells ADD COLUMN extra TEXT")
    let columns = await error { try await office.sync(office.a) }
    #expect(
      columns?.message.contains("other columns") == true
        && columns?.message.contains("extra") == true)
    try await office.edit(office.b, "UPDATE wells SET note = 'b' WHERE fid = 1")
    try await office.sync(office.b)
    await office.close()
    let path = { (name: String) in office.survey.folder.file("\(name).gpkg").path }
    try FileManager.default.removeItem(atPath: path("office"))
    try FileManager.default.copyItem(atPath: path("a"), toPath: path("office"))
    let (older, b) = (try await office.survey.open("office"), try await office.survey.open("b"))
    let restored = await error {
      _ = try await SyncRun(of: b, with: SyncService(of: older)).run()
    }
    #expect(restored?.code == .constraint)
    for store in [older, b, stranger] { await store.close() }
  }

  private func error(_ body: () async throws -> Void) async -> FieldpackError? {
    do { try await body() } catch { return error as? FieldpackError }
    return nil
  }

  @Test func `photos come with their records, and links follow the ids`() async throws {
    let survey = try await SyncSurvey(["office"], features: 1)
    let store = try await survey.open("office")
    try await store.write { (writer: GeoPackageWriter) throws(FieldpackError) in
      try writer.createLayer(
        Schema(
          layer: "photos",
          columns: [
            ColumnDefinition("data", .blob(), isNullable: false),
            ColumnDefinition("content_type", .text(), isNullable: false),
          ]))
      _ = try writer.createRelation(from: "wells", to: "photos", as: .media)
    }
    await store.close()
    let names = ["a", "b"]
    for name in names {
      try FileManager.default.copyItem(
        atPath: survey.folder.file("office.gpkg").path,
        toPath: survey.folder.file("\(name).gpkg").path)
    }
    let (main, a, b) = (
      try await survey.open("office"), try await survey.open("a"), try await survey.open("b")
    )
    for (device, byte) in [(a, UInt8(1)), (b, UInt8(2))] {
      try await device.write { (writer: GeoPackageWriter) throws(FieldpackError) in
        let relation = try writer.relations()[0]
        let well = try writer.create(
          Feature(attributes: ["name": .text("well of \(byte)")]), in: "wells")
        let photo = try writer.create(
          Feature(attributes: [
            "data": .blob([byte, byte, byte]), "content_type": .text("image/jpeg"),
          ]), in: "photos")
        try writer.link(well, to: photo, by: relation)
      }
    }
    for device in [a, b, a, b] {
      let report = try await SyncRun(of: device, with: SyncService(of: main)).run()
      #expect(report.layers.map(\.name) == ["photos", "wells", "wells_photos"])
      #expect(report.notes == [])
    }
    for store in [main, a, b] {
      #expect(
        try await store.texts(
          "SELECT w.name, hex(p.data) FROM wells w JOIN wells_photos m ON m.base_id = w.fid "
            + "JOIN photos p ON p.fid = m.related_id ORDER BY 1") == [
            "well of 1|010101", "well of 2|020202",
          ])
      #expect(
        try await store.texts("SELECT count(*) FROM photos_audit WHERE sent IS NULL")
          == [store.path == main.path ? "2" : "0"])
      await store.close()
    }
  }
}
