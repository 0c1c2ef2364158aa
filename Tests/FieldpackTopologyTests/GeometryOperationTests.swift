import FieldpackGeometry
import FieldpackTopology
import Testing

/// GEOS's measures and operations on geometry values.
@Suite struct GeometryOperationTests {
  private static let square = "POLYGON((0 0,4 0,4 4,0 4,0 0))"

  @Test func `measures need no context`() throws {
    let holed = try WKT.read("POLYGON((0 0,4 0,4 4,0 4,0 0),(1 1,1 2,2 2,2 1,1 1))")
    #expect(holed.area() == 15 && holed.perimeter() == 20 && holed.length() == 0)
    let mixed = try WKT.read(
      "GEOMETRYCOLLECTION(LINESTRING(0 0,3 4),POLYGON((0 4,4 4,4 0,0 0,0 4)),POINT(9 9))")
    #expect(mixed.area() == 16 && mixed.perimeter() == 16 && mixed.length() == 5)
    let half = try WKT.read("CURVEPOLYGON(COMPOUNDCURVE(CIRCULARSTRING(0 0,1 1,2 0),(2 0,0 0)))")
    #expect(abs(half.area() - Double.pi / 2) < 1e-3)
    #expect(try WKT.read("POLYGON EMPTY").area() == 0)
  }

  @Test func `area and length are GEOS's`() throws {
    let context = try TopologyContext()
    for text in [
      "POLYGON((500000 5800000,500003 5800000,500003 5800005,500000 5800000))",
      "MULTIPOLYGON(((0 0,0 1,1 1,1 0,0 0)),((5 5,9 5,9 9,5 5),(6 5.5,7 5.5,7 6,6 5.5)))",
      "MULTILINESTRING((0 0,1 2,3 4),(5 5,5 6))",
    ] {
      let geometry = try WKT.read(text)
      let other = try context.read(geometry)
      #expect(try abs(geometry.area() - other.area()) < 1e-9)
      #expect(try abs(geometry.length() + geometry.perimeter() - other.length()) < 1e-9)
    }
  }

  @Test func `operations give geometries`() throws {
    let square = try WKT.read(Self.square)
    let other = try WKT.read("POLYGON((2 0,6 0,6 4,2 4,2 0))")
    #expect(try square.union(other).area() == 24)
    #expect(try square.intersection(other).area() == 8)
    #expect(try square.difference(other).area() == 8)
    #expect(try square.symmetricDifference(other).area() == 16)
    #expect(try square.centroid() == .point(x: 2, y: 2))
    #expect(try square.pointOnSurface() == .point(x: 2, y: 2))
    #expect(try square.buffered(by: 1, style: BufferStyle(join: .mitre)).area() == 36)
    #expect(try square.boundary().length() == 16)
    #expect(try WKT.read("MULTIPOINT(0 0,4 0,4 4,1 1)").convexHull().area() == 8)
    let bowtie = try WKT.read("POLYGON((0 0,2 2,2 0,0 2,0 0))")
    #expect(try bowtie.validity() != .valid && bowtie.madeValid().validity() == .valid)
    let line = try WKT.read("LINESTRING(0 0,1 0.1,2 0)")
    #expect(try line.simplified(tolerance: 1) == WKT.read("LINESTRING(0 0,2 0)"))
    #expect(try square.distance(to: .point(x: 7, y: 8)) == 5)
    #expect(try square.isWithin(5, of: .point(x: 7, y: 8)) == true)
    #expect(try square.has(.covers, to: .point(x: 4, y: 1)) == true)
    #expect(try square.relate(to: .point(x: 1, y: 1)) == "0F2FF1FF2")
    #expect(try square.relates(to: .point(x: 1, y: 1), pattern: "T*****FF*"))
  }

  @Test func `many geometries melt into one, whatever their number`() throws {
    for count in [0, 1, 2, 511, 512, 513, 3_000] {
      let strips = (0..<count).map { index -> Geometry in
        let x = Double(index)
        return .polygon(
          [
            CoordinateSequence(
              dimensions: .xy, ordinates: [x, 0, x + 1, 0, x + 1, 1, x, 1, x, 0])
          ], .xy)
      }
      let union = try Geometry.union(of: strips)
      #expect(union?.area() == (count == 0 ? nil : Double(count)))
      #expect(union?.type == (count == 0 ? nil : .polygon))
    }
    #expect(try Geometry.union(of: [.polygon([], .xy)])?.isEmpty == true)
    #expect(throws: TopologyError.self) {
      try Geometry.union(of: [.point(x: .infinity, y: 0)])
    }
  }

  @Test(arguments: [
    ("T*F**F***", true), ("FF*FF****", false), ("***T*****", true), ("**T**FF*2", false),
    ("****2****", true), ("T*", false),
  ])
  func `a pattern tells whether it asks for a shared point`(pattern: String, expected: Bool) {
    #expect(RelationPattern.asksForSharedPoint(pattern) == expected)
    #expect(RelationPattern.transposed(RelationPattern.transposed(pattern)) == pattern)
  }
}
