import FieldpackGeometry
import Testing

@testable import FieldpackMaps

@Suite struct BrailleMapTests {
  private let square = Envelope(minX: 0, minY: 0, maxX: 10, maxY: 10)

  @Test func `dots fill their cells`() {
    var canvas = BrailleCanvas(columns: 2, rows: 1)
    for (x, y) in [(0, 0), (0, 3), (1, 1), (3, 3), (4, 0), (0, 4), (-1, 0)] {
      canvas.set(x: x, y: y)
    }
    #expect(canvas.lines() == ["\u{2851}\u{2880}"])
    #expect(canvas.lines(usesUnicode: false) == ["-."])
  }

  @Test func `a map has its shapes, a box and the corners`() {
    var map = BrailleMap(square, isGeographic: false, width: 22, maxRows: 6)
    map.draw(.polygon([[(0, 0), (10, 0), (10, 10), (0, 10), (0, 0)].map { MapPoint($0.0, $0.1) }]))
    map.draw(.line([MapPoint(-100, -100), MapPoint(100, 100)]))
    map.draw(.point(MapPoint(2.5, 7.5)))
    map.draw(.point(MapPoint(11.5, 5)))
    map.draw(.point(MapPoint(.nan, 5)))
    map.draw(.line([MapPoint(.infinity, 5), MapPoint(5, 5)]))
    #expect(
      map.lines == [
        "0.00 10.00  10.00 10.00", "┌────────────┐", "│⡏⠉⠉⠉⠉⠉⠉⠉⠉⠉⡩⢻│", "│⡇  ⠄    ⡠⠊ ⢸│",
        "│⡇     ⡠⠊   ⢸│", "│⡇   ⡠⠊     ⢸│", "│⡇ ⡠⠊       ⢸│", "│⣧⣊⣀⣀⣀⣀⣀⣀⣀⣀⣀⣸│", "└────────────┘",
        "0.00 0.00  10.00 0.00",
      ])
  }

  @Test(arguments: [
    Envelope(minX: 7, minY: 46, maxX: 7, maxY: 46), Envelope.empty,
    Envelope(minX: 1e308, minY: -1e308, maxX: 1e308, maxY: 1e308),
    Envelope(minX: .nan, minY: 0, maxX: 1, maxY: 1),
    Envelope(minX: 0, minY: 0, maxX: 0, maxY: 1e9),
    Envelope(minX: 3e7, minY: 0, maxX: 3e7, maxY: 0),
    Envelope(minX: -180, minY: -90, maxX: 180, maxY: 90),
  ])
  func `any envelope makes a map within its bounds`(envelope: Envelope) {
    var map = BrailleMap(envelope, isGeographic: true, width: 40, maxRows: 10)
    map.draw(.point(MapPoint(envelope.minX, envelope.minY)))
    map.draw(.line([MapPoint(envelope.minX, envelope.minY), MapPoint(1e300, -1e300)]))
    #expect(map.lines.count <= 14)
    #expect(map.lines.dropFirst().dropLast().allSatisfy { $0.count <= 40 })
  }
}
