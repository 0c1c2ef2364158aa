import FieldpackCore
import FieldpackGeometry
import FieldpackSQLite
import FieldpackTestSupport
import Testing

@testable import FieldpackGeoPackage
@testable import FieldpackSQL

/// The functions on geometries that users' SQL has.
@Suite struct GeometryFunctionTests {
  private static func connection() throws -> Connection {
    let connection = try Connection(inMemory: .own)
    _ = try connection.session("memory").userSQL()
    return connection
  }

  /// `'…'` in the SQL is a geometry in WKT, without a reference system.
  private static func value(_ sql: String, in connection: Connection) throws -> SQLiteValue {
    let expanded = sql.replacing(/'([A-Z][A-Z ]*(?:\(.*?\)|EMPTY))'/) {
      "ST_GeomFromText('\($0.1)')"
    }
    return try connection.scalar("SELECT " + expanded) ?? .null
  }

  private static let square = "'POLYGON((0 0,4 0,4 4,0 4,0 0))'"

  // Values by shapely 2.2 (GEOS) where they are not plain to see.
  @Test(arguments: [
    ("ST_AsText('POINT(1 2)')", "POINT (1 2)"),
    ("ST_AsText('POINT(1.23456 2)', 2)", "POINT (1.23 2)"),
    ("ST_AsText('POINT Z (1 2 3)')", "POINT Z (1 2 3)"),
    ("ST_AsText(ST_GeomFromWKB(ST_AsBinary('LINESTRING(0 0,1 1)')))", "LINESTRING (0 0,1 1)"),
    ("ST_AsText(ST_Point(3, 4))", "POINT (3 4)"),
    ("ST_GeometryType('MULTIPOINT(1 1)')", "MULTIPOINT"),
    ("ST_AsText(ST_Envelope('LINESTRING(0 5,3 1)'))", "POLYGON ((0 1,3 1,3 5,0 5,0 1))"),
    ("ST_AsText(ST_MakeEnvelope(0, 0, 1, 2))", "POLYGON ((0 0,1 0,1 2,0 2,0 0))"),
    ("ST_AsText(ST_Centroid('LINESTRING(0 0,4 0)'))", "POINT (2 0)"),
    ("ST_AsText(ST_Centroid('POLYGON EMPTY'))", "POINT EMPTY"),
    ("ST_AsText(ST_PointOnSurface('POLYGON((0 0,4 0,4 4,0 4,0 0))'))", "POINT (2 2)"),
    ("ST_AsText(ST_ConvexHull('MULTIPOINT(0 0,2 0,1 1)'))", "POLYGON ((0 0,1 1,2 0,0 0))"),
    ("ST_AsText(ST_Boundary('LINESTRING(0 0,1 1)'))", "MULTIPOINT ((0 0),(1 1))"),
    ("ST_AsText(ST_Multi('POINT(1 1)'))", "MULTIPOINT ((1 1))"),
    ("ST_AsText(ST_Force2D('POINT Z (1 2 3)'))", "POINT (1 2)"),
    ("ST_AsText(ST_Simplify('LINESTRING(0 0,1 0.1,2 0)', 0.5))", "LINESTRING (0 0,2 0)"),
    (
      "ST_AsText(ST_SimplifyPreserveTopology('LINESTRING(0 0,1 0.1,2 0)', 0.5))",
      "LINESTRING (0 0,2 0)"
    ),
    ("ST_AsText(ST_Union('POINT(0 0)', 'POINT(1 1)'))", "MULTIPOINT ((0 0),(1 1))"),
    ("ST_AsText(ST_Intersection('LINESTRING(0 0,4 0)', 'LINESTRING(2 -1,2 1)'))", "POINT (2 0)"),
    ("ST_AsText(ST_Difference('POINT(0 0)', 'POINT(0 0)'))", "POINT EMPTY"),
    (
      "ST_AsText(ST_SymDifference('LINESTRING(0 0,2 0)', 'LINESTRING(1 0,2 0)'))",
      "LINESTRING (0 0,1 0)"
    ),
    ("ST_AsText(ST_ClosestPoint('LINESTRING(0 0,4 0)', 'POINT(2 3)'))", "POINT (2 0)"),
    ("ST_AsText(ST_ShortestLine('LINESTRING(0 0,4 0)', 'POINT(2 3)'))", "LINESTRING (2 0,2 3)"),
    ("ST_IsValidReason('POLYGON((0 0,2 2,2 0,0 2,0 0))')", "Self-intersection at 1.0 1.0"),
    ("ST_IsValidReason('POINT(0 0)')", "Valid Geometry"),
    ("ST_Relate('POINT(1 1)', 'POLYGON((0 0,4 0,4 4,0 4,0 0))')", "0FFFFF212"),
    (
      "ST_AsText(ST_Transform(ST_Point(15, 52, 4326), 'EPSG:25833'), 3)",
      "POINT (500000 5761038.212)"
    ),
  ])
  func `gives the text`(sql: String, expected: String) throws {
    #expect(try Self.value(sql, in: Self.connection()) == .text(expected))
  }

  @Test(arguments: [
    ("ST_Area('POLYGON((0 0,4 0,4 4,0 4,0 0),(1 1,1 2,2 2,2 1,1 1))')", 15.0),
    ("ST_Perimeter('POLYGON((0 0,4 0,4 4,0 4,0 0),(1 1,1 2,2 2,2 1,1 1))')", 20),
    ("ST_Length('POLYGON((0 0,4 0,4 4,0 4,0 0))')", 0),
    ("ST_Length('MULTILINESTRING((0 0,3 4),(0 0,1 0))')", 6),
    ("ST_Area('POINT(1 1)')", 0),
    ("ST_Area(ST_MakeValid('POLYGON((0 0,2 2,2 0,0 2,0 0))'))", 2),
    ("ST_Distance('POINT(7 8)', 'POLYGON((0 0,4 0,4 4,0 4,0 0))')", 5),
    ("ST_Area(ST_Buffer('POINT(0 0)', 1, 64))", 3.1412772509327747),
    ("ST_Area(ST_UnaryUnion('MULTIPOLYGON(((0 0,2 0,2 2,0 2,0 0)),((1 0,3 0,3 2,1 2,1 0)))'))", 6),
    ("ST_X('POINT(3 4)')", 3), ("ST_Y('POINT(3 4)')", 4), ("ST_Z('POINT Z (3 4 5)')", 5),
    ("ST_GeodesicDistance('POINT(13.4 52.5)', 'POINT(2.35 48.85)')", 879035.3878126009),
    ("ST_GeodesicLength('LINESTRING(13.4 52.5,2.35 48.85)')", 879035.3878126009),
    ("ST_GeodesicArea('POLYGON((0 0,10 0,10 10,0 10,0 0))')", 1227877191609.6267),
    ("ST_GeodesicPerimeter('POLYGON((0 0,10 0,10 10,0 10,0 0))')", 4421256.128970485),
  ])
  func `gives the number`(sql: String, expected: Double) throws {
    guard case .real(let found) = try Self.value(sql, in: Self.connection()) else {
      Issue.record("no number")
      return
    }
    #expect(abs(found - expected) <= 1e-12 * abs(expected) + 1e-9)
  }

  @Test(arguments: [
    ("ST_Intersects('POINT(1 1)', S)", 1), ("ST_Disjoint('POINT(1 1)', S)", 0),
    ("ST_Within('POINT(1 1)', S)", 1), ("ST_Within(S, 'POINT(1 1)')", 0),
    ("ST_Contains(S, 'POINT(1 1)')", 1), ("ST_Contains(S, 'POINT(4 1)')", 0),
    ("ST_Covers(S, 'POINT(4 1)')", 1), ("ST_CoveredBy('POINT(4 1)', S)", 1),
    ("ST_Touches('POINT(4 1)', S)", 1), ("ST_Crosses('LINESTRING(-1 1,5 1)', S)", 1),
    ("ST_Overlaps('POLYGON((3 3,6 3,6 6,3 6,3 3))', S)", 1),
    ("ST_Equals(S, 'POLYGON((4 0,4 4,0 4,0 0,4 0))')", 1),
    ("ST_Relate('POINT(1 1)', S, 'T*F**F***')", 1), ("ST_DWithin('POINT(7 8)', S, 5)", 1),
    ("ST_DWithin('POINT(7 8)', S, 4.9)", 0), ("ST_IsValid('POLYGON((0 0,2 2,2 0,0 2,0 0))')", 0),
    ("ST_GeodesicDWithin('POINT(179.99 0)', 'POINT(-179.99 0)', 2227)", 1),
    ("ST_GeodesicDWithin('POINT(179.99 0)', 'POINT(-179.99 0)', 2226)", 0),
    ("ST_NPoints(ST_GeodesicBuffer('POINT(13 52)', 100, 2))", 9),
    ("ST_IsSimple('LINESTRING(0 0,2 2,2 0,0 2)')", 0), ("ST_NPoints(S)", 5),
    ("ST_SRID(ST_Point(1, 2, 25833))", 25833), ("ST_SRID(ST_SetSRID(ST_Point(1, 2), 7))", 7),
    ("ST_CoordDim('POINT ZM (1 2 3 4)')", 4), ("ST_Is3D('POINT Z (1 2 3)')", 1),
    ("ST_IsMeasured('POINT Z (1 2 3)')", 0),
    ("ST_SRID(ST_GeomFromText('SRID=31467;POINT(1 2)'))", 31467),
  ])
  func `gives the whole number`(sql: String, expected: Int64) throws {
    let sql = sql.replacing("S)", with: Self.square + ")").replacing(
      "(S,", with: "(\(Self.square),"
    )
    .replacing(" S,", with: " \(Self.square),")
    #expect(try Self.value(sql, in: Self.connection()) == .integer(expected))
  }

  @Test(arguments: [
    "ST_Area(NULL)", "ST_AsText(NULL)", "ST_Union(NULL, 'POINT(1 1)')",
    "ST_Intersects('POINT(1 1)', NULL)", "ST_Intersects('POINT EMPTY', 'POINT(1 1)')",
    "ST_Disjoint('POINT EMPTY', 'POINT(1 1)')", "ST_Distance('POINT EMPTY', 'POINT(1 1)')",
    "ST_Buffer('POINT(1 1)', NULL)", "ST_X('LINESTRING(0 0,1 1)')", "ST_Z('POINT(1 2)')",
    "ST_GeomFromText(NULL)", "ST_Transform('POINT(1 1)', NULL)",
    "ST_GeodesicDistance('POINT EMPTY', 'POINT(1 1)')", "ST_ClosestPoint('POINT EMPTY', NULL)",
  ])
  func `gives NULL`(sql: String) throws {
    #expect(try Self.value(sql, in: Self.connection()) == .null)
  }

  @Test(arguments: [
    ("ST_Area('abc')", "ST_Area(): argument 1 is a text, not a geometry. Try: ST_GeomFromText(…)"),
    ("ST_Area(7)", "ST_Area(): argument 1 is a number, not a geometry"),
    (
      "ST_Area(x'00010203040506FE')",
      "ST_Area(): argument 1 is no GeoPackage geometry: the blob does not begin with 'GP' at byte "
        + "0. It is SpatiaLite's. Try: AsGPB(…)"
    ),
    (
      "ST_Area(x'010100000000000000')",
      "ST_Area(): argument 1 is no GeoPackage geometry: the blob does not begin with 'GP' at byte "
        + "0. Try: ST_GeomFromWKB(…)"
    ),
    (
      "ST_Intersects(ST_Point(1, 1, 4326), ST_Point(1, 1, 25833))",
      "ST_Intersects(): the geometries are in two reference systems (srs_id 4326 and 25833). "
        + "Try: ST_Transform(…)"
    ),
    ("ST_GeomFromText('POINT(1')", "ST_GeomFromText(): expected"),
    (
      "ST_Relate('POINT(1 1)', 'POINT(1 1)', 'T*')",
      "ST_Relate(): 'T*' is no DE-9IM pattern (nine characters of T, F, 0, 1, 2 and *)"
    ),
    (
      "ST_Boundary('GEOMETRYCOLLECTION(POINT(1 1))')",
      "ST_Boundary(): GEOS cannot make the boundary"
    ),
    ("ST_Transform(ST_Point(1, 1, 4326), 'x')", "ST_Transform(): 'x' is no reference system"),
    ("ST_Transform(ST_Point(1, 1, -1), 4326)", "ST_Transform(): NONE:-1 says that"),
    ("ST_GeodesicLength(ST_Point(1, 1, -1))", "ST_GeodesicLength(): NONE:-1 says that"),
    ("ST_GeodesicDistance('POINT(1 95)', 'POINT(1 1)')", "ST_GeodesicDistance(): the position"),
    ("ST_Buffer('POINT(1 1)', 1, 0)", "ST_Buffer(): argument 3 is not an integer from 1 to 1000"),
  ])
  func `says what is wrong`(sql: String, expected: String) throws {
    let error = #expect(throws: SQLiteError.self) {
      try Self.value(sql, in: Self.connection())
    }
    #expect(error?.message.hasPrefix(expected) == true, "\(error?.message ?? "")")
  }

  // MARK: Groups

  @Test func `a group is melted, collected and boxed`() throws {
    let connection = try Self.connection()
    try connection.executeScript("CREATE TABLE t (kind TEXT, geom BLOB)")
    for index in 0..<2_000 {
      try connection.execute(
        "INSERT INTO t VALUES (?, ST_MakeEnvelope(?2, 0, ?2 + 1, 1, 4326))",
        .text(index < 1_500 ? "a" : "b"), .integer(Int64(index)))
    }
    try connection.execute("INSERT INTO t VALUES ('a', NULL), ('c', NULL)")
    let rows = try connection.prepare(
      "SELECT kind, ST_Area(ST_Union(geom)), ST_GeometryType(ST_Union(geom)), "
        + "ST_SRID(ST_Union(geom)), ST_AsText(ST_Extent(geom)), "
        + "ST_NPoints(ST_Collect(geom)) FROM t GROUP BY kind ORDER BY kind")
    var found: [[SQLiteValue]] = []
    while try rows.step() { found.append((0..<6).map { rows.value($0) }) }
    #expect(
      found == [
        [
          "a", 1500.0, "POLYGON", 4326, "POLYGON ((0 0,1500 0,1500 1,0 1,0 0))", 7500,
        ],
        ["b", 500.0, "POLYGON", 4326, "POLYGON ((1500 0,2000 0,2000 1,1500 1,1500 0))", 2500],
        ["c", nil, nil, nil, nil, nil],
      ])
  }

  @Test func `a group of two reference systems is refused`() throws {
    let connection = try Self.connection()
    let error = #expect(throws: SQLiteError.self) {
      try connection.scalar(
        "SELECT ST_Union(g) FROM (SELECT ST_Point(1, 1, 4326) AS g UNION ALL "
          + "SELECT ST_Point(1, 1, 25833))")
    }
    #expect(error?.message.hasPrefix("ST_Union(): the geometries are in two") == true)
  }

  @Test func `a constant and a repeated geometry are prepared and answer the same`() throws {
    let connection = try Self.connection()
    let sql = """
      WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 999),
      p AS (SELECT ST_Point(i % 40, i / 40) AS g FROM n),
      b AS (SELECT ST_GeomFromText('POLYGON((1 1,30 2,20 20,1 1))') AS s
        UNION ALL SELECT ST_GeomFromText('POLYGON((0 0,5 0,0 5,0 0))'))
      """
    let joined = try connection.scalar(
      sql + "SELECT sum(ST_Intersects(g, s)) * 10000 + sum(ST_Contains(s, g)) FROM b, p")
    let constant = try connection.scalar(
      sql + """
        SELECT sum(ST_Intersects(g, ST_GeomFromText('POLYGON((1 1,30 2,20 20,1 1))')))
        + sum(ST_Intersects(ST_GeomFromText('POLYGON((0 0,5 0,0 5,0 0))'), g)) FROM p
        """)
    guard case .integer(let both)? = joined, case .integer(let single)? = constant else {
      Issue.record("no counts")
      return
    }
    #expect(both / 10_000 == single)
    // shapely 2.2.
    #expect(joined == 2_990_262)
  }

  @Test func `two constant geometries are both prepared and answer the same`() throws {
    let connection = try Self.connection()
    let found = try connection.scalar(
      """
      WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 999),
      p AS (SELECT ST_Point(i % 40, i / 40) AS g FROM n)
      SELECT sum(ST_Intersects(g, ST_GeomFromText('POLYGON((1 1,30 2,20 20,1 1))'))
        OR ST_Intersects(g, ST_GeomFromText('POLYGON((0 0,5 0,0 5,0 0))'))) FROM p
      """)
    // shapely 2.2.
    #expect(found == 296)
  }

  @Test func `distances of two datums are those of one place`() throws {
    let connection = try Self.connection()
    let clarke = "ST_Transform(ST_Point(-100, 40, 4326), 4267)"
    let plain = "ST_Point(-100, 40, 4326)"
    for (a, b) in [(clarke, plain), (plain, clarke)] {
      for _ in 0..<2 {
        let sql = "SELECT ST_GeodesicDistance(\(a), \(b))"
        guard case .real(let apart)? = try connection.scalar(sql) else {
          Issue.record("no distance")
          return
        }
        #expect(apart < 0.001)
        #expect(try connection.scalar("SELECT ST_GeodesicDWithin(\(a), \(b), 0.001)") == 1)
      }
    }
    // One constant beside points of both systems.
    let rows = try connection.scalar(
      """
      SELECT max(ST_GeodesicDistance(g, ST_Point(-100, 40, 4326)))
        + max(ST_GeodesicDistance(ST_Point(-100, 40, 4326), g)) < 0.002
      FROM (SELECT \(clarke) AS g UNION ALL SELECT \(plain) UNION ALL SELECT \(clarke))
      """)
    #expect(rows == 1)
  }

  // MARK: Beside SpatiaLite

  @Test func `ours answer beside SpatiaLite's, which take what ours give`() throws {
    let connection = try Self.connection()
    try connection.loadSpatiaLite()
    #expect(try connection.scalar("SELECT ST_AsText(ST_Point(1, 2))") == "POINT (1 2)")
    #expect(try connection.scalar("SELECT GeodesicLength(ST_Point(1, 2)) IS NULL") == 1)
  }
}
