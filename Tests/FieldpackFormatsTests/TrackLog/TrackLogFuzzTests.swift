import FieldpackCore
import FieldpackFormats
import FieldpackGeometry
import FieldpackTestSupport
import Foundation
import Testing

/// Logs with bytes changed, dropped and repeated at random: read or refused, never a trap, and every
/// point that comes is on Earth.
@Suite struct TrackLogFuzzTests {
  private static let nmea = """
    $GPRMC,235959.123,A,4807.038,N,01131.000,E,022.4,084.4,311299,003.1,W*77
    $GNGGA,235959.123,4807.038,N,01131.000,E,2,08,0.9,545.4,M,46.9,M,3.5,0120
    $GPGSA,A,3,04,05,,09,12,,,24,,,,,2.5,1.3,2.1*39
    $GPGST,235959.123,,,,,3,4,5
    $GPVTG,084.4,T,077.8,M,022.4,N,041.5,K
    $GNGNS,000000,4807.0,N,01131.0,E,AN,05,1.5,10,2,,
    $GPZDA,000001,01,01,2000,00,00
    $GPGLL,4807.0,N,01131.0,W,000002,A
    $HCHDG,350,5,E,10,E
    $GPWPL,4807.0,S,01131.0,W,HOME

    """
  private static let igc = """
    AXXX001
    HFDTEDATE:311299,01
    HFPLTPILOTINCHARGE: A. Pilot
    I073636LAD3737LOD3839TDS4042ENL4345SIU4648TRT4951GSP
    B2359594807038N01131000EA00123004567525007012090abc
    B0000014807038S01131000WV-0023000000000000001360045

    """
  private static let tcx = """
    <?xml version="1.0"?><TrainingCenterDatabase><Activities><Activity Sport="Running"><Lap><Track>
    <Trackpoint><Time>1999-12-31T23:59:59Z</Time><Position><LatitudeDegrees>48.1</LatitudeDegrees>
    <LongitudeDegrees>11.5</LongitudeDegrees></Position><AltitudeMeters>5</AltitudeMeters>
    <HeartRateBpm><Value>100</Value></HeartRateBpm></Trackpoint></Track></Lap></Activity>
    </Activities></TrainingCenterDatabase>
    """

  @Test(arguments: TrackLogReader.Kind.allCases)
  func `damaged logs are read or refused`(kind: TrackLogReader.Kind) throws {
    let folder = try TemporaryFolder()
    let file = folder.file("log")
    let text =
      switch kind {
      case .nmea: Self.nmea
      case .igc: Self.igc
      case .tcx: Self.tcx
      }
    var random = FilterGenerator.SplitMix(state: 20_240_501)
    for _ in 0..<60 {
      var bytes = Array(text.utf8)
      for _ in 0..<Int.random(in: 1...6, using: &random) { damage(&bytes, &random) }
      try Data(bytes).write(to: file)
      var options = ReadOptions(layer: "log")
      options.skipsErrors = true
      let reader = TrackLogReader(
        try ByteInput(path: file.path), kind: kind, options: options)
      do {
        let reading = try GPXReading(reader)
        for (layer, box) in reading.collector.envelopes where layer != "tracks" {
          #expect(box.minX >= -180 && box.maxX <= 180 && box.minY >= -90 && box.maxY <= 90)
        }
      } catch let error as FieldpackError {
        #expect([.invalidData, .unsupported].contains(error.code), "\(error)")
        #expect(error.position?.file == file.path)
      }
    }
  }

  private func damage(_ bytes: inout [UInt8], _ random: inout FilterGenerator.SplitMix) {
    guard !bytes.isEmpty else { return }
    let index = Int.random(in: bytes.indices, using: &random)
    switch Int.random(in: 0..<5, using: &random) {
    case 0: bytes[index] = UInt8.random(in: 0...255, using: &random)
    case 1:
      bytes[index] =
        Array("0123456789-.,*$NSEWAV\n").map { $0.asciiValue ?? 0 }
        .randomElement(using: &random) ?? 0
    case 2: bytes.remove(at: index)
    case 3: bytes.insert(contentsOf: repeatElement(bytes[index], count: 12), at: index)
    default: bytes.removeSubrange(index..<min(bytes.count, index + 20))
    }
  }
}
