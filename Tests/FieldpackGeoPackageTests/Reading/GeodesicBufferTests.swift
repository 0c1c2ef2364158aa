import FieldpackGeometry
import FieldpackProjection
import FieldpackTopology
import Foundation
import Testing

@testable import FieldpackGeoPackage

/// Buffers in metres around geometries in longitude and latitude.
@Suite struct GeodesicBufferTests {
  private func buffer(
    _ wkt: String, _ metres: Double, isMitred: Bool = false
  ) throws -> Geometry {
    let style = BufferStyle(quadrantSegments: 16, join: isMitred ? .mitre : .round)
    return try GeodesicBuffer(
      metres: metres, style: style, on: .wgs84, in: TopologyContext()
    ).buffer(of: WKT.read(wkt))
  }

  /// The least and the greatest distance of the buffer's positions from the geometry, as a share of
  /// the distance wanted. Positions at the antimeridian and at a pole are cuts.
  private func reach(_ buffer: Geometry, of wkt: String, _ metres: Double) throws -> [Double] {
    let shape = try GeodesicShape(WKT.read(wkt))
    let distances = try buffer.polygons.flatMap { $0 }.flatMap { Array($0) }
      .filter { abs($0.x) < 179.999_999 && abs($0.y) < 90 }
      .compactMap { position in
        try GeodesicShape(.point(position, .xy)).distance(to: shape)
      }
    return [(distances.min() ?? 0) / metres, (distances.max() ?? 0) / metres]
  }

  @Test(arguments: [
    ("POINT (13.4 52.5)", 250.0), ("POINT (25 78)", 900_000), ("POINT (0 0)", 1),
    ("LINESTRING (7 47,7.4 47.1,7.2 47.3)", 500),
    // Piece by piece.
    ("LINESTRING (5 60,12 60,12 62)", 5_000), ("LINESTRING (-2 -5,3 2)", 20_000),
    ("LINESTRING (10 89.5,170 89.5)", 2_000),
    ("POLYGON ((7 47,8 47,8 48,7 48,7 47),(7.2 47.2,7.8 47.2,7.8 47.8,7.2 47.8,7.2 47.2))", 1_000),
    ("POLYGON ((0 40,8 40,8 44,0 44,0 40))", 30_000),
    ("MULTIPOINT ((1 1),(2 1),(120 -40))", 10_000),
    ("GEOMETRYCOLLECTION (POINT (10 50),LINESTRING (10.1 50,10.2 50))", 2_000),
  ])
  func `the border is at the distance`(wkt: String, metres: Double) throws {
    let made = try buffer(wkt, metres)
    #expect(try made.validity() == .valid)
    let reach = try reach(made, of: wkt, metres)
    // Arcs of 16 segments cross a little within the distance, and GEOS leaves out flat corners.
    #expect(reach[0] > 0.99 && reach[1] < 1.003, "\(reach)")
    #expect(try made.has(.covers, to: WKT.read(wkt)) == true)
  }

  @Test func `a circle has the area of its segments`() throws {
    let made = try buffer("POINT (11 60)", 10_000)
    let segments = 64.0
    let area = segments / 2 * sin(2 * .pi / segments) * 1e8
    #expect(abs(try made.geodesicArea() / area - 1) < 1e-4)
    #expect(made.polygons.map { $0.map(\.count) } == [[65]])
  }

  @Test(
    arguments: ["POLYGON ((7 47,8 47,8 48,7 48,7 47))", "POLYGON ((0 40,8 40,8 44,0 44,0 40))"])
  func `a negative distance shrinks`(wkt: String) throws {
    let area = try WKT.read(wkt)
    let made = try buffer(wkt, -5_000)
    #expect(try made.validity() == .valid)
    #expect(try made.has(.within, to: area) == true)
    let border = WKT.text(of: try area.boundary())
    let reach = try reach(made, of: border, 5_000)
    #expect(reach[0] > 0.99 && reach[1] < 1.003, "\(reach)")
    let rest = try buffer(wkt, -400_000)
    #expect(rest == .multiPolygon([], .xy), "\(WKT.text(of: rest))")
    #expect(try buffer("LINESTRING (0 0,40 0)", -1) == .multiPolygon([], .xy))
  }

  @Test func `mitred corners are pointed`() throws {
    for wkt in [
      "POLYGON ((7 47,7.1 47,7.1 47.1,7 47.1,7 47))", "POLYGON ((0 -2,4 -2,4 2,0 2,0 -2))",
    ] {
      let reach = try reach(try buffer(wkt, 1_000, isMitred: true), of: wkt, 1_000)
      #expect(abs(reach[1] - 2.0.squareRoot()) < 0.01, "\(reach)")
    }
  }

  @Test(arguments: ["POINT (179.99 -17)", "POINT (-180 0)", "LINESTRING (175 60,185 60)"])
  func `a buffer across the antimeridian is cut there`(wkt: String) throws {
    let made = try buffer(wkt, 10_000)
    #expect(try made.validity() == .valid)
    let box = try #require(made.envelope)
    #expect(box.minX == -180 && box.maxX == 180)
    #expect(made.polygons.count == 2)
    let reach = try reach(made, of: wkt, 10_000)
    #expect(reach[0] > 0.99 && reach[1] < 1.003, "\(reach)")
  }

  @Test(arguments: [1.0, -1])
  func `a buffer around a pole reaches to it`(side: Double) throws {
    let wkt = "POINT (30 \(side * 89.9))"
    let made = try buffer(wkt, 50_000)
    #expect(try made.validity() == .valid)
    let box = try #require(made.envelope)
    #expect([box.minX, box.maxX] == [-180, 180])
    #expect((side > 0 ? box.maxY : box.minY) == side * 90)
    let circle = Double.pi * 50_000 * 50_000
    #expect(abs(try made.geodesicArea() / circle - 1) < 0.01)
    let reach = try reach(made, of: wkt, 50_000)
    #expect(reach[0] > 0.99 && reach[1] < 1.003, "\(reach)")
  }

  @Test func `what cannot be buffered is named`() throws {
    for (wkt, metres) in [("POINT (0 0)", 1_000_001.0), ("POINT (400000 5000000)", 10)] {
      #expect(throws: TopologyError.self) { try buffer(wkt, metres) }
    }
    #expect(try buffer("POINT EMPTY", 10) == .multiPolygon([], .xy))
    #expect(try buffer("LINESTRING EMPTY", 10) == .multiPolygon([], .xy))
  }
}
