import FieldpackCore
import FieldpackTestSupport
import Testing

@testable import FieldpackNMEA

@Suite struct NMEADecoderTests {
  /// A sentence with its checksum.
  static func sentence(_ body: String) -> String {
    let sum = String(body.utf8.reduce(0, ^), radix: 16, uppercase: true)
    return "$\(body)*\(sum.count < 2 ? "0" : "")\(sum)"
  }

  private func decode(
    _ bodies: [String], completesEarly: Bool = false
  ) throws -> [NMEAEvent] {
    var decoder = NMEADecoder(completesEarly: completesEarly)
    for body in bodies { try take(Self.sentence(body), &decoder) }
    decoder.finish()
    return decoder.events
  }

  private func take(_ line: String, _ decoder: inout NMEADecoder) throws(FieldpackError) {
    var line = line
    let result = line.withUTF8 { bytes in
      Result { () throws(FieldpackError) in try decoder.take(bytes) }
    }
    try result.get()
  }

  private func fixes(_ bodies: [String]) throws -> [NMEAFix] {
    try decode(bodies).compactMap { if case .fix(let fix) = $0 { fix } else { nil } }
  }

  @Test func `the sentences of a moment make one fix`() throws {
    let fixes = try fixes([
      "GPGGA,123519.50,4807.038,N,01131.000,E,2,08,0.9,545.4,M,46.9,M,3.5,0120",
      "GNGSA,A,3,04,05,,09,12,,,24,,,,,2.5,1.3,2.1",
      "GPRMC,123519.50,A,4807.038,N,01131.000,E,022.4,084.4,230394,003.1,W",
      "GPVTG,084.4,T,077.8,M,022.4,N,041.5,K",
      "GPGST,123519.50,,,,,3,4,5",
      "GPGLL,4807.038,N,01131.000,E,123519.50,A",
    ])
    var expected = NMEAFix(longitude: 11 + 31.0 / 60, latitude: 48.1173)
    expected.elevation = 545.4
    expected.geoidHeight = 46.9
    expected.time = Instant("1994-03-23T12:35:19.5Z")
    expected.timeOfDay = 45_319_500
    expected.fix = "dgps"
    expected.quality = 2
    expected.satellites = 8
    (expected.hdop, expected.vdop, expected.pdop) = (0.9, 2.1, 2.5)
    (expected.ageOfCorrection, expected.station) = (3.5, 120)
    expected.speed = 22.4 * (1852.0 / 3600)
    expected.course = 84.4
    expected.accuracy = 5
    #expect(fixes == [expected])
  }

  @Test func `a fix without a date takes it from the last one, past midnight`() throws {
    let fixes = try fixes([
      "GPGGA,235957,4807.0,N,01131.0,W,1,08,0.9,1,M,2,M,,",
      "GPRMC,235958,A,4807.0,S,01131.0,E,0,360,311299,,",
      "GPGGA,235959,4807.0,N,01131.0,W,1,08,0.9,1,M,2,M,,",
      "GPGGA,000000,4807.0,N,01131.0,W,1,08,0.9,1,M,2,M,,",
      "GPGGA,235959.5,4807.0,N,01131.0,W,1,08,0.9,1,M,2,M,,",
      "GPGGA,000001,4807.0,N,01131.0,W,1,08,0.9,1,M,2,M,,",
      "GPZDA,000002,02,01,2080,00,00",
      "GPGLL,4807.0,N,01131.0,W,000003,A",
    ])
    #expect(
      fixes.map { $0.time?.description } == [
        nil, "1999-12-31T23:59:58.000Z", "1999-12-31T23:59:59.000Z", "2000-01-01T00:00:00.000Z",
        "1999-12-31T23:59:59.500Z", "2000-01-01T00:00:01.000Z", "2080-01-02T00:00:03.000Z",
      ])
    #expect(fixes[1].course == 0)
  }

  @Test func `a moment without a position gives no fix`() throws {
    let fixes = try fixes([
      "GPGGA,1,,,,,0,00,99.9,,,,,,".replacing(",1,", with: ",000001,"),
      "GPRMC,000001,V,4807.0,N,01131.0,E,0,0,010100,,",
      "GPGLL,4807.0,N,01131.0,E,000002,V",
      "GNGNS,000003,4807.0,N,01131.0,E,NN,00,99,1,2,,",
      "GPRMC,000004,A,4807.0,N,01131.0,E,0,0,010100,,,N",
      "GPRMC,000005,A,,,,,0,0,010100,,",
      "GNGNS,000006,4807.0,N,01131.0,E,AN,05,1.5,10,2,,",
    ])
    #expect(fixes.map(\.time) == [Instant("2000-01-01T00:00:06Z")])
    #expect(fixes.first?.satellites == 5)
  }

  @Test func `headings are from true north`() throws {
    let events = try decode([
      "HEHDT,274.07,T", "GPTHS,10.5,A", "GPTHS,10.5,V", "HCHDG,100,,,,", "HCHDG,350,5,E,10,E",
      "GPRMC,000001,V,,,,,,,,3,W", "HCHDG,1,,,,",
    ])
    #expect(
      events == [
        .heading(degrees: 274.07), .heading(degrees: 10.5), .heading(degrees: 5),
        .heading(degrees: 358),
      ])
  }

  @Test func `a cycle that repeats completes with its last sentence`() throws {
    var decoder = NMEADecoder(completesEarly: true)
    var counts: [Int] = []
    for second in 1...5 {
      for body in [
        "GPRMC,00000\(second),A,4807.0,N,01131.0,E,0,0,010100,,",
        "GPGGA,00000\(second),4807.0,N,01131.0,E,1,08,0.9,1,M,2,M,,",
      ] {
        try take(Self.sentence(body), &decoder)
        counts.append(decoder.events.count)
      }
    }
    decoder.finish()
    #expect(counts == [0, 0, 1, 1, 2, 3, 3, 4, 4, 5])
    #expect(decoder.events.count == 5)
  }

  static let bad: [(String, String)] = [
    ("hello", "not an NMEA sentence: it does not begin with '$'"),
    ("$GPGGA,é", "an NMEA sentence is printable ASCII only"),
    ("$GPGGA*4", "the checksum '4' is not two hexadecimal digits"),
    ("$GPGGA*00", "the checksum is 00, but that of the sentence is 56"),
    ("$GPGGA,1", "the sentence GPGGA is cut: 2 of at least 10 fields are there"),
    ("$GPGLL,9100.0,N,00000.0,E", "field 1 of GPGLL is '9100.0' and not degrees up to 90"),
    ("$GPGLL,9000.1,N,00000.0,E", "field 1 of GPGLL is '9000.1' and not degrees up to 90"),
    ("$GPGLL,0000.0,N,18000.1,E", "field 3 of GPGLL is '18000.1' and not degrees up to 180"),
    ("$GPGLL,0060.0,N,00000.0,E", "field 1 of GPGLL is '0060.0' and not degrees with minutes"),
    ("$GPGLL,1e308,N,00000.0,E", "field 1 of GPGLL is '1e308' and not degrees and minutes"),
    ("$GPGLL,nan,N,00000.0,E", "field 1 of GPGLL is 'nan' and not degrees and minutes"),
    ("$GPGLL,4807.0,X,00000.0,E", "field 2 of GPGLL is 'X' and not N or S"),
    ("$GPGLL,4807.0,N,00000.0,", "field 4 of GPGLL is '' and not E or W"),
    ("$GPGLL,4807.0,N,00000.0,E,246060,A", "field 5 of GPGLL is '246060' and not a time hhmmss"),
    ("$GPGLL,4807.0,N,00000.0,E,1234,A", "field 5 of GPGLL is '1234' and not a time hhmmss"),
    (
      "$GPRMC,000001,A,4807.0,N,00000.0,E,1,2,320100",
      "field 9 of GPRMC is '320100' and not a date ddmmyy"
    ),
    (
      "$GPRMC,000001,A,4807.0,N,00000.0,E,1,361,010100",
      "field 8 of GPRMC is '361' and not a bearing from 0 to 360"
    ),
    ("$GPZDA,000001,31,02,2000,,", "2000-2-31 of GPZDA is no date"),
    ("$GPZDA,000001,1,1,9223372036854775807", "9223372036854775807-1-1 of GPZDA is no date"),
  ]

  @Test(arguments: bad)
  func `a bad sentence is an error and the next is read`(line: String, message: String) throws {
    var decoder = NMEADecoder()
    let failure = #expect(throws: FieldpackError.self) { try take(line, &decoder) }
    #expect(failure?.code == .invalidData)
    #expect(failure?.message.hasPrefix(message) == true, "\(failure?.message ?? "")")
    try take("\\s:station*00\\$GPGLL,4807.0,N,01131.0,E", &decoder)
    try take("!AIVDM,1,1,,A,14eG;o@034o8sd<L9i:a;WF>062D,0*7D", &decoder)
    try take("$PGRME,15.0,M,45.0,M,25.0,M", &decoder)
    decoder.finish()
    #expect(decoder.events.count == 1)
  }
}
