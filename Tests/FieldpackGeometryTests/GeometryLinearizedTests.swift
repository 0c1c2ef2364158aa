import FieldpackGeometry
import Testing

@Suite struct GeometryLinearizedTests {
  static func line(_ wkt: String, _ segments: Int = 32) throws -> CoordinateSequence {
    guard case .lineString(let line) = try WKT.read(wkt).linearized(segmentsPerQuarter: segments)
    else { return CoordinateSequence() }
    return line
  }

  static func isOnCircle(_ line: CoordinateSequence, x: Double, y: Double, radius: Double) -> Bool {
    line.allSatisfy {
      let (dx, dy) = ($0.x - x, $0.y - y)
      return abs((dx * dx + dy * dy).squareRoot() - radius) < 1e-9 * radius
    }
  }

  @Test(arguments: [
    // A half circle is two quarters, a full one four, whatever the direction.
    ("CIRCULARSTRING (1 0,0 1,-1 0)", 1, 3), ("CIRCULARSTRING (1 0,0 1,-1 0)", 2, 5),
    ("CIRCULARSTRING (-1 0,0 1,1 0)", 32, 65), ("CIRCULARSTRING (1 0,-1 0,1 0)", 32, 129),
    ("CIRCULARSTRING (1 0,-1 0,1 0)", 3, 17), ("CIRCULARSTRING (1 0,0 1,0 -1)", 4, 13),
    ("CIRCULARSTRING (1 0,0 -1,0 1)", 4, 13), ("CIRCULARSTRING (1 0,-1 0,1 0)", 100_000, 1025),
  ])
  func `arcs are divided evenly`(wkt: String, segments: Int, count: Int) throws {
    let line = try Self.line(wkt, segments)
    #expect(line.count == count)
    #expect(Self.isOnCircle(line, x: 0, y: 0, radius: 1))
    let steps = zip(line, line.dropFirst()).map {
      (($1.x - $0.x) * ($1.x - $0.x) + ($1.y - $0.y) * ($1.y - $0.y)).squareRoot()
    }
    #expect((steps.max() ?? 0) - (steps.min() ?? 0) < 1e-9)
  }

  @Test func `control points stay and both directions give the same positions`() throws {
    let there = try Self.line("CIRCULARSTRING (400000 5000000,400030 5000040,400090 5000010)", 8)
    let back = try Self.line("CIRCULARSTRING (400090 5000010,400030 5000040,400000 5000000)", 8)
    #expect(there.contains(Position(x: 400030, y: 5_000_040)))
    #expect(there.count == back.count)
    for (a, b) in zip(there, back.reversed()) {
      #expect(abs(a.x - b.x) < 1e-8 && abs(a.y - b.y) < 1e-8)
    }
  }

  @Test func `a full circle runs counterclockwise through its second point`() throws {
    let circle = try Self.line("CIRCULARSTRING (3 5,7 5,3 5)", 4)
    #expect(circle.count == 17 && circle.first == circle.last)
    #expect(circle[8] == Position(x: 7, y: 5))
    #expect(circle.signedArea > 12 && Self.isOnCircle(circle, x: 5, y: 5, radius: 2))
  }

  @Test func `Z and M run evenly between control points`() throws {
    let line = try Self.line("CIRCULARSTRING ZM (1 0 0 10,0 1 8 20,-1 0 0 50)", 4)
    #expect(line.map(\.z) == [0, 2, 4, 6, 8, 6, 4, 2, 0])
    #expect(line.map(\.m) == [10, 12.5, 15, 17.5, 20, 27.5, 35, 42.5, 50])
  }

  @Test(arguments: [
    ("CIRCULARSTRING (0 0,1 1,2 2)", "LINESTRING (0 0,1 1,2 2)"),
    ("CIRCULARSTRING (0 0,0 0,2 2)", "LINESTRING (0 0,0 0,2 2)"),
    ("CIRCULARSTRING (0 0,0 0,0 0)", "LINESTRING (0 0,0 0,0 0)"),
    ("CIRCULARSTRING (0 0,1 1)", "LINESTRING (0 0,1 1)"),
    ("CIRCULARSTRING (NaN 0,1 1,2 0)", "LINESTRING (NaN 0,1 1,2 0)"),
    ("CIRCULARSTRING (Infinity 0,1 1,2 0)", "LINESTRING (Infinity 0,1 1,2 0)"),
    ("CIRCULARSTRING EMPTY", "LINESTRING EMPTY"),
    ("CIRCULARSTRING (1 0,0 1,-1 0,-2 3)", "LINESTRING (1 0,0 1,-1 0,-2 3)"),
    ("COMPOUNDCURVE ((3 0,1 0),CIRCULARSTRING (1 0,0 1,-1 0))", "LINESTRING (3 0,1 0,0 1,-1 0)"),
    (
      "CURVEPOLYGON (CIRCULARSTRING (1 0,-1 0,1 0),(0 0,0.1 0,0 0.1,0 0))",
      "POLYGON ((1 0,0 1,-1 0,0 -1,1 0),(0 0,0.1 0,0 0.1,0 0))"
    ),
    (
      "MULTICURVE ((0 0,5 5),COMPOUNDCURVE (CIRCULARSTRING (1 0,0 1,-1 0),(-1 0,9 9)))",
      "MULTILINESTRING ((0 0,5 5),(1 0,0 1,-1 0,9 9))"
    ),
    (
      "MULTISURFACE (((0 0,1 0,0 1,0 0)),CURVEPOLYGON (CIRCULARSTRING (1 0,-1 0,1 0)))",
      "MULTIPOLYGON (((0 0,1 0,0 1,0 0)),((1 0,0 1,-1 0,0 -1,1 0)))"
    ),
    (
      "GEOMETRYCOLLECTION (POINT (1 2),CIRCULARSTRING (1 0,0 1,-1 0))",
      "GEOMETRYCOLLECTION (POINT (1 2),LINESTRING (1 0,0 1,-1 0))"
    ),
    ("TIN Z (((0 0 1,1 0 1,0 1 1,0 0 1)))", "MULTIPOLYGON Z (((0 0 1,1 0 1,0 1 1,0 0 1)))"),
    ("TRIANGLE ((0 0,1 0,0 1,0 0))", "POLYGON ((0 0,1 0,0 1,0 0))"),
    ("POLYHEDRALSURFACE EMPTY", "MULTIPOLYGON EMPTY"),
    ("LINESTRING (1 2,3 4)", "LINESTRING (1 2,3 4)"),
  ])
  func `each curved type has its straight one`(curved: String, straight: String) throws {
    let result = try WKT.read(curved).linearized(segmentsPerQuarter: 1)
    #expect(WKT.text(of: result, decimals: 9) == straight)
  }
}
