import FieldpackTestSupport
import Foundation
import Testing

@Suite(.programs) struct MotionRowsCommandTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func run(_ arguments: String...) async throws -> RunResult {
    try await Tool.run(arguments, folder: folder.url)
  }

  /// Two seconds at 5 Hz from 2024-05-01T10:00:00Z with az from 0 up, and a file of one track point.
  private func prepare(sessions: [String] = ["a"]) async throws {
    let lines = sessions.flatMap { session in
      (0..<2).map { second in
        let z = (0..<5).map { "\(second * 5 + $0)" }.joined(separator: ",")
        return #"{"type":"data","uuid":"\#(session)","timestamp":"\#(1_714_557_600 + second).8","#
          + #""acceleration":{"x":[0,0,0,0,1],"y":[0.5,0.5,0.5,0.5,0.5],"z":[\#(z)]}}"#
      }
    }
    _ = try folder.write(lines.joined(separator: "\n"), to: "log.jsonl")
    _ = try await run("motion", "import", "log.jsonl", "--into", "f.gpkg", "--rate", "5")
    _ = try folder.write("lon,lat,time\n7,47,2024-05-01T10:00:01.1Z\n", to: "fixes.csv")
    _ = try await run("import", "fixes.csv", "--into", "f.gpkg", "--mode", "append")
  }

  @Test func `the last seconds of a channel are rows`() async throws {
    try await prepare()
    let table = try await run(
      "motion", "show", "f.gpkg", "--rows", "--last", "0.5", "--channel", "az")
    #expect(
      table.output == """
                    t_unix  az
        ──────────────────  ──
        1714557601.3999999   7
              1714557601.6   8
              1714557601.8   9

        """,
      "\(table)")
    let csv = try await run(
      "motion", "show", "f.gpkg", "a", "--rows", "--channel", "ax", "--channel", "az", "--format",
      "csv")
    let lines = csv.output.split(whereSeparator: \.isNewline)
    #expect(lines.count == 11 && lines[0] == "t_unix,ax,az" && lines[10] == "1714557601.8,1,9")
  }

  @Test func `resampled and per second, samples are their means`() async throws {
    try await prepare()
    let means = try await run(
      "motion", "show", "f.gpkg", "--resample", "1", "--channel", "ax", "--channel", "az",
      "--json")
    #expect(
      means.output
        == #"{"columns":["t_unix","samples","ax","az"],"rows":[[1714557600,5,0.2,2],"#
        + #"[1714557601,5,0.2,7]],"row_count":2}"# + "\n", "\(means)")
    let seconds = try await run("motion", "show", "f.gpkg", "--per-second", "--format", "csv")
    #expect(
      seconds.output
        == ([
          "channel,second,samples,least,mean,greatest", "ax,1714557600,5,0,0.2,1",
          "ax,1714557601,5,0,0.2,1", "ay,1714557600,5,0.5,0.5,0.5",
          "ay,1714557601,5,0.5,0.5,0.5", "az,1714557600,5,0,2,4", "az,1714557601,5,5,7,9",
        ].joined(separator: "\r\n") + "\r\n"), "\(seconds)")
  }

  @Test(arguments: ["2024-05-01T10:00:01.1Z", "1714557601.1", "fixes:1"])
  func `the samples nearest to a fix or a moment are rows of all sessions`(
    moment: String
  ) async throws {
    try await prepare(sessions: ["a", "b"])
    let result = try await run(
      "motion", "show", "f.gpkg", "--nearest", moment, "--limit", "3", "--max-gap", "0.15",
      "--channel", "az", "--format", "csv")
    let rows = result.output.split(whereSeparator: \.isNewline).map {
      $0.split(separator: ",")
    }
    #expect(rows.map(\.count) == [5, 5, 5, 5], "\(result)")
    #expect(rows[0] == ["uuid", "id", "t_unix", "dt", "az"])
    // Both neighbours are 0.1 s away, as far as a double tells.
    #expect(rows.dropFirst().allSatisfy { ["5", "6"].contains($0[4]) && "ab".contains($0[0]) })
  }

  @Test func `what cannot be shown is said`() async throws {
    try await prepare(sessions: ["a", "b"])
    let cases: [([String], Int32, String)] = [
      (["--rows"], 64, "f.gpkg has several sessions (it has: a, b). Try: name one of them"),
      (["a", "--rows", "--per-second"], 64, "at a time"),
      (["a", "--resample", "1", "--last", "1"], 64, "--last has a meaning with --rows"),
      (["a", "--nearest", "1"], 64, "--nearest looks through all sessions"),
      (["--nearest", "noon"], 64, "is no time such as"),
      (["--nearest", "fixes:9"], 66, "layer 'fixes' has no feature 9"),
      (["--nearest", "daco_device:1"], 64, "has no time"),
      (["--last", "1"], 64, "f.gpkg has several sessions (it has: a, b). Try: name one of them"),
      ([], 64, "Try: name one of them"),
      (["a", "--max-gap", "1"], 64, "--max-gap and --limit have a meaning with --nearest"),
      (["a", "--rows", "--limit", "2"], 64, "Try: --nearest time"),
      (["a", "--format", "csv"], 64, "--format has a meaning with rows. Try: --rows"),
      (["c", "--rows"], 66, "there is no session 'c'"),
    ]
    for (arguments, status, message) in cases {
      let result = try await Tool.run(
        ["motion", "show", "f.gpkg"] + arguments, folder: folder.url)
      #expect(result.status == status && result.output == "", "\(arguments) \(result)")
      #expect(result.error.contains(message), "\(arguments) \(result)")
    }
  }
}
