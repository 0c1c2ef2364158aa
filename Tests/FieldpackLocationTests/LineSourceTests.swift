import FieldpackCore
import FieldpackLocation
import FieldpackTestSupport
import Foundation
import Testing

@Suite struct LineSourceTests {
  /// What a source gives, and what it ends with.
  static func read(_ source: some LocationSource) async -> ([LocationUpdate], FieldpackError?) {
    var updates: [LocationUpdate] = []
    do throws(FieldpackError) {
      for try await batch in source.updates() { updates += batch }
      return (updates, nil)
    } catch {
      return (updates, error)
    }
  }

  private func read(
    _ text: String, _ options: LineSource.Options = .init()
  ) async throws -> ([LocationUpdate], FieldpackError?) {
    let folder = try TemporaryFolder()
    let file = try folder.write(text, to: "fixes")
    return await Self.read(LineSource(path: file.path, options: options))
  }

  @Test func `JSON lines tell fixes and headings`() async throws {
    let (updates, failure) = try await read(
      """
      \u{FEFF}{"lon":13.4,"lat":52.5,"time":"2024-05-01T12:00:00+02:00","ele":34,"accuracy":5,\
      "course":360,"speed":1.5,"device":"a"}\r
      {"longitude": -180, "latitude": 90, "timestamp": 1714557600.25, "altitude": null, "speed": -1}

      {"lng":1,"lat":2,"heading":12.5,"heading_accuracy":3,"device":7,"other":[1,{"lon":9}]}
      {"heading":0}
      {"type":"Feature","geometry":{"type":"Point","coordinates":[13.5,52.6,40]},\
      "properties":{"time":"2024-05-01T10:00:01Z","accuracy":4}}
      """)
    #expect(failure == nil)
    let ten = Instant(milliseconds: 1_714_557_600_000)
    #expect(
      updates == [
        .fix(
          Fix(
            longitude: 13.4, latitude: 52.5, elevation: 34, time: ten, accuracy: 5, course: 0,
            speed: 1.5, device: "a")),
        .fix(
          Fix(
            longitude: -180, latitude: 90, time: Instant(milliseconds: ten.milliseconds + 250))),
        .fix(Fix(longitude: 1, latitude: 2, heading: 12.5, device: "7")),
        .heading(Heading(degrees: 0)),
        .fix(
          Fix(
            longitude: 13.5, latitude: 52.6, elevation: 40,
            time: Instant(milliseconds: ten.milliseconds + 1000), accuracy: 4)),
      ])
  }

  @Test func `locations of OwnTracks are fixes, its other messages are not`() async throws {
    let (updates, failure) = try await read(
      """
      {"_type":"status","tst":1}
      {"_type":"location","tst":1714557600,"tid":"ab","acc":12,"alt":34,"vel":36,"cog":90,\
      "lat":52.5,"lon":13.4,"batt":80,"t":"u"}
      {"_type":"transition","event":"enter","lat":1,"lon":1,"tst":1714557600}
      {"_type":"location","lat":52.6,"lon":13.5,"tst":1714557601}
      """)
    #expect(failure == nil)
    #expect(
      updates == [
        .fix(
          Fix(
            longitude: 13.4, latitude: 52.5, elevation: 34,
            time: Instant(milliseconds: 1_714_557_600_000), accuracy: 12, course: 90, speed: 10,
            device: "ab")),
        .fix(
          Fix(
            longitude: 13.5, latitude: 52.6, time: Instant(milliseconds: 1_714_557_601_000))),
      ])
  }

  @Test func `gpsd's reports and the sentences between them tell fixes`() async throws {
    let (updates, failure) = try await read(
      """
      {"class":"VERSION","release":"3.22","rev":"3.22","proto_major":3,"proto_minor":14}
      {"class":"WATCH","enable":true,"json":true}
      {"class":"TPV","device":"/dev/ttyACM0","mode":1}
      {"class":"SKY","satellites":[]}
      {"class":"TPV","device":"/dev/ttyACM0","mode":3,"time":"2024-05-01T10:00:00.000Z",\
      "lat":52.5,"lon":13.4,"alt":70,"altHAE":75.5,"altMSL":34.5,"epx":3,"epy":4,"track":90.5,\
      "speed":1.25}
      $GPHDT,274.07,T*03
      {"class":"TPV","mode":2,"lat":52.6,"lon":13.5,"eph":8}
      """)
    #expect(failure == nil)
    #expect(
      updates == [
        .fix(
          Fix(
            longitude: 13.4, latitude: 52.5, elevation: 34.5,
            time: Instant(milliseconds: 1_714_557_600_000), accuracy: 5, course: 90.5, speed: 1.25,
            device: "/dev/ttyACM0")),
        .heading(Heading(degrees: 274.07)),
        .fix(Fix(longitude: 13.5, latitude: 52.6, accuracy: 8)),
      ])
  }

  static let bad: [(String, Int, String)] = [
    ("", 0, ""),
    ("hello", 1, "the line is neither JSON, nor an NMEA sentence, nor a report of gpsd"),
    ("[1,2]", 1, "the line is neither JSON"),
    ("{\"lon\":1,\"lat\":2}\nhello", 2, "not JSON at byte 1 of the line"),
    ("{\"lon\":1,\"lat\":2}\n[1,2]", 2, "the line is an array, not an object"),
    ("{\"lon\":1,\"lat\":2}\n{\"lon\":1,\"lat\":", 2, "not JSON at byte 16 of the line"),
    ("{}", 1, "the line has neither a position ('lon' and 'lat') nor a 'heading'"),
    ("{\"lon\":1}", 1, "the line has a longitude but no 'lat'"),
    ("{\"lat\":1}", 1, "the line has a latitude but no 'lon'"),
    ("{\"lon\":NaN,\"lat\":1}", 1, "not JSON at byte 8 of the line"),
    ("{\"lon\":180.1,\"lat\":1}", 1, "'lon' is 180.1, which is not on Earth: degrees go to 180"),
    ("{\"lon\":1,\"lat\":-91}", 1, "'lat' is -91.0, which is not on Earth: degrees go to 90"),
    ("{\"lon\":1e308,\"lat\":1}", 1, "'lon' is 1e+308, which is not on Earth"),
    ("{\"lon\":1e999,\"lat\":1}", 1, "'lon' is beyond all numbers"),
    ("{\"lon\":\"1\",\"lat\":1}", 1, "'lon' is a text, not a number"),
    ("{\"lon\":1,\"lat\":1,\"time\":\"noon\"}", 1, "'time' is 'noon', not a time like"),
    ("{\"lon\":1,\"lat\":1,\"time\":1e18}", 1, "'time' is not a time in Unix seconds"),
    ("{\"lon\":1,\"lat\":1,\"course\":361}", 1, "'course' is 361.0, not from 0 to 360 degrees"),
    ("{\"lon\":1,\"lat\":1,\"device\":[]}", 1, "'device' is an array, not a text"),
    ("{\"type\":\"Feature\",\"geometry\":{\"type\":\"Polygon\"}}", 1, "the feature is no point"),
    ("{\"lon\":" + String(repeating: "[", count: 100), 1, "not JSON at byte"),
    ("{\"class\":\"TPV\",\"mode\":3,\"lat\":1}", 1, "the TPV report has a fix but no lon"),
    ("$GPGGA,1*00", 1, "the checksum is 00, but that of the sentence is 4B"),
  ]

  @Test(arguments: bad)
  func `a bad line is an error with its number, unless it is skipped`(
    text: String, line: Int, message: String
  ) async throws {
    let good = "\n{\"lon\":3,\"lat\":4}\n"
    guard line > 0 else { return #expect(try await read(text).0.isEmpty) }
    let (before, failure) = try await read(text + good)
    #expect(before.count == line - 1)
    #expect(failure?.code == .invalidData)
    #expect(failure?.position?.line == line)
    #expect(failure?.message.hasPrefix(message) == true, "\(failure?.message ?? "")")
    #expect(failure?.advice == .skipLines)

    let folder = try TemporaryFolder()
    var options = LineSource.Options()
    options.skipsErrors = true
    let isJSON = !text.hasPrefix("$") && !text.contains("class")
    options.format = isJSON ? .json : nil
    let path = try folder.write(text + good, to: "fixes").path
    let source = LineSource(path: path, options: options)
    let (updates, none) = await Self.read(source)
    #expect(none == nil || !isJSON)
    #expect(!isJSON || updates.last == .fix(Fix(longitude: 3, latitude: 4)))
    #expect(source.report.current.skipped.count >= 1)
    #expect(source.report.current.skipped.listed.first?.position?.line == line)
  }

  @Test func `bad lines are all counted and the first thousand listed`() async throws {
    var options = LineSource.Options()
    options.skipsErrors = true
    options.format = .nmea
    let folder = try TemporaryFolder()
    let lines = (0..<3000).map { "line \($0)" } + ["$GPGLL,4807.038,N,01131,E,101010,A*37"]
    let path = try folder.write(lines.joined(separator: "\n"), to: "fixes").path
    let source = LineSource(path: path, options: options)
    let (updates, failure) = await Self.read(source)
    #expect(failure == nil)
    #expect(updates.count == 1)
    #expect(source.report.current.skipped.count == 3000)
    #expect(source.report.current.skipped.listed.last?.position?.line == 1000)
    #expect(source.report.current.skipped.listed.count == 1000)
  }

  @Test func `a line beyond the limit is an error and the next is read`() async throws {
    var options = LineSource.Options()
    options.lineLimit = 100_000
    options.skipsErrors = true
    let folder = try TemporaryFolder()
    let long = "{\"lon\":1,\"lat\":2,\"x\":\"" + String(repeating: "x", count: 1_000_000) + "\"}"
    let text = "{\"lon\":1,\"lat\":2}\n\(long)\n{\"lon\":3,\"lat\":4}\n\(long)"
    let source = LineSource(path: try folder.write(text, to: "fixes").path, options: options)
    let (updates, failure) = await Self.read(source)
    #expect(failure == nil)
    #expect(
      updates == [.fix(Fix(longitude: 1, latitude: 2)), .fix(Fix(longitude: 3, latitude: 4))])
    let reason = "the line is longer than 100000 bytes and no fix"
    #expect(source.report.current.skipped.listed.map(\.reason) == [reason, reason])
    #expect(source.report.current.skipped.listed.map(\.position?.line) == [2, 4])
  }

  @Test func `a line nested to its limit is an error`() async throws {
    let (updates, failure) = try await read(
      "{\"lon\":1,\"lat\":2}\n{\"lon\":" + String(repeating: "[", count: 1_000_000))
    #expect(updates.count == 1)
    #expect(failure?.code == .invalidData)
    #expect(failure?.position?.line == 2)
  }

  @Test func `a batch is no more than 1,024 lines`() async throws {
    let folder = try TemporaryFolder()
    let text = String(repeating: "{\"lon\":1,\"lat\":2}\n", count: 3000)
    let source = LineSource(path: try folder.write(text, to: "fixes").path)
    var counts: [Int] = []
    for try await batch in source.updates() { counts.append(batch.count) }
    #expect(counts.reduce(0, +) == 3000)
    #expect(counts.max() == 1024)
  }
}
