import FieldpackTestSupport
import Foundation
import Testing

@Suite(.programs) struct PhotoCommandTests {
  private let folder: TemporaryFolder

  /// `walk.gpkg` with three points of track 1, and `album.gpkg` with photos near two of them.
  init() async throws {
    folder = try TemporaryFolder()
    var points: [String] = []
    for (number, latitude) in [52.5, 52.51, 56.0].enumerated() {
      points.append(
        """
        {"type":"Feature","properties":{"track_fid":1,"seq":\(number),\
        "time":"2024-05-01T10:0\(number):00Z","time_unix":\(1_714_557_600 + number * 60).5,\
        "photo_state":"pending"},"geometry":{"type":"Point","coordinates":[13.4,\(latitude)]}}
        """)
    }
    _ = try folder.write(points.joined(separator: "\n"), to: "points.geojsonl")
    _ = try folder.write(
      """
      {"type":"Feature","properties":{"title":"A <tree> & \\"more\\"","owner":"Ann","path":"a.png"},\
      "geometry":{"type":"Point","coordinates":[13.4,52.5002]}}
      {"type":"Feature","properties":{"title":"Gate","path":"b.png"},\
      "geometry":{"type":"Point","coordinates":[13.4,52.5102]}}
      """, to: "photos.geojsonl")
    for (name, color) in [("a.png", 90), ("b.png", 180)] {
      let picture = TestPicture.png(width: 40, height: 30, color: (UInt8(color), 120, 40))
      try Data(picture).write(to: folder.file(name))
    }
    _ = try await run(
      "import", "points.geojsonl", "--into", "walk.gpkg", "--layer", "track_point")
    _ = try await run("import", "photos.geojsonl", "--into", "album.gpkg", "--layer", "photos")
  }

  private func run(
    _ arguments: String..., environment: [String: String] = [:]
  ) async throws -> RunResult {
    try await Tool.run(arguments, environment: environment, folder: folder.url)
  }

  @Test func `shows each point with its picture, the newest first`() async throws {
    let result = try await run("photo", "fetch", "walk.gpkg", "--from", "album.gpkg:photos")
    #expect(
      result.output == """
        time                      track  point  state  photo                            away  id
        ────────────────────────  ─────  ─────  ─────  ─────────────────────────────  ──────  ──
        2024-05-01T10:02:00.000Z      1      2  none   no photo lies as near as that
        2024-05-01T10:01:00.000Z      1      1  found  Gate                           22.3 m  2
        2024-05-01T10:00:00.000Z      1      0  found  A <tree> & "more"              22.3 m  1

        3 points, 2 pictures; looked for: 2 found, 1 none

        """, "\(result)")
    #expect(result.error == "" && result.status == 0)
    let again = try await run("photo", "fetch", "walk.gpkg", "--from", "album.gpkg:photos")
    #expect(again.output.hasSuffix("3 points, 2 pictures; looked for: none\n"))
    let retried = try await run(
      "photo", "fetch", "walk.gpkg", "--from", "album.gpkg:photos", "--retry")
    #expect(retried.output.hasSuffix("looked for: 1 none\n"))
    let valid = try await run("check", "walk.gpkg")
    #expect(valid.status == 0, "\(valid)")
  }

  @Test func `takes no picture from farther off than it may`() async throws {
    let near = try await run(
      "photo", "fetch", "walk.gpkg", "--from", "album.gpkg:photos", "--max-distance", "21")
    #expect(near.output.hasSuffix("3 points, 0 pictures; looked for: 3 none\n"), "\(near)")
    let far = try await run(
      "photo", "fetch", "walk.gpkg", "--from", "album.gpkg:photos", "--retry", "--max-distance",
      "23")
    #expect(far.output.hasSuffix("3 points, 2 pictures; looked for: 2 found, 1 none\n"), "\(far)")
    let none = try await run(
      "photo", "fetch", "walk.gpkg", "--from", "album.gpkg:photos", "--max-distance", "0")
    #expect(none.status == 64)
  }

  @Test func `shows points where nothing was looked for`() async throws {
    let before = try Data(contentsOf: folder.file("walk.gpkg"))
    let result = try await run("photo", "list", "walk.gpkg", "--json")
    #expect(
      result.output.hasPrefix(
        #"{"target":"walk.gpkg","fetched":null,"output":null,"points":[{"point":3,"track":1,"#
          + #""seq":2,"time":"2024-05-01T10:02:00.000Z","longitude":13.4,"latitude":56,"#
          + #""photo_state":"pending","photo":null,"candidate_count":0,"radius_m":null,"attempt_count":0,"#
          + #""next_attempt_at":null,"message":null},"#), "\(result)")
    #expect(try Data(contentsOf: folder.file("walk.gpkg")) == before)
  }

  @Test func `writes one page that needs nothing from elsewhere`() async throws {
    _ = try await run("photo", "fetch", "walk.gpkg", "--from", "album.gpkg:photos")
    let result = try await run("photo", "export", "walk.gpkg", "--output", "walk.html")
    #expect(result.output.hasSuffix("written to walk.html\n"), "\(result)")
    let page = try String(contentsOf: folder.file("walk.html"), encoding: .utf8)
    let picture = try Data(contentsOf: folder.file("a.png")).base64EncodedString()
    let alternative = "Photo: A &lt;tree&gt; &amp; &quot;more&quot;, by Ann, 22 m from point 0"
    #expect(
      page.contains(
        "<img alt=\"\(alternative) of the track\" src=\"data:image/png;base64,\(picture)\" "
          + "width=\"40\" height=\"30\" loading=\"lazy\">"))
    #expect(page.contains("<p>No photo within 0.5 km</p>"))
    #expect(page.contains("<p>3 points, 2 pictures</p>"))
    let order = ["<h2>Point 2</h2>", "<h2>Gate</h2>", "<h2>A &lt;tree&gt;"]
    let starts = order.compactMap { page.range(of: $0)?.lowerBound }
    #expect(starts.count == 3 && starts == starts.sorted())
    // Nothing is loaded: the only addresses are those of pictures in the page and of SVG's names.
    let addresses = page.matches(of: /(src|href|url)[=(]"?([^"]{1,10})/).map { String($0.2) }
    #expect(addresses == ["data:image", "data:image"])
    #expect(page.contains("default-src 'none'; img-src data:; style-src 'unsafe-inline'"))
    let refused = try await run("photo", "export", "walk.gpkg", "--output", "walk.html")
    #expect(refused.status == 73)
    let replaced = try await run(
      "photo", "export", "walk.gpkg", "--output", "walk.html", "--overwrite")
    #expect(replaced.status == 0)
    #expect(try String(contentsOf: folder.file("walk.html"), encoding: .utf8) == page)
  }

  @Test(arguments: [
    (["photo", "fetch", "walk.gpkg"], 64, "--from is missing"),
    (["photo", "list", "walk.gpkg", "--retry"], 64, "photo list has no option '--retry'"),
    (["photo", "fetch", "walk.gpkg", "--from", "flickr"], 1, "photos of Flickr need a key"),
    (["photo", "fetch", "walk.gpkg", "--from", "album"], 64, "is neither flickr nor a GeoPackage"),
    (
      ["photo", "fetch", "walk.gpkg", "--from", "album.gpkg:no"], 66,
      "layer 'no' of photos is not in"
    ),
    (["photo", "list", "album.gpkg"], 66, "there is no layer 'track_point'"),
    (
      ["photo", "fetch", "album.gpkg", "--from", "album.gpkg:photos"], 66, "no layer 'track_point'"
    ),
    (["photo", "list", "walk.gpkg", "evening"], 66, "there is no track 'evening'"),
  ])
  func `says what is wrong`(arguments: [String], status: Int32, message: String) async throws {
    let result = try await Tool.run(
      arguments, environment: ["FLICKR_API_KEY": ""], folder: folder.url)
    #expect(result.status == status)
    #expect(result.error.contains(message), "\(result)")
    #expect(result.output == "")
  }

  @Test func `a whole walk is one command`() async throws {
    let lines = [52.5, 52.51, 52.52].enumerated().map { number, latitude in
      #"{"longitude": 13.4, "latitude": \#(latitude), "time": "2024-05-01T10:0\#(number):00Z"}"#
    }
    let record = [
      "track", "record", "-", "--into", "new.gpkg", "--name", "walk", "--photos",
      "album.gpkg:photos",
    ]
    let input = Data(lines.joined(separator: "\n").utf8)
    let first = try await Tool.run(
      record + ["--sampling", "distance:100"], input: input, folder: folder.url)
    #expect(first.error == "" && first.status == 0)
    #expect(
      first.output.hasSuffix("pictures looked for: 2 found, 1 none\n"), "\(first)")
    let shown = try await run("photo", "list", "new.gpkg", "walk")
    #expect(shown.output.hasSuffix("\n3 points, 2 pictures\n"), "\(shown)")
    let valid = try await run("check", "new.gpkg")
    #expect(valid.status == 0, "\(valid)")
    // Going on there is nothing left to look for.
    let second = try await Tool.run(
      record + ["--sampling", "distance:100", "--json"], input: Data(), folder: folder.url)
    #expect(
      second.output.hasSuffix(
        #""fetched":{"pending":0,"found":0,"none":0,"failed":0,"duplicate":0},"#
          + #""error":null}"# + "\n"))
    // What photos cannot be had of is said before anything is recorded.
    let none = try await run(
      "track", "record", "-", "--into", "none.gpkg", "--photos", "album.gpkg:no")
    #expect(none.status == 66)
    let keyless = try await run("track", "record", "-", "--into", "none.gpkg", "--photos", "flickr")
    #expect(keyless.status == 1 && keyless.error.contains("photos of Flickr need a key"))
    #expect(!FileManager.default.fileExists(atPath: folder.file("none.gpkg").path))
  }

  @Test func `tracks and photos are deleted with what is theirs alone`() async throws {
    let lines = [52.5, 52.51].enumerated().map { number, latitude in
      #"{"longitude": 13.4, "latitude": \#(latitude), "time": "2024-05-01T10:0\#(number):00Z"}"#
    }
    for name in ["a", "b"] {
      let record = try await Tool.run(
        [
          "track", "record", "-", "--into", "new.gpkg", "--name", name, "--photos",
          "album.gpkg:photos", "--max-distance", "100",
        ], input: Data(lines.joined(separator: "\n").utf8), folder: folder.url)
      #expect(record.status == 0, "\(record)")
    }
    // Both tracks have the same two photos.
    let first = try await run("track", "delete", "new.gpkg", "a")
    #expect(first.output == "deleted features: track 1, track_point 2, monitor_run 1\n", "\(first)")
    let list = try await run("photo", "list", "new.gpkg", "--json")
    let id = try #require(list.output.firstMatch(of: /"photo":\{"id":"([^"]+)"/)?.1)
    let shown = try await run("photo", "show", "new.gpkg", String(id))
    #expect(shown.output.hasPrefix("photo       \(id)\n"), "\(shown)")
    let photo = try await run("photo", "delete", "new.gpkg", String(id))
    #expect(photo.output == "deleted features: photo 1, media 1\n", "\(photo)")
    let gone = try await run("photo", "delete", "new.gpkg", String(id))
    #expect(gone.status == 66, "\(gone)")
    let left = try await run("photo", "list", "new.gpkg")
    #expect(left.output.hasSuffix("\n2 points, 1 picture\n"), "\(left)")
    let second = try await run("track", "delete", "new.gpkg", "b", "--json")
    #expect(
      second.output
        == #"{"deleted":[{"layer":"track","feature_count":1},{"layer":"track_point","feature_count":2},"#
        + #"{"layer":"photo","feature_count":1},{"layer":"media","feature_count":1},"#
        + #"{"layer":"monitor_run","feature_count":1}]}"# + "\n", "\(second)")
    let count = try await run("query", "new.gpkg", "--count")
    #expect(count.output == "0\n", "\(count)")
    let valid = try await run("check", "new.gpkg")
    #expect(valid.status == 0, "\(valid)")
    // The name is free again.
    let again = try await Tool.run(
      ["track", "record", "-", "--into", "new.gpkg", "--name", "a"],
      input: Data(lines.joined(separator: "\n").utf8), folder: folder.url)
    #expect(again.output.hasPrefix("a: 2 points of 2 fixes"), "\(again)")
    let none = try await run("track", "delete", "new.gpkg", "a", "nix")
    #expect(none.status == 66 && none.error.contains("there is no track 'nix'"), "\(none)")
  }

  @Test func `killed at any moment it leaves no picture without its photo`() async throws {
    for round in 0..<12 {
      let process = try Tool.start(
        ["photo", "fetch", "walk.gpkg", "--from", "album.gpkg:photos", "--retry", "-q"],
        folder: folder.url)
      try await Task.sleep(for: .milliseconds(3 * round))
      process.send(SIGKILL)
      _ = try await process.result()
      let valid = try await run("check", "walk.gpkg", "-q")
      #expect(valid.status == 0, "\(valid)")
    }
    let result = try await run(
      "photo", "fetch", "walk.gpkg", "--from", "album.gpkg:photos", "--retry")
    #expect(result.output.contains("3 points, 2 pictures"))
    let orphans = try await run(
      "sql", "walk.gpkg",
      "SELECT (SELECT count(*) FROM media), (SELECT count(*) FROM photo_media), "
        + "(SELECT count(*) FROM photo), (SELECT count(*) FROM track_point_photo WHERE chosen = 1)",
      "--json")
    #expect(orphans.output.contains("[2,2,2,2]"), "\(orphans)")
  }
}
