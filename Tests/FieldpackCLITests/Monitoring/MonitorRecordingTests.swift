import FieldpackTestSupport
import Foundation
import Testing

/// `fieldpack monitor --record`.
@Suite(.programs) struct MonitorRecordingTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// Positions 68 m apart, one a second.
  private func lines(_ numbers: Range<Int>) -> String {
    numbers.map {
      #"{"longitude": \#(13.4 + Double($0) * 0.001), "latitude": 52.5, "#
        + #""time": "2020-09-13T12:26:\#(40 + $0)Z"}"# + "\n"
    }.joined()
  }

  private func monitor(_ arguments: String..., input: String? = nil) async throws -> RunResult {
    try await Tool.run(
      ["monitor"] + arguments, input: input.map { Data($0.utf8) }, folder: folder.url)
  }

  @Test func `a run goes on from where it was`() async throws {
    let words = ["-", "--radius", "100", "--record", "run", "--into", "f.gpkg", "--json"]
    func detections(_ numbers: Range<Int>) async throws -> [String] {
      let result = try await Tool.run(
        ["monitor"] + words, input: Data(lines(numbers).utf8), folder: folder.url)
      #expect(result.status == 0, "\(result)")
      return result.output.matches(of: #/"fix":(\d+),"kind":"(\w+)"/#).map { "\($0.1) \($0.2)" }
    }
    #expect(try await detections(0..<5) == ["0 start", "2 exit", "4 exit"])
    #expect(try await detections(5..<9) == ["6 exit", "8 exit"])
    let rows = try await Tool.run("query", folder.file("f.gpkg").path, "detection", "--count")
    #expect(rows.output == "5\n")
    let check = try await Tool.run("check", folder.file("f.gpkg").path)
    #expect(check.status == 0)
  }

  @Test func `a file is read on, and other parameters are refused`() async throws {
    _ = try folder.write(lines(0..<5), to: "log.jsonl")
    let words = ["log.jsonl", "--record", "run", "--into", "f.gpkg"]
    let first = try await Tool.run(
      ["monitor"] + words + ["--distance", "100", "--follow"], folder: folder.url)
    #expect(
      first.output == """
        2020-09-13T12:26:40.000Z fix 0 start 0.0 m
        2020-09-13T12:26:42.000Z fix 2 moved 135.8 m
        2020-09-13T12:26:44.000Z fix 4 moved 135.8 m

        """)
    _ = try folder.write(lines(0..<7), to: "log.jsonl")
    let second = try await Tool.run(
      ["monitor"] + words + ["--distance", "100", "--follow", "--json"], folder: folder.url)
    #expect(second.output.hasPrefix(#"{"fix":6,"kind":"moved","device":null,"region":null,"#))
    #expect(second.output.split(separator: "\n").count == 1)
    let other = try await Tool.run(
      ["monitor"] + words + ["--radius", "100"], folder: folder.url)
    #expect(other.status == 64)
    let files = try FileManager.default.contentsOfDirectory(atPath: folder.url.path).sorted()
    #expect(files == ["f.gpkg", "log.jsonl"])
  }

  @Test func `source, regions and run may be one file`() async throws {
    let walk = lines(0..<6)
    _ = try folder.write(walk, to: "log.jsonl")
    _ = try await Tool.run(
      ["track", "record", "log.jsonl", "--into", "f.gpkg", "--sampling", "all"],
      folder: folder.url)
    let zone =
      #"{"type":"Feature","id":7,"properties":{},"#
      + #""geometry":{"type":"Point","coordinates":[13.402,52.5]}}"#
    _ = try folder.write(zone, to: "zones.geojson")
    _ = try await Tool.run(["import", "zones.geojson", "--into", "f.gpkg"], folder: folder.url)
    let words = ["f.gpkg:track_point", "--regions", "f.gpkg:zones", "--radius", "50"]
    let pure = try await Tool.run(["monitor"] + words + ["--json"], folder: folder.url)
    #expect(pure.output.contains(#""kind":"enter""#))
    let kept = try await Tool.run(
      ["monitor"] + words + ["--record", "zones", "--json"], folder: folder.url)
    #expect(kept.output == pure.output)
    let again = try await Tool.run(
      ["monitor"] + words + ["--record", "zones", "--json"], folder: folder.url)
    #expect(again.output == "{\"detections\":[]}\n")
    let files = try FileManager.default.contentsOfDirectory(atPath: folder.url.path).sorted()
    #expect(files == ["f.gpkg", "log.jsonl", "zones.geojson"])
  }

  @Test func `a file of fixes is watched again when detections are kept in it`() async throws {
    let points = (0..<4).map {
      #"{"type":"Feature","id":\#($0),"properties":{"time":"2020-09-13T12:26:4\#($0)Z"},"#
        + #""geometry":{"type":"Point","coordinates":[\#(13.4 + Double($0) * 0.001),52.5]}}"#
    }
    _ = try folder.write(
      #"{"type":"FeatureCollection","features":["# + points.joined(separator: ",") + "]}",
      to: "fixes.geojson")
    _ = try await Tool.run(["import", "fixes.geojson", "--into", "f.gpkg"], folder: folder.url)
    for name in ["a", "b", "a"] {
      let result = try await monitor("f.gpkg", "--distance", "100", "--record", name, "--json")
      #expect(result.status == 0, "\(result)")
    }
    let rows = try await Tool.run("query", folder.file("f.gpkg").path, "detection", "--count")
    #expect(rows.output == "4\n")
  }

  @Test func `a run does not go on with another file or other regions`() async throws {
    _ = try folder.write(lines(0..<5), to: "mon.jsonl")
    _ = try folder.write(lines(10..<19), to: "tue.jsonl")
    let words = ["--distance", "100", "--record", "day", "--into", "f.gpkg"]
    func run(_ file: String) async throws -> RunResult {
      try await Tool.run(["monitor", file] + words, folder: folder.url)
    }
    #expect(try await run("mon.jsonl").status == 0)
    #expect(try await run("./mon.jsonl").status == 0)
    let tuesday = try await run("tue.jsonl")
    #expect(tuesday.status == 64)
    #expect(tuesday.error.contains("took 5 fixes from 'mon.jsonl'"))
    _ = try folder.write(lines(10..<19), to: "mon.jsonl")
    let changed = try await run("mon.jsonl")
    #expect(changed.status == 64)
    #expect(changed.error.contains("cannot go on with a source that was changed"))
  }

  @Test func `what was seen before an error is shown`() async throws {
    let times = ["2020-09-13T12:26:40Z", "2020-09-13T12:26:41Z", "x"]
    let points = (0..<3).map {
      #"{"type":"Feature","id":\#($0),"properties":{"time":"\#(times[$0])"},"#
        + #""geometry":{"type":"Point","coordinates":[\#(13.4 + Double($0) * 0.01),52.5]}}"#
    }
    _ = try folder.write(
      #"{"type":"FeatureCollection","features":["# + points.joined(separator: ",") + "]}",
      to: "fixes.geojson")
    let result = try await monitor("fixes.geojson", "--distance", "100", "--json")
    #expect(result.status != 0)
    #expect(result.output.matches(of: #/"fix":(\d)/#).map { "\($0.1)" } == ["0", "1"])
    #expect(result.output.hasSuffix("]}\n"))
    let text = try await monitor("fixes.geojson", "--distance", "100")
    #expect(text.output.split(separator: "\n").count >= 3)
  }

  @Test func `fixes that come as they are made are told line by line`() async throws {
    let result = try await monitor("-", "--distance", "100", input: lines(0..<3))
    #expect(
      result.output == """
        2020-09-13T12:26:40.000Z fix 0 start 0.0 m
        2020-09-13T12:26:42.000Z fix 2 moved 135.8 m

        """)
  }

  @Test func `what cannot be kept is refused`() async throws {
    let nowhere = try await monitor("-", "--radius", "80", "--record", "x", input: "")
    #expect(nowhere.status == 64)
    #expect(
      nowhere.error == "fieldpack: standard input is no GeoPackage that a run could be kept in. "
        + "Try: --into FILE.gpkg\n")
    let nothing = try await monitor("-", "--radius", "80", "--into", "f.gpkg", input: "")
    #expect(nothing.status == 64)
    let absent = try await monitor("no.csv", "--radius", "80", "--record", "x", "--into", "f.gpkg")
    #expect(absent.status == 66)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == [])
  }
}
