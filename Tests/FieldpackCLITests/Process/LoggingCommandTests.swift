import FieldpackTestSupport
import Foundation
import Testing

/// What a log tells, and what it must not.
@Suite(.programs) struct LoggingCommandTests {
  private let folder: TemporaryFolder
  private let secret = "geheim-4711"

  init() throws { folder = try TemporaryFolder() }

  private func fieldpack(_ words: String..., input: String? = nil) async throws -> RunResult {
    try await Tool.run(
      words + ["--log-file", "run.log", "--log-level", "trace", "--log-format", "json"],
      input: input.map { Data($0.utf8) }, folder: folder.url)
  }

  private var log: String {
    get throws { try String(contentsOf: folder.file("run.log"), encoding: .utf8) }
  }

  private func makeFile() async throws {
    let features = """
      {"type":"Feature","properties":{"name":"\(secret)","depth":987654.5},\
      "geometry":{"type":"Point","coordinates":[13.123456,52.654321]}}
      {"type":"Feature","properties":{"name":"other"},\
      "geometry":{"type":"Point","coordinates":[13.123456,52.654321]}}
      """
    _ = try folder.write(features, to: "wells.geojsonl")
    let result = try await fieldpack("import", "wells.geojsonl", "--into", "f.gpkg")
    #expect(result.status == 0)
  }

  @Test func `an import tells how it begins and ends`() async throws {
    try await makeFile()
    let lines = try log.split(separator: "\n").filter { !$0.contains("fieldpack.sql") }
    let time = try Regex(#""time":"[^"]*""#)
    let duration = try Regex(#""duration_ms":[0-9.]+"#)
    let fixed = lines.map { line -> String in
      String(line).replacing(time, with: #""time":0"#).replacing(
        duration, with: #""duration_ms":0"#)
    }
    let expected: [String] = [
      #"{"time":0,"level":"debug","label":"fieldpack","message":"command begins","#
        + #""command":"fieldpack import"}"#,
      #"{"time":0,"level":"info","label":"fieldpack.import","message":"import begins","#
        + #""store":"f","file_count":1,"size_bytes":248}"#,
      #"{"time":0,"level":"debug","label":"fieldpack.import","message":"file imported","#
        + #""store":"f","file":"wells.geojsonl","layer":"wells","count":2,"column_count":2}"#,
      #"{"time":0,"level":"info","label":"fieldpack.import","message":"import ends","#
        + #""store":"f","count":2,"layer_count":1,"skipped_count":0,"note_count":0,"#
        + #""is_dry_run":false,"duration_ms":0}"#,
      #"{"time":0,"level":"debug","label":"fieldpack","message":"command ends","status":0}"#,
    ]
    #expect(fixed == expected)
  }

  @Test func `statements are logged at trace, without values`() async throws {
    try await makeFile()
    let sql = "UPDATE wells SET name = '\(secret)2' WHERE depth > 987654.25"
    #expect(try await fieldpack("sql", "f.gpkg", "--write", sql).status == 0)
    #expect(try log.contains(#""sql":"UPDATE wells SET name = ? WHERE depth > ?""#))
    #expect(try log.contains(#"INSERT INTO \"wells\" "#))
  }

  @Test func `no value, place or key is ever logged`() async throws {
    try await makeFile()
    let key = "Zg==.d2VsbHM=.MQ=="
    let commands: [[String]] = [
      ["get", "f.gpkg", key], ["query", "f.gpkg", "--where", "name = '\(secret)'", "--keys"],
      ["query", "f.gpkg", "--bbox", "13.123456,52,14,53"],
      ["sql", "f.gpkg", "SELECT * FROM wells WHERE name = '\(secret)' -- \(secret)"],
      ["sql", "f.gpkg", "SELECT '\(secret)' syntax error here"],
      ["query", "wells.geojsonl"], ["export", "f.gpkg", "--output", "out.geojson"],
      ["delete", "f.gpkg", key],
      ["delete", "f.gpkg", key], ["info", "f.gpkg"],
    ]
    for command in commands {
      _ = try await Tool.run(
        command + ["--log-file", "run.log", "--log-level", "trace"], folder: folder.url)
    }
    let feature = #"{"type":"Feature","id":"\#(key)","properties":{"name":"\#(secret)"}}"#
    _ = try await fieldpack("create", "f.gpkg", "wells", input: feature)
    _ = try await fieldpack("update", "f.gpkg", input: feature)
    let text = try log
    #expect(text.contains("store opened"))
    #expect(text.contains("export ends"))
    for value in [secret, "987654", "13.123456", "52.654321", key, "MQ=="] {
      #expect(!text.contains(value), "the log holds \(value)")
    }
  }

  @Test func `a log on standard error leaves standard output alone`() async throws {
    try await makeFile()
    let result = try await Tool.run(
      "sql", "f.gpkg", "SELECT count(*) n FROM wells", "--format", "csv", "--log-level", "debug",
      folder: folder.url)
    #expect(result.output == "n\r\n2\r\n")
    #expect(result.error.contains("command begins"))
    let silent = try await Tool.run(
      "sql", "f.gpkg", "SELECT count(*) n FROM wells", folder: folder.url)
    #expect(silent.error == "")
  }
}
