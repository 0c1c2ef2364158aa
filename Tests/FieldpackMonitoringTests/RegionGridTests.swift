import FieldpackCore
import FieldpackGeometry
import FieldpackMonitoring
import FieldpackTestSupport
import Foundation
import Testing

/// Positions find the regions that hold them wherever these lie close together or far apart.
@Suite struct RegionGridTests {
  private func region(_ id: Int, _ box: Envelope) -> WatchedRegion {
    let corners = [
      (box.minX, box.minY), (box.maxX, box.minY), (box.maxX, box.maxY), (box.minX, box.maxY),
      (box.minX, box.minY),
    ]
    let ring = corners.map { Position(x: $0.0, y: $0.1) }
    return WatchedRegion(
      id: .integer(Int64(id)),
      geometry: .polygon([CoordinateSequence(ring, dimensions: .xy)], .xy))
  }

  private func expect(_ boxes: [Envelope], holding positions: [Position]) throws {
    let watched = try WatchedRegions(boxes.enumerated().map { region($0.offset, $0.element) })
    for position in positions {
      let expected = boxes.indices.filter { index in
        let box = boxes[index]
        if abs(position.y) == 90 { return box.minY == position.y || box.maxY == position.y }
        return position.y >= box.minY && position.y <= box.maxY
          && [-360.0, 0, 360].contains {
            position.x + $0 >= box.minX && position.x + $0 <= box.maxX
          }
      }
      #expect(watched.ids(holding: position) == expected.map { .integer(Int64($0)) }, "\(position)")
    }
  }

  /// Half of the boxes in one place, more than a cell takes.
  private func boxes(
    _ count: Int, _ sizes: ClosedRange<Double>, _ random: inout FilterGenerator.SplitMix
  ) -> [Envelope] {
    (0..<count).map { number in
      let spread = number % 2 == 0 ? 180.0 : 0.01
      let x = Double.random(in: -spread...spread, using: &random)
      let y = Double.random(in: -spread / 2...spread / 2, using: &random)
      let (wide, high) = (
        pow(10, Double.random(in: sizes, using: &random)),
        pow(10, Double.random(in: sizes, using: &random))
      )
      return Envelope(
        minX: x, minY: max(-90, y - high), maxX: min(x + wide, 359), maxY: min(90, y + high))
    }
  }

  @Test(arguments: [(-4.0)...(-2.0), (-3.0)...1.0, 0.0...2.0, (-9.0)...(-7.0)])
  func `regions of all sizes are found, on their borders too`(sizes: ClosedRange<Double>) throws {
    var random = FilterGenerator.SplitMix(state: UInt64(sizes.upperBound + 20))
    let boxes = boxes(300, sizes, &random)
    var positions = boxes.flatMap { box in
      [box.minX, box.minX.nextDown, box.maxX, box.maxX.nextUp].flatMap { x in
        [box.minY, box.maxY].map { y in Position(x: x > 180 ? x - 360 : x, y: y) }
      }
    }
    for _ in 0..<500 {
      positions.append(
        Position(
          x: .random(in: -180...180, using: &random), y: .random(in: -90...90, using: &random)))
      positions.append(
        Position(
          x: .random(in: -0.01...0.01, using: &random),
          y: .random(in: -0.005...0.005, using: &random)))
    }
    positions += [-180.0, 180].flatMap { x in [-90.0, 90, 0].map { Position(x: x, y: $0) } }
    try expect(boxes, holding: positions.filter { abs($0.x) <= 180 && abs($0.y) <= 90 })
  }

  @Test func `a region at a pole is not held just below it`() throws {
    let box = Envelope(minX: 10, minY: 80, maxX: 20, maxY: 90)
    let positions = [90.0, (90.0).nextDown, 89.999_999_9].flatMap { y in
      [15.0, -100].map { Position(x: $0, y: y) }
    }
    try expect([box], holding: positions)
  }

  @Test func `regions in a line, in a point and none are found`() throws {
    let line = (0..<200).map {
      Envelope(minX: Double($0) / 10, minY: 50, maxX: Double($0) / 10 + 0.15, maxY: 50)
    }
    try expect(line, holding: (0..<500).map { Position(x: Double($0) / 20, y: 50) })
    let point = [Envelope](repeating: Envelope(minX: 8, minY: 47, maxX: 8, maxY: 47), count: 40)
    try expect(point, holding: [Position(x: 8, y: 47), Position(x: 8, y: 47.1)])
    try expect([], holding: [Position(x: 8, y: 47)])
  }
}
