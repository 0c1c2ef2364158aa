import FieldpackTestSupport
import Foundation
import Testing

@Suite(.programs) struct MotionCommandTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func run(_ arguments: String...) async throws -> RunResult {
    try await Tool.run(arguments, folder: folder.url)
  }

  /// Four seconds of a phone at 5 Hz from 2024-05-01T10:00:00Z, and its walk of two of them.
  private func prepare() async throws {
    let start =
      #"{"time":1714557600,"status":200,"response":"walk-1","body":{"type":"start","#
      + #""timestamp":"1714557600","device":{"systemVersion":"17","systemName":"iOS","#
      + #""name":"phone","identifierForVendor":"v","model":"iPhone","localizedModel":"iPhone"}}}"#
    var lines = [start]
    for second in 0..<4 {
      let z = (0..<5).map { "\(-1 + Double(second * 5 + $0) / 10)" }.joined(separator: ",")
      lines.append(
        #"{"type":"data","uuid":"walk-1","timestamp":"\#(1_714_557_600.8 + Double(second))","#
          + #""acceleration":{"x":[0,0,0,0,0],"y":[0.5,0.5,0.5,0.5,0.5],"z":[\#(z)]}}"#)
    }
    _ = try folder.write(lines.joined(separator: "\n"), to: "log.jsonl")
    _ = try folder.write(
      """
      <gpx version="1.1" creator="t" xmlns="http://www.topografix.com/GPX/1/1"><trk><trkseg>
      <trkpt lat="47" lon="7"><time>2024-05-01T10:00:00Z</time></trkpt>
      <trkpt lat="47" lon="7.002"><time>2024-05-01T10:00:02Z</time></trkpt>
      </trkseg></trk></gpx>
      """, to: "walk.gpx")
  }

  @Test func `recorded requests are imported, shown and placed on a walk`() async throws {
    try await prepare()
    let imported = try await run("motion", "import", "log.jsonl", "--into", "f.gpkg", "--rate", "5")
    #expect(imported.output == "f.gpkg: 1 new session, 4 batches, 20 samples\n")
    #expect(imported.error == "" && imported.status == 0)
    let again = try await run("motion", "import", "log.jsonl", "--into", "f.gpkg")
    #expect(again.output == "f.gpkg: 0 new sessions, 0 batches, 0 samples\n")
    #expect(again.error == "note: 4 batches passed over: the file has them\n")
    let sessions = try await run("motion", "list", "f.gpkg")
    #expect(
      sessions.output == """
        session  device  first                     seconds  rate  samples  state
        ───────  ──────  ────────────────────────  ───────  ────  ───────  ─────
        walk-1   phone   2024-05-01T10:00:00.000Z     3.80  5 Hz       20  open

        """)
    let channels = try await run("motion", "show", "f.gpkg", "walk-1")
    #expect(
      channels.output == """
        channel  unit  samples    least     mean  greatest
        ───────  ────  ───────  ───────  ───────  ────────
        ax       g          20   0.0000   0.0000    0.0000
        ay       g          20   0.5000   0.5000    0.5000
        az       g          20  -1.0000  -0.0500    0.9000

        """)
    let joined = try await run("motion", "join", "f.gpkg", "walk.gpx")
    #expect(joined.output == "walk-1: 11 of 20 samples on the track\n")
    #expect(joined.status == 0)
    let check = try await run("check", "f.gpkg")
    #expect(check.status == 0, "\(check)")
  }

  @Test func `motion answers a box and a condition through a config`() async throws {
    try await prepare()
    _ = try await run("motion", "import", "log.jsonl", "--into", "f.gpkg", "--rate", "5")
    _ = try await run("motion", "join", "f.gpkg", "walk.gpx")
    _ = try folder.write(
      #"{"stores":[{"store_type":"gpkg","version":"1","uri":"f.gpkg","id":"field","#
        + #""name":"field"}]}"#, to: "field.scfg")
    let box = try await run(
      "query", "field.scfg", "motion_point", "--bbox", "7.0005,46.9,7.0011,47.1", "--count")
    #expect(box.output == "3\n", "\(box)")
    let both = try await run(
      "query", "field.scfg", "motion_point", "--bbox", "6.9,46.9,7.0011,47.1", "--where",
      "az > -0.75", "--select", "az", "--format", "csv")
    #expect(both.status == 0, "\(both)")
    #expect(both.output.split(whereSeparator: \.isNewline).count == 4)
    let gpx = try await run("export", "f.gpkg", "motion_track", "--output", "m.gpx")
    #expect(gpx.status == 0, "\(gpx)")
    for name in ["samples.csv", "samples.geojson"] {
      let export = try await run("export", "f.gpkg", "daco_sample", "--output", name)
      #expect(export.status == 0, "\(export)")
    }
    let csv = try String(contentsOf: folder.file("samples.csv"), encoding: .utf8)
    #expect(csv.split(whereSeparator: \.isNewline).count == 21)
  }

  @Test func `channels are drawn over time`() async throws {
    try await prepare()
    _ = try await run("motion", "import", "log.jsonl", "--into", "f.gpkg", "--rate", "5")
    let shown = try await run(
      "motion", "show", "f.gpkg", "--last", "2", "--channel", "az", "--json")
    #expect(shown.status == 0, "\(shown)")
    #expect(
      shown.output.hasSuffix(
        #""channels":[{"channel":"az","unit":"g","sample_count":10,"least":0,"#
          + #""mean":0.45,"greatest":0.8999999999999999}]}"# + "\n"), "\(shown)")
    let result = try await run(
      "motion", "export", "f.gpkg", "--last", "2", "--channel", "az", "--output", "z.svg")
    #expect(result.output == "z.svg: 10 samples\n", "\(result)")
    let drawing = try String(contentsOf: folder.file("z.svg"), encoding: .utf8)
    #expect(drawing.contains(">acceleration, g</text>") && drawing.contains(">phone</text>"))
    #expect(!drawing.contains(">ax</text>") && !drawing.contains(">rotation"))
    let again = try await run("motion", "export", "f.gpkg", "--output", "z.svg")
    #expect(again.status == 73)
  }

  @Test func `samples are written as CSV`() async throws {
    try await prepare()
    _ = try await run("motion", "import", "log.jsonl", "--into", "f.gpkg", "--rate", "5")
    let words = ["motion", "export", "f.gpkg", "walk-1", "--last", "0.3", "--channel", "az"]
    let rows = "t_unix,az\r\n1714557603.6,0.8\r\n1714557603.8,0.8999999999999999\r\n"
    let result = try await Tool.run(words + ["--output", "z.csv"], folder: folder.url)
    #expect(result.output == "z.csv: 2 samples\n", "\(result)")
    #expect(try String(contentsOf: folder.file("z.csv"), encoding: .utf8) == rows)
    let printed = try await Tool.run(words + ["--output", "-"], folder: folder.url)
    #expect(printed.output == rows, "\(printed)")
    let page = try await Tool.run(words + ["--output", "z.html"], folder: folder.url)
    #expect(page.status == 64 && page.error.contains("a name in .csv or .svg"), "\(page)")
  }

  @Test func `a session is deleted with its samples and what joining made`() async throws {
    try await prepare()
    _ = try await run("motion", "import", "log.jsonl", "--into", "f.gpkg", "--rate", "5")
    _ = try await run("motion", "join", "f.gpkg", "walk.gpx")
    let unknown = try await run("motion", "delete", "f.gpkg", "walk-1", "nix")
    #expect(unknown.status == 66 && unknown.error.contains("there is no session 'nix'"))
    let result = try await run("motion", "delete", "f.gpkg", "walk-1")
    #expect(
      result.output == """
        deleted features: daco_session 1, daco_batch 4, daco_sample 20, motion_point 11, \
        motion_track 1, daco_device 1

        """, "\(result)")
    let sessions = try await run("motion", "list", "f.gpkg", "--json")
    #expect(sessions.output == #"{"sessions":[]}"# + "\n")
    let count = try await run("query", "f.gpkg", "--count")
    #expect(count.output == "0\n", "\(count)")
    let check = try await run("check", "f.gpkg")
    #expect(check.status == 0, "\(check)")
  }

  @Test func `what cannot be done is said, and leaves no file`() async throws {
    try await prepare()
    _ = try folder.write("{\"type\":\"data\",\"uuid\":nan}\n", to: "bad.jsonl")
    let bad = try await run("motion", "import", "bad.jsonl", "--into", "new.gpkg")
    #expect(bad.status == 65)
    #expect(
      bad.error
        == "fieldpack: bad.jsonl:1: the body is not JSON: byte 22: expected a value\n")
    #expect(!FileManager.default.fileExists(atPath: folder.file("new.gpkg").path))
    let skipped = try await run(
      "motion", "import", "bad.jsonl", "log.jsonl", "--into", "f.gpkg", "--skip-errors")
    #expect(skipped.status == 2)
    let session = try await run("motion", "show", "f.gpkg", "nix")
    #expect(session.status == 66)
    #expect(
      session.error
        .contains("there is no session 'nix' in f.gpkg (it has: walk-1)"), "\(session)")
  }
}
