import FieldpackCore
import FieldpackFormats
import FieldpackGeometry
import FieldpackTestSupport
import Foundation
import Testing

/// Every log of `real/motion-other`, against a reader of its own in Python.
@Suite(.programs, .enabled(if: SharedData.isPresent, Comment(rawValue: SharedData.absent)))
struct TrackLogDataTests {
  private static let folder = "real/motion-other"
  static let logs: [(String, TrackLogReader.Kind, String)] = [
    ("gb_92GV66G1.igc", .igc, "tracks 1 track_points 724"),
    ("gb_skydrop~kml.igc", .igc, "tracks 1 track_points 1329"),
    ("gb_adddate.nmea", .nmea, "tracks 1 track_points 500"),
    ("gb_addmultipledaysfwd.nmea", .nmea, "tracks 1 track_points 28"),
    ("gb_backfilldate.nmea", .nmea, "tracks 1 track_points 500"),
    ("gb_nmeadate.nmea", .nmea, "tracks 1 track_points 6"),
    ("gb_gtrnctr-readcp.tcx", .tcx, "waypoints 16 tracks 1 track_points 18"),
    ("gb_tcxdatagns.tcx", .tcx, "tracks 1 track_points 4"),
  ]

  private func read(_ name: String, _ kind: TrackLogReader.Kind) throws -> GPXReading {
    let input = try ByteInput(path: SharedData.url("\(Self.folder)/\(name)").path)
    return try GPXReading(
      TrackLogReader(input, kind: kind, options: ReadOptions(layer: "log")))
  }

  @Test(arguments: logs)
  func `every point is where another reader has it`(
    name: String, kind: TrackLogReader.Kind, counts: String
  ) throws {
    let reading = try read(name, kind)
    let found = reading.result.layers.map(\.schema.layer)
      .map { "\($0) \(reading.result.counts[$0, default: 0])" }
    #expect(found.joined(separator: " ") == counts)
    #expect(reading.result.skipped.count == 0)
    let python = try #require(Programs.python, Comment(rawValue: Programs.noPython))
    let path = SharedData.url("\(Self.folder)/\(name)").path
    let expected = try Programs.output(python, ["-c", Self.reader, path])
      .split(separator: "\n").map { $0.split(separator: " ").compactMap { Double($0) } }
    let points = reading.collector.features["track_points"] ?? []
    #expect(points.count == expected.count)
    for (point, ordinates) in zip(points, expected) {
      guard case .point(let position?, _)? = point.geometry else {
        Issue.record("a point without a position")
        continue
      }
      #expect(abs(position.x - ordinates[0]) < 1e-9)
      #expect(abs(position.y - ordinates[1]) < 1e-9)
      #expect(position.z == ordinates[2])
    }
  }

  @Test func `a file of another kind is an error`() {
    let text = #expect(throws: FieldpackError.self) { try read("gb_README.igc", .igc) }
    #expect(
      text?.message
        == "not an IGC file: the first record is an A record with the recorder's code")
    #expect(text?.position?.line == 1)
    let wide = #expect(throws: FieldpackError.self) {
      try read("gb_testsupplementalplane.nmea", .nmea)
    }
    #expect(wide?.message == "the text is UTF-16. Try: save it as UTF-8")
    let image = #expect(throws: FieldpackError.self) { try read("gb_92GV66G1.igc", .tcx) }
    #expect(image?.code == .invalidData)
  }

  @Test func `a date at the end holds for the fixes before it`() throws {
    let times = try read("gb_backfilldate.nmea", .nmea).collector.features["track_points"]?
      .map { $0.attributes["time"] }
    #expect(try times?.first == .dateTime(#require(Instant("2019-03-08T23:56:00Z"))))
    #expect(try times?.last == .dateTime(#require(Instant("2019-03-09T00:04:19Z"))))
    #expect(times?.contains { $0 == nil } == false)
  }

  @Test func `without a date there is a time of day and a note`() throws {
    let reading = try read("gb_adddate.nmea", .nmea)
    let point = reading.collector.features["track_points"]?.first
    #expect(point?.attributes["time"] == nil)
    #expect(point?.attributes["time_of_day"] == .text("23:56:00.000"))
    #expect(
      reading.result.notes == ["the file names no date: its fixes have a time of day alone"])
  }

  /// Prints longitude, latitude and height of every fix.
  private static let reader = """
    import sys
    import xml.etree.ElementTree as ET
    path = sys.argv[1]
    def show(x, y, z): print(repr(x), repr(y), repr(float(z)))
    def dm(text, digits): return int(text[:digits]) + float(text[digits:]) / 60
    if path.endswith(".igc"):
        for line in open(path, "rb").read().decode("latin-1").split("\\n"):
            if not line.startswith("B"): continue
            y = (int(line[7:9]) + int(line[9:14]) / 60000) * (-1 if line[14] == "S" else 1)
            x = (int(line[15:18]) + int(line[18:23]) / 60000) * (-1 if line[23] == "W" else 1)
            show(x, y, line[30:35])
    elif path.endswith(".nmea"):
        for line in open(path):
            part = line.strip().split("*")[0].split(",")
            if part[0] != "$GPGGA" or part[6] == "0": continue
            y = dm(part[2], 2) * (-1 if part[3] == "S" else 1)
            x = dm(part[4], 3) * (-1 if part[5] == "W" else 1)
            show(x, y, part[9])
    else:
        ns = "{http://www.garmin.com/xmlschemas/TrainingCenterDatabase/v2}"
        for point in ET.parse(path).iter(ns + "Trackpoint"):
            place = point.find(ns + "Position")
            if place is None: continue
            show(float(place.find(ns + "LongitudeDegrees").text),
                 float(place.find(ns + "LatitudeDegrees").text),
                 point.find(ns + "AltitudeMeters").text)
    """
}
