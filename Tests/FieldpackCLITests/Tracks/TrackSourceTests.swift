import FieldpackTestSupport
import Foundation
import Testing

/// Recording from files: walks of GPX, recorded tracks, logs.
@Suite(.programs) struct TrackSourceTests {
  private let folder: TemporaryFolder

  /// Five positions 68 m and a minute apart, the last two at one place.
  init() throws {
    folder = try TemporaryFolder()
    let points = [13.4, 13.401, 13.402, 13.403, 13.403].enumerated().map { minute, longitude in
      #"<trkpt lat="52.5" lon="\#(longitude)"><ele>34.5</ele>"#
        + "<time>2024-05-01T10:0\(minute):00Z</time></trkpt>\n"
    }
    _ = try folder.write(
      """
      <?xml version="1.0"?>
      <gpx version="1.1" creator="test" xmlns="http://www.topografix.com/GPX/1/1">
      <wpt lat="52.6" lon="13.5"><name>Inn</name></wpt>
      <trk><name>Round</name><trkseg>
      \(points.joined())</trkseg></trk>
      </gpx>
      """, to: "walk.gpx")
  }

  private func run(_ arguments: String..., input: String? = nil) async throws -> RunResult {
    try await Tool.run(
      arguments, input: input.map { Data($0.utf8) }, folder: folder.url)
  }

  private func points(_ file: String) async throws -> [String] {
    let result = try await run("track", "show", file, "walk")
    return result.output.split(separator: "\n").dropFirst(2).map {
      $0.split(separator: " ").joined(separator: " ")
    }
  }

  private let expected = [
    "1 2024-05-01T10:00:00.000Z 13.4 52.5 34.5", "2 2024-05-01T10:01:00.000Z 13.401 52.5 34.5",
    "3 2024-05-01T10:02:00.000Z 13.402 52.5 34.5", "4 2024-05-01T10:03:00.000Z 13.403 52.5 34.5",
  ]

  @Test func `a walk of GPX is recorded, and once only`() async throws {
    for _ in 0..<2 {
      let result = try await run(
        "track", "record", "walk.gpx", "--into", "f.gpkg", "--sampling", "all", "--name", "walk")
      #expect(result.output == "walk: 4 points of 5 fixes, 203.7 m\n", "\(result)")
      #expect(result.error == "" && result.status == 0)
    }
    #expect(try await points("f.gpkg") == expected)
    let region = try await run("track", "record", "walk.gpx", "--into", "f.gpkg")
    #expect(region.output == "walk 2: 2 points of 5 fixes, 135.8 m\n")
    #expect(try await run("check", "f.gpkg").status == 0)
  }

  @Test func `a link is read as the file that it leads to`() async throws {
    try FileManager.default.createSymbolicLink(
      atPath: folder.file("today").path, withDestinationPath: "walk.gpx")
    let result = try await run(
      "track", "record", "today", "--into", "f.gpkg", "--sampling", "all", "--name", "walk")
    #expect(result.output == "walk: 4 points of 5 fixes, 203.7 m\n", "\(result)")
  }

  @Test func `a recorded track and a store of a config are recorded alike`() async throws {
    _ = try await run(
      "track", "record", "walk.gpx", "--into", "f.gpkg", "--sampling", "all", "--name", "first")
    _ = try await run(
      "track", "record", "f.gpkg", "--into", "g.gpkg", "--sampling", "all", "--name", "walk")
    #expect(try await points("g.gpkg") == expected)
    _ = try folder.write(
      """
      {"stores": [{"id": "walk", "name": "Walk", "store_type": "gpx", "version": "1",
        "uri": "walk.gpx"}]}
      """, to: "walks.scfg")
    let config = try await run(
      "track", "record", "walks.scfg:track_points", "--into", "h.gpkg", "--sampling", "all",
      "--name", "walk", "--json")
    #expect(config.output.hasPrefix(#"{"run":"walk","fix_count":5,"#), "\(config)")
    #expect(try await points("h.gpkg") == expected)
    // Waypoints are no track, unless they are named.
    let named = try await run(
      "track", "record", "walk.gpx:waypoints", "--into", "h.gpkg", "--name", "inn")
    #expect(named.output == "inn: 1 point of 1 fix, 0.0 m\n", "\(named)")
  }

  @Test func `a log is recorded line by line, or at a pace`() async throws {
    _ = try folder.write(
      "$GPRMC,123519,A,4807.038,N,01131.000,E,022.4,084.4,230394,003.1,W*6A\r\n", to: "log.nmea")
    let lines = try await run("track", "record", "log.nmea", "--into", "f.gpkg")
    let paced = try await run(
      "track", "record", "log.nmea", "--into", "f.gpkg", "--speed", "1000x")
    #expect(lines.output == "log: 1 point of 1 fix, 0.0 m\n", "\(lines)")
    #expect(paced.output == "log 2: 1 point of 1 fix, 0.0 m\n", "\(paced)")
  }

  @Test func `a walk comes at its pace or at a rate`() async throws {
    for pace in [["--speed", "1000000x"], ["--speed", "1000x", "--rate", "1"]] {
      let result = try await Tool.run(
        ["track", "record", "walk.gpx", "--into", "\(pace.count).gpkg", "--sampling", "all"] + pace,
        folder: folder.url)
      #expect(result.output == "walk: 4 points of 5 fixes, 203.7 m\n", "\(result)")
    }
  }

  @Test func `pictures are looked for along a walk of GPX`() async throws {
    _ = try folder.write(
      #"{"type":"Feature","properties":{"title":"Gate","path":"gate.png"},"#
        + #""geometry":{"type":"Point","coordinates":[13.4,52.5002]}}"#, to: "photos.geojsonl")
    let picture = TestPicture.png(width: 40, height: 30, color: (90, 120, 40))
    try Data(picture).write(to: folder.file("gate.png"))
    _ = try await run("import", "photos.geojsonl", "--into", "album.gpkg", "--layer", "photos")
    let result = try await run(
      "track", "record", "walk.gpx", "--into", "f.gpkg", "--name", "walk", "--photos",
      "album.gpkg:photos")
    #expect(
      result.output == """
        walk: 2 points of 5 fixes, 135.8 m
        pictures looked for: 1 found, 1 duplicate

        """, "\(result)")
    let page = try await run("photo", "export", "f.gpkg", "walk", "--output", "walk.html")
    #expect(page.status == 0)
    let html = try String(contentsOf: folder.file("walk.html"), encoding: .utf8)
    #expect(html.contains("alt=\"Photo: Gate"))
  }

  @Test(arguments: [
    (["-", "--speed", "1x"], 64, "standard input gives fixes line by line, as they come"),
    (["-:walk"], 64, "standard input gives fixes line by line and has neither layers nor"),
    (["-", "--device", "who"], 64, "has neither layers nor columns"),
    (["walk.gpx:tracks", "--rate", "2"], 64, "layer 'tracks' is of lines"),
    (["walk.gpx:waypoints", "--speed", "1x"], 64, "no times to keep the pace of"),
    (["none.gpx"], 66, "none.gpx"),
    (["walk.gpx:walks"], 66, "there is no layer 'walks' in"),
  ])
  func `what cannot be replayed is refused`(
    arguments: [String], status: Int32, message: String
  ) async throws {
    let result = try await Tool.run(
      ["track", "record"] + arguments + ["--into", "f.gpkg"], input: Data(), folder: folder.url)
    #expect(result.status == status, "\(result)")
    #expect(result.error.contains(message), "\(result)")
    #expect(result.output == "")
  }

  // MARK: Maps

  @Test func `a map shows track, points, detections and regions`() async throws {
    _ = try folder.write(
      #"{"type":"Feature","properties":{"radius_m":50},"#
        + #""geometry":{"type":"Point","coordinates":[13.402,52.5]}}"#, to: "gates.geojsonl")
    _ = try await run(
      "track", "record", "walk.gpx", "--into", "f.gpkg", "--sampling", "all", "--name", "walk")
    _ = try await run(
      "monitor", "walk.gpx", "--regions", "gates.geojsonl", "--record", "gates", "--into", "f.gpkg")
    let result = try await run(
      "track", "export", "f.gpkg", "walk", "--regions", "gates.geojsonl", "--output", "walk.svg")
    #expect(result.output == "walk.svg: 1 track, 4 points\n", "\(result)")
    let svg = try String(contentsOf: folder.file("walk.svg"), encoding: .utf8)
    let legend = svg.matches(of: #/<text [^>]*font-size="13"[^>]*>([^<]*)</#).map { String($0.1) }
    #expect(legend == ["regions", "track", "points", "enter", "exit"])
    #expect(svg.matches(of: #/<circle /#).count == 6)
    #expect(svg.contains("<title>walk</title>"))
    let page = try await run("track", "export", "f.gpkg", "--output", "walk.html")
    #expect(page.output == "walk.html: 1 track, 4 points\n", "\(page)")
    let gpx = try await run(
      "track", "export", "f.gpkg", "--regions", "gates.geojsonl", "--output", "walk.out.gpx")
    #expect(gpx.status == 64)
    #expect(gpx.error.contains("--regions are drawn on maps"))
    let other = try await run("track", "export", "f.gpkg", "--output", "walk.csv")
    #expect(other.status == 64)
    #expect(other.error.contains("tracks are not written as csv here"))
  }

  @Test func `GeoJSON has a line for each track`() async throws {
    _ = try await run(
      "track", "record", "walk.gpx", "--into", "f.gpkg", "--sampling", "all", "--name", "walk")
    let result = try await run("track", "export", "f.gpkg", "--output", "walk.geojson")
    #expect(result.output == "walk.geojson: 1 track, 4 points\n", "\(result)")
    let text = try String(contentsOf: folder.file("walk.geojson"), encoding: .utf8)
    #expect(text.contains(#""name":"walk","device":null,"sampling":"all","threshold_m":0"#))
    #expect(text.contains(#""point_count":4,"started_at":"2024-05-01T10:00:00.000Z","#))
    #expect(
      text.contains(
        #""type":"LineString","coordinates":[[13.4,52.5],[13.401,52.5],[13.402,52.5],"#
          + "[13.403,52.5]]"), "\(text)")
  }

  @Test(arguments: [
    ["track", "record", "-", "--into", "field.gpkg", "--name", "walk", "--sampling", "all"],
    ["monitor", "-", "--distance", "10"],
  ])
  func `a bad line ends the reading unless it is to be passed over`(
    command: [String]
  ) async throws {
    let lines = #"""
      {"lon":13.4,"lat":52.5}
      {"lon":13.4,"lat":
      {"lon":13.5,"lat":52.5}

      """#
    let input = Data(lines.utf8)
    let ended = try await Tool.run(command, input: input, folder: folder.url)
    #expect(ended.status == 65)
    #expect(ended.error.contains("--skip-errors"))
    let passed = try await Tool.run(
      command + ["--skip-errors"], input: input, folder: folder.url)
    #expect(passed.status == 2)
    #expect(passed.error.contains("note: skipped: "))
  }

  @Test func `what is passed over in a file is told`() async throws {
    let folder = try TemporaryFolder()
    _ = try folder.write(
      """
      <gpx><trk><trkseg><trkpt lat="1" lon="2"/><trkpt lat="99" lon="2"/></trkseg></trk></gpx>
      """, to: "walk.gpx")
    let words = ["track", "record", "walk.gpx", "--into", "f.gpkg", "--sampling", "all"]
    let note = "walk.gpx:1, feature 2: lat '99' of trkpt is not a number from -90 to 90"
    let ended = try await Tool.run(words, folder: folder.url)
    #expect(ended.error == "fieldpack: \(note). Try: --skip-errors\n")
    let passed = try await Tool.run(words + ["--skip-errors"], folder: folder.url)
    #expect(passed.error == "note: skipped: \(note)\n")
    #expect(passed.status == 2)
    let info = try await Tool.run(["info", "walk.gpx"], folder: folder.url)
    #expect(info.error == "fieldpack: \(note)\n")
  }

  @Test func `the log tells what ended a run in the words of the tool`() async throws {
    let folder = try TemporaryFolder()
    let ended = try await Tool.run(
      ["track", "record", "-", "--into", "field.gpkg", "--name", "walk"],
      input: Data("{\"lon\":1,\"lat\":2}\nbad\n".utf8),
      folder: folder.url)
    #expect(ended.status == 65)
    let reason =
      "not JSON at byte 1 of the line: expected a value. Try: --skip-errors to pass over "
    let log = try await Tool.run("track", "log", folder.file("field.gpkg").path)
    #expect(log.output.hasSuffix(" error walk: failed: \(reason)such lines\n"), "\(log.output)")
  }
}
