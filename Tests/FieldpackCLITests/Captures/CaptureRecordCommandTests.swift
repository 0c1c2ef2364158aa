import FieldpackTestSupport
import Foundation
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Without thumbnails, so that ffmpeg need not be installed.
@Suite(.programs) struct CaptureRecordCommandTests {
  private let folder: TemporaryFolder
  private static let picture: [UInt8] =
    [0xFF, 0xD8, 0xFF, 0xC0, 0, 11, 8, 0, 3, 0, 4, 1, 1, 0x11, 0] + [0xFF, 0xD9]
  private static let film = TestMovie.bytes()

  private static let fixes = """
    {"heading": 5}
    {"lon": 13.5, "lat": 52, "accuracy": 5, "time": "2024-05-06T07:00:00.500Z"}
    {"lon": 13.6, "lat": 52, "heading": 90, "time": "2024-05-06T07:00:02Z"}

    """

  init() throws {
    folder = try TemporaryFolder()
    try Data(Self.picture).write(to: folder.file("shot.jpg"))
    try Data(Self.film).write(to: folder.file("clip.mov"))
    _ = try folder.write(Self.fixes, to: "fixes.jsonl")
  }

  private func words(_ arguments: [String]) -> [String] {
    ["capture", "record", "--no-thumbnail"] + arguments
  }

  private var environment: [String: String] {
    ["XDG_STATE_HOME": folder.file("state").path]
  }

  private func run(_ arguments: String..., input: String? = nil) async throws -> RunResult {
    try await Tool.run(
      words(arguments), input: input.map { Data($0.utf8) }, environment: environment,
      folder: folder.url)
  }

  private func names(_ path: String = "") throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder.file(path).path).sorted()
  }

  private func points(of token: String) throws -> NSArray? {
    let data = try Data(contentsOf: folder.file("captures/\(token)/\(token).json"))
    let document = try JSONSerialization.jsonObject(with: data) as? NSDictionary
    return document?["points"] as? NSArray
  }

  @Test func `a video is recorded with the times of a file of positions`() async throws {
    let result = try await run(
      "--media", "clip.mov", "--fixes", "fixes.jsonl", "--folder", "captures", "--title", "Ditch",
      "--follow")
    #expect(result.status == 0 && result.error == "")
    let token = try #require(try names("captures").first)
    #expect(
      result.output == """
        0.000 s: 13.5 52.0 5°
        1.500 s: 13.6 52.0 90°
        \(token): video, 2 points, in captures/\(token)

        """)
    #expect(
      try points(of: token) == [
        ["timestamp": 0, "coords": [52, 13.5], "accuracy": 5, "heading": 5],
        ["timestamp": 1.5, "coords": [52, 13.6], "accuracy": 15, "heading": 90],
      ])
    #expect(
      Set(try names("captures/\(token)")) == [
        "\(token).json", "\(token).mov", "capture-info.json",
      ])
    let media = folder.file("captures/\(token)/\(token).mov")
    #expect(try Data(contentsOf: media) == Data(Self.film))
    let listed = try await Tool.run(
      ["import", "captures", "--into", "f.gpkg"], folder: folder.url)
    #expect(listed.status == 0)
    let list = try await Tool.run(["capture", "list", "f.gpkg"], folder: folder.url)
    #expect(list.output.contains("2024-05-06T07:00:00.000Z  Ditch"))
  }

  @Test func `a picture from standard input goes into a GeoPackage, and nothing else is left`()
    async throws
  {
    let before = try names()
    let result = try await run(
      "--media", "shot.jpg", "--fixes", "-", "--into", "field.gpkg", "--json", input: Self.fixes)
    #expect(result.status == 0)
    let pattern = #/{"capture":{"token":"[0-9a-f]{64}","title":"Untitled Capture",(.*)}\n/#
    let match = try #require(try pattern.wholeMatch(in: result.output))
    #expect(
      match.1
        == #""kind":"image","point_count":1,"folder":null,"key":"ZmllbGQ=.Y2FwdHVyZQ==.MQ=="},"#
        + #""left":[],"error":null"#)
    #expect(try names() == (before + ["field.gpkg", "state"]).sorted())
    let points = try await Tool.run(
      ["query", "field.gpkg", "capture_point", "--select", "t_s,heading_deg,accuracy_m"],
      folder: folder.url)
    #expect(points.output.contains("POINT (13.6 52)"))
    let media = try await Tool.run(["query", "field.gpkg", "media", "--count"], folder: folder.url)
    #expect(media.output == "1\n")
  }

  @Test func `a capture can be kept as a folder and in the GeoPackage`() async throws {
    let result = try await run(
      "--media", "shot.jpg", "--fixes", "fixes.jsonl", "--into", "field.gpkg", "--folder",
      "captures")
    let token = try #require(try names("captures").first)
    #expect(
      result.output == """
        \(token): image, 1 point, in captures/\(token)
        ZmllbGQ=.Y2FwdHVyZQ==.MQ==

        """)
    let found = try await Tool.run(
      ["capture", "list", "field.gpkg", "--json"], folder: folder.url)
    #expect(found.output.contains(token))
  }

  @Test func `without a position nothing stays`() async throws {
    let before = try names()
    for (input, status) in [("", Int32(65)), (#"{"heading": 5}"# + "\n", 65), ("nonsense\n", 65)] {
      for target in [["--folder", "captures"], ["--into", "field.gpkg"]] {
        let result = try await Tool.run(
          words(["--media", "clip.mov", "--fixes", "-"] + target), input: Data(input.utf8),
          environment: environment, folder: folder.url)
        #expect(result.status == status)
        #expect(try names() == (before + ["state"]).sorted())
      }
    }
  }

  @Test func `an error of the positions is told and what was there is recorded`() async throws {
    let result = try await run(
      "--media", "clip.mov", "--fixes", "-", "--folder", "captures",
      input: Self.fixes + "nonsense\n")
    #expect(result.status == 65)
    let token = try #require(try names("captures").first)
    #expect(result.output == "\(token): video, 2 points, in captures/\(token)\n")
    #expect(result.error.hasPrefix("fieldpack: stdin:4: "))
    #expect(try names("captures").count == 1)
    let skipping = try await run(
      "--media", "clip.mov", "--fixes", "-", "--folder", "more", "--skip-errors",
      input: "nonsense\n" + Self.fixes)
    #expect(skipping.status == 2)
    #expect(try names("more").count == 1)
  }

  @Test func `arguments that record nothing are refused before anything is made`() async throws {
    _ = try folder.write("no database", to: "notes.gpkg")
    try Data(Self.film.prefix(16)).write(to: folder.file("cut.mov"))
    let before = try names()
    let wrong: [([String], Int32, String)] = [
      (["--media", "clip.mov", "--fixes", "-"], 64, "Try: --folder, --into, or both"),
      (["--media", "clip.mov", "--folder", "captures"], 64, "--media and --fixes are needed both"),
      (
        ["--media", "none.mov", "--fixes", "fixes.jsonl", "--folder", "captures"], 66, "none.mov"
      ),
      (
        ["--media", "fixes.jsonl", "--fixes", "fixes.jsonl", "--folder", "captures"], 1,
        "a capture holds JPEG, QuickTime or MPEG-4"
      ),
      (
        ["--media", "cut.mov", "--fixes", "fixes.jsonl", "--folder", "captures"], 65,
        "cut.mov has no header (moov)"
      ),
      (
        ["--media", "clip.mov", "--fixes", "none.jsonl", "--folder", "captures"], 69,
        "there is nothing that positions could come from"
      ),
      (
        ["--media", "clip.mov", "--fixes", "-", "--into", "notes.gpkg"], 65, "notes.gpkg"
      ),
      (["--media", "clip.mov", "--fixes", "-", "--into", "no/f.gpkg"], 73, "does not exist"),
      (
        ["--media", "clip.mov", "--fixes", "-", "--speed", "1x", "--folder", "captures"], 64,
        "without --speed"
      ),
    ]
    for (arguments, status, message) in wrong {
      let result = try await Tool.run(
        words(arguments), environment: environment, folder: folder.url)
      #expect(result.status == status)
      #expect(result.error.contains(message))
      #expect(try names().filter { $0 != "state" } == before)
    }
  }

  @Test func `a film that stays cut short is kept as it is by the next start`() async throws {
    try Data(Self.film.prefix(16)).write(to: folder.file("cut.mov"))
    let result = try await run(
      "--media", "cut.mov", "--fixes", "-", "--folder", "captures", input: Self.fixes)
    #expect(result.status == 65)
    #expect(result.error.contains("what was recorded is kept; the next start"))
    #expect(result.error.contains("cut.mov has no header (moov)"))
    let next = try await run("--folder", "captures", "--json")
    #expect(next.status == 0)
    #expect(next.error.contains("its media are kept as they are, without a thumbnail: "))
    let token = try #require(try names("captures").first)
    #expect(
      Set(try names("captures/\(token)")) == [
        "\(token).json", "\(token).mov", "capture-info.json",
      ])
    #expect(next.output.contains(#""message":"output.mov has no header (moov)"#))
    #expect(try points(of: token)?.count == 2)
  }

  // MARK: Interruptions

  /// Starts a recording of standard input that does not end, and waits for its points.
  private func start(_ arguments: String..., feeding text: String) async throws -> Program {
    let pipe = folder.file("pipe").path
    mkfifo(pipe, 0o600)
    let descriptor = open(pipe, O_RDWR | O_CLOEXEC)
    let bytes = Array(text.utf8)
    #expect(write(descriptor, bytes, bytes.count) == bytes.count)
    let program = try Tool.start(
      words(["--fixes", "pipe", "--follow"] + arguments), environment: environment,
      folder: folder.url)
    let lines = text.contains("lon") ? 2 : 0
    try await program.wait(for: "\(lines) lines") {
      program.outputSoFar.split(separator: "\n").count >= lines
    }
    if lines == 0 { try await program.wait(for: "a recording", until: isRecording) }
    return program
  }

  private func isRecording() throws -> Bool {
    let found = (try? names("captures"))?.first { $0.hasPrefix(".recording-") }
    return try found.map { try names("captures/\($0)").contains("output.mov") } ?? false
  }

  @Test(arguments: [SIGINT, SIGTERM])
  func `interrupted, a video is finished with what there is`(signal: Int32) async throws {
    let program = try await start(
      "--media", "clip.mov", "--folder", "captures", feeding: Self.fixes)
    program.send(signal)
    let result = try await program.result()
    #expect(result.status == 0)
    let token = try #require(try names("captures").first)
    #expect(result.output.hasSuffix("\(token): video, 2 points, in captures/\(token)\n"))
    #expect(try points(of: token)?.count == 2)
  }

  @Test func `interrupted without a position nothing stays`() async throws {
    let program = try await start(
      "--media", "clip.mov", "--folder", "captures", feeding: #"{"heading": 5}"# + "\n")
    program.send(SIGINT)
    let result = try await program.result()
    #expect(result.status == 130)
    #expect(result.error == "fieldpack: interrupted\n")
    #expect(!(try names().contains("captures")))
  }

  @Test func `what a camera writes until the end is in the capture`() async throws {
    let program = try await start(
      "--media", "clip.mov", "--folder", "captures", feeding: Self.fixes)
    let file = try #require(FileHandle(forWritingAtPath: folder.file("clip.mov").path))
    try file.seekToEnd()
    try file.write(contentsOf: Data("more".utf8))
    try file.close()
    program.send(SIGINT)
    #expect(try await program.result().status == 0)
    let token = try #require(try names("captures").first)
    let media = folder.file("captures/\(token)/\(token).mov")
    #expect(try Data(contentsOf: media) == Data(Self.film) + Data("more".utf8))
  }

  @Test func `killed, it is completed by the next with the same folder or GeoPackage`()
    async throws
  {
    let program = try await start(
      "--media", "clip.mov", "--folder", "captures", "--into", "field.gpkg", feeding: Self.fixes)
    program.send(SIGKILL)
    _ = try await program.result()
    let next = try await run("--folder", "captures", "--json")
    #expect(next.status == 0)
    let token = try #require(try names("captures").first)
    #expect(
      next.output.contains(#""point_count":2,"outcome":"completed","capture":{"token":"\#(token)""#)
    )
    #expect(try names("captures") == [token])
    #expect(!(try names().contains("field.gpkg")))
    let hint = "fieldpack import captures/\(token) --into \(folder.url.path)/field.gpkg"
    #expect(next.error.contains(hint))

    let other = try await start("--media", "clip.mov", "--into", "field.gpkg", feeding: Self.fixes)
    other.send(SIGKILL)
    _ = try await other.result()
    #expect(try names().contains(".field.gpkg.captures"))
    let last = try await run("--into", "field.gpkg")
    #expect(last.status == 0)
    #expect(last.output.hasSuffix(": video, 2 points\nZmllbGQ=.Y2FwdHVyZQ==.MQ==\n"))
    #expect(!(try names().contains(".field.gpkg.captures")))
  }

  @Test func `a disk that is full loses no point that was shown`() async throws {
    var text = ""
    for number in 0..<40_000 {
      text += #"{"lon": \#(Double(number) / 1000), "lat": 52, "accuracy": 5.25}"# + "\n"
    }
    _ = try folder.write(text, to: "many.jsonl")
    let arguments = [
      "--media", "clip.mov", "--fixes", "many.jsonl", "--folder", "captures", "--follow",
    ]
    let script = #"ulimit -f 500; exec "$0" "$@""#
    let result = try await Program.run(
      "bash", ["-c", script, Tool.path] + words(arguments), environment: environment,
      folder: folder.url)
    #expect(result.status == 74)
    let shown = result.output.split(separator: "\n").filter { $0.contains(" s: ") }.count
    #expect(shown > 1000 && shown < 40_000)
    _ = try await run("--folder", "captures")
    let token = try #require(try names("captures").first)
    #expect(try names("captures") == [token])
    #expect(try #require(try points(of: token)).count >= shown)
  }
}
