import FieldpackCore
import FieldpackSQLite
import Testing

@testable import FieldpackGeoPackage
@testable import FieldpackSQL

/// Functions that take geometries apart.
@Suite struct GeometryPartTests {
  private func value(_ function: String, _ wkt: String, in connection: Connection) throws -> String
  {
    let geometry = "ST_GeomFromText('\(wkt)', 4326)"
    let call = function.replacing("(g", with: "(\(geometry)", maxReplacements: 1)
    let sql =
      "SELECT CASE typeof(v) WHEN 'blob' THEN ST_AsText(v) ELSE v END FROM (SELECT \(call) AS v)"
    let statement = try connection.prepare(sql, caching: false)
    guard try statement.step() else { return "no row" }
    return statement.string(0) ?? "NULL"
  }

  private static let nested =
    "GEOMETRYCOLLECTION (MULTIPOINT ((1 2),(3 4)),POLYGON ((0 0,1 0,1 1,0 0)))"
  private static let holes =
    "POLYGON ((0 0,9 0,9 9,0 9,0 0),(1 1,2 1,2 2,1 1),(4 4,5 4,5 5,4 4))"
  private static let curves = "MULTICURVE ((0 0,1 1),CIRCULARSTRING (0 0,1 1,0 0))"

  @Test(arguments: [
    ("MULTIPOINT Z ((1 2 3),(3 4 5))", ["2", "POINT Z (1 2 3)", "POINT Z (3 4 5)", "0", "0"]),
    (
      "MULTILINESTRING ((0 0,1 1,0 0),(2 2,3 3,2 2))",
      ["2", "LINESTRING (0 0,1 1,0 0)", "LINESTRING (2 2,3 3,2 2)", "1", "1"]
    ),
    (nested, ["2", "MULTIPOINT ((1 2),(3 4))", "POLYGON ((0 0,1 0,1 1,0 0))", "2", "0"]),
    (
      "GEOMETRYCOLLECTION (GEOMETRYCOLLECTION (POINT (1 1),LINESTRING (0 0,1 1)))",
      ["1", "GEOMETRYCOLLECTION (POINT (1 1),LINESTRING (0 0,1 1))", "NULL", "1", "0"]
    ),
    (curves, ["2", "LINESTRING (0 0,1 1)", "CIRCULARSTRING (0 0,1 1,0 0)", "1", "0"]),
    ("POINT (1 2)", ["1", "POINT (1 2)", "NULL", "0", "0"]),
    ("LINESTRING (0 0,1 0,1 1,0 0)", ["1", "LINESTRING (0 0,1 0,1 1,0 0)", "NULL", "1", "1"]),
    ("CIRCULARSTRING (0 0,1 1,2 0)", ["1", "CIRCULARSTRING (0 0,1 1,2 0)", "NULL", "1", "0"]),
    ("POLYGON EMPTY", ["0", "NULL", "NULL", "2", "0"]),
    ("GEOMETRYCOLLECTION EMPTY", ["0", "NULL", "NULL", "0", "0"]),
    ("MULTIPOINT ((1 2),EMPTY)", ["2", "POINT (1 2)", "POINT EMPTY", "0", "0"]),
  ])
  func `members of every kind are told`(wkt: String, wanted: [String]) throws {
    let connection = try Self.connection()
    let functions = [
      "NumGeometries(g)", "GeometryN(g, 1)", "GeometryN(g, 2)", "Dimension(g)", "IsClosed(g)",
    ]
    for prefix in ["", "ST_"] {
      let found = try functions.map { try value(prefix + $0, wkt, in: connection) }
      #expect(found == wanted, "\(prefix)")
    }
    #expect(try value("ST_SRID(ST_GeometryN(g, 1))", "POINT (1 2)", in: connection) == "4326")
  }

  @Test(arguments: [
    (holes, ["2", "LINESTRING (4 4,5 4,5 5,4 4)", "LINESTRING (0 0,9 0,9 9,0 9,0 0)"]),
    ("POLYGON EMPTY", ["0", "NULL", "NULL"]),
    (
      "CURVEPOLYGON (CIRCULARSTRING (0 0,2 2,0 0),(1 1,1 2,2 2,1 1))",
      ["1", "NULL", "CIRCULARSTRING (0 0,2 2,0 0)"]
    ),
    (nested, ["NULL", "NULL", "NULL"]), ("LINESTRING (0 0,1 1)", ["NULL", "NULL", "NULL"]),
  ])
  func `rings are those of a polygon`(wkt: String, wanted: [String]) throws {
    let connection = try Self.connection()
    for count in [
      "NumInteriorRing", "ST_NumInteriorRing", "NumInteriorRings", "ST_NumInteriorRings",
    ] {
      #expect(try value("\(count)(g)", wkt, in: connection) == wanted[0])
    }
    #expect(try value("ST_InteriorRingN(g, 2)", wkt, in: connection) == wanted[1])
    #expect(try value("ExteriorRing(g)", wkt, in: connection) == wanted[2])
  }

  @Test func `rings of all polygons are counted`() throws {
    let connection = try Self.connection()
    for (wkt, count) in [(Self.holes, "3"), (Self.nested, "1"), ("POINT (1 2)", "0")] {
      #expect(try value("ST_NRings(g)", wkt, in: connection) == count)
    }
  }

  @Test(arguments: [
    (
      "LINESTRING M (0 0 5,1 0 6,1 1 7)",
      ["3", "POINT M (1 0 6)", "POINT M (1 1 7)", "POINT M (0 0 5)", "POINT M (1 1 7)", "0"]
    ),
    (
      "LINESTRING (0 0,1 0,1 1,0 0)",
      ["4", "POINT (1 0)", "POINT (0 0)", "POINT (0 0)", "POINT (0 0)", "1"]
    ),
    (
      "LINESTRING (0 0,2 2,2 0,0 2,0 0)",
      ["5", "POINT (2 2)", "POINT (0 0)", "POINT (0 0)", "POINT (0 0)", "0"]
    ),
    ("LINESTRING EMPTY", ["0", "NULL", "NULL", "NULL", "NULL", "0"]),
    (
      "COMPOUNDCURVE ((0 0,1 1),CIRCULARSTRING (1 1,2 2,3 1))",
      ["NULL", "NULL", "NULL", "POINT (0 0)", "POINT (3 1)", "0"]
    ),
    ("MULTIPOINT ((1 2),(3 4))", ["NULL", "NULL", "NULL", "NULL", "NULL", "NULL"]),
  ])
  func `positions are those of a line`(wkt: String, wanted: [String]) throws {
    let connection = try Self.connection()
    let functions = [
      "NumPoints(g)", "PointN(g, 2)", "PointN(g, -1)", "StartPoint(g)", "EndPoint(g)", "IsRing(g)",
    ]
    for prefix in ["", "ST_"] {
      #expect(try functions.map { try value(prefix + $0, wkt, in: connection) } == wanted)
    }
    for number in ["0", "9", "-9", "NULL"] {
      #expect(try value("ST_PointN(g, \(number))", wkt, in: connection) == "NULL")
    }
  }

  @Test(arguments: [
    ("LINESTRING (0 0,1 1)", "0"), ("LINESTRING EMPTY", "0"), ("LINESTRING (0 0,1 0,1 1,0 0)", "1"),
    ("LINESTRING (0 0,2 2,2 0,0 2,0 0)", "0"), ("CIRCULARSTRING (0 0,1 1,2 0)", "0"),
    ("COMPOUNDCURVE ((0 0,1 1),CIRCULARSTRING (1 1,2 2,3 0))", "0"), ("POINT (1 1)", "NULL"),
    ("TIN (((0 0,1 0,0 1,0 0)))", "NULL"), ("POLYGON ((0 0,1 0,0 1,0 0))", "NULL"),
    ("CURVEPOLYGON (CIRCULARSTRING (0 0,2 2,0 0))", "NULL"),
    ("MULTICURVE ((0 0,1 1,0 0))", "NULL"),
  ])
  func `rings are simple lines that are closed, other kinds none`(
    wkt: String, wanted: String
  ) throws {
    let connection = try Self.connection()
    for name in ["IsRing", "ST_IsRing"] {
      #expect(try value("\(name)(g)", wkt, in: connection) == wanted)
    }
  }

  private static func connection() throws -> Connection {
    let connection = try Connection(inMemory: .own)
    _ = try connection.session("memory").userSQL()
    return connection
  }
}
