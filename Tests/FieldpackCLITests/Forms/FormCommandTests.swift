import FieldpackTestSupport
import Foundation
import Testing

/// `fieldpack form`.
@Suite(.programs) struct FormCommandTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    _ = try folder.write(Self.config, to: "survey.scfg")
    _ = try folder.write(Self.seen, to: "seen.geojson")
  }

  private static let config = """
    {"forms": [
      {"id": 36, "form_key": "potholes", "form_label": "Potholes", "version": 3, "fields": [
        {"field_key": "severity", "field_label": "Severity", "type": "select", "is_required": true,
          "constraints": {"options": ["low", "high"]}},
        {"field_key": "lanes", "field_label": "Lanes", "type": "number",
          "constraints": {"minimum": "1", "maximum": "6", "is_integer": true}},
        {"field_key": "code", "field_label": "Code", "type": "string",
          "constraints": {"pattern": "(a)\\\\1"}}]},
      {"id": 7, "form_key": "test", "form_label": "Test", "version": 2, "fields": [
        {"field_key": "test", "field_label": "Test", "type": "string"}]}]}
    """
  private static let seen = """
    {"type": "FeatureCollection", "features": [
      {"type": "Feature", "properties": {"severity": "low", "lanes": "2"},
        "geometry": {"type": "Point", "coordinates": [13.4, 52.5]}},
      {"type": "Feature", "properties": {"lanes": 9}, "geometry": null}]}
    """
  private static let note =
    "note: field 'code' of form 'potholes': the pattern '(a)\\1' has a back-reference (character 5), "
    + "which no matcher compares in a time that grows with the text alone: it is not tested\n"

  private func fieldpack(_ words: String..., input: String? = nil) async throws -> RunResult {
    try await Tool.run(
      ["form"] + words, input: input.map { Data($0.utf8) }, folder: folder.url)
  }

  private var names: [String] {
    get throws { try FileManager.default.contentsOfDirectory(atPath: folder.url.path).sorted() }
  }

  @Test func `forms are listed and shown, and no store is made`() async throws {
    let list = try await fieldpack("list", "survey.scfg")
    #expect(
      list.output == """
        form      label     version  fields  submissions
        ────────  ────────  ───────  ──────  ───────────
        potholes  Potholes        3       3            0
        test      Test            2       1            0

        """)
    let show = try await fieldpack("show", "survey.scfg", "potholes")
    #expect(
      show.output == """
        Potholes, version 3

        field     label     type    required  takes
        ────────  ────────  ──────  ────────  ─────────────────────────
        severity  Severity  select  yes       low | high
        lanes     Lanes     number            >= 1; <= 6; whole numbers
        code      Code      string            pattern (a)\\1

        """)
    #expect(show.error == Self.note)
    #expect(try names == ["seen.geojson", "survey.scfg"])
  }

  @Test func `all features are kept, or none`() async throws {
    let refused = try await fieldpack("submit", "survey.scfg", "potholes", "seen.geojson")
    #expect(refused.status == 65)
    #expect(
      refused.error
        == "fieldpack: seen.geojson, feature 2, byte 182: the submission to form 'potholes' is refused: "
        + "severity: value is required; lanes: value must be <= 6. Try: --skip-errors\n")
    #expect(try names == ["seen.geojson", "survey.scfg"])
    let partial = try await fieldpack(
      "submit", "survey.scfg", "potholes", "seen.geojson", "--skip-errors")
    #expect(partial.status == 2)
    #expect(partial.output == "1 submission kept in survey.stores/FORM_STORE.gpkg:potholes\n")
    let rows = try storedRows(
      "SELECT severity, lanes, code FROM potholes",
      in: folder.file("survey.stores/FORM_STORE.gpkg"))
    #expect(rows == ["low|2|NULL"])
    let list = try await fieldpack("list", "survey.scfg", "--json")
    #expect(list.output.contains("\"stored_version\":3,\"submission_count\":1}"))
  }

  @Test func `a submission comes from standard input into another folder`() async throws {
    let one = #"{"type":"Feature","properties":{"test":"a"},"geometry":null}"#
    let kept = try await fieldpack(
      "submit", "survey.scfg", "test", "-", "--store-folder", "kept", "--json", input: one)
    #expect([kept.error, "\(kept.status)"] == ["", "0"])
    #expect(
      kept.output
        == #"{"form":"test","target":"kept/FORM_STORE.gpkg","count":1,"#
        + #""keys":["Rk9STV9TVE9SRQ==.dGVzdA==.MQ=="],"skipped":{"count":0,"features":[]}}"# + "\n")
    #expect(try names == ["kept", "seen.geojson", "survey.scfg"])
  }

  @Test func `an unknown form is answered with those of the config`() async throws {
    let result = try await fieldpack("submit", "survey.scfg", "holes", "seen.geojson")
    #expect(result.status == 66)
    #expect(
      result.error == "fieldpack: survey.scfg has no form 'holes' (it has: potholes, test)\n")
  }

  @Test func `a shell is offered the forms of the config`() async throws {
    let words = ["--complete", "fish", "form", "submit", "survey.scfg", ""]
    let offered = try await Tool.run(words, folder: folder.url)
    #expect(offered.output == "words\npotholes\tPotholes\ntest\tTest\n")
  }

  @Test func `a new version of a form is told`() async throws {
    let one = #"{"type":"Feature","properties":{"test":"a"},"geometry":null}"#
    _ = try await fieldpack("submit", "survey.scfg", "test", input: one)
    let field = #"{"field_key": "test", "field_label": "Test", "type": "string"}"#
    let added = field.replacingOccurrences(of: "test", with: "more")
    let newer = Self.config.replacingOccurrences(of: "\"version\": 2", with: "\"version\": 4")
      .replacingOccurrences(of: field, with: "\(field), \(added)")
    _ = try folder.write(newer, to: "survey.scfg")
    let upgraded = try await fieldpack("submit", "survey.scfg", "test", input: one)
    #expect(upgraded.error == "note: layer 'test' has new columns: more\n")
    _ = try folder.write(Self.config, to: "survey.scfg")
    let outdated = try await fieldpack("submit", "survey.scfg", "test", input: one)
    #expect(
      outdated.error
        == "note: version 4 of form 'test' counts, which the store keeps; the config has version 2\n"
    )
    #expect(
      try storedRows(
        "SELECT test, more FROM test", in: folder.file("survey.stores/FORM_STORE.gpkg"))
        == ["a|NULL", "a|NULL", "a|NULL"])
  }
}
