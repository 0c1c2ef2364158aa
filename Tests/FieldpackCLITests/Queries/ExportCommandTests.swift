import FieldpackTestSupport
import Foundation
import Testing

@Suite(.programs) struct ExportCommandTests {
  private let survey: SurveyFolder

  init() throws { survey = try SurveyFolder() }

  // MARK: Formats

  @Test func `writes GeoJSON in degrees and says what it wrote`() async throws {
    let result = try await survey.run(
      "export", "wells.geojson", "--where", "depth > 10", "-o", "deep.geojson", "--with-bbox")
    #expect(result.output == "1 feature of layer wells written to deep.geojson\n")
    #expect(result.error == "")
    #expect(result.status == 0)
    #expect(
      try survey.text("deep.geojson") == """
        {"type":"FeatureCollection","features":[
        {"type":"Feature","id":11,"properties":{"name":"Mitte","depth":12.5,"open":true},\
        "geometry":{"type":"Point","coordinates":[13.4,52.5]},"bbox":[13.4,52.5,13.4,52.5]}
        ],"bbox":[13.4,52.5,13.4,52.5]}

        """)
    let again = try await survey.run("query", "deep.geojson", "--count")
    #expect(again.output == "1\n")
  }

  @Test func `GeoJSON in another SRS says so`() async throws {
    let result = try await survey.run(
      "export", "wells.geojson", "--srs", "EPSG:25833", "--decimals", "1", "--limit", "1",
      "--select", "name", "-o", "utm.geojson")
    #expect(
      result.error == """
        note: layer 'wells': EPSG:4326 to EPSG:25833: Inverse of ETRS89 to WGS 84 (1) + UTM \
        zone 33N (accuracy 1 m)
        note: the coordinates are in EPSG:25833, not in RFC 7946's WGS 84; its member crs says so

        """)
    #expect(
      try survey.text("utm.geojson") == """
        {"type":"FeatureCollection","crs":{"type":"name","properties":{"name":\
        "urn:ogc:def:crs:EPSG::25833"}},"features":[
        {"type":"Feature","id":11,"properties":{"name":"Mitte"},\
        "geometry":{"type":"Point","coordinates":[391390.7,5817855.2]}}
        ]}

        """)
    let back = try await survey.run("query", "utm.geojson", "--srs", "EPSG:4326", "-q")
    #expect(back.output.contains("POINT (13.4 52.5)"))
  }

  @Test func `speaks the dialect of SpatialConnect`() async throws {
    let result = try await survey.run(
      "export", "wells.geojson", "--dialect", "spatialconnect", "--select", "name", "--limit", "1",
      "-o", "sc.geojson")
    #expect(result.status == 0)
    var text = try survey.text("sc.geojson")
    text.replace(
      #/"created_at":"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d GMT"/#, with: #""created_at":"now""#)
    text.replace(#/"client":"[0-9A-F-]{36}"/#, with: #""client":"me""#)
    #expect(
      text == """
        {"type":"FeatureCollection",\
        "crs":{"type":"name","properties":{"name":"EPSG:4326"}},"features":[
        {"type":"Feature","id":"d2VsbHM=.d2VsbHM=.MTE=","properties":{"name":"Mitte"},\
        "metadata":{"created_at":"now","client":"me","storeId":"wells","layerId":"wells"},\
        "geometry":{"type":"Point","coordinates":[13.4,52.5]},"bbox":[13.4,52.5,13.4,52.5],\
        "crs":{"type":"name","properties":{"name":"EPSG:4326"}}}
        ]}

        """)
  }

  @Test func `writes key tuples where there is a place for them`() async throws {
    let csv = try await survey.run("export", "sights.geojson", "--keys", "-o", "keys.csv")
    #expect(csv.status == 0)
    #expect(
      try survey.text("keys.csv") == """
        key,id,name,depth,wkt\r
        c2lnaHRz.c2lnaHRz.ZG9t,dom,Dom,3.5,POINT (13.401 52.519)\r

        """)
    let gpx = try await survey.run("export", "sights.geojson", "--keys", "-o", "keys.gpx")
    #expect(
      gpx.error == "fieldpack: GPX has no place for key tuples. Try: GeoJSON or CSV, or without "
        + "--keys\n")
    #expect(gpx.status == 64)
  }

  @Test func `writes GPX that its schema accepts, each track once`() async throws {
    let result = try await survey.run("export", "walk.gpx", "-o", "out.gpx")
    #expect(
      result.output
        == "4 features of layers waypoints, tracks, track_points written to out.gpx\n")
    let text = try survey.text("out.gpx")
    #expect(text.ranges(of: "<trkpt ").count == 2)
    #expect(text.contains("<trk><name>Round</name>"))
    #expect(text.contains("<time>2024-05-01T10:01:00Z</time>"))
  }

  @Test func `PhotoPath's GPX is in UTC wherever it is written`() async throws {
    let survey = try SurveyFolder()
    let report = try await survey.run(
      "export", "walk.gpx", "track_points", "--output", "path.gpx", "--gpx-dialect", "photopath",
      environment: ["TZ": "America/New_York"])
    #expect(report.status == 0)
    #expect(
      try survey.text("path.gpx") == """
        <?xml version="1.0"?>
        <gpx version="1.1" creator="Xcode">
        <wpt lat="52.500000" lon="13.400000"><time>2024-05-01T10:00:00Z</time></wpt>
        <wpt lat="52.510000" lon="13.410000"><time>2024-05-01T10:01:00Z</time></wpt>
        </gpx>

        """)
    let whole = try await survey.run(
      "export", "walk.gpx", "--output", "whole.gpx", "--gpx-dialect", "photopath")
    #expect(whole.status == 1)
    #expect(!survey.exists("whole.gpx"))
  }

  @Test(
    .enabled(if: SharedData.isPresent, Comment(rawValue: SharedData.absent)),
    .enabled(if: Programs.xmllint != nil, Comment(rawValue: Programs.noXMLLint)))
  func `GPX from any layer passes xmllint`() async throws {
    _ = try await survey.run("export", "walk.gpx", "-o", "a.gpx")
    _ = try await survey.run("export", "wells.geojson", "-o", "b.gpx")
    let schema = SharedData.url("real/gpx-schema/gpx.xsd").path
    for name in ["a.gpx", "b.gpx"] {
      let check = try await Program.run(
        "xmllint", ["--noout", "--schema", schema, survey.folder.file(name).path])
      #expect(check.status == 0, "\(check.error)")
    }
  }

  @Test func `a GeoPackage keeps layers, ids and types`() async throws {
    let result = try await survey.run("export", "walk.gpx", "-o", "walk.gpkg")
    #expect(result.status == 0)
    let info = try await survey.run("info", "walk.gpkg")
    #expect(
      info.output == """
        walk: open (gpkg.1, walk.gpkg)

        layer         features  geometry            SRS               envelope
        ────────────  ────────  ──────────────────  ────────────────  ─────────────────────
        waypoints            1  POINT Z             EPSG:4326 WGS 84  13.4,52.5,13.4,52.5
        tracks               1  MULTILINESTRING ZM  EPSG:4326 WGS 84  13.4,52.5,13.41,52.51
        track_points         2  POINT ZM            EPSG:4326 WGS 84  13.4,52.5,13.41,52.51

        """)
    _ = try await survey.run("export", "wells.geojson", "-o", "wells.gpkg")
    let wells = try await survey.run("query", "wells.gpkg", "--format", "csv")
    #expect(
      wells.output == """
        fid,name,depth,open,wkt\r
        11,Mitte,12.5,true,POINT (13.4 52.5)\r
        12,Nord,8.0,,POINT (13.5 52.6)\r

        """)
  }

  @Test(.enabled(if: Programs.sqlite3 != nil, Comment(rawValue: Programs.noSQLite)))
  func `odd tables beside the layers are a note`() async throws {
    _ = try await survey.run("import", "wells.geojson", "--into", "field.gpkg")
    let sqlite = try #require(Programs.sqlite3)
    let odd = "CREATE TABLE gpkgext_relations(id INTEGER PRIMARY KEY, base_table_name TEXT)"
    _ = try await Program.run(sqlite, [survey.folder.file("field.gpkg").path, odd])
    for words in [
      ["export", "field.gpkg", "--output", "out.gpkg"],
      ["transform", "field.gpkg", "--srs", "EPSG:3857", "--output", "moved.gpkg"],
    ] {
      let result = try await survey.run(words)
      #expect(result.status == 0, "\(result)")
      #expect(
        result.error.contains("what store 'field' has beside them cannot be read: "), "\(result)")
    }
  }

  @Test func `ids that are texts come back from a GeoPackage`() async throws {
    _ = try await survey.run("export", "sights.geojson", "-o", "sights.gpkg")
    let result = try await survey.run("query", "sights.gpkg", "--format", "geojsonl")
    #expect(
      result.output == """
        {"type":"Feature","id":"dom","properties":{"name":"Dom","depth":3.5},\
        "geometry":{"type":"Point","coordinates":[13.401,52.519]}}

        """)
  }

  @Test func `draws SVG and a page that needs nothing else`() async throws {
    let svg = try await survey.run("export", "walk.gpx", "-o", "walk.svg")
    #expect(
      svg.output == "4 features of layers waypoints, tracks, track_points written to walk.svg\n")
    let drawing = try survey.text("walk.svg")
    #expect(drawing.hasPrefix("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 1000 "))
    #expect(drawing.contains(">walk.gpx</text>"))
    #expect(drawing.contains(">track_points</text>"))
    _ = try await survey.run("export", "walk.gpx", "-o", "walk.html")
    let page = try survey.text("walk.html")
    #expect(page.hasPrefix("<!DOCTYPE html>\n<html lang=\"en\">\n"))
    #expect(page.contains("<h1>walk.gpx</h1>"))
    #expect(!page.contains("src="))
    let piped = try await survey.run("export", "walk.gpx", "-o", "-", "--format", "svg")
    #expect(piped.output == drawing)
  }

  @Test func `dash is standard output`() async throws {
    let result = try await survey.run(
      "export", "sights.geojson", "--output", "-", "--format", "geojsonl")
    let query = try await survey.run("query", "sights.geojson", "--format", "geojsonl")
    #expect(result == query)
  }

  @Test func `json says what was written`() async throws {
    let result = try await survey.run("export", "wells.geojson", "-o", "w.csv", "--json")
    #expect(
      result.output == """
        {"output":"w.csv","format":"csv","count":2,\
        "layers":[{"store":"wells","layer":"wells","count":2}],\
        "stores":[{"store":"wells","state":"open","error":null}],\
        "skipped":{"count":0,"features":[]},"transformations":[],"notes":[]}

        """)
    #expect(result.status == 0)
  }

  @Test func `layers of one name in several stores get the stores' names`() async throws {
    let result = try await survey.run(
      "export", "survey.scfg", "--store", "wells", "--store", "sights", "--prefix-store", "-o",
      "merged.gpkg")
    #expect(result.status == 0)
    let names = try await survey.run(
      "sql", "merged.gpkg", "SELECT table_name FROM gpkg_contents ORDER BY 1", "--format", "csv")
    #expect(names.output == "table_name\r\nsights_default\r\nwells_default\r\n")
    let check = try await survey.run("check", "merged.gpkg")
    #expect(check.output == "merged.gpkg: GeoPackage 1.4, nothing found\n")
  }

  // MARK: Refusals

  struct Refusal: Sendable {
    let words: [String]
    let status: Int32
    let line: String

    init(_ words: [String], _ status: Int32, _ line: String) {
      (self.words, self.status, self.line) = (words, status, line)
    }
  }

  private static let written = "geojson, geojsonl, gpx, kml, kmz, csv, shp, fgb, gpkg, svg, html"
  private static let refusals: [Refusal] = [
    Refusal(
      ["walk.gpx", "-o", "x.geojson"], 64,
      "GeoJSON takes one layer, 3 are asked for: waypoints, tracks, track_points. "
        + "Try: name one of them"),
    Refusal(
      ["survey.scfg", "--store", "wells", "--store", "sights", "-o", "x.gpkg"], 64,
      "layer 'default' is in the stores 'wells' and 'sights'. Try: --prefix-store. "
        + "Try: --store 'wells'"),
    Refusal(
      ["wells.geojson", "-o", "walk.gpx"], 73,
      "walk.gpx exists. Try: --overwrite, or another name"),
    Refusal(
      ["wells.geojson", "-o", "./wells.geojson", "--overwrite"], 64,
      "./wells.geojson is the file that store 'wells' is read from. Try: another --output"),
    Refusal(
      ["wells.geojson", "-o", "x.xyz"], 64,
      "the format of x.xyz is not known. Try: --format \(written)"),
    Refusal(
      ["wells.geojson", "-o", "x.nmea"], 64,
      "nmea is read, and not written. Try: --format \(written)"),
    Refusal(
      ["wells.geojson", "-o", "-"], 64,
      "the format of standard output is not known. Try: --format \(written)"),
    Refusal(
      ["wells.geojson", "-o", "-", "--format", "gpkg"], 64,
      "a GeoPackage cannot be written to standard output. Try: --output FILE"),
    Refusal(["wells.geojson"], 64, "--output is missing. Try: fieldpack help export"),
    Refusal(
      ["wells.geojson", "-o", "no/x.csv"], 73,
      "cannot create no/x.csv: its folder does not exist"),
    Refusal(
      ["walk.gpx", "nix", "-o", "x.csv"], 66,
      "layer 'nix' is in none of the stores asked (there are: waypoints, tracks, track_points)"),
  ]

  @Test(arguments: refusals)
  func `refuses and leaves everything as it was`(refusal: Refusal) async throws {
    let before = try survey.names
    let result = try await survey.run(["export"] + refusal.words)
    #expect(result.error == "fieldpack: \(refusal.line)\n")
    #expect(result.output == "")
    #expect(result.status == refusal.status)
    #expect(try survey.names.filter { $0 != "cache" } == before)
    #expect(try survey.text("walk.gpx") == SurveyFolder.walk)
  }

  @Test(arguments: ["geojson", "gpx", "svg"])
  func `a store that is down stops the export unless errors are skipped`(
    suffix: String
  ) async throws {
    let config = SurveyFolder.config.replacing("\"sights.geojson\"", with: "\"nowhere.geojson\"")
    _ = try survey.folder.write(config, to: "half.scfg")
    let result = try await survey.run("export", "half.scfg", "-o", "x.\(suffix)")
    #expect(
      result.error
        == "fieldpack: half.scfg:3:3: store 'sights' does not answer, so nothing was written: "
        + "'nowhere.geojson' is not there (looked for \(survey.real("nowhere.geojson"))). "
        + "Try: --skip-errors, or --store for the others\n")
    #expect(result.status == 1)
    #expect(try survey.names.filter { $0.contains("x.") } == [])
    let skipping = try await survey.run(
      "export", "half.scfg", "-o", "x.\(suffix)", "--skip-errors", "-q")
    #expect(skipping.output == "2 features of layer default written to x.\(suffix)\n")
    #expect(skipping.status == 2)
    #expect(survey.exists("x.\(suffix)"))
  }

  @Test func `a feature that cannot be written stops the export unless errors are skipped`()
    async throws
  {
    let far = """
      {"type":"Feature","properties":{"n":1},"geometry":{"type":"Point","coordinates":[1,2]}}
      {"type":"Feature","properties":{"n":2},"geometry":{"type":"Point","coordinates":[1,95]}}

      """
    _ = try survey.folder.write(far, to: "far.geojsonl")
    let result = try await survey.run("export", "far.geojsonl", "-o", "far.gpx")
    #expect(result.status == 1)
    #expect(result.output == "")
    #expect(!survey.exists("far.gpx"))
    let skipping = try await survey.run(
      "export", "far.geojsonl", "-o", "far.gpx", "--skip-errors")
    #expect(skipping.output == "1 feature of layer far written to far.gpx\n")
    #expect(skipping.error.contains("note: skipped: far/"))
    #expect(skipping.status == 2)
  }

  @Test func `what several stores cannot give to GPX is listed`() async throws {
    let far = """
      {"type":"Feature","properties":{"n":1},"geometry":{"type":"Point","coordinates":[1,2]}}
      {"type":"Feature","properties":{"n":2},"geometry":{"type":"Point","coordinates":[1,95]}}
      {"type":"Feature","properties":{"n":3},"geometry":null}

      """
    for name in ["a", "b"] {
      _ = try survey.folder.write(far, to: "\(name).geojsonl")
      _ = try await survey.run("import", "\(name).geojsonl", "--into", "\(name).gpkg")
    }
    let stores = ["a", "b"].map {
      #"{"id":"\#($0)","store_type":"gpkg","version":"1","uri":"\#($0).gpkg"}"#
    }
    _ = try survey.folder.write(
      #"{"stores":[\#(stores.joined(separator: ","))]}"#, to: "two.scfg")
    let result = try await survey.run("export", "two.scfg", "-o", "far.gpx", "--skip-errors")
    #expect(result.error.components(separatedBy: "note: skipped: ").count == 3, "\(result)")
    #expect(result.error.contains("features without geometry are left out"), "\(result)")
    #expect(result.status == 2)
  }
}
