import FieldpackGeometry
import Testing

@Suite struct GeometryConversionTests {
  @Test(arguments: Samples.types, Dimensions.allCases)
  func `dimensions are added and taken away`(type: GeometryType, dimensions: Dimensions) {
    let full = Samples.geometry(type, .xyzm)
    #expect(full.converted(to: dimensions) == Samples.geometry(type, dimensions))
    #expect(Samples.empty(type, .xym).converted(to: dimensions) == Samples.empty(type, dimensions))
    let back = Samples.geometry(type, .xy).converted(to: dimensions, z: 7, m: 8)
    #expect(back.dimensions == dimensions && back.converted(to: .xy) == Samples.geometry(type, .xy))
    #expect(back.envelope?.z == (dimensions.hasZ ? 7...7 : nil))
    #expect(back.envelope?.m == (dimensions.hasM ? 8...8 : nil))
  }

  @Test(arguments: [
    ("POINT (1 2)", "MULTIPOINT ((1 2))"), ("POINT Z EMPTY", "MULTIPOINT Z EMPTY"),
    ("LINESTRING (1 2,3 4)", "MULTILINESTRING ((1 2,3 4))"),
    ("LINESTRING EMPTY", "MULTILINESTRING EMPTY"),
    ("POLYGON ((0 0,1 0,0 1,0 0))", "MULTIPOLYGON (((0 0,1 0,0 1,0 0)))"),
    ("POLYGON EMPTY", "MULTIPOLYGON EMPTY"),
    ("CIRCULARSTRING (0 0,1 1,2 0)", "MULTICURVE (CIRCULARSTRING (0 0,1 1,2 0))"),
    ("COMPOUNDCURVE ((0 0,1 1))", "MULTICURVE (COMPOUNDCURVE ((0 0,1 1)))"),
    ("CURVEPOLYGON ((0 0,1 0,0 1,0 0))", "MULTISURFACE (CURVEPOLYGON ((0 0,1 0,0 1,0 0)))"),
    ("TRIANGLE ((0 0,1 0,0 1,0 0))", "TIN (((0 0,1 0,0 1,0 0)))"),
    ("MULTIPOINT ((1 2))", "MULTIPOINT ((1 2))"),
    ("GEOMETRYCOLLECTION (POINT (1 2))", "GEOMETRYCOLLECTION (POINT (1 2))"),
  ])
  func `single geometries become collections of one`(single: String, multi: String) throws {
    #expect(try WKT.read(single).promotedToMulti().description == multi)
  }

  @Test(arguments: [
    (
      "POLYGON ((0 0,0 4,4 4,0 0),(1 2,1 3,2 3,1 2))",
      "POLYGON ((0 0,4 4,0 4,0 0),(1 2,1 3,2 3,1 2))"
    ),
    (
      "GEOMETRYCOLLECTION Z (MULTIPOLYGON Z (((0 0 1,4 4 2,0 4 3,0 0 1),(1 2 1,2 3 2,1 3 3,1 2 1))))",
      "GEOMETRYCOLLECTION Z (MULTIPOLYGON Z (((0 0 1,4 4 2,0 4 3,0 0 1),(1 2 1,1 3 3,2 3 2,1 2 1))))"
    ),
    ("POLYGON (EMPTY)", "POLYGON (EMPTY)"), ("POLYGON ((0 0,1 1,0 0))", "POLYGON ((0 0,1 1,0 0))"),
  ])
  func `shells turn counterclockwise and holes clockwise`(given: String, turned: String) throws {
    #expect(try WKT.read(given).rightHandRule().description == turned)
  }

  @Test func `areas of small rings far from the origin keep their sign`() {
    let ring = Samples.line(
      [(4e6, 5e6), (4e6 + 0.001, 5e6), (4e6, 5e6 + 0.001), (4e6, 5e6)], .xy)
    #expect(abs(ring.signedArea - 5e-7) < 1e-12)
    #expect(abs(ring.reversed().signedArea + 5e-7) < 1e-12)
  }
}
