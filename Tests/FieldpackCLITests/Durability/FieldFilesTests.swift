import FieldpackTestSupport
import Foundation
import Testing

/// Field files that an earlier tool wrote, whole and as killed commands left them: they open, go on and
/// pass every check. `TestData/field/make` made them.
@Suite(.programs) struct FieldFilesTests {
  private let folder: TemporaryFolder
  private let demo = Checkout.file("TestData/demo")

  init() throws {
    folder = try TemporaryFolder()
    let files = Checkout.file("TestData/field")
    for name in try FileManager.default.contentsOfDirectory(atPath: files.path) {
      try FileManager.default.copyItem(
        at: files.appendingPathComponent(name), to: folder.file(name))
    }
  }

  private func run(_ arguments: String..., input: String? = nil) async throws -> RunResult {
    try await Tool.run(
      arguments, input: input.map { Data($0.utf8) }, environment: [:], folder: folder.url)
  }

  private func expectSound(_ file: String) async throws {
    let checked = try await run("check", file)
    #expect(checked.output == "\(file): GeoPackage 1.4, nothing found\n")
    let left = try FileManager.default.contentsOfDirectory(atPath: folder.url.path)
      .filter { $0.contains(file) && $0 != file }
    #expect(left == [])
  }

  /// The fixes of the walk, one in a line.
  private func fixes() throws -> [String] {
    let walk = try String(contentsOf: demo.appendingPathComponent("walk.gpx"), encoding: .utf8)
    let point = #/<trkpt lat="(.+?)" lon="(.+?)">.*?<time>(.+?)</#
    return walk.matches(of: point).map {
      #"{"time":"\#($0.3)","longitude":\#($0.2),"latitude":\#($0.1)}"# + "\n"
    }
  }

  private func record(_ fixes: String, into file: String) async throws -> RunResult {
    try await run(
      "track", "record", "-", "--into", file, "--name", "walk", "--sampling", "distance:150",
      input: fixes)
  }

  @Test func `a recording with pictures goes on`() async throws {
    let fix = #"{"time":"2024-05-06T09:30:00Z","longitude":13.95,"latitude":51.96}"# + "\n"
    #expect(
      try await record(fix, into: "tracks.gpkg").output
        == "walk: 27 points of 53 fixes, 7124.8 m\n")
    let pictures = try await run("photo", "export", "tracks.gpkg", "walk", "--output", "walk.html")
    #expect(pictures.output.contains("27 points, 12 pictures\n"), "\(pictures)")
    let detections = try await run("query", "tracks.gpkg", "detection", "--count")
    #expect(detections.output == "2\n")
    try await expectSound("tracks.gpkg")
  }

  @Test func `a recording that was killed goes on where it was`() async throws {
    let rest = try fixes().dropFirst(10).joined()
    #expect(
      try await record(rest, into: "tracks-killed.gpkg").output
        == "walk: 26 points of 52 fixes, 5490.7 m\n")
    try await expectSound("tracks-killed.gpkg")
  }

  @Test(arguments: ["captures.gpkg", "captures-killed.gpkg"])
  func `captures are sent though earlier uploads failed`(file: String) async throws {
    let server = try LoopbackServer { _ in .text(200, #"{"error_present":false}"#) }
    let sent = try await run("capture", "upload", file, "--to", server.address)
    // One capture lacks its film, and only whole captures are sent.
    #expect(sent.output.hasPrefix("2 of 3 captures uploaded\n"), "\(sent)")
    let states = try await run(
      "query", file, "upload_job", "--where", "target = '\(server.address)'", "--select", "state",
      "--format", "csv")
    let found = states.output.split(whereSeparator: \.isNewline).dropFirst()
      .map { $0.split(separator: ",")[1] }
    #expect(found == ["succeeded", "failedToStart", "succeeded"])
    try await expectSound(file)
  }

  @Test func `motion that the file has is passed over, and more is added`() async throws {
    let lines = try String(
      contentsOf: demo.appendingPathComponent("motion.jsonl"), encoding: .utf8
    ).split(separator: "\n", omittingEmptySubsequences: true)
    _ = try folder.write(lines.prefix(20).joined(separator: "\n") + "\n", to: "motion.jsonl")
    let imported = try await run(
      "motion", "import", "motion.jsonl", "--into", "motion.gpkg", "--rate", "10")
    #expect(imported.output == "motion.gpkg: 0 new sessions, 8 batches, 40 samples\n")
    #expect(imported.error == "note: 11 batches passed over: the file has them\n")
    try await expectSound("motion.gpkg")
  }
}
