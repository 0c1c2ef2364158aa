import FieldpackGeometry
import Testing

@Suite struct WKTTests {
  @Test(arguments: Samples.all) func `every geometry comes back from its text`(
    geometry: Geometry
  ) throws {
    let text = WKT.text(of: geometry)
    #expect(try WKT.read(text) == geometry)
    #expect(try WKT.read(text.lowercased()) == geometry)
    var fromWKB: [UInt8] = []
    try WKT.append(wkb: WKB.bytes(of: geometry).span.bytes, to: &fromWKB)
    #expect(String(decoding: fromWKB, as: UTF8.self) == text)
    var writer = WKBWriter()
    try WKT.visit(Array(text.utf8).span.bytes, with: &writer)
    #expect(writer.bytes == WKB.bytes(of: geometry))
  }

  @Test(
    arguments: [
      (Samples.geometry(.point, .xy), "POINT (-1.5 2)"),
      (Samples.geometry(.point, .xym), "POINT M (-1.5 2 -149.75)"),
      (Samples.geometry(.lineString, .xyz), "LINESTRING Z (1 2 12,3 4.5 34.5,-5.25 6 -46.5)"),
      (
        Samples.geometry(.polygon, .xy),
        "POLYGON ((0 0,10 0,10 10,0 10,0 0),(2 2,2 4,4 4,2 2))"
      ),
      (Samples.geometry(.multiPoint, .xy), "MULTIPOINT ((1 2),EMPTY,(3 4))"),
      (
        Samples.geometry(.multiPolygon, .xy),
        "MULTIPOLYGON (((0 0,10 0,10 10,0 10,0 0),(2 2,2 4,4 4,2 2)),((2 2,2 4,4 4,2 2)))"
      ),
      (
        Samples.geometry(.geometryCollection, .xyzm),
        "GEOMETRYCOLLECTION ZM (POINT ZM (1 2 12 100.25),"
          + "LINESTRING ZM (1 2 12 100.25,3 4.5 34.5 300.5625,-5.25 6 -46.5 -524.25),"
          + "GEOMETRYCOLLECTION ZM (POLYGON ZM ((0 0 0 0,10 0 100 1000,10 10 110 1001.25,"
          + "0 10 10 1.25,0 0 0 0))))"
      ),
      (
        Samples.geometry(.multiCurve, .xy),
        "MULTICURVE ((1 2,3 4.5,-5.25 6),CIRCULARSTRING (-5.25 6,-4 7,-3 6),"
          + "COMPOUNDCURVE ((1 2,3 4.5,-5.25 6),CIRCULARSTRING (-5.25 6,-4 7,-3 6)))"
      ),
      (
        Samples.geometry(.multiSurface, .xy),
        "MULTISURFACE (((0 0,10 0,10 10,0 10,0 0)),"
          + "CURVEPOLYGON (CIRCULARSTRING (0 0,10 10,0 0)))"
      ),
      (
        Samples.geometry(.tin, .xy), "TIN (((0 0,1 0,0 1,0 0)),((0 0,1 0,0 1,0 0)))"
      ),
      (Samples.empty(.point, .xyzm), "POINT ZM EMPTY"),
      (.polygon([CoordinateSequence()], .xy), "POLYGON (EMPTY)"),
      (.point(Position(x: .nan, y: -.infinity), .xy), "POINT (NaN -Infinity)"),
    ] as [(Geometry, String)])
  func `text has one form`(geometry: Geometry, text: String) {
    #expect(WKT.text(of: geometry) == text)
    #expect(geometry.description == text)
  }

  static let p12 = Position(x: 1, y: 2)

  @Test(
    arguments: [
      ("POINT(1 2)", .point(p12, .xy)), ("  point\t( 1\n2 )\r\n", .point(p12, .xy)),
      ("SRID=25833;POINT(1 2)", .point(p12, .xy)), ("srid = -1 ; Point (1 2)", .point(p12, .xy)),
      ("POINTZ(1 2 3)", .point(Position(x: 1, y: 2, z: 3), .xyz)),
      ("POINT Z(1 2 3)", .point(Position(x: 1, y: 2, z: 3), .xyz)),
      ("POINT(1 2 3)", .point(Position(x: 1, y: 2, z: 3), .xyz)),
      ("pointm (1 2 3)", .point(Position(x: 1, y: 2, m: 3), .xym)),
      ("POINTZM(1 2 3 4)", .point(Position(x: 1, y: 2, z: 3, m: 4), .xyzm)),
      ("POINT(1 2 3 4)", .point(Position(x: 1, y: 2, z: 3, m: 4), .xyzm)),
      ("POINT Z EMPTY", .point(nil, .xyz)), ("POINTZ empty", .point(nil, .xyz)),
      ("POINT(+1 2.)", .point(p12, .xy)), ("POINT(1e0 .2E1)", .point(p12, .xy)),
      ("MULTIPOINT(1 2,1 2)", .multiPoint([p12, p12], .xy)),
      ("MULTIPOINT((1 2),1 2,EMPTY)", .multiPoint([p12, p12, nil], .xy)),
      ("MULTIPOINT(1 2 3)", .multiPoint([Position(x: 1, y: 2, z: 3)], .xyz)),
      (
        "GEOMETRYCOLLECTION(POINT EMPTY,POINT M(1 2 3))",
        .geometryCollection(
          [.point(nil, .xym), .point(Position(x: 1, y: 2, m: 3), .xym)], .xym)
      ),
      (
        "GEOMETRYCOLLECTION Z(POINT (1 2 3))",
        .geometryCollection([.point(Position(x: 1, y: 2, z: 3), .xyz)], .xyz)
      ),
      (
        "COMPOUNDCURVE(LINESTRING(1 2,1 2),(1 2,1 2))",
        .composite(
          .compoundCurve,
          [
            .lineString(CoordinateSequence([p12, p12], dimensions: .xy)),
            .lineString(CoordinateSequence([p12, p12], dimensions: .xy)),
          ], .xy)
      ),
      ("MULTISURFACE EMPTY", .composite(.multiSurface, [], .xy)),
    ] as [(String, Geometry)])
  func `text of other writers is read`(text: String, geometry: Geometry) throws {
    #expect(try WKT.read(text) == geometry)
  }

  @Test func `the SRID of EWKT is told`() throws {
    var builder = GeometryBuilder()
    #expect(
      try WKT.visit(Array("SRID=4326;POINT(1 2)".utf8).span.bytes, with: &builder) == 4326)
    #expect(try WKT.visit(Array("POINT(1 2)".utf8).span.bytes, with: &builder) == nil)
  }

  @Test func `decimals are limited on request`() {
    let point = Geometry.point(x: 13.37770449, y: -0.00001)
    #expect(WKT.text(of: point, decimals: 4) == "POINT (13.3777 0)")
  }

  @Test(arguments: [
    ("", "expected a geometry type, found the end of the text at column 1"),
    ("PONT (1 2)", "expected a geometry type, found 'PONT' at column 1"),
    ("GEOMETRY(1 2)", "expected a geometry type, found 'GEOMETRY' at column 1"),
    ("POINT", "expected '(' or EMPTY, found the end of the text at column 6"),
    ("POINT 1 2", "expected '(' or EMPTY, found '1' at column 7"),
    ("POINT(1 2", "expected ',' or ')', found the end of the text at column 10"),
    ("POINT(1)", "expected a number, found ')' at column 8"),
    ("POINT(1 x2)", "expected a number, found 'x2' at column 9"),
    ("POINT(1 2x)", "expected a number, found '2x' at column 9"),
    ("POINT()", "expected a number, found ')' at column 7"),
    ("POINT Z (1 2)", "expected a number, found ')' at column 13"),
    ("POINT(1 2) x", "expected the end of the text at column 12"),
    ("LINESTRING(1 2,)", "expected a number, found ')' at column 16"),
    ("LINESTRING(1 2 3,4 5)", "expected a number, found ')' at column 21"),
    ("POLYGON(1 2)", "expected '(' or EMPTY, found '1' at column 9"),
    ("GEOMETRYCOLLECTION(EMPTY)", "expected a geometry type, found 'EMPTY' at column 20"),
    ("SRID=x;POINT(1 2)", "expected a number, found 'x' at column 6"),
    ("SRID=1.5;POINT(1 2)", "expected a whole number as SRID at column 6"),
    ("SRID=4326 POINT(1 2)", "expected ';', found 'POINT' at column 11"),
  ])
  func `bad text is refused with place and expectation`(text: String, message: String) {
    let error = failure { () throws(GeometryError) in try WKT.read(text) }
    #expect(error?.kind == .syntax)
    #expect(error?.description == message)
  }

  @Test(arguments: [
    ("LINESTRING(1 2,3 4 5)", GeometryError.Kind.mixedDimensions, 19),
    ("POINT(1 2 3 4 5)", .mixedDimensions, 14),
    ("GEOMETRYCOLLECTION Z(POINT M(1 2 3))", .mixedDimensions, 21),
    ("MULTICURVE(POINT(1 2))", .wrongMember, 11),
    ("MULTIPOINT(LINESTRING(1 2))", .wrongMember, 11),
  ])
  func `members that do not fit are refused`(
    text: String, kind: GeometryError.Kind, offset: Int
  ) {
    let error = failure { () throws(GeometryError) in try WKT.read(text) }
    #expect(error?.kind == kind && error?.offset == offset)
  }

  @Test func `nesting is read to its cap and no deeper`() throws {
    func nested(_ depth: Int) -> String {
      String(repeating: "GEOMETRYCOLLECTION(", count: depth - 1) + "GEOMETRYCOLLECTION EMPTY"
        + String(repeating: ")", count: depth - 1)
    }
    #expect(try WKT.read(nested(32)).isEmpty)
    for depth in [33, 100_000] {
      let error = failure { () throws(GeometryError) in try WKT.read(nested(depth)) }
      #expect(error?.kind == .tooDeep && error?.offset == 32 * 19)
    }
  }

  @Test func `every cut of every text is refused`() {
    for geometry in Samples.types.map({ Samples.geometry($0, .xyz) }) {
      let text = WKT.text(of: geometry)
      for length in 0..<text.count {
        #expect(failure { () throws(GeometryError) in try WKT.read(text.prefix(length)) } != nil)
      }
    }
  }

  @Test func `an error leaves the text as it was`() {
    var text = Array("before".utf8)
    let error = failure { () throws(GeometryError) in
      try WKT.append(wkb: bytes("0101000000").span.bytes, to: &text)
    }
    #expect(error?.kind == .truncated && text == Array("before".utf8))
  }
}
