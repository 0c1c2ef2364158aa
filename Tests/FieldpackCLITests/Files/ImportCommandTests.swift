import FieldpackTestSupport
import Foundation
import Testing

@Suite(.programs) struct ImportCommandTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private static let wells = """
    {"type":"FeatureCollection","features":[
    {"type":"Feature","id":11,"properties":{"name":"Mitte","depth":12},\
    "geometry":{"type":"Point","coordinates":[13.4,52.5]}},
    {"type":"Feature","id":13,"properties":{"name":"Nord","depth":8.5},\
    "geometry":{"type":"Point","coordinates":[13.5,52.6]}}]}
    """
  private static let bad = """
    {"type":"Feature","properties":{"n":1},"geometry":{"type":"Point","coordinates":[1,2]}}
    {"type":"Feature","properties":{"n":2},"geometry":{"type":"Point","coordinates":["x"]}}
    {"type":"Feature","properties":{"n":3},"geometry":{"type":"Point","coordinates":[3,4]}}
    """

  private func fieldpack(_ words: String..., input: String? = nil) async throws -> RunResult {
    try await Tool.run(words, input: input.map { Data($0.utf8) }, folder: folder.url)
  }

  private func names() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder.url.path).sorted()
  }

  @Test func `tells the type that holds the geometries of all files`() async throws {
    _ = try folder.write("wkt\nPOINT(1 2)\n", to: "a.csv")
    _ = try folder.write("wkt\n\"LINESTRING(1 2,3 4)\"\n", to: "b.csv")
    let result = try await fieldpack(
      "import", "a.csv", "b.csv", "--layer", "x", "--into", "f.gpkg", "--source-srs", "EPSG:4326")
    #expect(result.output.contains("x             2  1-2  GEOMETRY  EPSG:4326  a.csv, b.csv"))
    #expect(result.status == 0)
  }

  @Test func `surfaces become the types of GeoPackage that have their rings`() async throws {
    _ = try folder.write(
      """
      wkt
      "TRIANGLE ((0 0,1 0,1 1,0 0))"
      "TIN Z (((0 0 1,1 0 1,1 1 1,0 0 1)),((0 0 1,1 1 1,0 1 1,0 0 1)))"
      "POLYHEDRALSURFACE (((0 0,1 0,1 1,0 0)))"

      """, to: "s.csv")
    _ = try folder.write(
      "wkt\n\"GEOMETRYCOLLECTION (TRIANGLE ((0 0,1 0,1 1,0 0)),POINT (1 1))\"\n", to: "c.csv")
    let result = try await fieldpack(
      "import", "s.csv", "c.csv", "--into", "f.gpkg", "--source-srs", "EPSG:4326")
    #expect(result.output.contains("s             3  1-3  MULTIPOLYGON        EPSG:4326  s.csv"))
    #expect(
      result.error == """
        note: s.csv: read POLYHEDRALSURFACE as MULTIPOLYGON, TIN as MULTIPOLYGON, TRIANGLE as \
        POLYGON: GeoPackage has no such type
        note: c.csv: read TRIANGLE as POLYGON: GeoPackage has no such type

        """)
    #expect(
      try await fieldpack(
        "sql", "f.gpkg",
        "SELECT ST_AsText(geom) AS g FROM s UNION ALL SELECT ST_AsText(geom) FROM c",
        "--format", "csv"
      ).output == """
        g\r
        "MULTIPOLYGON (((0 0,1 0,1 1,0 0)))"\r
        "MULTIPOLYGON Z (((0 0 1,1 0 1,1 1 1,0 0 1)),((0 0 1,1 1 1,0 1 1,0 0 1)))"\r
        "MULTIPOLYGON (((0 0,1 0,1 1,0 0)))"\r
        "GEOMETRYCOLLECTION (POLYGON ((0 0,1 0,1 1,0 0)),POINT (1 1))"\r

        """)
    let check = try await fieldpack("check", "f.gpkg")
    #expect(check.output == "f.gpkg: GeoPackage 1.4, nothing found\n")
  }

  @Test func `layers of a GeoPackage come as GDAL wants them`() async throws {
    _ = try folder.write(Self.wells, to: "wells.geojson")
    _ = try await fieldpack("import", "wells.geojson", "--into", "a.gpkg")
    let result = try await fieldpack(
      "import", "a.gpkg:wells", "--into", "b.gpkg", "--layer", "old", "--gpkg-version", "1.3")
    #expect(result.error == "")
    #expect(result.output.hasPrefix("2 features imported into b.gpkg\n"))
    for validator in Programs.validators {
      let verdict = try await Program.run(
        validator.python,
        ["-m", "osgeo_utils.samples.validate_gpkg", "-k", "--extra", folder.file("b.gpkg").path])
      #expect(verdict.output + verdict.error == "")
    }
    let again = try await fieldpack("import", "a.gpkg", "b.gpkg", "--into", "./a.gpkg")
    #expect(again.status == 64)
    #expect(again.error == "fieldpack: a.gpkg cannot be imported into itself\n")
    let renamed = try await fieldpack("import", "a.gpkg:sites", "--into", "b.gpkg")
    #expect(renamed.status == 66 || renamed.error.hasPrefix("fieldpack: layer 'sites'"))
  }

  @Test func `says what was imported`() async throws {
    _ = try folder.write(Self.wells, to: "wells.geojson")
    _ = try folder.write("name;x;y\nDom;13.4;52.5\n", to: "sights.csv")
    let result = try await fieldpack("import", "wells.geojson", "sights.csv", "--into", "f.gpkg")
    #expect(
      result.output == """
        3 features imported into f.gpkg

        layer   features  ids      geometry  SRS        from
        ──────  ────────  ───────  ────────  ─────────  ─────────────
        wells          2  11 … 13  POINT     EPSG:4326  wells.geojson
        sights         1  1        POINT     undefined  sights.csv

        """)
    #expect(
      result.error
        == "note: sights.csv: the file does not say its reference system. Try: --source-srs\n")
    #expect(result.status == 0)
    #expect(try names() == ["f.gpkg", "sights.csv", "wells.geojson"])
  }

  @Test func `json gives the key tuples made`() async throws {
    _ = try folder.write(Self.wells, to: "wells.geojson")
    let result = try await fieldpack(
      "import", "wells.geojson", "--into", "f.gpkg", "--layer", "a", "--srs", "EPSG:25833",
      "--json")
    #expect(
      result.output == #"""
        {"target":"f.gpkg","store":"f","is_dry_run":false,"count":2,"updated_count":0,"layers":[{"layer":"a","count":2,"renumbered_count":0,\#
        "keys":{"is_consecutive":false,"keys":["Zg==.YQ==.MTE=","Zg==.YQ==.MTM="],"omitted_count":0}}],\#
        "files":[{"file":"wells.geojson","layer":"a","count":2,"geometry_type":"POINT",\#
        "srs":"EPSG:4326","columns":[{"column":"name","type":"TEXT"},\#
        {"column":"depth","type":"REAL"}]}],"skipped":{"count":0,"features":[]},"notes":[],\#
        "transformations":[{"source_srs":"EPSG:4326","target_srs":"EPSG:25833",\#
        "operation":"Inverse of ETRS89 to WGS 84 (1) + UTM zone 33N","accuracy_m":1,\#
        "missing_grids":[]}]}

        """#)
    #expect(
      result.error == """
        note: transformed EPSG:4326 to EPSG:25833: Inverse of ETRS89 to WGS 84 (1) + UTM zone 33N \
        (accuracy 1 m)

        """)
    let csv = try await fieldpack(
      "import", "-", "--into", "f.gpkg", "--layer", "b", "--format", "csv", "--json",
      "--source-srs",
      "EPSG:4326",
      input: "n,wkt\n1,POINT (1 2)\n2,POINT (3 4)\n")
    #expect(
      csv.output == #"""
        {"target":"f.gpkg","store":"f","is_dry_run":false,"count":2,"updated_count":0,"layers":[{"layer":"b","count":2,"renumbered_count":0,\#
        "keys":{"is_consecutive":true,"first_id":1,"last_id":2,"first_key":"Zg==.Yg==.MQ==",\#
        "last_key":"Zg==.Yg==.Mg=="}}],"files":[{"file":"stdin","layer":"b","count":2,\#
        "geometry_type":"POINT","srs":"EPSG:4326","columns":[{"column":"n","type":"INTEGER"}]}],\#
        "skipped":{"count":0,"features":[]},"notes":[],"transformations":[]}

        """#)
  }

  @Test func `a bad feature ends the import, or is skipped and listed`() async throws {
    _ = try folder.write(Self.bad, to: "bad.geojsonl")
    let failed = try await fieldpack("import", "bad.geojsonl", "--into", "f.gpkg")
    #expect(failed.output == "")
    #expect(
      failed.error.hasPrefix("fieldpack: bad.geojsonl:2:")
        && failed.error.contains("feature 2, byte "))
    #expect(failed.status == 65)
    #expect(try names() == ["bad.geojsonl"])
    let skipped = try await fieldpack(
      "import", "bad.geojsonl", "--into", "f.gpkg", "--skip-errors")
    #expect(skipped.output.hasPrefix("2 features imported into f.gpkg\n"))
    #expect(
      skipped.output.hasSuffix(
        "\n1 feature skipped:\n  bad.geojsonl, feature 2, byte 169: "
          + "a coordinate is not a number (RFC 7946 section 3.1.1)\n"))
    #expect(skipped.status == 2)
  }

  @Test func `ids that are a property are one again, and a column where they may not be ids`()
    async throws
  {
    let text = """
      {"type":"FeatureCollection","features":[
      {"type":"Feature","properties":{"fid":7,"n":1},"geometry":null},
      {"type":"Feature","properties":{"fid":5,"n":2},"geometry":null}
      ]}

      """
    _ = try folder.write(text, to: "qgis.geojson")
    _ = try await fieldpack("import", "qgis.geojson", "--into", "f.gpkg")
    let ids = try await fieldpack("sql", "f.gpkg", "SELECT fid, n FROM qgis", "--format", "csv")
    #expect(ids.output == "fid,n\r\n5,2\r\n7,1\r\n")
    let back = try await fieldpack(
      "export", "f.gpkg", "--sort", "n", "-o", "-", "--format", "geojson")
    #expect(back.output == text)
    let again = try await fieldpack(
      "import", "qgis.geojson", "--into", "f.gpkg", "--mode", "append")
    #expect(again.status == 0)
    let all = try await fieldpack(
      "sql", "f.gpkg", "SELECT fid, fid_2, n FROM qgis", "--format", "csv")
    #expect(all.output == "fid,fid_2,n\r\n5,,2\r\n7,,1\r\n8,7,1\r\n9,5,2\r\n")
    let two = try await fieldpack(
      "import", "qgis.geojson", "qgis.geojson", "--layer", "two", "--into", "two.gpkg")
    #expect(two.status == 0)
    let both = try await fieldpack(
      "sql", "two.gpkg", "SELECT fid, fid_2 FROM two", "--format", "csv")
    #expect(both.output == "fid,fid_2\r\n1,7\r\n2,5\r\n3,7\r\n4,5\r\n")
  }

  @Test func `what a GPX file says of itself is kept and comes back`() async throws {
    let head = """
      <?xml version="1.0" encoding="UTF-8"?>
      <gpx version="1.1" creator="Fieldpack" xmlns="http://www.topografix.com/GPX/1/1" \
      xmlns:fieldpack="https://fieldpack.dev/gpx/1">

      """
    let metadata =
      #"<metadata xmlns="http://www.topografix.com/GPX/1/1"><name>a</name></metadata>"#
    let text = head + metadata + "\n<wpt lat=\"1\" lon=\"2\"></wpt>\n</gpx>\n"
    _ = try folder.write(text, to: "a.gpx")
    _ = try await fieldpack("import", "a.gpx", "--into", "f.gpkg")
    _ = try await fieldpack("import", "a.gpx", "--into", "f.gpkg", "--mode", "append")
    let stored = try await fieldpack(
      "sql", "f.gpkg",
      "SELECT metadata, table_name FROM gpkg_metadata JOIN gpkg_metadata_reference "
        + "ON id = md_file_id", "--format", "csv")
    #expect(
      stored.output
        == "metadata,table_name\r\n\"\(metadata.replacing("\"", with: "\"\""))\",waypoints\r\n")
    let check = try await fieldpack("check", "f.gpkg")
    #expect(check.status == 0)
    for file in ["a.gpx", "f.gpkg"] {
      let back = try await fieldpack("export", file, "--limit", "1", "-o", "-", "--format", "gpx")
      #expect(back.output == text)
    }
    _ = try folder.write(text.replacing("<name>a", with: "<name>b"), to: "b.gpx")
    _ = try await fieldpack("import", "b.gpx", "--into", "f.gpkg", "--mode", "append")
    let two = try await fieldpack("export", "f.gpkg", "-o", "two.gpx")
    #expect(
      two.error
        == "note: the metadata of 2 GPX files are left out, since a file has only its own\n")
  }

  @Test func `modes decide on layers that exist`() async throws {
    _ = try folder.write(Self.wells, to: "wells.geojson")
    _ = try folder.write(#"{"type":"Point","coordinates":[1,2]}"#, to: "p.geojson")
    #expect(try await fieldpack("import", "wells.geojson", "--into", "f.gpkg").status == 0)
    let again = try await fieldpack("import", "wells.geojson", "--into", "f.gpkg")
    #expect(again.status == 73)
    #expect(again.error.hasPrefix("fieldpack: "))
    let words = ["import", "p.geojson", "--into", "f.gpkg", "--layer", "wells", "--mode"]
    func count() async throws -> String {
      try await fieldpack("sql", "f.gpkg", "SELECT count(*) FROM wells", "--format", "csv").output
    }
    #expect(try await Tool.run(words + ["append"], folder: folder.url).status == 0)
    #expect(try await count() == "count(*)\r\n3\r\n")
    #expect(try await Tool.run(words + ["replace"], folder: folder.url).status == 0)
    #expect(try await count() == "count(*)\r\n1\r\n")
    let dry = try await Tool.run(words + ["append", "--dry-run"], folder: folder.url)
    #expect(dry.output.hasPrefix("1 feature would be imported into f.gpkg\n"))
    #expect(try await count() == "count(*)\r\n1\r\n")
  }

  private static let mistakes: [([String], Int32, String)] = [
    (
      ["import", ".", "--into", "f.gpkg"], 64,
      "fieldpack: . is a folder. Try: fieldpack import ./*.geojson --into f.gpkg\n"
    ),
    (
      ["import", "x.scfg", "--into", "f.gpkg"], 64,
      "fieldpack: x.scfg is a config, which is read as it is. Try: fieldpack export x.scfg "
        + "LAYER --output layer.geojson, then import that\n"
    ),
    (
      ["import", "p.geojson", "--into", "f.geojson"], 64,
      "fieldpack: the name of a GeoPackage ends with .gpkg, not f.geojson\n"
    ),
    (
      ["import", "-", "--into", "f.gpkg"], 64,
      "fieldpack: standard input needs a name for its layer. Try: --layer NAME\n"
    ),
    (
      ["import", "no.geojson", "--into", "f.gpkg"], 66,
      "fieldpack: cannot open no.geojson: No such file or directory\n"
    ),
    (
      ["import", "p.geojson"], 64, "fieldpack: --into is missing. Try: fieldpack help import\n"
    ),
    (
      ["import", "p.geojson", "--into", "f.gpkg", "--delimiter", "ab"], 64,
      "fieldpack: --delimiter 'ab' is not one character. Try: , or ; or tab\n"
    ),
  ]

  @Test(arguments: mistakes)
  func `what cannot be imported is named`(words: [String], status: Int32, line: String) async throws
  {
    let result = try await Tool.run(words, folder: folder.url)
    #expect(result.error == line)
    #expect(result.output == "")
    #expect(result.status == status)
    #expect(try names() == [])
  }

  @Test(arguments: [
    #"a"b; DROP TABLE x"#, "🐟 fish", String(repeating: "n", count: 1000), "select", "é[']`",
  ])
  func `any name is a layer and a column`(name: String) async throws {
    let quoted = name.replacing("\"", with: "\\\"")
    let text = """
      {"type":"Feature","properties":{"\(quoted)":5},\
      "geometry":{"type":"Point","coordinates":[1,2]}}
      """
    let result = try await fieldpack(
      "import", "-", "--into", "f.gpkg", "--layer", name, input: text)
    #expect(result.error == "")
    #expect(result.status == 0)
    let sql = name.replacing("\"", with: "\"\"")
    let read = try await fieldpack("sql", "f.gpkg", "SELECT \"\(sql)\" AS v FROM \"\(sql)\"")
    #expect(read.output == "v\n─\n5\n")
  }

  @Test func `options reach the readers`() async throws {
    _ = try folder.write("a|east|north|key\nx|391390.7|5817855.2|7\n", to: "d.txt")
    let result = try await fieldpack(
      "import", "d.txt", "--into", "f.gpkg", "--format", "csv", "--delimiter", "|", "--x", "east",
      "--y", "north", "--source-srs", "EPSG:25833", "--id", "key", "--gpkg-version", "1.2")
    #expect(result.error == "")
    let rows = try await fieldpack("sql", "f.gpkg", "SELECT * FROM d", "--json")
    #expect(
      rows.output
        == #"{"columns":["fid","geom","a"],"rows":[[7,"POINT (391390.7 5817855.2)","x"]],"#
        + #""row_count":1}"# + "\n")
    let version = try await fieldpack("sql", "f.gpkg", "PRAGMA user_version", "--format", "csv")
    #expect(version.output == "user_version\r\n10200\r\n")
  }
}
