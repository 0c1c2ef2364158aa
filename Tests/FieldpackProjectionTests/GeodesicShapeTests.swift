import FieldpackGeometry
import FieldpackProjection
import FieldpackTestSupport
import Testing

@Suite struct GeodesicShapeTests {
  private static func distance(_ a: String, _ b: String) throws -> Double? {
    try WKT.read(a).geodesicDistance(to: WKT.read(b))
  }

  // By pyproj 3.7: each edge sampled at 2,000 positions, then closer and closer around the least.
  @Test(arguments: [
    ("POINT(13.4 52.5)", "POINT(2.35 48.85)", 879035.3878126009),
    ("POINT(0 60)", "LINESTRING(-10 50,10 50)", 1113225.7778063624),
    ("POINT(0 40)", "LINESTRING(-40 60,40 60)", 2224543.789139997),
    ("POINT(0 90)", "LINESTRING(-180 60,180 60)", 3347892.909822211),
    ("POINT(10 85)", "LINESTRING(-60 80,60 88)", 29794.807660286715),
    ("POINT(179.9 -16)", "LINESTRING(-179.9 -17,-179.8 -15)", 26726.5778401194),
    ("POINT(-179.99 10)", "POLYGON((179 9,179.98 9,179.98 11,179 11,179 9))", 3289.1809175128747),
    ("POINT(5 5)", "POLYGON((0 0,10 0,10 10,0 10,0 0),(4 4,6 4,6 6,4 6,4 4))", 110581.13908045932),
    ("POINT(5 5)", "POLYGON((0 0,10 0,10 10,0 10,0 0))", 0),
    ("POINT(365 5)", "POLYGON((0 0,10 0,10 10,0 10,0 0))", 0),
    ("POINT(-170 -30)", "LINESTRING(9.5 31,10.5 29)", 19885932.549909364),
    ("POINT(20 10)", "LINESTRING(-170 20,170 -60)", 3734167.3318728227),
    ("POINT(100 -89.9)", "MULTIPOINT(-80 -89.5,10 -88)", 67016.37328953652),
    (
      "POINT(13.40001 52.50001)", "LINESTRING(13.4 52.5,13.41 52.5,13.41 52.51)", 1.1127683299293678
    ),
    (
      "POINT(7 47)",
      "MULTIPOLYGON(((8 47,9 47,9 48,8 48,8 47)),((6 46,6.5 46,6.5 46.5,6 46)))",
      67446.61088834274
    ),
  ])
  func `a point is as far from a geometry as sampling says`(
    point: String, other: String, expected: Double
  ) throws {
    let found = try #require(try Self.distance(point, other))
    #expect(abs(found - expected) < 1e-4)
    let back = try #require(try Self.distance(other, point))
    #expect(abs(back - expected) < 1e-4)
    let shape = try GeodesicShape(WKT.read(point))
    let target = try GeodesicShape(WKT.read(other))
    #expect(shape.isWithin(expected + 1e-3, of: target) == true)
    #expect(shape.isWithin(expected - 1e-3, of: target) == false)
  }

  @Test(arguments: [
    ("LINESTRING(0 0,1 1)", "LINESTRING(0 1,1 0)", 0.0),
    ("LINESTRING(179 0,181 1)", "LINESTRING(-179 -1,-179.5 2)", 0),
    ("POLYGON((0 0,9 0,9 9,0 9,0 0))", "LINESTRING(2 2,3 3)", 0),
    // By pyproj: from every vertex to every edge.
    ("LINESTRING(7 47,7.001 47.001)", "LINESTRING(7.002 47,7.003 47.001)", 125.54240106871924),
  ])
  func `two lines are as far apart as they should be`(
    a: String, b: String, expected: Double
  ) throws {
    let found = try #require(try Self.distance(a, b))
    #expect(abs(found - expected) < 1e-3, "\(found)")
  }

  @Test func `what is empty has no distance, and a latitude of 95 is refused`() throws {
    #expect(try Self.distance("POINT EMPTY", "POINT(1 1)") == nil)
    #expect(try Self.distance("POINT(1 1)", "POLYGON EMPTY") == nil)
    let error = #expect(throws: ProjectionError.self) {
      try GeodesicShape(.point(x: 3, y: 95))
    }
    #expect(error?.message == "the position (3.0 95.0) is no longitude and latitude in degrees")
  }

  /// Every position within the distance lies in a box, and no bound is above a distance.
  @Test func `boxes hold what is near, across the antimeridian and around the poles`() throws {
    var random = FilterGenerator.SplitMix(state: 4)
    func number(_ range: ClosedRange<Double>) -> Double { .random(in: range, using: &random) }
    func one(of values: [Double]) -> Double { values.randomElement(using: &random) ?? 0 }
    for _ in 0..<3_000 {
      let centre = Position(
        x: number(-180...180), y: one(of: [-90, -89.9, 0, 60, 89.99, 90]))
      let metres = one(of: [0, 10, 1_000, 250_000, 9_000_000, 15_000_000])
      let shape = try GeodesicShape(.point(centre, .xy))
      let boxes = shape.boxes(within: metres)
      let end = Geodesic.wgs84.position(
        from: centre, azimuth: number(-180...180), distance: metres * number(0.9...1))
      let point = Envelope(minX: end.x, minY: end.y, maxX: end.x, maxY: end.y)
      #expect(boxes.contains { $0.contains(point) }, "\(centre) \(metres) \(end)")
      let width = number(0...20)
      let box = Envelope(
        minX: end.x - width, minY: max(-90, end.y - width), maxX: end.x, maxY: end.y)
      let distance = Geodesic.wgs84.distance(from: centre, to: end)
      #expect(shape.leastDistance(to: box) <= distance)
      #expect(shape.leastDistance(to: point) <= distance)
      #expect(shape.leastDistance(to: point) >= distance * 0.996 - 1)
    }
  }

  @Test func `a cap over a pole reaches around, one over the antimeridian comes in turns`() throws {
    let pole = try GeodesicShape(.point(x: 10, y: 89)).boxes(within: 200_000)
    #expect(pole.count == 1 && pole[0].minX == -.infinity && pole[0].maxY == 90)
    let edge = try GeodesicShape(.point(x: 179.9, y: 0)).boxes(within: 50_000)
    for x in [-539.9, -180.1, -179.9, 179.9, 180.1, 539.9] {
      let point = Envelope(minX: x, minY: 0, maxX: x, maxY: 0)
      #expect(edge.filter { $0.contains(point) }.count == 1, "\(x)")
    }
  }

  /// What is as near as a distance says lies in a box, in whatever turn both are written.
  @Test func `boxes hold every turn of longitudes that a shape may have`() throws {
    for x in stride(from: -535.0, through: 365, by: 180) {
      let shape = try GeodesicShape(.point(x: x, y: 0))
      for turn in stride(from: -1080.0, through: 1080, by: 360) where abs(x + turn) <= 540 {
        let other = Geometry.point(x: x + turn + 0.1, y: 0)
        #expect(try shape.isWithin(12_000, of: GeodesicShape(other)) == true)
        let box = try #require(other.envelope)
        #expect(shape.boxes(within: 12_000).contains { $0.contains(box) }, "\(x) \(turn)")
      }
    }
    #expect(throws: ProjectionError.self) { try GeodesicShape(.point(x: 725, y: 0)) }
  }

  @Test func `lengths and areas are geographiclib's`() throws {
    let square = try WKT.read("POLYGON((0 0,10 0,10 10,0 10,0 0),(1 1,2 1,2 2,1 2,1 1))")
    #expect(abs(try square.geodesicArea() - (1227877191609.6267 - 12305128751.042904)) < 1)
    #expect(try square.geodesicLength() == 0)
    let clockwise = try WKT.read("POLYGON((0 0,0 10,10 10,10 0,0 0))")
    #expect(abs(try clockwise.geodesicArea() - 1227877191609.6267) < 1)
    #expect(abs(try clockwise.geodesicPerimeter() - 4421256.128970485) < 1e-6)
    let line = try WKT.read("GEOMETRYCOLLECTION(LINESTRING(13.4 52.5,2.35 48.85),POINT(1 1))")
    #expect(abs(try line.geodesicLength() - 879035.3878126009) < 1e-6)
  }

  @Test func `each system is measured on its ellipsoid, what is projected in WGS 84`() throws {
    let etrs = try GeodesicSystem(SRSReference(SRS("EPSG", 4258)))
    #expect(etrs.transformation == nil)
    let clarke = try GeodesicSystem(SRSReference(SRS("EPSG", 4267)))
    let line = WKB.bytes(of: try WKT.read("LINESTRING(-100 40,-101 40)"))
    // geographiclib on Clarke 1866.
    #expect(abs(try clarke.measures(of: line.span.bytes).length - 85395.65232442778) < 1e-6)
    let utm = try GeodesicSystem(SRSReference(SRS("EPSG", 25833)))
    #expect(utm.transformation != nil)
    let meridian = WKB.bytes(of: try WKT.read("LINESTRING(500000 5800000,500000 5801000)"))
    // On the central meridian the scale of UTM is 0.9996.
    #expect(abs(try utm.measures(of: meridian.span.bytes).length - 1000 / 0.9996) < 1e-3)
    #expect(throws: ProjectionError.self) {
      try GeodesicSystem(SRSReference(.undefinedCartesian))
    }
  }
}
