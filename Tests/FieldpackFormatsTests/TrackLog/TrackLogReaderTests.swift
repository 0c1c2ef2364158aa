import FieldpackCore
import FieldpackFormats
import FieldpackGeometry
import FieldpackTestSupport
import Foundation
import Testing

@Suite struct TrackLogReaderTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func read(
    _ text: String, _ kind: TrackLogReader.Kind, skipsErrors: Bool = false
  ) throws -> GPXReading {
    let path = try folder.write(text, to: UUID().uuidString).path
    var options = ReadOptions(layer: "log")
    options.skipsErrors = skipsErrors
    return try GPXReading(
      TrackLogReader(try ByteInput(path: path), kind: kind, options: options))
  }

  private func points(_ reading: GPXReading) -> [Feature] {
    reading.collector.features["track_points"] ?? []
  }

  // MARK: IGC

  private static let flight = """
    AXXX001
    HFDTEDATE:311299,01
    HFPLTPILOTINCHARGE: A. Pilot
    HFGIDGLIDERID:D-1234
    I073636LAD3737LOD3839TDS4042ENL4345SIU4648TRT4951GSP
    """

  @Test func `a late fix at midnight shifts none after it by a day`() throws {
    let times = ["235959", "000001", "235959", "000002"]
    let fixes = times.map { "B\($0)4807038N01131000EA0012300456" }
    let reading = try read("AXXX001\nHFDTE311299\n" + fixes.joined(separator: "\n"), .igc)
    #expect(
      points(reading).map { $0.attributes["time"] }
        == [-1, 1, -1, 2].map { .dateTime(Instant(milliseconds: (946_684_800 + $0) * 1000)) })
  }

  @Test func `the extensions of a flight are columns, or make positions and times finer`() throws {
    let reading = try read(
      Self.flight + """

        B2359594807038N01131000EA00123004567525007012090abc\r
        B0000014807038S01131000WV-00230000000000000013600-5
        """, .igc)
    let found = points(reading)
    #expect(
      found.map(\.geometry) == [
        .point(
          Position(
            x: 11 + 31.0005 / 60, y: 48 + 7.0387 / 60, z: 456, m: 946_684_799.25),
          Dimensions(hasZ: true, hasM: true)),
        .point(
          Position(x: -(11 + 31.0 / 60), y: -(48 + 7.038 / 60), m: 946_684_801),
          Dimensions(hasZ: false, hasM: true)),
      ])
    let first: Attributes = [
      "track_fid": .integer(1), "track_seg_id": .integer(0), "track_seg_point_id": .integer(0),
      "ele": .real(456), "time": .dateTime(Instant(milliseconds: 946_684_799_250)),
      "fix": .text("3d"), "sat": .integer(12), "course": .real(90),
      "pressure_altitude": .integer(123), "enl": .integer(7), "gsp": .text("abc"),
    ]
    #expect(found.first?.attributes == first)
    #expect(found.last?.attributes["fix"] == .text("2d"))
    #expect(found.last?.attributes["pressure_altitude"] == .integer(-23))
    #expect(found.last?.attributes["course"] == .real(0))
    let track = reading.collector.features["tracks"]?.first?.attributes
    #expect(
      track == [
        "name": .text("D-1234"), "pilot": .text("A. Pilot"), "glider_id": .text("D-1234"),
        "recorder": .text("XXX001"),
      ])
  }

  static let badFlights: [(String, Int, String)] = [
    ("", 1, "the file is empty"),
    ("HFDTE010100\n", 1, "not an IGC file: the first record is an A record"),
    ("AXXX\nHFDTE320100\n", 2, "'HFDTE320100' names no date ddmmyy"),
    ("AXXX\nHFDTE\n", 2, "'HFDTE' names no date ddmmyy"),
    ("AXXX\nI99\n", 2, "the I record is cut"),
    ("AXXX\nI013500ENL\n", 2, "extension 1 of the I record has no place"),
    ("AXXX\nB0000004807038N01131000EA00123", 2, "the B record is cut: 30 of 35 bytes are there"),
    (
      "AXXX\nB2400004807038N01131000EA0012300456", 2,
      "bytes 2 to 7 of the B record are '240000' and not a time hhmmss"
    ),
    (
      "AXXX\nB0000004860000N01131000EA0012300456", 2,
      "bytes 8 to 14 of the B record are '4860000' and not degrees and minutes below 60"
    ),
    (
      "AXXX\nB0000009000001N01131000EA0012300456", 2,
      "bytes 8 to 14 of the B record are '9000001' and not degrees up to 90"
    ),
    (
      "AXXX\nB0000004807038N18000001EA0012300456", 2,
      "bytes 16 to 23 of the B record are '18000001' and not degrees up to 180"
    ),
    (
      "AXXX\nB0000004807038X01131000EA0012300456", 2,
      "bytes 15 to 15 of the B record are 'X' and not N or S"
    ),
    (
      "AXXX\nB0000004807038N01131000EX0012300456", 2,
      "bytes 25 to 25 of the B record are 'X' and not A or V"
    ),
    (
      "AXXX\nB0000004807038N01131000EA1e30800456", 2,
      "bytes 26 to 30 of the B record are '1e308' and not an altitude in metres"
    ),
  ]

  @Test(arguments: badFlights)
  func `a bad record is an error with its line`(
    text: String, line: Int, message: String
  ) throws {
    let failure = #expect(throws: FieldpackError.self) { try read(text, .igc) }
    #expect([.invalidData, .unsupported].contains(failure?.code))
    #expect(failure?.message.hasPrefix(message) == true, "\(failure?.message ?? "")")
    #expect(failure?.position?.line == line || text.isEmpty)
    guard line == 2 else { return }
    let more = text + "\nB0000014807038N01131000EA0012300456\n"
    let reading = try read(more, .igc, skipsErrors: true)
    #expect(points(reading).count == 1)
    #expect(reading.result.skipped.listed.map(\.position?.line) == [2])
  }

  // MARK: NMEA

  @Test func `bad sentences are passed over and nothing after them is lost`() throws {
    let text = """
      $GPRMC,000001,A,4807.0,N,01131.0,E,10,90,010100,,
      $GPGGA,000001,4807.0,N,01131.0,E,1,08,0.9,1,M,2,M,,*00
      rubbish
      $GPWPL,4807.0,S,01131.0,W,HOME
      $GPRMC,000002,A,4807.5,N,01131.0,E,10,90,010100,,
      """
    let failure = #expect(throws: FieldpackError.self) { try read(text, .nmea) }
    #expect(failure?.position?.line == 2)
    let reading = try read(text, .nmea, skipsErrors: true)
    #expect(points(reading).map { $0.attributes["course"] } == [.real(90), .real(90)])
    #expect(reading.result.skipped.listed.map(\.position?.line) == [2, 3])
    let names = reading.collector.features["waypoints"]?.map { $0.attributes["name"] }
    #expect(names == [.text("HOME")])
  }

  @Test func `a line of 100 MB is an error and the next is read`() throws {
    let file = folder.file("long.nmea")
    let sentence = "$GPGLL,4807.0,N,01131.0,E\n"
    #expect(FileManager.default.createFile(atPath: file.path, contents: Data(sentence.utf8)))
    let handle = try FileHandle(forWritingTo: file)
    try handle.seekToEnd()
    for _ in 0..<100 { try handle.write(contentsOf: Data(repeating: 0x41, count: 1 << 20)) }
    try handle.write(contentsOf: Data("\n\(sentence)".utf8))
    try handle.close()
    var options = ReadOptions(layer: "log")
    options.skipsErrors = true
    let reading = try GPXReading(
      TrackLogReader(try ByteInput(path: file.path), kind: .nmea, options: options))
    #expect(points(reading).count == 2)
    #expect(
      reading.result.skipped.listed.map(\.reason) == ["the line is longer than 1048576 bytes"])
    #expect(reading.result.skipped.listed.map(\.position?.line) == [2])
  }

  // MARK: TCX

  private func training(_ points: String, before: String = "") -> String {
    """
    <?xml version="1.0"?>\(before)
    <TrainingCenterDatabase><Activities><Activity Sport="Running"><Id>run</Id><Lap><Track>
    \(points)
    </Track></Lap></Activity></Activities></TrainingCenterDatabase>
    """
  }

  private func trackpoint(_ latitude: String, _ longitude: String) -> String {
    "<Trackpoint><Position><LatitudeDegrees>\(latitude)</LatitudeDegrees><LongitudeDegrees>"
      + "\(longitude)</LongitudeDegrees></Position></Trackpoint>"
  }

  @Test func `points without a position are counted, and laps are segments`() throws {
    let good = trackpoint("1", "2")
    let reading = try read(
      training(good + "<Trackpoint><Time>x</Time></Trackpoint></Track><Track>" + good), .tcx)
    #expect(points(reading).map { $0.attributes["track_seg_id"] } == [.integer(0), .integer(1)])
    #expect(reading.result.notes == ["1 track points without a position are left out"])
    #expect(
      reading.collector.features["tracks"]?.map(\.attributes)
        == [["name": .text("run"), "type": .text("Running")]])
  }

  @Test(arguments: [
    ("91", "0", "LatitudeDegrees '91' is not a number from -90 to 90"),
    ("NaN", "0", "LatitudeDegrees 'NaN' is not a number from -90 to 90"),
    ("0", "1e308", "LongitudeDegrees '1e308' is not a number from -180 to 180"),
    ("0", "", "the point has no LongitudeDegrees"),
  ])
  func `a point that is not on Earth is an error with its line`(
    latitude: String, longitude: String, message: String
  ) throws {
    let text = training(trackpoint("1", "2") + "\n" + trackpoint(latitude, longitude))
    let failure = #expect(throws: FieldpackError.self) { try read(text, .tcx) }
    #expect(failure?.message == message)
    #expect(failure?.advice == .skipErrors)
    #expect(failure?.position?.line == 4)
    let reading = try read(text, .tcx, skipsErrors: true)
    #expect(points(reading).count == 1)
    #expect(reading.result.skipped.listed.map(\.position?.line) == [4])
  }

  @Test func `a course that breaks off gives the points before that, where errors are skipped`()
    throws
  {
    let text = String(training(trackpoint("1", "2")).dropLast(60))
    let failure = #expect(throws: FieldpackError.self) { try read(text, .tcx) }
    #expect(failure?.advice == .skipErrors)
    let reading = try read(text, .tcx, skipsErrors: true)
    #expect(reading.result.counts == ["tracks": 1, "track_points": 1])
    #expect(reading.result.skipped.count == 1)
  }

  @Test(arguments: ["entities", "depth", "root"])
  func `hostile XML is an error with its line`(kind: String) throws {
    let text =
      switch kind {
      case "entities":
        training("&b;", before: "<!DOCTYPE x [<!ENTITY a \"aaa\"><!ENTITY b \"&a;&a;\">]>")
      case "depth": training(String(repeating: "<a>", count: 100_000))
      default: "<kml/>"
      }
    let failure = #expect(throws: FieldpackError.self) {
      try read(text, .tcx, skipsErrors: true)
    }
    #expect(failure?.code == .invalidData)
    #expect(failure?.position?.line != nil)
  }
}
