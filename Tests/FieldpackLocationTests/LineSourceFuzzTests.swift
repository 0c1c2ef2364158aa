import FieldpackCore
import FieldpackLocation
import FieldpackTestSupport
import Foundation
import Testing

/// Lines with bytes changed at random between good ones.
@Suite struct LineSourceFuzzTests {
  private static let json = [
    "{\"lon\":13.4,\"lat\":52.5,\"time\":\"2024-05-01T10:00:00Z\",\"accuracy\":5,\"device\":\"a\"}",
    "{\"type\":\"Feature\",\"geometry\":{\"type\":\"Point\",\"coordinates\":[13.5,52.6,40]}}",
    "{\"class\":\"TPV\",\"mode\":3,\"lat\":52.5,\"lon\":13.4,\"epx\":3,\"epy\":4,\"track\":90.5}",
    "{\"heading\":12.5,\"heading_accuracy\":3}",
  ]
  private static let nmea = [
    "$GPRMC,235959.123,A,4807.038,N,01131.000,E,022.4,084.4,311299,003.1,W*77",
    "$GNGGA,235959.123,4807.038,N,01131.000,E,2,08,0.9,545.4,M,46.9,M,3.5,0120",
    "$GPZDA,000001,01,01,2000,00,00", "$HCHDG,350,5,E,10,E",
  ]

  private func damaged(_ line: String, _ random: inout FilterGenerator.SplitMix) -> [UInt8] {
    var bytes = Array(line.utf8)
    for _ in 0..<Int.random(in: 1...4, using: &random) where !bytes.isEmpty {
      let index = Int.random(in: bytes.indices, using: &random)
      switch Int.random(in: 0..<4, using: &random) {
      case 0: bytes[index] = UInt8.random(in: 0...255, using: &random)
      case 1: bytes.remove(at: index)
      case 2: bytes.insert(contentsOf: repeatElement(bytes[index], count: 9), at: index)
      default: bytes.removeSubrange(index...)
      }
    }
    return bytes
  }

  private func read(
    _ bytes: [UInt8], _ format: LineSource.Format
  ) async throws -> (updates: [LocationUpdate], skipped: Int) {
    let folder = try TemporaryFolder()
    try Data(bytes).write(to: folder.file("lines"))
    var options = LineSource.Options()
    options.skipsErrors = true
    options.format = format
    let source = LineSource(path: folder.file("lines").path, options: options)
    let (updates, failure) = await LineSourceTests.read(source)
    #expect(failure == nil)
    return (updates, source.report.current.skipped.count)
  }

  @Test(arguments: LineSource.Format.allCases)
  func `good lines are read whatever is between them`(format: LineSource.Format) async throws {
    var random = FilterGenerator.SplitMix(state: 20_240_502)
    let good =
      switch format {
      case .json: "{\"lon\":1,\"lat\":2}\n"
      case .gpsd: "{\"class\":\"TPV\",\"mode\":2,\"lon\":1,\"lat\":2}\n"
      case .nmea: "$GPGLL,0200.0,N,00100.0,E\n"
      }
    let marker = Fix(longitude: 1, latitude: 2)
    let lines = format == .nmea ? Self.nmea : Self.json
    var bytes = Array(good.utf8)
    for round in 0..<400 {
      bytes += damaged(lines[round % lines.count], &random)
      bytes += Array("\n\(good)".utf8)
    }
    let (updates, skipped) = try await read(bytes, format)
    #expect(skipped > 0)
    var markers = 0
    for update in updates {
      guard case .fix(let fix) = update else { continue }
      if !fix.isOnEarth { Issue.record("\(fix) is not on Earth") }
      if fix.longitude == marker.longitude, fix.latitude == marker.latitude { markers += 1 }
    }
    // A sentence without a time joins the moment before it, where that has no position of its own.
    #expect(format == .nmea ? markers > 0 : markers == 401)
  }
}
