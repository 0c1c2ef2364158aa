import FieldpackSQLite
import FieldpackTestSupport
import Foundation
import Testing

/// `fieldpack log`, and the edits of the other commands in the log.
@Suite(.programs) struct LogCommandTests {
  private let survey: SurveyFolder
  private var file: URL { survey.folder.file("f.gpkg") }

  /// Wells 11 and 12, whose edits are logged.
  init() async throws {
    survey = try SurveyFolder()
    _ = try survey.folder.write(
      SurveyFolder.sights.replacing(#""id":"dom","#, with: ""), to: "new.geojson")
    try await Self.made.value.write(to: file)
  }

  /// The file is made once.
  private static let made = Task {
    let survey = try SurveyFolder()
    _ = try await survey.run("import", "wells.geojson", "--into", "f.gpkg")
    let logged = try await survey.run("log", "enable", "f.gpkg:wells")
    #expect(logged.output == "the edits of wells are logged\n", "\(logged)")
    return try Data(contentsOf: survey.folder.file("f.gpkg"))
  }

  private func fieldpack(_ words: [String], author: String? = nil) async throws -> RunResult {
    let state = ["XDG_STATE_HOME": survey.folder.file("state").path]
    let environment = author.map { ["FIELDPACK_AUTHOR": $0] } ?? [:]
    return try await survey.run(words, environment: state.merging(environment) { $1 })
  }

  private func expect(
    _ words: String..., author: String? = nil, says text: String? = nil, note: String = ""
  ) async throws {
    let result = try await fieldpack(words, author: author)
    #expect(result.status == 0, "\(words): \(result)")
    #expect(Self.plain(result.error) == note, "\(words)")
    if let text { #expect(Self.plain(result.output) == text, "\(words)") }
  }

  /// Without times and UUIDs, which are other ones each time.
  private static func plain(_ text: String) -> String {
    text.replacing(/\d{4}-\d\d-\d\dT[\d:.]+Z/, with: "TIME")
      .replacing(/[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f-]{22}/, with: "UUID")
  }

  private func rows(_ sql: String) throws -> [String] { try storedRows(sql, in: file) }

  private func edit() async throws {
    try await expect(
      "update", "f.gpkg:wells", "11", "--set", "depth=13", "--author", "ann", author: "env")
    try await expect("create", "f.gpkg", "wells", "new.geojson", author: "bob")
    try await expect("delete", "f.gpkg:wells", "12")
  }

  @Test func `edits have the author and the device, and reading makes no device`() async throws {
    try await expect("get", "f.gpkg:wells", "11", author: "env")
    try await expect("log", "list", "f.gpkg", note: "note: there are no such edits\n")
    #expect(try !survey.names.contains("state"))
    try await edit()
    try await expect(
      "import", "sights.geojson", "--into", "f.gpkg:wells", "--mode", "append", "--author", "cleo",
      note: "")
    try await expect(
      "sql", "f.gpkg", "--write", "UPDATE wells SET name = 'M' WHERE fid = 11", "--author", "dora",
      note: "note: 1 row changed\n")
    let edits = try rows(
      "SELECT audit_op, author, length(device) FROM wells_audit WHERE audit_op > 0")
    #expect(edits == ["2|ann|36", "1|bob|36", "3|NULL|36", "1|cleo|36", "2|dora|36"])
    #expect(try rows("SELECT count(DISTINCT device) FROM wells_audit") == ["1"])
    let failed = try await fieldpack(["update", "f.gpkg:wells", "999", "--set", "depth=1"])
    #expect(failed.status == 66)
    #expect(try rows("SELECT author, device FROM fieldpack_editor") == ["NULL|NULL"])
  }

  @Test func `submissions to a form have an author`() async throws {
    _ = try survey.folder.write(
      """
      {"stores":[],"forms":[{"id":1,"form_key":"f","form_label":"F","version":1,"fields":[
        {"id":1,"type":"string","field_label":"N","field_key":"n","position":0}]}]}
      """, to: "form.scfg")
    _ = try survey.folder.write(
      #"{"type":"Feature","geometry":null,"properties":{"n":"a"}}"#, to: "one.geojson")
    for author in ["ann", "bob"] {
      let result = try await fieldpack(
        ["form", "submit", "form.scfg", "f", "one.geojson", "--author", author])
      #expect(result.status == 0, "\(result)")
    }
    #expect(
      try storedRows(
        "SELECT n, author FROM f_audit", in: survey.folder.file("form.stores/FORM_STORE.gpkg"))
        == ["a|ann", "a|bob"])
  }

  @Test func `list shows edits by layer, author, time and what is pending`() async throws {
    try await edit()
    try await expect(
      "log", "list", "f.gpkg",
      says: """
        layer  edit  time                      feature  operation  author  sent     device
        ─────  ────  ────────────────────────  ───────  ─────────  ──────  ───────  ────────────────────────────────────
        wells     2  TIME       11  update     ann     pending  UUID
        wells     3  TIME       13  insert     bob     pending  UUID
        wells     4  TIME       12  delete             pending  UUID

        """)
    let edit = { (number: Int, feature: Int, operation: String, author: String) in
      #"{"layer":"wells","feature":\#(feature),"edit":\#(number),"edit_id":"UUID","time":"TIME","#
        + #""operation":"\#(operation)","author":\#(author),"device":"UUID","sent_at":null,"#
        + #""received_at":null}"#
    }
    let three = [
      edit(2, 11, "update", #""ann""#), edit(3, 13, "insert", #""bob""#),
      edit(4, 12, "delete", "null"),
    ]
    try await expect(
      "log", "list", "f.gpkg:wells", "--pending", "--json",
      says: #"{"edits":[\#(three.joined(separator: ","))]}"# + "\n")
    try await expect(
      "log", "list", "f.gpkg", "--author", "bob", "--since", "2020-01-01", "--json",
      says: #"{"edits":[\#(three[1])]}"# + "\n")
    try await expect(
      "log", "list", "f.gpkg", "--limit", "1", "--json", says: #"{"edits":[\#(three[0])]}"# + "\n")
    try await expect(
      "log", "list", "f.gpkg", "--since", "2999-01-01T00:00:00Z", "--json",
      says: #"{"edits":[]}"# + "\n")
  }

  @Test func `show tells what each edit changed, and undo takes the last back`() async throws {
    try await edit()
    try await expect(
      "log", "show", "f.gpkg:wells", "11",
      says: """
        2  TIME  update  by ann  (pending)
          depth: 12.5 → 13

        """)
    try await expect(
      "log", "show", "f.gpkg:wells", "12",
      says: """
        4  TIME  delete  (pending)
          geom: POINT (13.5 52.6)
          name: Nord
          depth: 8

        """)
    try await expect(
      "log", "undo", "f.gpkg:wells", "12", "--author", "eve",
      says: "the last delete is taken back: feature 12 of wells is there again\n")
    try await expect(
      "log", "undo", "f.gpkg", "Zg==.d2VsbHM=.MTE=",
      says: "the last update is taken back: feature 11 of wells is as before\n")
    try await expect(
      "log", "undo", "f.gpkg:wells", "13", "--json",
      says: #"{"key":"Zg==.d2VsbHM=.MTM=","layer":"wells","feature":13,"edit":3,"#
        + #""operation":"insert","is_deleted":true}"# + "\n")
    #expect(
      try rows("SELECT fid, name, depth FROM wells") == ["11|Mitte|12.5", "12|Nord|8.0"])
    #expect(
      try rows("SELECT fid, audit_op, author FROM wells_audit WHERE audit_id > 4")
        == ["12|2|eve", "11|2|NULL", "13|3|NULL"])
    let never = try await fieldpack(["log", "undo", "f.gpkg:wells", "99"])
    #expect(never.status == 66)
    #expect(
      never.error == "fieldpack: feature 99 of layer 'wells' has no edit in the change log\n")
  }

  @Test func `queries and SpatialConnect's dialect tell when, by whom and where`() async throws {
    try await edit()
    try run("UPDATE wells_audit SET audit_timestamp = '2026-05-01T09:00:00.000Z', device = 'D1'")
    let query = try await fieldpack(
      ["query", "f.gpkg:wells", "--metadata", "--select", "name", "--format", "csv"])
    #expect(
      query.output.split(whereSeparator: \.isNewline).map { $0.replacing(/,"?POINT.*/, with: "") }
        == [
          "fid,name,created,modified,author,device,wkt",
          "11,Mitte,,2026-05-01T09:00:00.000Z,ann,D1",
          "13,Dom,2026-05-01T09:00:00.000Z,2026-05-01T09:00:00.000Z,bob,D1",
        ], "\(query)")
    let export = try await fieldpack(
      [
        "export", "f.gpkg", "wells", "--where", "fid = 13", "--dialect", "spatialconnect",
        "--format", "geojsonl", "--output", "-",
      ])
    #expect(
      export.output.contains(
        #""properties":{"name":"Dom","depth":3.5,"open":null},"metadata":{"created_at":"#
          + #""2026-05-01 09:00:00 GMT","client":"D1","storeId":"f","layerId":"wells"}"#),
      "\(export)")
  }

  @Test func `a log that is missing, old or out of date is told with what to do`() async throws {
    try await expect(
      "log", "disable", "f.gpkg:wells", says: "the log of wells is deleted, with 0 edits\n")
    let none = try await fieldpack(["log", "list", "f.gpkg:wells"])
    #expect(none.status == 66)
    #expect(
      none.error == "fieldpack: the edits of layer 'wells' are not logged. "
        + "Try: fieldpack log enable f.gpkg:wells\n")
    try run(
      """
      CREATE TABLE wells_audit (audit_id INTEGER PRIMARY KEY AUTOINCREMENT, fid INTEGER, geom BLOB,
        name TEXT, depth REAL, open BOOLEAN, sent DATETIME, received DATETIME);
      INSERT INTO wells_audit (fid, name) VALUES (5, 'gone');
      """)
    try await expect(
      "log", "list", "f.gpkg",
      note: "note: the log of layer 'wells' is one of SpatialConnect or GeoGig. "
        + "Try: fieldpack log enable f.gpkg:wells\n")
    let old = try await fieldpack(["log", "show", "f.gpkg:wells", "5"])
    #expect(old.status == 1)
    #expect(
      old.error == "fieldpack: the change log of layer 'wells' is one of SpatialConnect or GeoGig, "
        + "and not upgraded. Try: fieldpack log enable f.gpkg:wells\n")
    try await expect("log", "enable", "f.gpkg", "wells")
    try run("DROP TRIGGER wells_audit_update; DELETE FROM wells WHERE fid = 12")
    let stale =
      "note: the log of layer 'wells' is out of date: edits may be missing since another program "
      + "changed the layer or the log. Try: fieldpack log enable f.gpkg:wells\n"
    try await expect("log", "show", "f.gpkg:wells", "12", note: stale)
    try await expect("log", "enable", "f.gpkg:wells")
    try await expect("log", "show", "f.gpkg:wells", "12")
    try await expect(
      "log", "disable", "f.gpkg:wells", "--json",
      says: #"{"layers":[{"layer":"wells","edit_count":2}]}"# + "\n")
  }

  private func run(_ script: String) throws {
    try Connection(path: file.path, mode: .readWrite, profile: .bulk).executeScript(script)
  }
}
