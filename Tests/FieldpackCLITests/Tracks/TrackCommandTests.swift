import FieldpackTestSupport
import Foundation
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

@Suite(.programs) struct TrackCommandTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private static let data = Checkout.file("TestData")
  private static var tracks: String { data.appendingPathComponent("gpkg/tracks-2.gpkg").path }

  /// Four positions 68 m apart, the third and fourth at one place.
  private let lines = """
    {"longitude": 13.4, "latitude": 52.5, "time": "2020-09-13T12:26:40Z", "elevation": 34.5}
    {"longitude": 13.401, "latitude": 52.5, "time": "2020-09-13T12:26:41Z"}
    {"longitude": 13.402, "latitude": 52.5, "time": "2020-09-13T12:26:42Z"}
    {"longitude": 13.402, "latitude": 52.5, "time": "2020-09-13T12:26:43Z"}

    """

  private func record(_ arguments: String..., input: String? = nil) async throws -> RunResult {
    try await Tool.run(
      ["track", "record"] + arguments, input: input.map { Data($0.utf8) }, folder: folder.url)
  }

  // MARK: Record

  @Test func `record makes the file and says what it recorded`() async throws {
    let result = try await record("-", "--into", "f.gpkg", "--sampling", "all", input: lines)
    #expect(result.output == "track: 3 points of 4 fixes, 135.8 m\n")
    #expect(result.error == "")
    #expect(result.status == 0)
    let files = try FileManager.default.contentsOfDirectory(atPath: folder.url.path)
    #expect(files == ["f.gpkg"])
    let check = try await Tool.run("check", folder.file("f.gpkg").path)
    #expect(check.status == 0)
  }

  @Test func `record follows in lines`() async throws {
    let result = try await record(
      "-", "--into", "f.gpkg", "--sampling", "region:100", "--name", "walk", "--follow",
      input: lines)
    #expect(
      result.output == """
        2020-09-13T12:26:40.000Z 1: 13.4 52.5
        2020-09-13T12:26:42.000Z 2: 13.402 52.5
        walk: 2 points of 4 fixes, 135.8 m

        """)
  }

  @Test func `record prints one document, or one a transaction`() async throws {
    let point = { (id: Int, fix: Int, second: Int, x: String, ele: String, md5: String) in
      #"{"point":\#(id),"track":1,"seq":\#(id),"fix":\#(fix),"time":"2020-09-13T12:26:\#(second).000Z","#
        + #""longitude":\#(x),"latitude":52.5,"ele_m":\#(ele),"accuracy_m":null,"course_deg":null,"#
        + #""speed_mps":null,"id_md5":"\#(md5)","photo_state":"pending"}"#
    }
    let first = point(1, 0, 40, "13.4", "34.5", "3d11de1f450757315253ca975b37ad14")
    let start = String(lines.prefix { $0 != "\n" }) + "\n"
    let followed = try await record(
      "-", "--into", "f.gpkg", "--name", "walk", "--follow", "--json", input: start)
    #expect(followed.output == #"{"fix_count":1,"points":[\#(first)]}"# + "\n")
    let whole = try await record("-", "--into", "f.gpkg", "--name", "walk", "--json", input: "")
    let stopped = try #require(
      whole.output.firstMatch(of: #/"stopped_at":"([0-9TZ:.-]+)"/#)
    ).output.1
    #expect(
      whole.output
        == #"{"run":"walk","fix_count":1,"tracks":[{"track":1,"ordinal":1,"name":"walk","#
        + #""device":null,"sampling":"region","threshold_m":80,"point_count":1,"length_m":0,"#
        + #""started_at":"2020-09-13T12:26:40.000Z","stopped_at":"\#(stopped)"}],"#
        + #""fetched":null,"error":null}"# + "\n")
  }

  @Test func `a file is read on from where its recording was`() async throws {
    let file = try folder.write(lines, to: "log.jsonl").path
    let first = try await record(file, "--into", "f.gpkg", "--name", "walk", "--sampling", "all")
    #expect(first.output == "walk: 3 points of 4 fixes, 135.8 m\n")
    let more = #"{"longitude": 13.403, "latitude": 52.5, "time": "2020-09-13T12:26:44Z"}"#
    _ = try folder.write(lines + more + "\n", to: "log.jsonl")
    let second = try await record(file, "--into", "f.gpkg", "--name", "walk", "--sampling", "all")
    #expect(second.output == "walk: 4 points of 5 fixes, 203.7 m\n")
    let other = try await record(file, "--into", "f.gpkg")
    #expect(other.output == "log: 2 points of 5 fixes, 135.8 m\n")
    let again = try await record(file, "--into", "f.gpkg", "--json")
    #expect(again.output.hasPrefix(#"{"run":"log 2","fix_count":5,"#))
  }

  @Test func `another method under a name is refused`() async throws {
    _ = try await record("-", "--into", "f.gpkg", "--name", "walk", input: lines)
    let result = try await record(
      "-", "--into", "f.gpkg", "--name", "walk", "--sampling", "all", input: lines)
    #expect(result.status == 64)
    #expect(
      result.error
        == "fieldpack: monitor_run: the run 'walk' was recorded with 'region radius=80.0 "
        + "cushion=0.0 dwell=0.0' and cannot go on with 'all'. Try: the same parameters, or "
        + "another name\n")
  }

  @Test(arguments: ["region:0", "circle:80", "all:3"])
  func `a method that is none is refused`(method: String) async throws {
    let result = try await record("-", "--into", "f.gpkg", "--sampling", method, input: "")
    #expect(result.status == 64)
    #expect(result.error.contains("is none of region:metres, distance:metres and all"))
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == [])
  }

  @Test func `a recording without a source leaves no file`() async throws {
    let result = try await record("no.gpx", "--into", "f.gpkg")
    #expect(result.status == 66)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == [])
  }

  @Test func `a line that cannot be read ends the recording after those before it`() async throws {
    let result = try await record(
      "-", "--into", "f.gpkg", "--sampling", "all", "--name", "walk", input: lines + "{\n")
    #expect(result.status == 65)
    let show = try await Tool.run("track", "list", folder.file("f.gpkg").path, "--json")
    #expect(show.output.contains(#""point_count":3"#))
    let log = try await Tool.run("track", "log", folder.file("f.gpkg").path)
    #expect(log.output.contains(" error walk: failed: "))
  }

  @Test func `an interruption keeps what was recorded`() async throws {
    let path = folder.file("fixes").path
    mkfifo(path, 0o600)
    let pipe = open(path, O_RDWR | O_CLOEXEC)
    defer { close(pipe) }
    let program = try Tool.start(
      ["track", "record", path, "--into", "f.gpkg", "--name", "walk", "--follow"]
        + ["--sampling", "all"], folder: folder.url)
    FileHandle(fileDescriptor: pipe, closeOnDealloc: false).write(Data(lines.utf8))
    try await program.wait(for: "fix 3") { program.outputSoFar.contains(" 3: ") }
    program.send(SIGINT)
    let result = try await program.result()
    #expect(result.status == 130)
    #expect(result.error == "fieldpack: interrupted\n")
    let left = try FileManager.default.contentsOfDirectory(atPath: folder.url.path).sorted()
    #expect(left == ["f.gpkg", "fixes"])
    let log = try await Tool.run("track", "log", folder.file("f.gpkg").path)
    #expect(log.output.contains(" info walk: interrupted\n"))
    let show = try await Tool.run("track", "list", folder.file("f.gpkg").path, "--json")
    #expect(show.output.contains(#""point_count":3"#))
  }

  // MARK: Show

  @Test func `show lists tracks`() async throws {
    let result = try await Tool.run("track", "list", Self.tracks)
    #expect(
      result.output == """
        id  track  monitor  points  length  started                   stopped
        ──  ─────  ───────  ──────  ──────  ────────────────────────  ────────────────────────
         1  walk   all           2  67.9 m  2020-09-13T12:26:40.000Z  2020-09-13T12:26:50.000Z

        """)
    let document = try await Tool.run("track", "list", Self.tracks, "--json")
    #expect(
      document.output == #"{"tracks":[{"track":1,"ordinal":1,"name":"walk","device":null,"#
        + #""sampling":"all","threshold_m":0,"point_count":2,"length_m":67.91,"#
        + #""started_at":"2020-09-13T12:26:40.000Z","stopped_at":"2020-09-13T12:26:50.000Z"}]}"#
        + "\n")
  }

  @Test(arguments: ["walk", "1"])
  func `show lists the points of a track`(track: String) async throws {
    let result = try await Tool.run("track", "show", Self.tracks, track)
    #expect(
      result.output == """
        point  time                      longitude  latitude   ele
        ─────  ────────────────────────  ─────────  ────────  ────
            1  2020-09-13T12:26:40.000Z       13.4      52.5  34.0
            2  2020-09-13T12:26:41.000Z     13.401      52.5

        """)
    let document = try await Tool.run("track", "show", Self.tracks, track, "--json")
    #expect(document.output.hasPrefix(#"{"tracks":[{"track":1,"#))
    #expect(
      document.output.hasSuffix(
        #"{"point":2,"track":1,"seq":2,"fix":1,"time":"2020-09-13T12:26:41.000Z","#
          + #""longitude":13.401,"latitude":52.5,"ele_m":null,"accuracy_m":null,"course_deg":90,"#
          + #""speed_mps":67.8,"id_md5":"d9e5a396a25ca194d9b648c7f37d23f7","#
          + #""photo_state":"pending"}]}"# + "\n"))
  }

  @Test func `a track is found as lists show it, with its device`() async throws {
    let fixes = ["d0", "d1"].map { device in
      #"{"time":"2024-05-01T10:00:00Z","longitude":13.4,"latitude":52.5,"device":"\#(device)"}"#
    }.joined(separator: "\n")
    _ = try await record("-", "--into", "f.gpkg", "--name", "ride", input: fixes + "\n")
    let file = folder.file("f.gpkg").path
    let list = try await Tool.run("track", "list", file)
    #expect(list.output.contains("ride d0"), "\(list)")
    let shown = try await Tool.run("track", "show", file, "ride d1", "--json")
    #expect(shown.status == 0 && shown.output.contains(#""device":"d1""#), "\(shown)")
    #expect(!shown.output.contains(#""device":"d0""#))
  }

  @Test func `a track that is not there is named with those that are`() async throws {
    let result = try await Tool.run("track", "show", Self.tracks, "run")
    #expect(result.status == 66)
    #expect(
      result.error
        == "fieldpack: there is no track 'run' in \(Self.tracks) (it has: walk)\n")
  }

  // MARK: Export and log

  @Test func `export writes valid GPX with every digit`() async throws {
    let result = try await Tool.run("track", "export", Self.tracks, "walk", "--output", "-")
    #expect(
      result.output == """
        <?xml version="1.0" encoding="UTF-8"?>
        <gpx version="1.1" creator="Fieldpack" xmlns="http://www.topografix.com/GPX/1/1" \
        xmlns:fieldpack="https://fieldpack.dev/gpx/1">
        <trk><name>walk</name>
        <trkseg>
        <trkpt lat="52.5" lon="13.4"><ele>34</ele><time>2020-09-13T12:26:40Z</time><extensions>\
        <fieldpack:accuracy_m>5</fieldpack:accuracy_m></extensions></trkpt>
        <trkpt lat="52.5" lon="13.401"><time>2020-09-13T12:26:41Z</time><extensions>\
        <fieldpack:course_deg>90</fieldpack:course_deg>\
        <fieldpack:speed_mps>67.8</fieldpack:speed_mps></extensions></trkpt>
        </trkseg>
        </trk>
        </gpx>

        """)
    let file = folder.file("walk.gpx").path
    let written = try await Tool.run("track", "export", Self.tracks, "--output", file)
    #expect(written.output == "\(file): 1 track, 2 points\n")
    #expect(try String(contentsOfFile: file, encoding: .utf8) == result.output)
    let refused = try await Tool.run("track", "export", Self.tracks, "--output", file)
    #expect(refused.status == 73)
    let replaced = try await Tool.run(
      "track", "export", Self.tracks, "--output", file, "--overwrite", "--json")
    #expect(replaced.output == #"{"output":"\#(file)","track_count":1,"point_count":2}"# + "\n")
  }

  @Test func `log tells what happened`() async throws {
    let result = try await Tool.run("track", "log", Self.tracks)
    #expect(
      result.output == """
        2020-09-13T12:26:50.000Z info walk: started: all
        2020-09-13T12:26:50.000Z info walk: ended with its source
        2020-09-13T12:26:50.000Z info watch: started: region radius=50.0 cushion=0.0 dwell=0.0
        2020-09-13T12:26:50.000Z info watch: ended with its source

        """)
    let document = try await Tool.run("track", "log", Self.tracks, "--json")
    #expect(
      document.output.hasPrefix(
        #"{"log":[{"entry":1,"run":"walk","time":"2020-09-13T12:26:50.000Z","level":"info","#
          + #""message":"started: all","fix":null,"device":null},{"entry":2,"#))
  }

  @Test func `log follows what is added`() async throws {
    _ = try await record("-", "--into", "f.gpkg", "--name", "one", input: lines)
    let program = try Tool.start(
      ["track", "log", folder.file("f.gpkg").path, "--follow", "--json"])
    func wait(for text: String) async throws {
      try await program.wait(for: text) { program.outputSoFar.contains(text) }
    }
    try await wait(for: #""run":"one""#)
    _ = try await record("-", "--into", "f.gpkg", "--name", "two", input: lines)
    try await wait(for: #"{"entry":4,"run":"two""#)
    program.send(SIGINT)
    #expect(try await program.result().status == 130)
  }
}
