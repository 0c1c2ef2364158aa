import FieldpackGeometry
import FieldpackTopology
import Testing

/// Boxes that lie wholly on one side of a geometry, against what GEOS says of the boxes.
@Suite struct SideGridTests {
  private static func ring(_ positions: [(Double, Double)]) -> CoordinateSequence {
    CoordinateSequence(
      dimensions: .xy,
      ordinates: (positions + positions.prefix(1)).flatMap {
        [$0.0, $0.1]
      })
  }

  /// A star around `centre` whose corners lie 1/4 to 1 `radius` away, from a fixed sequence.
  private static func star(
    _ centre: (Double, Double), radius: Double, corners: Int, seed: UInt64
  ) -> CoordinateSequence {
    var state = seed
    // Cosines by rotation: no mathematics library needed.
    let step = 6.283185307179586 / Double(corners)
    let (cosine, sine) = (1 - step * step / 2, step)
    let length = (cosine * cosine + sine * sine).squareRoot()
    var direction = (1.0, 0.0)
    return ring(
      (0..<corners).map { _ in
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        let share = 0.25 + 0.75 * Double(state >> 40) / Double(1 << 24)
        defer {
          direction = (
            (direction.0 * cosine - direction.1 * sine) / length,
            (direction.0 * sine + direction.1 * cosine) / length
          )
        }
        return (
          centre.0 + direction.0 * share * radius, centre.1 + direction.1 * share * radius
        )
      })
  }

  private static let hole = ring([(-1, -1), (1, -1), (1, 1), (-1, 1)])
  private static let frame = ring([(-10, -8), (10, -8), (10, 8), (-10, 8)])

  static let geometries: [(String, Geometry)] = [
    ("star", .polygon([star((0, 0), radius: 10, corners: 60, seed: 7)], .xy)),
    ("frame", .polygon([frame, hole], .xy)),
    ("far from the origin", .polygon([star((4e6, -7e6), radius: 500, corners: 40, seed: 3)], .xy)),
    ("flat", .polygon([ring([(-10, 0), (10, 0), (10, 1e-4), (0, 3e-4), (-10, 1e-4)])], .xy)),
    (
      "two parts",
      .multiPolygon(
        [
          [star((-6, 0), radius: 3, corners: 12, seed: 1)],
          [star((6, 0), radius: 3, corners: 9, seed: 2)],
        ],
        .xy)
    ),
    ("line", .lineString(star((0, 0), radius: 10, corners: 25, seed: 5))),
    (
      "points",
      .multiPoint([Position(x: -10, y: -10), Position(x: 0, y: 0), Position(x: 10, y: 10)], .xy)
    ),
    ("bow tie", .polygon([ring([(-10, -10), (10, 10), (10, -10), (-10, 10)])], .xy)),
  ]

  private static func rectangle(_ box: Envelope) -> Geometry {
    .polygon(
      [
        ring([
          (box.minX, box.minY), (box.maxX, box.minY), (box.maxX, box.maxY), (box.minX, box.maxY),
        ])
      ],
      .xy)
  }

  /// Boxes of many sizes over the geometry and beyond, their edges also on its own ordinates.
  private static func boxes(around envelope: Envelope) -> [Envelope] {
    var boxes: [Envelope] = []
    for size in [0.002, 0.02, 0.3, 1.0] {
      let steps = size < 0.1 ? 31 : 9
      for column in -1...steps {
        for row in -1...steps {
          let x = envelope.minX + envelope.width * Double(column) / Double(steps - 1)
          let y = envelope.minY + envelope.height * Double(row) / Double(steps - 1)
          boxes.append(
            Envelope(
              minX: x, minY: y, maxX: x + envelope.width * size, maxY: y + envelope.height * size))
        }
      }
    }
    return boxes
  }

  @Test(arguments: geometries.indices)
  func `a side that is told is the side on which GEOS finds the box`(index: Int) throws {
    let (name, geometry) = Self.geometries[index]
    let prepared = try PreparedGeometry(geometry, in: TopologyContext())
    let boxes = Self.boxes(around: try #require(prepared.envelope))
    var told = 0
    for box in boxes {
      let shape = WKB.bytes(of: Self.rectangle(box))
      for relation in SpatialRelation.allCases {
        guard let decision = prepared.decision(on: relation, within: box) else { continue }
        told += 1
        #expect(
          try prepared.test(relation, of: shape.span.bytes) == decision,
          "\(name): \(relation) of \(box)")
      }
    }
    // What is not valid, and what is too flat, is decided by envelopes alone.
    #expect(
      told > SpatialRelation.allCases.count * boxes.count / (index == 7 ? 20 : 5), "\(name)")
  }

  // The last is not valid, and GEOS throws.
  @Test(arguments: geometries.indices.dropLast())
  func `positions on a side answer as GEOS does`(index: Int) throws {
    let (name, geometry) = Self.geometries[index]
    let context = try TopologyContext()
    let (fresh, used) = (
      try PreparedGeometry(geometry, in: context), try PreparedGeometry(geometry, in: context)
    )
    let boxes = Self.boxes(around: try #require(used.envelope))
    // Makes its raster.
    for box in boxes { _ = used.decision(on: .intersects, within: box) }
    for box in boxes.prefix(600) {
      let shape = WKB.bytes(of: Self.rectangle(box))
      for relation in SpatialRelation.allCases {
        #expect(
          try used.test(relation, of: shape.span.bytes)
            == fresh.test(relation, of: shape.span.bytes), "\(name): \(relation) of \(box)")
      }
    }
  }

  @Test func `a box on the border, or on a rectangle's, is on no side`() throws {
    let frame = try PreparedGeometry(.polygon([Self.frame, Self.hole], .xy), in: TopologyContext())
    let plain = try PreparedGeometry(.polygon([Self.frame], .xy), in: TopologyContext())
    let onBorder = Envelope(minX: 9, minY: 0, maxX: 10, maxY: 1)
    let onHole = Envelope(minX: 1, minY: 0, maxX: 1.5, maxY: 0.5)
    let inside = Envelope(minX: 3, minY: 3, maxX: 4, maxY: 4)
    let inHole = Envelope(minX: -0.5, minY: -0.5, maxX: 0.5, maxY: 0.5)
    for _ in 0..<40 { _ = frame.decision(on: .within, within: inside) }
    #expect(frame.decision(on: .intersects, within: onBorder) == nil)
    #expect(frame.decision(on: .intersects, within: onHole) == nil)
    #expect(frame.decision(on: .intersects, within: inHole) == false)
    #expect(frame.decision(on: .disjoint, within: inHole) == true)
    #expect(frame.decision(on: .within, within: inside) == true)
    #expect(plain.decision(on: .intersects, within: onBorder) == nil)
    #expect(plain.decision(on: .within, within: inHole) == true)
  }
}
