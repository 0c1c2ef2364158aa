import FieldpackTestSupport
import Foundation
import Testing

@Suite(.programs) struct MonitorCommandTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    _ = try folder.write(
      """
      id,vehicle,time,lon,lat
      1,a,2026-05-01T09:00:00Z,10,54
      2,b,2026-05-01T09:00:00Z,10.1,54
      3,a,2026-05-01T08:59:00Z,9.9,54
      4,a,2026-05-01T09:01:00Z,10.2,54
      5,b,2026-05-01T09:02:00Z,10.1,54.0001

      """, to: "fixes.csv")
    _ = try folder.write(
      """
      {"type": "FeatureCollection", "features": [
        {"type": "Feature", "id": 7, "properties": {"radius_m": 200, "size": 50},
          "geometry": {"type": "Point", "coordinates": [10, 54]}},
        {"type": "Feature", "id": 8, "properties": {"size": 50}, "geometry": {"type": "Polygon",
          "coordinates": [[[10.09, 53.99], [10.11, 53.99], [10.11, 54.01], [10.09, 54.01],
            [10.09, 53.99]]]}},
        {"type": "Feature", "id": 9, "properties": {}, "geometry": null}
      ]}
      """, to: "zones.geojson")
  }

  private func monitor(_ arguments: String..., input: String? = nil) async throws -> RunResult {
    try await Tool.run(
      ["monitor"] + arguments, input: input.map { Data($0.utf8) }, folder: folder.url)
  }

  @Test func `fixes are replayed by time and then by id`() async throws {
    let result = try await monitor("fixes.csv", "--radius", "80")
    #expect(
      result.output == """
        fix  kind   device  region  time                      distance_m
        ───  ─────  ──────  ──────  ────────────────────────  ──────────
          0  start                  2026-05-01T08:59:00.000Z         0.0
          1  exit                   2026-05-01T09:00:00.000Z      6557.6
          2  exit                   2026-05-01T09:00:00.000Z      6557.6
          3  exit                   2026-05-01T09:01:00.000Z      6557.6
          4  exit                   2026-05-01T09:02:00.000Z      6557.6

        """)
    #expect(result.error == "")
    #expect(result.status == 0)
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: folder.url.path).sorted() == [
        "fixes.csv", "zones.geojson",
      ])
  }

  @Test func `messages of OwnTracks are positions whatever the file is called`() async throws {
    let lines = """
      {"_type":"location","lon":10,"lat":54,"tst":1777626000}
      {"_type":"lwt","tst":1777626001}
      {"_type":"location","lon":10.5,"lat":54,"tst":1777626060}

      """
    for name in ["own.json", "own.jsonl"] { _ = try folder.write(lines, to: name) }
    let result = try await monitor("own.json", "--radius", "80")
    #expect(result.status == 0, "\(result)")
    #expect(result.output == (try await monitor("own.jsonl", "--radius", "80")).output)
  }

  @Test func `devices are watched each for itself`() async throws {
    let result = try await monitor(
      "fixes.csv", "--distance", "10", "--device", "vehicle", "--json")
    let kinds = result.output.matches(of: #/"kind":"(\w+)","device":"(\w+)"/#)
      .map { "\($0.2) \($0.1)" }
    #expect(kinds == ["a start", "a moved", "b start", "a moved", "b moved"])
    let significant = try await monitor(
      "fixes.csv", "--significant", "--device", "vehicle", "--json")
    #expect(significant.output.matches(of: #/moved/#).count == 2)
  }

  @Test func `regions of a layer are watched`() async throws {
    let result = try await monitor(
      "fixes.csv", "--device", "vehicle", "--regions", "zones.geojson:zones")
    #expect(
      result.output == """
        fix  kind   device  region  time                      distance_m
        ───  ─────  ──────  ──────  ────────────────────────  ──────────
          1  enter  a       7       2026-05-01T09:00:00.000Z      -200.0
          2  enter  b       8       2026-05-01T09:00:00.000Z      -655.8
          3  exit   a       7       2026-05-01T09:01:00.000Z     12915.2
          3  cross  a       8       2026-05-01T09:01:00.000Z      5901.8

        """)
    #expect(result.error == "note: 1 feature of layer 'zones' without a geometry left out\n")
  }

  @Test func `regions come by standard input as well, where the fixes do not`() async throws {
    let zones = try Data(contentsOf: folder.file("zones.geojson"))
    let named = try await monitor("fixes.csv", "--device", "vehicle", "--regions", "zones.geojson")
    let result = try await Tool.run(
      ["monitor", "fixes.csv", "--device", "vehicle", "--regions", "-"], input: zones,
      folder: folder.url)
    #expect(result.output == named.output)
    #expect(result.status == 0)
    let both = try await Tool.run(
      ["monitor", "-", "--regions", "-"], input: zones, folder: folder.url)
    #expect(both.status == 64)
    #expect(both.error.contains("standard input holds the fixes or the regions, not both"))
  }

  @Test func `one document holds every member of each detection`() async throws {
    let result = try await monitor(
      "fixes.csv:fixes", "--regions", "zones.geojson", "--radius-column", "size", "--detect",
      "enter,dwell", "--dwell", "0", "-q", "--json")
    #expect(
      result.output.replacing(#/\.\d{3,}/#, with: "") == """
        {"detections":[\
        {"fix":1,"kind":"enter","device":null,"region":7,"time":"2026-05-01T09:00:00Z",\
        "distance_m":-50},\
        {"fix":1,"kind":"dwell","device":null,"region":7,"time":"2026-05-01T09:00:00Z",\
        "distance_m":-50},\
        {"fix":2,"kind":"enter","device":null,"region":8,"time":"2026-05-01T09:00:00Z",\
        "distance_m":-655},\
        {"fix":2,"kind":"dwell","device":null,"region":8,"time":"2026-05-01T09:00:00Z",\
        "distance_m":-655},\
        {"fix":4,"kind":"enter","device":null,"region":8,"time":"2026-05-01T09:02:00Z",\
        "distance_m":-655},\
        {"fix":4,"kind":"dwell","device":null,"region":8,"time":"2026-05-01T09:02:00Z",\
        "distance_m":-655}]}

        """)
  }

  @Test func `standard input gives fixes line by line`() async throws {
    let lines = """
      {"longitude": 10, "latitude": 54, "time": "2026-05-01T09:00:00Z"}
      {"longitude": 10.1, "latitude": 54, "time": "2026-05-01T08:00:00Z"}
      {"longitude": 10.2, "latitude": 54, "time": "2026-05-01T09:01:00Z"}

      """
    let result = try await monitor("-", "--distance", "100", "--json", input: lines)
    #expect(result.output.matches(of: #/"fix":(\d)/#).map { "\($0.1)" } == ["0", "2"])
    #expect(result.status == 0)
  }

  @Test func `a vertex of a line is a fix at its m`() async throws {
    _ = try folder.write(
      """
      wkt
      "LINESTRING M (10 54 1000, 10.1 54 3000)"
      "LINESTRING M (20 54 2000.5, 20.1 54 4000)"

      """, to: "lines.csv")
    let result = try await monitor(
      "lines.csv", "--distance", "100", "--source-srs", "EPSG:4326", "--json")
    #expect(
      result.output.matches(of: #/"time":"([^"]*)"/#).map { "\($0.1)" } == [
        "1970-01-01T00:16:40.000Z", "1970-01-01T00:33:20.500Z", "1970-01-01T00:50:00.000Z",
        "1970-01-01T01:06:40.000Z",
      ])
  }

  @Test(arguments: [
    ([], "nothing is named that is to be watched"),
    (["--radius", "1", "--distance", "1"], "one monitor at a time"),
    (["--distance", "1", "--significant"], "--significant is --distance 500"),
    (["--radius", "1", "--detect", "enter"], "--detect has a meaning only with --regions"),
    (["--distance", "1", "--dwell", "5"], "--dwell has a meaning only with --radius or --regions"),
    (["--regions", "zones.geojson", "--detect", "leave"], "there is no detection 'leave'"),
    (["--regions", "zones.geojson", "--detect", "start"], "regions give no detection 'start'"),
    (["--regions", "zones.geojson", "--detect", "dwell"], "'dwell' is asked for without"),
    (["--radius", "0"], "the radius of the region is 0.0"),
  ]) func `what cannot be watched is a mistake`(options: [String], start: String) async throws {
    let result = try await Tool.run(["monitor", "fixes.csv"] + options, folder: folder.url)
    #expect(result.status == 64)
    #expect(result.error.hasPrefix("fieldpack: \(start)"), "\(result.error)")
    #expect(result.output == "")
  }

  @Test func `a layer, a column or a radius that is not there is named`() async throws {
    let layer = try await monitor("fixes.csv", "--regions", "zones.geojson:areas")
    #expect(layer.status == 66)
    let column = try await monitor("fixes.csv", "--radius", "5", "--device", "car")
    #expect(column.status == 66)
    #expect(column.error.contains("layer 'fixes' has no column 'car'"))
    _ = try folder.write(
      #"{"type":"Feature","id":3,"properties":{},"geometry":{"type":"Point","coordinates":[1,2]}}"#,
      to: "bare.geojson")
    let bare = try await monitor("fixes.csv", "--regions", "bare.geojson")
    #expect(bare.status == 65)
    #expect(bare.error.contains("region 3 is a point without a radius"))
    let given = try await monitor("fixes.csv", "--regions", "bare.geojson", "--radius", "80")
    #expect(given.status == 0)
    #expect(given.error == "note: there are no detections\n")
  }
}
