import FieldpackTestSupport
import Foundation
import Testing

@Suite(.programs) struct SQLCommandTests {
  private let folder: TemporaryFolder

  init() async throws {
    folder = try TemporaryFolder()
    let wells = """
      name,depth,x,y
      Mitte,12,13.4,52.5
      Nord,,13.5,52.6
      """
    _ = try folder.write(wells, to: "wells.csv")
    let result = try await Tool.run(
      "import", "wells.csv", "--into", "f.gpkg", folder: folder.url)
    #expect(result.status == 0)
  }

  private func sql(_ words: String..., input: String? = nil) async throws -> RunResult {
    try await Tool.run(
      ["sql", "f.gpkg"] + words, input: input.map { Data($0.utf8) }, folder: folder.url)
  }

  @Test func `rows are a table, CSV or a document`() async throws {
    let statement = "SELECT *, x'00ff' AS b FROM wells"
    #expect(
      try await sql(statement).output == """
        fid  geom               name   depth  b
        ───  ─────────────────  ─────  ─────  ───────
          1  POINT (13.4 52.5)  Mitte     12  x'00ff'
          2  POINT (13.5 52.6)  Nord    NULL  x'00ff'

        """)
    #expect(
      try await sql(statement, "--format", "csv").output
        == "fid,geom,name,depth,b\r\n1,POINT (13.4 52.5),Mitte,12,x'00ff'\r\n"
        + "2,POINT (13.5 52.6),Nord,,x'00ff'\r\n")
    #expect(
      try await sql(statement, "--json").output
        == #"{"columns":["fid","geom","name","depth","b"],"#
        + #""rows":[[1,"POINT (13.4 52.5)","Mitte",12,"x'00ff'"],"#
        + #"[2,"POINT (13.5 52.6)","Nord",null,"x'00ff'"]],"row_count":2}"# + "\n")
    #expect(
      try await sql("SELECT name FROM wells WHERE 0", "--json").output
        == #"{"columns":["name"],"rows":[],"row_count":0}"# + "\n")
  }

  @Test(arguments: [
    ("SELECT ST_MinX(geom) v FROM wells WHERE fid = 1", "13.4"),
    ("SELECT ST_AsText(geom) v FROM wells WHERE fid = 1", "POINT (13.4 52.5)"),
    ("SELECT ST_AsText(ST_StartPoint(ST_GeomFromText('LINESTRING(0 0,4 0)'))) v", "POINT (0 0)"),
    ("SELECT ST_X(geom) v FROM wells WHERE fid = 1", "13.4"),
    ("SELECT ST_Area(ST_Buffer(geom, 1)) > 3 v FROM wells WHERE fid = 1", "1"),
    ("SELECT count(*) v FROM rtree_wells_geom WHERE minx > 13.45", "1"),
  ])
  func `our functions and SpatiaLite's read geometries`(statement: String, value: String)
    async throws
  {
    let result = try await sql(statement, "--format", "csv")
    #expect(result.output == "v\r\n\(value)\r\n")
    #expect(result.error == "")
  }

  @Test func `explains which layers a spatial index finds`() async throws {
    let statement =
      "SELECT name FROM wells WHERE ST_Intersects(geom, ST_GeomFromText('POINT (13.4 52.5)', 4326))"
    let result = try await sql(statement, "--explain")
    let lines = result.output.split(separator: "\n").map(String.init)
    #expect(lines.contains("  SEARCH wells USING R-TREE rtree_wells_geom FOR intersects"))
    #expect(lines.last?.hasPrefix("  1 row in ") == true, "\(lines)")
    #expect(result.error == "")
    #expect(try await sql(statement, "--format", "csv").output == "name\r\nMitte\r\n")
    let clash = try await sql("SELECT 1", "--explain", "--write")
    #expect(clash.error == "fieldpack: --explain and --write cannot be given together\n")
  }

  @Test func `a statement without end is ended by its time`() async throws {
    let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i FROM n) SELECT max(i) FROM n"
    let result = try await sql(endless, "--timeout", "0.3")
    #expect(result.error == "fieldpack: not done within 0.3 s. Try: a longer --timeout\n")
    #expect(result.status == 130)
  }

  private static let refusedReading: [(String, Int32, String)] = [
    ("DELETE FROM wells", 77, "f.gpkg: SQL: the statement does more than read. Try: --write"),
    (
      "ATTACH 'x.db' AS x", 77, "f.gpkg: SQL: the statement does more than read. Try: --write"
    ),
    (
      "PRAGMA journal_mode = WAL", 77,
      "f.gpkg: SQL: the statement does more than read. Try: --write"
    ),
    (
      "SELECT 1; SELECT 2", 64,
      "f.gpkg: SQL: there is text after the first statement. Try: --write, or one statement at a "
        + "time"
    ),
    ("SELEC 1", 64, "f.gpkg: SQL: near \"SELEC\": syntax error (at character 1)"),
    ("SELECT 'é', x FROM wells", 64, "f.gpkg: SQL: no such column: x (at character 13)"),
    ("SELECT nofun(1)", 64, "f.gpkg: SQL: no such function: nofun (at character 8)"),
    (
      "SELECT fts3_tokenizer('simple')", 64,
      "f.gpkg: SQL: not authorized to use function: fts3_tokenizer (at character 8)"
    ),
    ("/* nothing */", 64, "f.gpkg: SQL: there is no statement in the SQL"),
  ]

  @Test(arguments: refusedReading)
  func `reading does nothing else`(statement: String, status: Int32, line: String) async throws {
    let before = try Data(contentsOf: folder.file("f.gpkg"))
    let result = try await sql(statement)
    #expect(result.error == "fieldpack: \(line)\n")
    #expect(result.output == "")
    #expect(result.status == status)
    #expect(try Data(contentsOf: folder.file("f.gpkg")) == before)
  }

  @Test func `writing is one transaction that keeps index and extent`() async throws {
    let result = try await sql(
      "--write", "-",
      input: """
        UPDATE wells SET depth = 3 WHERE name = 'Nord';
        INSERT INTO wells (geom, name) SELECT geom, 'Neu' FROM wells WHERE fid = 1;
        DELETE FROM wells WHERE fid = 2; -- the one in the north
        SELECT name FROM wells;
        """)
    #expect(result.output == "name\n─────\nMitte\nNeu\n")
    #expect(result.error == "note: 3 rows changed\n")
    #expect(result.status == 0)
    #expect(
      try await sql(
        "SELECT max_y, (SELECT count(*) FROM rtree_wells_geom) FROM gpkg_contents", "--json"
      )
      .output == """
        {"columns":["max_y","(SELECT count(*) FROM rtree_wells_geom)"],"rows":[[52.5,2]],"row_count":1}

        """)
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.url.path).sorted()
    #expect(names == ["f.gpkg", "wells.csv"])
  }

  private static let failingScripts: [(String, Int32, String)] = [
    (
      "DELETE FROM wells; COMMIT", 64,
      "SQL: not authorized: the statements run in one transaction, "
        + "without ATTACH and PRAGMA"
    ),
    (
      "DELETE FROM wells; INSERT INTO wells (fid) VALUES (1), (1)", 1,
      "UNIQUE constraint failed: wells.fid"
    ),
    ("DELETE FROM wells; nonsense", 64, "SQL: near \"nonsense\": syntax error (at character 2)"),
  ]

  @Test(arguments: failingScripts)
  func `an error undoes all statements`(script: String, status: Int32, line: String) async throws {
    let result = try await sql("--write", script)
    #expect(result.error == "fieldpack: f.gpkg: \(line)\n")
    #expect(result.status == status)
    #expect(
      try await sql("SELECT count(*) n FROM wells", "--format", "csv").output == "n\r\n2\r\n")
  }

  @Test(arguments: [
    (
      "ALTER TABLE wells RENAME TO brunnen",
      "gpkg_contents names the table 'wells', which would no longer exist",
      "fieldpack layer rename, or fieldpack layer delete"
    ),
    (
      "UPDATE wells SET geom = ST_Buffer(geom, 0.01)",
      "layer 'wells': feature 1 would not fit: it is a POLYGON, not a POINT, and 1 more",
      "fieldpack layer retype"
    ),
  ])
  func `a layer that would break stays, and what to use instead is named`(
    script: String, reason: String, advice: String
  ) async throws {
    let before = try Data(contentsOf: folder.file("f.gpkg"))
    let result = try await sql("--write", script)
    #expect(
      result.error
        == "fieldpack: f.gpkg: SQL: \(reason), so nothing was changed. Try: \(advice)\n")
    #expect(result.output == "")
    #expect(result.status == 1)
    #expect(try Data(contentsOf: folder.file("f.gpkg")) == before)
  }

  @Test func `what statements did is a document`() async throws {
    let result = try await sql(
      "--write", "--json", "UPDATE wells SET depth = 1; SELECT depth FROM wells LIMIT 1")
    #expect(
      result.output == """
        {"statements":[{"columns":[],"rows":[],"change_count":2},\
        {"columns":["depth"],"rows":[[1]],"change_count":0}]}

        """)
    #expect(result.error == "")
  }

  @Test func `a file that is no GeoPackage is refused`() async throws {
    let result = try await Tool.run("sql", "wells.csv", "SELECT 1", folder: folder.url)
    #expect(result.error == "fieldpack: wells.csv: not a GeoPackage (not an SQLite file)\n")
    #expect(result.status == 65)
  }
}
