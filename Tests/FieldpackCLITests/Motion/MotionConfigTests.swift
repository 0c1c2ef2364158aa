import FieldpackTestSupport
import Foundation
import Testing

/// The demo's motion on the demo's walk, through `Configs/motion.scfg`.
@Suite(.programs) struct MotionConfigTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    for path in [
      "Configs/motion.scfg", "TestData/demo/motion.jsonl", "TestData/demo/walk.gpx",
      "TestData/demo/zones.geojson",
    ] {
      let text = try String(contentsOf: Checkout.file(path), encoding: .utf8)
      let url = folder.file(path)
      try FileManager.default.createDirectory(
        at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data(text.utf8).write(to: url)
    }
    try FileManager.default.createDirectory(
      at: folder.file("demo"), withIntermediateDirectories: true)
  }

  private func run(_ arguments: String...) async throws -> RunResult {
    try await Tool.run(arguments, folder: folder.url)
  }

  private func prepare() async throws {
    let imported = try await run(
      "motion", "import", "TestData/demo/motion.jsonl", "--into", "demo/motion.gpkg", "--rate",
      "10")
    #expect(
      imported.output == "demo/motion.gpkg: 1 new session, 200 batches, 1000 samples\n",
      "\(imported)")
    let joined = try await run(
      "motion", "join", "demo/motion.gpkg", "TestData/demo/walk.gpx", "--max-gap", "30")
    #expect(
      joined.output
        == "6F1C2A5E-3B7D-4E0A-9C41-5D2B8A7E9F10: 1000 of 1000 samples on the track\n",
      "\(joined)")
  }

  private func count(_ arguments: String...) async throws -> Int? {
    let result = try await Tool.run(
      ["query", "Configs/motion.scfg", "motion_point", "--allow-path", ".", "--count"] + arguments,
      folder: folder.url)
    #expect(result.status == 0, "\(result)")
    return Int(result.output.dropLast())
  }

  @Test func `a box and a condition are answered as by SQL`() async throws {
    try await prepare()
    let path = folder.file("demo/motion.gpkg").path
    let points = try await run(
      "sql", path, "SELECT ST_X(geom) AS x, az FROM motion_point ORDER BY fid", "--format", "csv")
    let rows = points.output.split(whereSeparator: \.isNewline).dropFirst().map { line in
      line.split(separator: ",").compactMap { Double($0) }
    }
    #expect(rows.count == 1000)
    let middle = rows[500][0]
    let west = rows.filter { $0[0] <= middle }
    let box = "13,51,\(middle),53"
    #expect(west.count > 100 && west.count < 900)
    #expect(try await count("--bbox", box) == west.count)
    let hard = west.filter { $0[1] < -1.1 }
    #expect(!hard.isEmpty && hard.count < west.count)
    #expect(try await count("--bbox", box, "--where", "az < -1.1") == hard.count)
    #expect(try await count("--where", "az < -1.1") == rows.filter { $0[1] < -1.1 }.count)
  }

  @Test func `a region is watched over the points of motion`() async throws {
    try await prepare()
    let result = try await run(
      "monitor", "Configs/motion.scfg:motion_point", "--store", "motion", "--allow-path", ".",
      "--regions", "TestData/demo/zones.geojson", "--detect", "enter,exit", "--json")
    #expect(result.status == 0, "\(result)")
    let walk = try await run(
      "monitor", "TestData/demo/walk.gpx", "--regions", "TestData/demo/zones.geojson", "--json")
    let kinds = [result, walk].map { result in
      result.output.components(separatedBy: "\"kind\":\"").dropFirst().map {
        String($0.prefix { $0 != "\"" })
      }
    }
    // The walk enters at its fix of 07:00:30 and leaves long after the motion's end.
    #expect(kinds == [["enter"], ["enter", "exit"]], "\(result) \(walk)")
    #expect(result.output.contains("2024-05-06T07:00:"))
  }

  @Test func `motion is placed on a capture by absolute time`() async throws {
    let demo = Checkout.file("TestData/demo")
    let imported = try await run(
      "import", demo.appendingPathComponent("captures").path, "--into", "demo/captures.gpkg")
    #expect(imported.status != 64, "\(imported)")
    let tokens = try await run(
      "sql", "demo/captures.gpkg", "SELECT token FROM capture ORDER BY title", "--format", "csv")
    let token = try #require(tokens.output.split(whereSeparator: \.isNewline).dropFirst().first)
    // The video "Along the ditch" begins at 07:55 and has six points in 6.25 s.
    let batches = (0..<4).map { number in
      #"{"type":"data","uuid":"pan","timestamp":"\#(1_714_982_098 + 3 * number)","#
        + #""rotation":{"x":[\#(number)],"y":[0],"z":[0]}}"#
    }
    _ = try folder.write(batches.joined(separator: "\n"), to: "pan.jsonl")
    _ = try await run("motion", "import", "pan.jsonl", "--into", "demo/pan.gpkg")
    let joined = try await run(
      "motion", "join", "demo/pan.gpkg", "demo/captures.gpkg", "--capture", String(token))
    #expect(joined.output == "pan: 2 of 4 samples on the track\n", "\(joined)")
    let again = try await run(
      "motion", "join", "demo/pan.gpkg", "demo/captures.gpkg:capture_track", "--json")
    #expect(
      again.output == #"{"sessions":[{"session":"pan","sample_count":4,"placed_count":2}]}"# + "\n",
      "\(again)")
    let points = try await run(
      "sql", "demo/pan.gpkg", "SELECT rx, t_unix, ST_M(geom) AS m FROM motion_point", "--format",
      "csv")
    #expect(
      points.output == "rx,t_unix,m\r\n1,1714982101,1714982101\r\n2,1714982104,1714982104\r\n")
    let none = try await run(
      "motion", "join", "demo/pan.gpkg", "demo/captures.gpkg", "--capture", "abc")
    #expect(none.status == 66 && none.error.contains("there is no capture 'abc'"), "\(none)")
  }

  @Test func `motion leaves as GPX, GeoJSON and CSV`() async throws {
    try await prepare()
    for (layer, name) in [
      ("motion_track", "m.gpx"), ("motion_point", "m.geojson"), ("daco_sample", "s.csv"),
      ("motion_point", "p.csv"),
    ] {
      let result = try await run("export", "demo/motion.gpkg", layer, "--output", name)
      #expect(result.status == 0, "\(result)")
    }
    let gpx = try String(contentsOf: folder.file("m.gpx"), encoding: .utf8)
    #expect(gpx.components(separatedBy: "<trkpt ").count == 1001)
    #expect(gpx.components(separatedBy: "<time>2024-05-06T07:").count == 1001)
    #expect(gpx.contains("<name>Field phone</name>"))
    let again = try await run("import", "m.gpx", "--into", "again.gpkg")
    #expect(again.status == 0, "\(again)")
    let points = try await run("query", "again.gpkg", "track_points", "--count")
    #expect(points.output == "1000\n")
    let json = try String(contentsOf: folder.file("m.geojson"), encoding: .utf8)
    #expect(json.components(separatedBy: "\"az\":").count == 1001)
    for name in ["s.csv", "p.csv"] {
      let text = try String(contentsOf: folder.file(name), encoding: .utf8)
      let lines = text.split(whereSeparator: \.isNewline)
      #expect(lines.count == 1001)
      for channel in ["pitch", "roll", "yaw", "ax", "ay", "az", "mx", "my", "mz", "rx", "ry", "rz"]
      {
        #expect(lines[0].split(separator: ",").contains { $0 == channel })
      }
    }
  }
}
