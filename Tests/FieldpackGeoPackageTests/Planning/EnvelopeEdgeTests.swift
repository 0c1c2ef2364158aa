import FieldpackCore
import FieldpackGeometry
import FieldpackProjection
import FieldpackTestSupport
import Testing

@testable import FieldpackGeoPackage

/// Boxes whose edges lie within a rounding of the R-tree's floats from a geometry.
@Suite struct EnvelopeEdgeTests {
  /// A position on each side of `edge` by one step of a double and of a float, and on it.
  private static func around(_ edge: Double) -> [Double] {
    let float = Float(edge)
    return [
      edge, edge.nextUp, edge.nextDown, Double(float), Double(float.nextUp),
      Double(float.nextDown), Double(float.nextUp.nextUp), Double(float.nextDown.nextDown),
    ].filter(\.isFinite)
  }

  /// Points and small boxes on and beside the corners of a box.
  private static func geometries(around box: Envelope) -> [Geometry] {
    var found: [Geometry] = []
    for x in around(box.minX) + around(box.maxX) {
      for y in [box.minY, box.maxY, box.minY.nextDown, box.maxY.nextUp] {
        found.append(.point(x: x, y: y))
      }
      found.append(rectangle(min(x, box.maxX), box.minY, max(x, box.maxX), box.maxY))
      found.append(rectangle(min(x, box.minX), box.minY, max(x, box.minX), box.maxY))
    }
    for y in around(box.minY) + around(box.maxY) {
      found.append(rectangle(box.minX, min(y, box.maxY), box.maxX, max(y, box.maxY)))
      found.append(rectangle(box.minX, min(y, box.minY), box.maxX, max(y, box.minY)))
    }
    return found
  }

  private static func rectangle(
    _ west: Double, _ south: Double, _ east: Double, _ north: Double
  ) -> Geometry {
    line(west, south, east, north, west, north)
  }

  static let boxes = [
    Envelope(minX: 13.1, minY: 52.3, maxX: 13.7, maxY: 52.6),
    Envelope(minX: -72.123456789, minY: -18.7, maxX: -72.1, maxY: -18.4),
    Envelope(minX: -0.1, minY: -1e-3, maxX: 0.1, maxY: 1e-3),
    Envelope(minX: 2_504_688.123, minY: -6_887_893.1, maxX: 2_504_689.1, maxY: 6_887_893.9),
    Envelope(minX: -1e300, minY: -1e39, maxX: 1e300, maxY: 1e39),
    Envelope(minX: 3e38, minY: 3.4e38, maxX: 1e39, maxY: 5e38),
    Envelope(minX: -0x1p-1040, minY: 0x1p-1070, maxX: 0x1p-1040, maxY: 1e-300),
    Envelope(minX: 1e-45, minY: -1e-40, maxX: 3e-45, maxY: 1e-38),
    Envelope(minX: 0, minY: 0, maxX: 0, maxY: 0),
    Envelope(minX: 16_777_217, minY: -16_777_217, maxX: 16_777_219, maxY: -16_777_217),
  ]

  @Test(arguments: boxes.indices, [true, false])
  func `decides each relation as exactly as in memory`(index: Int, isIndexed: Bool) async throws {
    let box = Self.boxes[index]
    let package = try TestPackage()
    let layer = Schema(
      layer: "edges", geometry: GeometryColumn(srs: .undefinedCartesian), columns: [])
    try await package.withStore { store in
      try await store.write { (writer) throws(FieldpackError) in
        try writer.createLayer(layer)
        for geometry in Self.geometries(around: box) {
          try writer.create(Feature(geometry: geometry), in: "edges")
        }
      }
    }
    if !isIndexed { try package.dropIndex("edges") }
    #expect(try package.faults() == [])
    try await package.withStore { store in
      for relation in EnvelopeRelation.allCases {
        for filter in [Filter.envelope(relation, box), .not(.envelope(relation, box))] {
          let expected = try await store.evaluatedIDs("edges", filter)
          let query = Query("edges", where: filter)
          #expect(try await store.ids(query) == expected, "\(filter)")
          #expect(try await store.count(query) == expected.count, "\(filter)")
          let twice = Query("edges", where: .and([filter, filter, .not(.isNull(.column("geom")))]))
          #expect(try await store.ids(twice) == expected, "\(filter)")
        }
      }
    }
  }

  private func points(
    _ positions: [(Double, Double)], in srs: SRS
  ) async throws -> TestPackage {
    let package = try TestPackage()
    try await package.withStore { store in
      try await store.write { (writer) throws(FieldpackError) in
        try writer.createLayer(
          Schema(layer: "points", geometry: GeometryColumn(type: .point, srs: srs)))
        for (x, y) in positions {
          try writer.create(Feature(geometry: .point(x: x, y: y)), in: "points")
        }
        try writer.create(Feature(), in: "points")
      }
    }
    return package
  }

  static let pacific: [(Double, Double)] = [
    (179.5, -17), (-179.5, -17), (180, -17), (-180, -17), (0, -17), (178, -17), (179.5, 10),
  ]

  @Test(arguments: [true, false])
  func `crosses the antimeridian where west lies beyond east`(isIndexed: Bool) async throws {
    let package = try await points(Self.pacific, in: .wgs84)
    if !isIndexed { try package.dropIndex("points") }
    let box = Envelope(minX: 179, minY: -20, maxX: -179, maxY: -10)
    let expected: [(EnvelopeRelation, [Int64], [Int64])] = [
      (.intersects, [1, 2, 3, 4], [5, 6, 7]), (.within, [1, 2, 3, 4], [5, 6, 7]),
      (.contains, [], [1, 2, 3, 4, 5, 6, 7]), (.disjoint, [5, 6, 7], [1, 2, 3, 4]),
    ]
    try await package.withStore { (store) async throws in
      for (relation, inside, outside) in expected {
        for srs in [nil, SRS.wgs84] {
          let filter = Filter.envelope(relation, box, srs: srs)
          #expect(try await store.ids(Query("points", where: filter)) == inside, "\(filter)")
          #expect(try await store.ids(Query("points", where: !filter)) == outside, "\(filter)")
        }
      }
    }
  }

  @Test(arguments: [true, false])
  func `takes boxes and geometries of another SRS`(isIndexed: Bool) async throws {
    let transformation = try TransformationCache().transformation(
      from: SRSReference(.wgs84), to: SRSReference(SRS("EPSG", 3857)))
    var moved: [(Double, Double)] = []
    for (x, y) in Self.pacific {
      guard case .point(let position?, _) = try transformation.transform(.point(x: x, y: y))
      else { continue }
      moved.append((position.x, position.y))
    }
    let package = try await points(moved, in: SRS("EPSG", 3857))
    if !isIndexed { try package.dropIndex("points") }
    try await package.withStore { (store) async throws in
      let crossing = Envelope(minX: 177, minY: -20, maxX: -179, maxY: -10)
      let near = Filter.intersects(crossing, srs: .wgs84)
      #expect(try await store.ids(Query("points", where: near)) == [1, 2, 3, 4, 6])
      let square = polygon(177, -18, 179.9, -18, 179.9, -16, 177, -16, 177, -18)
      let inside = Filter.relation(.within, square, srs: .wgs84)
      #expect(try await store.ids(Query("points", where: inside)) == [1, 6])
      #expect(try await store.ids(Query("points", where: !inside)) == [2, 3, 4, 5, 7])
    }
  }
}
