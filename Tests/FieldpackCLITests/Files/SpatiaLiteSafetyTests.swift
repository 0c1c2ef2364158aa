import FieldpackTestSupport
import Foundation
import Testing

/// SpatiaLite ends the process for geometries that it does not expect; the tool goes on.
@Suite(.programs) final class SpatiaLiteSafetyTests {
  private let folder: TemporaryFolder

  init() async throws {
    folder = try TemporaryFolder()
    try Data("name,lon,lat\nMitte,13.4,52.5\n".utf8).write(to: folder.file("wells.csv"))
    let result = try await Tool.run(
      "import", "wells.csv", "--into", "f.gpkg", folder: folder.url)
    #expect(result.status == 0)
  }

  private func row(_ statement: String) async throws -> RunResult {
    try await Tool.run(
      ["sql", "f.gpkg", statement, "--format", "csv"], input: nil, folder: folder.url)
  }

  private static let kinds = [
    "POINT EMPTY", "LINESTRING EMPTY", "POLYGON EMPTY", "MULTIPOINT EMPTY",
    "MULTILINESTRING EMPTY", "MULTIPOLYGON EMPTY", "GEOMETRYCOLLECTION EMPTY",
    "POLYGON Z EMPTY", "LINESTRING ZM EMPTY", "MULTIPOINT (EMPTY,1 1)",
    "MULTIPOLYGON (EMPTY,((0 0,1 0,1 1,0 0)))", "GEOMETRYCOLLECTION (POLYGON EMPTY,POINT (1 1))",
    "GEOMETRYCOLLECTION (GEOMETRYCOLLECTION (POINT (1 1),LINESTRING (0 0,1 1)))",
    "GEOMETRYCOLLECTION (MULTIPOINT (1 2,3 4),POLYGON ((0 0,1 0,1 1,0 0)))",
    "CIRCULARSTRING (0 0,1 1,2 0)", "CURVEPOLYGON ((0 0,1 0,1 1,0 0))", "LINESTRING (0 0)",
    "LINESTRING (-1e308 0,1e308 1)", "POLYGON ((0 0,1 0))",
  ]

  /// SpatiaLite's own: each ended the process for one of the kinds, or read beyond its end.
  private static let functions = [
    "ST_Segmentize(g, 1)", "ConcaveHull(g)", "DelaunayTriangulation(g)", "OffsetCurve(g, 1)",
    "MakeValidDiscarded(g)", "AsX3D(g)", "AsGeoJSON(g)", "CurvosityIndex(g)",
    "Line_Interpolate_Point(g, 0.5)", "SelfIntersections(g)", "ST_Subdivide(g)",
    "VoronojDiagram(g)", "HausdorffDistance(g, ST_Point(1, 1))", "SharedPaths(g, g)",
    "SingleSidedBuffer(g, 1, 1)", "Snap(g, g, 1)", "CastAutomagic(g)", "SplitLeft(g, g)",
  ]

  @Test func `what SpatiaLite cannot take is NULL to its functions`() async throws {
    let geometries = Self.kinds.map { "(ST_GeomFromText('\($0)', 4326))" }
    let counts = Self.functions.map { "count(\($0))" }
    let result = try await row(
      "WITH k(g) AS (VALUES \(geometries.joined(separator: ","))) "
        + "SELECT count(*) || ':' || \(counts.joined(separator: " || ")) AS v FROM k")
    #expect(result.output == "v\r\n19:\(String(repeating: "0", count: Self.functions.count))\r\n")
    #expect(result.status == 0, "\(result.error)")
  }

  @Test(arguments: [
    ("MakeValid(ST_GeomFromText('POLYGON EMPTY'))", "POLYGON EMPTY"),
    ("Distance(ST_GeomFromText('MULTIPOINT (EMPTY,1 1)'), MakePoint(1, 3))", "2"),
    ("IsSimple(ST_GeomFromText('MULTIPOINT (EMPTY,1 1)'))", "1"),
    ("ST_Segmentize(ST_GeomFromText('LINESTRING (0 0,2 0)'), 1)", "\"LINESTRING (0 0,1 0,2 0)\""),
    (
      "AsText(ST_GeomFromText('GEOMETRYCOLLECTION (GEOMETRYCOLLECTION (POINT (1 1)))'))",
      "GEOMETRYCOLLECTION (GEOMETRYCOLLECTION (POINT (1 1)))"
    ),
    (
      "GeometryType(ST_GeomFromText('GEOMETRYCOLLECTION (MULTIPOINT (1 1))'))", "GEOMETRYCOLLECTION"
    ),
    ("AsGPB(MakePointZ(1, 2, 3, 4326))", "POINT Z (1 2 3)"),
    ("MakePointZ(1, 2, 3, 4326)", "POINT Z (1 2 3)"),
    (
      "(SELECT AsText(MakeLine(MakePoint(x, x))) FROM (SELECT 1 AS x UNION ALL SELECT 2))",
      "\"LINESTRING (1 1,2 2)\""
    ),
    (
      "AsGPB(x'0001E610000000000000000000000000000000000000000000000000000000000000000000007C"
        + "01000000000000000000F03F000000000000F03FFE')", "POINT (1 1)"
    ),
    (
      "AsGeoJSON(x'0001E610000000000000000000000000000000000000000000000000000000000000000000007C"
        + "02000000FFFFFF0FFE') IS NULL", "1"
    ),
  ])
  func `names of SpatiaLite have answers`(call: String, value: String) async throws {
    let result = try await row("SELECT \(call) AS v")
    #expect(result.output == "v\r\n\(value)\r\n")
    #expect(result.status == 0, "\(result.error)")
  }

  @Test(arguments: [
    (
      "ToGARS(ST_Point(1, 2))",
      "togars() is refused: SpatiaLite ends the process for positions off the globe"
    ),
    (
      "DisableGpkgMode()",
      "disablegpkgmode() is refused: geometries are those of a GeoPackage here"
    ),
    (
      "AutoGPKGStart(printf('%5000s', 'x'))",
      "autogpkgstart(): argument 1 has more than the 256 bytes SpatiaLite can take"
    ),
    (
      "CheckSpatialMetaData()",
      "checkspatialmetadata(): it works on the database itself, which SpatiaLite is kept from here"
    ),
  ])
  func `what would end the process or change the file is refused`(
    call: String, reason: String
  ) async throws {
    let result = try await row("SELECT \(call)")
    #expect(result.error == "fieldpack: f.gpkg: SQL: \(reason)\n")
    #expect(result.status == 64)
  }

  @Test(arguments: [
    ("BlobFromFile('secret')", "BlobFromFile"), ("BlobToFile(x'00', 'made')", "BlobToFile"),
    ("XB_LoadXML('secret')", "XB_LoadXML"), ("eval('SELECT 1')", "eval"),
    ("Zipfile_NumSHP('secret')", "Zipfile_NumSHP"),
  ])
  func `functions that open files are refused, whatever the environment says`(
    call: String, name: String
  ) async throws {
    _ = try folder.write("secret", to: "secret")
    for write in [[], ["--write"]] {
      let result = try await Tool.run(
        ["sql", "f.gpkg", "SELECT \(call)"] + write,
        environment: ["SPATIALITE_SECURITY": "relaxed"], folder: folder.url)
      #expect(result.error.contains("\(name.lowercased())() is refused: it "), "\(result)")
      #expect(result.output == "")
      #expect(result.status == 64)
    }
    #expect(!FileManager.default.fileExists(atPath: folder.file("made").path))
  }
}
