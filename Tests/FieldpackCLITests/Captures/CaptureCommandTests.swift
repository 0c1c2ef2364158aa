import FieldpackTestSupport
import Foundation
import Testing

@Suite(.programs) struct CaptureCommandTests {
  private let folder: TemporaryFolder
  private static let token = "338d2c23d2308bfced6117b3e9d63180"

  /// `captures` with one sound capture that lacks its thumbnail.
  init() throws {
    folder = try TemporaryFolder()
    let token = Self.token
    try write(
      "captures/\(token)/capture-info.json",
      """
      {"token": "\(token)", "title": "Mount Tom", "media_type": "video", "created_at": 1344352260,
       "uploaded_at": 0, "coords": [43.62, -72.51], "heading": 99.4, "orientation": "vertical",
       "geodata_file": "\(token)/\(token).json", "thumbnail_file": "\(token)/\(token).png",
       "media_file": "\(token)/\(token).mov"}
      """)
    try write(
      "captures/\(token)/\(token).json",
      """
      {"points": [{"timestamp": 0, "accuracy": 65, "coords": [43.62, -72.51], "heading": 99.4},
       {"timestamp": 2.5, "accuracy": 5, "coords": [43.63, -72.51], "heading": -1}]}
      """)
    try write("captures/\(token)/\(token).mov", "MOVIE")
  }

  private func write(_ path: String, _ text: String) throws {
    let url = folder.file(path)
    try FileManager.default.createDirectory(
      at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(text.utf8).write(to: url)
  }

  private func run(
    _ arguments: String..., environment: [String: String] = [:]
  ) async throws -> RunResult {
    try await Tool.run(arguments, environment: environment, folder: folder.url)
  }

  @Test func `a folder of captures is imported and listed`() async throws {
    let imported = try await run("import", "captures", "--into", "field.gpkg")
    #expect(
      imported.output == """
        1 capture imported into field.gpkg

        1 capture incomplete:
          \(Self.token) lacks \(Self.token)/\(Self.token).png

        """)
    #expect(imported.status == 0)
    let listed = try await run("capture", "list", "field.gpkg")
    #expect(
      listed.output == """
        created                   title      kind   longitude  latitude  heading  lacks  token
        ────────────────────────  ─────────  ─────  ─────────  ────────  ───────  ─────  \
        ────────────────────────────────
        2012-08-07T15:11:00.000Z  Mount Tom  video     -72.51     43.62      99°  png    \
        338d2c23d2308bfced6117b3e9d63180

        1 capture

        """)
    let again = try await run("import", "captures/", "--into", "field.gpkg", "--json")
    #expect(
      again.output.hasPrefix(
        #"{"target":"field.gpkg","imported":[],"known":[{"name":"338d"#))
  }

  @Test func `captures that are wrong make the status 1, or 2 when they may be skipped`()
    async throws
  {
    try write("captures/broken/capture-info.json", "{")
    for (arguments, status) in [([String](), Int32(1)), (["--skip-errors"], 2)] {
      let result = try await Tool.run(
        ["import", "captures", "--into", "field.gpkg"] + arguments, folder: folder.url)
      #expect(result.status == status)
      #expect(
        result.output.hasSuffix(
          """
          1 capture refused:
            broken: capture-info.json is no JSON: expected a name in quotes at byte 1

          """))
    }
  }

  @Test func `a title drives no terminal and no picture`() async throws {
    _ = try await run("import", "captures", "--into", "field.gpkg")
    _ = try await run("capture", "title", "field.gpkg", Self.token, "a\u{1b}[31m<b>&\u{7}")
    let listed = try await run("capture", "list", "field.gpkg")
    _ = try await run("capture", "export", "field.gpkg", "--output", "map.svg")
    #expect(!listed.output.contains("\u{1b}") && listed.output.contains("<b>&"))
    let svg = try String(contentsOf: folder.file("map.svg"), encoding: .utf8)
    #expect(!svg.contains("\u{1b}") && !svg.contains("<b>") && svg.contains("&lt;b&gt;&amp;"))
  }

  @Test func `options that say nothing of captures are refused`() async throws {
    for option in ["--layer=x", "--srs=EPSG:3857", "--cluster", "--dry-run"] {
      let result = try await run("import", "captures", "--into", "field.gpkg", option)
      #expect(result.status == 64)
      #expect(result.error.contains("does not go with a folder of captures"))
    }
    _ = try folder.write("{}", to: "a.geojson")
    let mixed = try await run("import", "a.geojson", "captures", "--into", "field.gpkg")
    #expect(mixed.status == 64)
    #expect(!FileManager.default.fileExists(atPath: folder.file("field.gpkg").path))
  }

  @Test func `days are those of the local clock`() async throws {
    _ = try await run("import", "captures", "--into", "field.gpkg")
    for (zone, day, count) in [
      ("UTC", "2012-08-07", "1 capture\n"), ("Pacific/Auckland", "2012-08-07", "0 captures\n"),
      ("Pacific/Auckland", "2012-08-08", "1 capture\n"), ("UTC", "2012-08-08", "0 captures\n"),
    ] {
      let result = try await run(
        "capture", "list", "field.gpkg", "--day", day, environment: ["TZ": zone])
      #expect(result.output.hasSuffix(count))
    }
    let bad = try await run("capture", "list", "field.gpkg", "--day", "2012-13-01")
    #expect(bad.status == 64)
  }

  @Test func `with a time the place in the video is shown`() async throws {
    _ = try await run("import", "captures", "--into", "field.gpkg")
    let result = try await run("capture", "list", "field.gpkg", "--at", "3", "--json")
    #expect(
      result.output.contains(
        #""point":{"time_s":2.5,"longitude":-72.51,"latitude":43.63,"heading_deg":-1,"accuracy_m":5}"#
      ))
  }

  @Test func `a capture is shown with its points`() async throws {
    _ = try await run("import", "captures", "--into", "field.gpkg")
    let result = try await run("capture", "show", "field.gpkg", Self.token)
    #expect(result.status == 0)
    let begin = "capture     \(Self.token)\ntitle       Mount Tom\nkind        video\n"
    #expect(result.output.hasPrefix(begin), "\(result)")
    #expect(result.output.contains("\nseconds  longitude  latitude  heading\n"), "\(result)")
    let document = try await run("capture", "show", "field.gpkg", Self.token, "--json")
    #expect(document.output.hasPrefix(#"{"capture":{"key":""#), "\(document)")
    #expect(
      document.output.contains(
        #"{"time_s":2.5,"longitude":-72.51,"latitude":43.63,"heading_deg":-1,"accuracy_m":5}"#))
    let unknown = try await run("capture", "show", "field.gpkg", "nix")
    #expect(unknown.status == 66, "\(unknown)")
  }

  @Test func `captures are drawn as pins that are turned, with the tracks of videos`() async throws
  {
    _ = try await run("import", "captures", "--into", "field.gpkg")
    let result = try await run("capture", "export", "field.gpkg", "--output", "map.svg")
    #expect(result.output == "map.svg: 1 capture\n", "\(result)")
    let svg = try String(contentsOf: folder.file("map.svg"), encoding: .utf8)
    #expect(svg.contains(") rotate(99.4)\" d=\"M0-13L6.5 6 0 2.5-6.5 6z\""))
    #expect(svg.contains(">Mount Tom</text>") && svg.contains(">tracks of videos</text>"))
    #expect(
      try await run("capture", "export", "field.gpkg", "--output", "map.svg").status == 73)
    let none = try await run(
      "capture", "export", "field.gpkg", "--day", "2012-08-08", "--output", "none.svg")
    #expect(none.output == "none.svg: 0 captures\n", "\(none)")
  }

  @Test func `a capture gets a title, is exported and deleted`() async throws {
    _ = try await run("import", "captures", "--into", "field.gpkg")
    let title = try await run("capture", "title", "field.gpkg", Self.token, "Summit")
    #expect(title.output == "\(Self.token) is now 'Summit'\n")
    let exported = try await run("capture", "export", "field.gpkg", "--output", "out")
    #expect(exported.output == "out/\(Self.token)\n")
    #expect(exported.error == "note: \(Self.token) lacks \(Self.token).png\n")
    let again = try await run("capture", "export", "field.gpkg", "--output", "out")
    #expect(again.status == 73)
    let movie = folder.file("out/\(Self.token)/\(Self.token).mov")
    #expect(try Data(contentsOf: movie) == Data("MOVIE".utf8))
    let deleted = try await run("capture", "delete", "field.gpkg", Self.token)
    #expect(
      deleted.output
        == "deleted features: capture 1, capture_point 2, capture_track 1, media 1\n",
      "\(deleted)")
    #expect(try await run("capture", "list", "field.gpkg").output == "0 captures\n")
    #expect(try await run("capture", "delete", "field.gpkg", Self.token).status == 66)
    #expect(
      try await run("query", "field.gpkg", "media", "--count").output == "0\n")
  }

  @Test(arguments: [
    (["-o", "x.html"], "captures are exported to a folder or drawn as SVG, not as HTML"),
    (["-o", "out", "--overwrite"], "--overwrite replaces a map"),
    ([token, "-o", "out", "--day", "2012-08-07"], "captures are named, or selected by options"),
    ([token, "-o", "m.svg", "--kind", "video"], "captures are named, or selected by options"),
  ])
  func `an option without a meaning in an export is told`(
    options: [String], message: String
  ) async throws {
    _ = try await run("import", "captures", "--into", "field.gpkg")
    let result = try await Tool.run(
      ["capture", "export", "field.gpkg"] + options, folder: folder.url)
    #expect(result.status == 64 && result.output == "")
    #expect(result.error.hasPrefix("fieldpack: \(message)"), "\(result)")
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: folder.url.path).sorted()
        == ["captures", "field.gpkg"])
  }

  @Test func `captures are uploaded once, and what fails makes the status 1`() async throws {
    let token = Self.token
    try write("captures/\(token)/\(token).png", "PICTURE")
    _ = try await run("import", "captures", "--into", "field.gpkg")
    let refusing = try LoopbackServer { _ in .text(404, #"{"message": "no such place"}"#) }
    let failed = try await run("capture", "upload", "field.gpkg", "--to", refusing.address)
    #expect(
      failed.output == """
        0 of 1 captures uploaded
          \(token): the server answered with the status 404: no such place

        """)
    #expect(failed.status == 1)
    let server = try LoopbackServer { _ in .text(200, #"{"token": "\#(token)"}"#) }
    for output in ["1 of 1 captures uploaded\n", "0 of 0 captures uploaded\n"] {
      let sent = try await run(
        "capture", "upload", "field.gpkg", "--to", server.address + "/up?key=secret",
        "--field", "email=a@b.c", "--old-boundary")
      #expect(sent.output == output)
      #expect(sent.status == 0)
    }
    #expect(server.requests.map(\.target) == ["/up?key=secret"])
    let body = String(decoding: server.requests[0].body, as: UTF8.self)
    #expect(body.hasPrefix("--0xKhTmLbOuNdArY\r\nContent-Disposition: form-data; name=\"email\""))
    let jobs = try await run(
      "query", "field.gpkg", "upload_job", "--select", "state,target", "--format", "csv")
    #expect(
      jobs.output.replacing("\r\n", with: "\n") == """
        id,state,target
        1,failed,\(refusing.address)
        2,succeeded,\(server.address)/up

        """)
    let bad = try await run("capture", "upload", "field.gpkg", token, "--to", "ftp://x/")
    #expect(bad.status == 64)
    let field = try await run(
      "capture", "upload", "field.gpkg", "--to", server.address, "--field", "x")
    #expect(field.status == 64)
  }
}
