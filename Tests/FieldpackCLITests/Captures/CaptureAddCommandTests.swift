import FieldpackTestSupport
import Foundation
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

@Suite(.programs) struct CaptureAddCommandTests {
  private let folder: TemporaryFolder
  private static let picture: [UInt8] =
    [0xFF, 0xD8, 0xFF, 0xC0, 0, 11, 8, 0, 3, 0, 4, 1, 1, 0x11, 0] + [0xFF, 0xD9]

  init() throws {
    folder = try TemporaryFolder()
    try Data(Self.picture).write(to: folder.file("shot.jpg"))
    try Data(Self.picture.dropLast(2)).write(to: folder.file("cut.jpg"))
    try Data(TestMovie.bytes()).write(to: folder.file("clip.mp4"))
    try Data(TestPicture.png(color: (1, 2, 3))).write(to: folder.file("png.jpg"))
    _ = try folder.write(
      """
      {"lon": 13.5, "lat": 52, "time": "2024-05-06T07:00:00Z"}
      {"lon": 13.6, "lat": 52, "time": "2024-05-06T07:00:10Z"}

      """, to: "walk.jsonl")
  }

  private func run(
    _ arguments: String..., environment: [String: String] = [:]
  ) async throws -> RunResult {
    try await Tool.run(
      ["capture", "add"] + arguments,
      environment: ["XDG_STATE_HOME": folder.file("state").path].merging(environment) { $1 },
      folder: folder.url)
  }

  private func names(_ path: String = "") throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder.file(path).path)
      .filter { $0 != "state" }.sorted()
  }

  private func list(_ file: String = "field.gpkg") async throws -> String {
    try await Tool.run("capture", "list", file, "--json", folder: folder.url).output
  }

  @Test func `a picture at a place is stored, and nothing else stays`() async throws {
    let before = try names()
    let result = try await run(
      "shot.jpg", "--at", "-72.51,43.62", "--heading", "99", "--title", "Mount Tom", "--created",
      "1344352260", "--into", "field.gpkg", "--no-thumbnail")
    #expect(result.status == 0 && result.error.isEmpty)
    let lines = result.output.split(separator: "\n").map(String.init)
    #expect(lines.count == 2 && lines[0].hasSuffix(": image, 1 point"))
    #expect(lines[1] == "ZmllbGQ=.Y2FwdHVyZQ==.MQ==")
    let token = String(lines[0].prefix(64))
    #expect(
      try await list()
        == #"{"captures":[{"key":"\#(lines[1])","token":"\#(token)","title":"Mount Tom","#
        + #""kind":"image","created_at":"2012-08-07T15:11:00.000Z","uploaded_at":null,"#
        + #""longitude":-72.51,"latitude":43.62,"heading_deg":99,"orientation":"horizontal","#
        + #""missing_files":["\#(token)/\#(token).png"],"point":null}]}"# + "\n")
    #expect(try names() == (before + ["field.gpkg"]).sorted())
    #expect(try Data(contentsOf: folder.file("shot.jpg")) == Data(Self.picture))
  }

  @Test func `pictures and videos go into folders, with the positions of a walk`() async throws {
    let result = try await run(
      "shot.jpg", "clip.mp4", "--fixes", "walk.jsonl", "--folder", "captures", "--created",
      "2024-05-06T07:00:05Z", "--no-thumbnail", "--json")
    #expect(result.status == 0)
    let document = try #require(
      try JSONSerialization.jsonObject(with: result.outputBytes) as? [String: [[String: Any]]])
    let captures = try #require(document["captures"])
    #expect(captures.map { $0["kind"] as? String } == ["image", "video"])
    #expect(captures.map { $0["point_count"] as? Int } == [1, 2])
    #expect(captures.allSatisfy { $0["key"] is NSNull })
    let tokens = captures.compactMap { $0["token"] as? String }
    #expect(try names("captures") == tokens.sorted())
    #expect(
      try names("captures/\(tokens[1])")
        == ["\(tokens[1]).json", "\(tokens[1]).mov", "capture-info.json"].sorted())
    let points = try String(
      contentsOf: folder.file("captures/\(tokens[1])/\(tokens[1]).json"), encoding: .utf8)
    #expect(
      points
        == #"{"points":[{"timestamp":0,"coords":[52,13.5],"accuracy":15,"heading":0},"#
        + #"{"timestamp":5,"coords":[52,13.6],"accuracy":15,"heading":0}]}"#)
    let imported = try await Tool.run(
      "import", "captures", "--into", "field.gpkg", folder: folder.url)
    #expect(imported.output.hasPrefix("2 captures imported into field.gpkg\n"))
  }

  @Test func `what is wrongly asked for is told before anything is made`() async throws {
    let before = try names()
    for arguments in [
      ["shot.jpg", "--into", "field.gpkg"],
      ["shot.jpg", "--into", "field.gpkg", "--at", "1,2", "--fixes", "walk.jsonl"],
      ["shot.jpg", "--into", "field.gpkg", "--at", "200,2"],
      ["shot.jpg", "--into", "field.gpkg", "--at", "2,91"],
      ["shot.jpg", "--into", "field.gpkg", "--at", "nan,1"],
      ["shot.jpg", "--into", "field.gpkg", "--at", "1,2", "--heading", "361"],
      ["shot.jpg", "--into", "field.gpkg", "--at", "1,2", "--heading", "-1"],
      ["shot.jpg", "--into", "field.gpkg", "--at", "1,2", "--created", "yesterday"],
      ["shot.jpg", "--at", "1,2"], ["--into", "field.gpkg", "--at", "1,2"],
    ] {
      let result = try await Tool.run(
        ["capture", "add"] + arguments, environment: ["XDG_STATE_HOME": folder.file("state").path],
        folder: folder.url)
      #expect(result.status == 64)
      #expect(result.output.isEmpty && result.error.hasPrefix("fieldpack: "))
    }
    #expect(try names() == before)
  }

  @Test(arguments: [
    ("png.jpg", 1, "png.jpg is PNG; a capture holds JPEG, QuickTime or MPEG-4"),
    ("cut.jpg", 65, "cut.jpg is cut short"), ("absent.jpg", 66, "absent.jpg"),
    ("captures.jpg", 64, "captures.jpg is no regular file"),
  ])
  func `where one file is wrong nothing is made of the others`(
    file: String, status: Int32, message: String
  ) async throws {
    try FileManager.default.createDirectory(
      at: folder.file("captures.jpg"), withIntermediateDirectories: true)
    let before = try names()
    let result = try await run(
      "shot.jpg", file, "--at", "1,2", "--into", "field.gpkg", "--folder", "captures",
      "--no-thumbnail")
    #expect(result.status == status)
    #expect(result.error.contains(message))
    #expect(try names() == before)
    _ = try await run("shot.jpg", "--at", "1,2", "--into", "field.gpkg", "--no-thumbnail")
    let list = try await list()
    let again = try await run(
      "shot.jpg", file, "--at", "1,2", "--into", "field.gpkg", "--no-thumbnail")
    #expect(again.status == status)
    #expect(try await self.list() == list)
    #expect(try names() == (before + ["field.gpkg"]).sorted())
  }

  @Test func `without ffmpeg the way out is told`() async throws {
    let before = try names()
    let result = try await run(
      "shot.jpg", "--at", "1,2", "--into", "field.gpkg", environment: ["PATH": "/nowhere"])
    #expect(result.status == 69)
    #expect(
      result.error
        == "fieldpack: ffmpeg is not installed. Try: apt-get install ffmpeg, or --no-thumbnail\n")
    #expect(try names() == before)
  }

  @Test func `an interruption ends ffmpeg and leaves nothing`() async throws {
    try FileManager.default.createDirectory(
      at: folder.file("bin"), withIntermediateDirectories: true)
    try await Program.writeScript("exec sleep 600", to: folder.file("bin/ffmpeg").path)
    let before = try names()
    let tool = try Tool.start(
      ["capture", "add", "shot.jpg", "--at", "1,2", "--into", "field.gpkg"],
      environment: [
        "XDG_STATE_HOME": folder.file("state").path,
        "PATH": "\(folder.file("bin").path):/usr/bin:/bin",
      ], folder: folder.url)
    let stage = folder.file(".field.gpkg.captures").path
    try await tool.wait(for: "a copy") { Self.hasCopy(in: stage) }
    tool.send(SIGINT)
    let result = try await tool.result()
    #expect(result.status == 130)
    #expect(try names() == before)
  }

  private static func hasCopy(in stage: String) -> Bool {
    let paths = try? FileManager.default.subpathsOfDirectory(atPath: stage)
    return paths?.contains { $0.hasSuffix("/output.jpg") } ?? false
  }

  @Test func `where there is no room nothing stays`() async throws {
    let before = try names()
    for blocks in [0, 1, 20, 60] {
      let result = try await Program.run(
        "sh",
        [
          "-c", "ulimit -f \(blocks); exec \"$0\" \"$@\"", Tool.path, "capture", "add", "shot.jpg",
          "--at", "1,2", "--into", "field.gpkg", "--no-thumbnail",
        ], environment: ["XDG_STATE_HOME": folder.file("state").path], folder: folder.url)
      #expect(result.status == 74)
      #expect(try names() == before)
    }
  }

  @Test(.enabled(if: Programs.ffmpeg != nil, Comment(rawValue: Programs.noFFmpeg)))
  func `with ffmpeg a capture lacks nothing`() async throws {
    let made = try await Program.run(
      Programs.ffmpeg ?? "",
      ["-v", "error", "-f", "lavfi", "-i", "testsrc2=s=640x480:r=5:d=1", "-c:v", "mjpeg"]
        + ["-frames:v", "1", "a.jpg", "-c:v", "mjpeg", "b.mov"], folder: folder.url)
    #expect(made.status == 0)
    let result = try await run("a.jpg", "b.mov", "--at", "1,2", "--into", "field.gpkg")
    #expect(result.status == 0)
    let list = try await list()
    #expect(list.components(separatedBy: #""missing_files":[]"#).count == 3)
    let files = try await Tool.run(
      "query", "field.gpkg", "media", "--select", "role,width_px,height_px,content_type", "--sort",
      "role,content_type", "--format", "csv", folder: folder.url)
    let lines = files.output.split(whereSeparator: \.isNewline).dropFirst()
    #expect(
      lines.map { $0.drop { $0 != "," } } == [
        ",media,640,480,image/jpeg", ",media,,,video/quicktime", ",thumbnail,300,225,image/png",
        ",thumbnail,300,225,image/png",
      ])
  }
}
