import FieldpackCore
import FieldpackGeoPackage
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackTiles

/// Files of MBTiles with bytes that are changed or left out.
@Suite struct BrokenMBTilesTests {
  /// The bytes of a file with a tile at each place of three zoom levels.
  private static func whole(in folder: TemporaryFolder) throws -> [UInt8] {
    let path = folder.file("whole.mbtiles").path
    let writer = try MBTilesWriter(path, overwrite: false)
    for zoom in 0...2 {
      for place in 0..<(1 << (2 * zoom)) {
        let address = TileAddress(zoom: zoom, column: place >> zoom, row: place & ((1 << zoom) - 1))
        let bytes = Array("\u{89}PNG \(place)".utf8)
        try writer.put(bytes.span.bytes, at: address)
      }
    }
    _ = try writer.commit(.webMercator("tiles", zooms: 0...2))
    return Array(try Data(contentsOf: folder.file("whole.mbtiles")))
  }

  @Test func `give errors or tiles of the grid`() throws {
    let folder = try TemporaryFolder()
    let whole = try Self.whole(in: folder)
    // Numbers that look random and are the same in every run.
    var state: UInt64 = 20
    func next(_ bound: Int) -> Int {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int(state >> 33) % bound
    }
    var (read, failed) = (0, 0)
    for round in 0..<300 {
      var bytes = whole
      for _ in 0...next(8) { bytes[next(bytes.count)] = UInt8(next(256)) }
      if next(5) == 0 { bytes.removeLast(next(bytes.count)) }
      let path = folder.file("\(round).mbtiles").path
      try Data(bytes).write(to: folder.file("\(round).mbtiles"))
      _ = MBTilesReader.isMBTiles(path)
      do throws(FieldpackError) {
        let reader = try MBTilesReader(path)
        try reader.readAll { (address, _) throws(FieldpackError) in
          let side = 0..<(1 << address.zoom)
          #expect(side.contains(address.column) && side.contains(address.row))
          read += 1
        }
        _ = try? reader.pyramid("tiles", of: path)
      } catch {
        #expect(!error.message.isEmpty)
        failed += 1
      }
    }
    // Both come about.
    #expect(read > 300 && failed > 30)
  }
}
