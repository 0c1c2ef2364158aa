import FieldpackCore
import FieldpackGeometry
import Testing

@testable import FieldpackFormats

@Suite struct TCXDocumentTests {
  private static func document(_ end: String) -> [UInt8] {
    func point(_ seconds: Int) -> String {
      """
      <Trackpoint><Time>1999-12-31T23:59:0\(seconds)Z</Time><Position><LatitudeDegrees>48.1
      </LatitudeDegrees><LongitudeDegrees>11.5</LongitudeDegrees></Position></Trackpoint>\n
      """
    }
    return Array(
      ("<?xml version=\"1.0\"?><TrainingCenterDatabase><Activities><Activity><Lap><Track>\n"
        + point(1) + point(2) + end).utf8)
  }

  /// What comes of a file of which each read gives so many bytes.
  private func outcome(_ bytes: [UInt8], readsOf size: Int) -> String {
    var options = ReadOptions(layer: "log")
    options.skipsErrors = true
    var log = TrackLog(file: "a.tcx", options: options) { kind in
      GPXLayerBuilder(kind: kind, layer: LayerID(kind.name), asked: nil)
    }
    var start = 0
    do throws(FieldpackError) {
      try TCXDocument.parse(&log, file: "a.tcx", isWhole: true) {
        (room) throws(FieldpackError) in
        let piece = bytes[start...].prefix(min(size, room.count))
        room.copyBytes(from: piece)
        start += piece.count
        return piece.count
      } drain: { (_) throws(FieldpackError) in
      }
    } catch {
      return "\(error)"
    }
    return "\(log.count) features, \(log.result.skipped)"
  }

  @Test(arguments: [
    "<Trackpoint", "</Trak>", "<a b='\u{1}'/>", "<a>\u{1}</a>", "&none;", "<a>]]></a>", "<a b=<",
    "<Trackpoint><Time>&#0;</Time>", "<!-- -- -->", "<?xml ?>", "</Track></Lap></Activity>x</Act>",
  ])
  func `where reads end changes nothing where a file breaks off`(end: String) {
    var bytes = Self.document(end)
    for _ in 0..<2 {
      let whole = outcome(bytes, readsOf: .max)
      for size in [1, 2, 7, 61, 4096] { #expect(outcome(bytes, readsOf: size) == whole) }
      // Bytes that are no UTF-8, too.
      bytes += [0xFF, 0xFE, 0x3C]
    }
  }
}
