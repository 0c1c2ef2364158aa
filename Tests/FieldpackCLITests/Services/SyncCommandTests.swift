import FieldpackCore
import FieldpackGeoPackage
import FieldpackTestSupport
import Foundation
import Testing

/// `fieldpack sync`.
@Suite(.programs) struct SyncCommandTests {
  private let survey: SurveyFolder

  init() async throws {
    survey = try SurveyFolder()
    _ = try await survey.run("import", "wells.geojson", "--into", "office.gpkg")
    try await write("office.gpkg") { (writer) throws(FieldpackError) in
      _ = try writer.logEdits(of: "wells")
    }
    for name in ["laptop.gpkg", "other.gpkg"] {
      try FileManager.default.copyItem(
        at: survey.folder.file("office.gpkg"), to: survey.folder.file(name))
    }
  }

  private func write(
    _ name: String, author: String? = nil,
    _ body: @Sendable (GeoPackageWriter) throws(FieldpackError) -> Void
  ) async throws {
    var profile = OpeningProfile.foreign
    profile.editor = author.map { Editor(author: $0, device: "device of \($0)") }
    let store = try await GeoPackageStore(
      path: survey.folder.file(name).path, id: "survey", profile: profile, usesWAL: false)
    try await store.write(body)
    await store.close()
  }

  private func bytes(_ names: String...) throws -> [Data] {
    try names.map { try Data(contentsOf: survey.folder.file($0)) }
  }

  /// What lies in the folder.
  private func files() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: survey.folder.url.path).sorted()
  }

  /// Journals and logs of SQLite that lie beside the files.
  private func leftovers() throws -> [String] {
    try files().filter { $0.hasSuffix("-wal") || $0.hasSuffix("-journal") }
  }

  private func editBoth() async throws {
    try await write("laptop.gpkg", author: "ann") { (writer) throws(FieldpackError) in
      try writer.update(11, in: "wells", set: ["name": "Mitte a", "depth": 13.5])
      try writer.create(Feature(attributes: ["name": "Süd"]), in: "wells")
    }
    try await write("office.gpkg", author: "ben") { (writer) throws(FieldpackError) in
      try writer.update(11, in: "wells", set: ["name": "Mitte b"])
      try writer.update(12, in: "wells", set: ["open": false])
    }
  }

  @Test func `what would be done is listed, and neither file is written`() async throws {
    try await editBoth()
    let (before, files) = (try bytes("laptop.gpkg", "office.gpkg"), try files())
    let plan = try await survey.run("sync", "laptop.gpkg", "office.gpkg", "--dry-run")
    let lines = plan.output.split(separator: "\n").map { line in
      line.split(separator: "  ").map { $0.trimmingCharacters(in: .whitespaces) }.dropLast()
        .joined(separator: "|")
    }
    #expect(
      lines == [
        "direction|layer|edit|feature|columns|author", lines[1],
        "send|wells|update|11|name, depth|ann", "send|wells|insert|13|geom, name, depth, open|ann",
        "receive|wells|update|11|name|ben", "receive|wells|update|12|open|ben",
      ])
    #expect([plan.error, "\(plan.status)"] == ["", "0"])
    #expect(try bytes("laptop.gpkg", "office.gpkg") == before)
    #expect(try self.files() == files)
  }

  @Test func `both files get the edits of the other, and conflicts are told`() async throws {
    try await editBoth()
    let sync = try await survey.run("sync", "laptop.gpkg", "office.gpkg")
    #expect(
      sync.output == """
        layer  sent  received  conflicts  parked
        ─────  ────  ────────  ─────────  ──────
        wells     2         2          1       0
        wells: feature 11, name: 'Mitte a' does not stand, 'Mitte b' does
        what does not stand is in the layer conflict of both sides

        """)
    #expect([sync.error, "\(sync.status)"] == ["", "0"])
    let rows = "SELECT fid, name, depth, open FROM wells ORDER BY fid"
    let expected = "fid,name,depth,open\n11,Mitte b,13.5,1\n12,Nord,8,0\n13,Süd,,\n"
    for file in ["laptop.gpkg", "office.gpkg"] {
      let sql = try await survey.run("sql", file, rows, "--format", "csv")
      #expect(sql.output.replacing("\r\n", with: "\n") == expected)
      // The file format version: 2 would be that of WAL mode.
      let header = try Data(contentsOf: survey.folder.file(file)).prefix(20)
      #expect(Array(header.suffix(2)) == [1, 1])
    }
    #expect(try leftovers().isEmpty)
    let again = try await survey.run("sync", "laptop.gpkg", "office.gpkg", "--json")
    #expect(
      again.output == #"{"device":"laptop.gpkg","receiver":"office.gpkg","layers":["#
        + #"{"layer":"wells","sent_count":0,"received_count":0,"conflict_count":0,"#
        + #""parked_count":0}],"conflicts":[],"notes":[]}"# + "\n")
  }

  @Test func `a server is asked by its address`() async throws {
    let server = try LoopbackServer { request in
      request.target == "/sync/layers" ? .text(200, #"{"layers":[]}"#) : .text(404, "")
    }
    let none = try await survey.run("sync", "laptop.gpkg", server.address)
    #expect(
      none.error == """
        fieldpack: laptop.gpkg and \(server.address)/sync have no logged layer in common. Try: log \
        the edits of a layer, and begin the other file as a copy

        """)
    #expect([none.output, "\(none.status)"] == ["", "1"])
    let far = try await survey.run("sync", "laptop.gpkg", "http://far.example.org/sync")
    #expect(far.status == 77 && far.error.contains("--insecure"))
    let away = try await survey.run("sync", "laptop.gpkg", "http://127.0.0.1:9/sync")
    #expect(away.status == 69)
  }

  @Test func `files that cannot be synchronised are told with the next step`() async throws {
    _ = try await survey.run("import", "wells.geojson", "--into", "plain.gpkg")
    let same = try await survey.run("sync", "laptop.gpkg", "./laptop.gpkg")
    #expect(
      same.error == """
        fieldpack: laptop.gpkg and ./laptop.gpkg are the same file. Try: the file of the device \
        first, then the one that it was copied from

        """)
    #expect(same.status == 64)
    for (first, second) in [("plain.gpkg", "office.gpkg"), ("laptop.gpkg", "plain.gpkg")] {
      let unlogged = try await survey.run("sync", first, second)
      #expect(
        unlogged.error == """
          fieldpack: no layer of plain.gpkg logs its edits. Try: fieldpack log enable \
          plain.gpkg:LAYER, and a copy of that file for each device

          """)
      #expect(unlogged.status == 1)
    }
    let text = try await survey.run("sync", "laptop.gpkg", "wells.geojson")
    #expect(text.status == 65)
    let gone = try await survey.run("sync", "laptop.gpkg", "gone.gpkg")
    #expect(gone.status == 66)
    try await write("plain.gpkg") { (writer) throws(FieldpackError) in
      _ = try writer.logEdits(of: "wells")
    }
    let stranger = try await survey.run("sync", "laptop.gpkg", "plain.gpkg")
    #expect(stranger.error.contains("layer 'wells' of plain.gpkg has another origin"))
    #expect(stranger.status == 1)
    try await write("other.gpkg") { (writer) throws(FieldpackError) in
      try writer.addColumns([ColumnDefinition("extra", .text())], to: "wells")
    }
    let other = try await survey.run("sync", "laptop.gpkg", "other.gpkg")
    #expect(
      other.error.contains("layer 'wells' has other columns in other.gpkg: extra. Try: give both"))
    #expect(other.status == 1)
    let both = try await survey.run("sync", "laptop.gpkg", "other.gpkg", "--follow", "--dry-run")
    #expect(
      [both.error, "\(both.status)"] == [
        "fieldpack: --dry-run and --follow exclude each other\n", "64",
      ])
  }

  @Test func `it goes on with --follow until it is interrupted`() async throws {
    try await editBoth()
    let program = try Program(
      Tool.path, ["sync", "laptop.gpkg", "office.gpkg", "--follow"], folder: survey.folder.url)
    try program.block(for: "its first run") { program.outputSoFar.contains("layer conflict") }
    #expect(
      program.outputSoFar == """
        wells: 2 sent, 2 received, 1 conflicts
        wells: feature 11, name: 'Mitte a' does not stand, 'Mitte b' does
        what does not stand is in the layer conflict of both sides

        """)
    try await write("laptop.gpkg") { (writer) throws(FieldpackError) in
      try writer.update(12, in: "wells", set: ["name": "Nord a"])
    }
    try program.block(for: "its second run") { program.outputSoFar.contains("wells: 1 sent\n") }
    program.send(SIGINT)
    let result = try await program.result()
    #expect([result.error, "\(result.status)"] == ["", "0"])
    #expect(try leftovers().isEmpty)
  }
}
