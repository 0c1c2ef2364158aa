import FieldpackSQLite
import FieldpackTestSupport
import Foundation
import Testing

@Suite(.programs) struct QueryCommandTests {
  private let survey: SurveyFolder

  init() throws { survey = try SurveyFolder() }

  private let gone: (String) -> String = {
    "fieldpack: survey.scfg:4:3: 'gone.gpkg' is not there (looked for \($0))\n"
  }

  // MARK: Tables

  @Test func `prints a table`() async throws {
    let result = try await survey.run("query", "wells.geojson")
    #expect(
      result.output == """
        fid  name   depth  open  geom
        ───  ─────  ─────  ────  ─────────────────
         11  Mitte   12.5  true  POINT (13.4 52.5)
         12  Nord       8        POINT (13.5 52.6)

        """)
    #expect(result.error == "")
    #expect(result.status == 0)
  }

  @Test func `gives several layers a heading each and names stores that are down`() async throws {
    let result = try await survey.run("query", "survey.scfg")
    #expect(
      result.output == """
        wells/default
        fid  name   depth  open  geom
        ───  ─────  ─────  ────  ─────────────────
         11  Mitte   12.5  true  POINT (13.4 52.5)
         12  Nord       8        POINT (13.5 52.6)

        sights/default
        id   name  depth  geom
        ───  ────  ─────  ─────────────────────
        dom  Dom     3.5  POINT (13.401 52.519)

        """)
    #expect(result.error == gone(survey.real("gone.gpkg")))
    #expect(result.status == 1)
    let skipping = try await survey.run("query", "survey.scfg", "--skip-errors")
    #expect(skipping.output == result.output)
    #expect(skipping.status == 2)
  }

  @Test func `sorts all layers into one table, with limit and offset over all`() async throws {
    let result = try await survey.run(
      "query", "survey.scfg", "--sort", "-depth", "--limit", "2", "--offset", "1",
      "--skip-errors", "--select", "name,depth", "--keys", "-q")
    #expect(
      result.output == """
        key                         layer           id   name  depth  geometry
        ──────────────────────────  ──────────────  ───  ────  ─────  ─────────────────────
        d2VsbHM=.ZGVmYXVsdA==.MTI=  wells/default   12   Nord      8  POINT (13.5 52.6)
        c2lnaHRz.ZGVmYXVsdA==.ZG9t  sights/default  dom  Dom     3.5  POINT (13.401 52.519)

        """)
    #expect(result.status == 2)
  }

  @Test func `a table without rows shows its columns`() async throws {
    let result = try await survey.run("query", "wells.geojson", "--bbox", "170,0,-170,60")
    #expect(
      result.output == """
        fid  name  depth  open  geom
        ───  ────  ─────  ────  ────

        """)
    #expect(result.status == 0)
  }

  @Test func `transforms on the way out and says how`() async throws {
    let result = try await survey.run(
      "query", "wells.geojson", "default", "--srs", "EPSG:25833", "--limit", "1")
    #expect(
      result.output
        == """
        fid  name   depth  open  geom
        ───  ─────  ─────  ────  ───────────────────────────
         11  Mitte   12.5  true  POINT (391390.73 5817855.24)

        """.replacing("───────────────────────────\n", with: "────────────────────────────\n"))
    #expect(
      result.error
        == "note: layer 'wells': EPSG:4326 to EPSG:25833: Inverse of ETRS89 to WGS 84 (1) + "
        + "UTM zone 33N (accuracy 1 m)\n")
  }

  @Test func `sorts one layer whose errors are skipped`() async throws {
    let result = try await survey.run(
      "query", "wells.geojson", "--sort", "depth", "--skip-errors", "--format", "csv",
      "--select", "name")
    #expect(
      result.output == """
        fid,name,wkt\r
        12,Nord,POINT (13.5 52.6)\r
        11,Mitte,POINT (13.4 52.5)\r

        """)
    #expect(result.status == 0)
  }

  // MARK: Conditions

  @Test(arguments: [
    (["--where", "depth > 10"], "11"), (["--where", "depth < 10"], "12"),
    (["--where", "open IS NULL"], "12"), (["--bbox", "13.45,52,14,53"], "12"),
    (["--bbox", "13.4,52.5,13.4,52.5"], "11"), (["--bbox", "-10,-10,10,10"], ""),
    (["--bbox", "13,52,13.45,53", "--bbox-relation", "disjoint"], "12"),
    (["--bbox", "390000,5810000,395000,5820000", "--bbox-srs", "EPSG:25833"], "11"),
    (["--where", "S_INTERSECTS(geom, BBOX(13,52,13.45,53)) AND name LIKE 'M%'"], "11"),
    (["--where", "CASEI(name) = CASEI('NORD') AND depth / 4 = 2"], "12"),
    (["--where", #"{"op":"<","args":[{"property":"depth"},{"op":"*","args":[2,5]}]}"#], "12"),
    (["--sort", "depth"], "12 11"), (["--sort=-name", "--offset", "1"], "11"),
    (["--limit", "0"], ""),
  ])
  func `picks features`(words: [String], ids: String) async throws {
    let result = try await survey.run(
      ["query", "wells.geojson", "--format", "csv", "--select", "name"] + words)
    let rows = result.output.split(whereSeparator: \.isNewline).dropFirst()
    #expect(rows.map { String($0.prefix(2)) }.joined(separator: " ") == ids)
    #expect(result.status == 0)
  }

  @Test func `reads a condition from a file`() async throws {
    _ = try survey.folder.write("depth > 10\n  AND open\n", to: "deep.cql2")
    _ = try survey.folder.write("depth > 10\n  AND", to: "cut.cql2")
    let result = try await survey.run("query", "wells.geojson", "--where", "@deep.cql2", "--count")
    #expect(result.output == "1\n")
    let cut = try await survey.run("query", "wells.geojson", "--where", "@cut.cql2")
    #expect(cut.error == "fieldpack: cut.cql2:2:6: expected a condition but found the end\n")
    #expect(cut.status == 64)
    let none = try await survey.run("query", "wells.geojson", "--where", "@none.cql2")
    #expect(none.status == 66)
  }

  @Test func `a condition's file is UTF-8, with a mark or without`() async throws {
    _ = try survey.folder.write("\u{FEFF}depth > 10", to: "marked.cql2")
    let marked = try await survey.run(
      "query", "wells.geojson", "--where", "@marked.cql2", "--count")
    #expect(marked.output == "1\n")
    try Data([UInt8]("name = '".utf8) + [0xE9, 0x27]).write(to: survey.folder.file("latin.cql2"))
    let latin = try await survey.run("query", "wells.geojson", "--where", "@latin.cql2")
    #expect(latin.error == "fieldpack: latin.cql2: the condition is not UTF-8\n")
    #expect(latin.status == 64)
    let long = String(repeating: " ", count: 1 << 20)
    _ = try survey.folder.write("\u{FEFF}depth > 10" + long.dropFirst(10), to: "long.cql2")
    let most = try await survey.run("query", "wells.geojson", "--where", "@long.cql2", "--count")
    #expect(most.output == "1\n")
  }

  @Test func `reads a condition from standard input`() async throws {
    let result = try await survey.run(
      "query", "wells.geojson", "--where", "@-", "--count", input: "depth > 10\n")
    #expect(result.output == "1\n")
    let cut = try await survey.run("query", "wells.geojson", "--where", "@-", input: "depth >")
    #expect(cut.error == "fieldpack: stdin:1:8: expected a value or a column but found the end\n")
    let both = try await survey.run("query", "-", "--where", "@-", input: "depth > 10\n")
    #expect(
      both.error == "fieldpack: standard input cannot be both the source and the condition\n")
    #expect(both.status == 64)
  }

  struct Refusal: Sendable {
    let words: [String]
    let status: Int32
    let line: String

    init(_ words: [String], _ status: Int32, _ line: String) {
      (self.words, self.status, self.line) = (words, status, line)
    }
  }

  private static let refusals: [Refusal] = [
    Refusal(
      ["--where", "depth >"], 64,
      "fieldpack: --where:1:8: expected a value or a column but found the end\n"
    ),
    Refusal(
      ["--where", #"{"op":"=","args":[{"property":"depth"},null]}"#], 64,
      "fieldpack: --where: at /args/1: nothing compares with NULL: use the operation isNull\n"
    ),
    Refusal(
      ["--where", "S_WITHIN(shape, POINT(1 2))"], 66,
      "fieldpack: layer 'wells' has no geometry column 'shape' (it has 'geom', "
        + "which may also be called geometry)\n"
    ),
    Refusal(
      ["--where", "dept > 1"], 66,
      "fieldpack: layer 'wells' has no column 'dept', did you mean 'depth'? "
        + "(it has: fid, geom, name, depth, open)\n"
    ),
    Refusal(
      ["--bbox", "1,2,3"], 64,
      "fieldpack: --bbox '1,2,3' is not four numbers: west,south,east,north. "
        + "Try: fieldpack help query\n"
    ),
    Refusal(
      ["--bbox", "1,5,3,4"], 64,
      "fieldpack: --bbox '1,5,3,4' has its south above its north; the order is "
        + "west,south,east,north. Try: fieldpack help query\n"
    ),
    Refusal(
      ["--bbox-srs", "EPSG:4326"], 64,
      "fieldpack: --bbox-srs and --bbox-relation say more about a --bbox, which is missing\n"
    ),
    Refusal(
      ["--srs", "EPSG:99999"], 64,
      "fieldpack: wells/wells: PROJ knows no reference system EPSG:99999. Try: search its name "
        + "at https://epsg.org or with 'projinfo --list-crs'\n"
    ),
    Refusal(
      ["--srs", "+proj=utm"], 64,
      "fieldpack: --srs '+proj=utm' is not an authority and a code such as EPSG:25832. "
        + "Try: fieldpack help query\n"
    ),
    Refusal(
      ["--select", "name,nix"], 66,
      "fieldpack: no layer asked has a column 'nix' ('wells' has: name, depth, open)\n"
    ),
    Refusal(
      ["nix"], 66,
      "fieldpack: layer 'nix' is in none of the stores asked (there are: wells)\n"
    ),
    Refusal(
      ["--limit", "-1"], 64, "fieldpack: --limit '-1' is less than 0. Try: fieldpack help query\n"),
    Refusal(
      ["--format", "csv", "--count"], 64,
      "fieldpack: --format csv and --count cannot be given together\n"
    ),
    Refusal(
      ["--format", "gpx", "--srs", "EPSG:25833"], 64,
      "fieldpack: GPX is in WGS 84 and cannot be in EPSG:25833. Try: without --srs\n"
    ),
  ]

  @Test(arguments: refusals)
  func `refuses what has no sense`(refusal: Refusal) async throws {
    let result = try await survey.run(["query", "wells.geojson"] + refusal.words)
    #expect(result.error == refusal.line)
    #expect(result.output == "")
    #expect(result.status == refusal.status)
  }

  @Test func `formats of one layer refuse several and list them`() async throws {
    let result = try await survey.run("query", "walk.gpx", "--format", "csv")
    #expect(
      result.error
        == "fieldpack: CSV takes one layer, 3 are asked for: waypoints, tracks, track_points. "
        + "Try: name one of them\n")
    #expect(result.output == "")
    #expect(result.status == 64)
  }

  // MARK: Formats

  @Test func `prints GeoJSON, lines of it, and CSV with key tuples`() async throws {
    let collection = try await survey.run("query", "wells.geojson", "--format", "geojson")
    #expect(
      collection.output == """
        {"type":"FeatureCollection","features":[
        {"type":"Feature","id":11,"properties":{"name":"Mitte","depth":12.5,"open":true},\
        "geometry":{"type":"Point","coordinates":[13.4,52.5]}},
        {"type":"Feature","id":12,"properties":{"name":"Nord","depth":8.0,"open":null},\
        "geometry":{"type":"Point","coordinates":[13.5,52.6]}}
        ]}

        """)
    let lines = try await survey.run(
      "query", "sights.geojson", "--format", "geojsonl", "--keys")
    #expect(
      lines.output == """
        {"type":"Feature","id":"c2lnaHRz.c2lnaHRz.ZG9t","properties":{"name":"Dom",\
        "depth":3.5},"geometry":{"type":"Point","coordinates":[13.401,52.519]}}

        """)
    let csv = try await survey.run("query", "sights.geojson", "--format", "csv", "--keys")
    #expect(
      csv.output == "key,id,name,depth,wkt\r\nc2lnaHRz.c2lnaHRz.ZG9t,dom,Dom,3.5,"
        + "POINT (13.401 52.519)\r\n")
    let gpx = try await survey.run("query", "walk.gpx", "waypoints", "--format", "gpx")
    #expect(
      gpx.output.contains("<wpt lat=\"52.5\" lon=\"13.4\"><ele>34</ele><name>Start</name></wpt>"))
  }

  // MARK: JSON

  @Test func `json holds features of all layers with their keys, and the stores`() async throws {
    let result = try await survey.run("query", "survey.scfg", "--json", "--select", "depth")
    #expect(
      result.output == """
        {"features":[
        {"store":"wells","layer":"default","key":"d2VsbHM=.ZGVmYXVsdA==.MTE=",\
        "type":"Feature","id":11,"properties":{"depth":12.5},\
        "geometry":{"type":"Point","coordinates":[13.4,52.5]}},
        {"store":"wells","layer":"default","key":"d2VsbHM=.ZGVmYXVsdA==.MTI=",\
        "type":"Feature","id":12,"properties":{"depth":8.0},\
        "geometry":{"type":"Point","coordinates":[13.5,52.6]}},
        {"store":"sights","layer":"default","key":"c2lnaHRz.ZGVmYXVsdA==.ZG9t",\
        "type":"Feature","id":"dom","properties":{"depth":3.5},\
        "geometry":{"type":"Point","coordinates":[13.401,52.519]}}
        ],"layers":[{"store":"wells","layer":"default","count":2,"geometry_type":"POINT",\
        "srs":"EPSG:4326","columns":[{"column":"depth","type":"REAL"}]},\
        {"store":"sights","layer":"default","count":1,"geometry_type":"POINT",\
        "srs":"EPSG:4326","columns":[{"column":"depth","type":"REAL"}]}],\
        "stores":[{"store":"wells","state":"open","error":null},\
        {"store":"sights","state":"open","error":null},{"store":"gone","state":"failed",\
        "error":{"code":"notFound","message":"'gone.gpkg' is not there \
        (looked for \(survey.real("gone.gpkg")))"}}],\
        "skipped":{"count":0,"features":[]},"transformations":[],"notes":[],"error":null}

        """)
    #expect(result.status == 1)
  }

  @Test func `json counts the features before the one that ends them`() async throws {
    _ = try await survey.run("import", "wells.geojson", "--into", "f.gpkg")
    let damage = "UPDATE wells SET geom = x'47500001E610000001' WHERE fid = 12"
    let file = try Connection(path: survey.folder.file("f.gpkg").path, mode: .readWrite)
    try file.setTriggers(areEnabled: false)
    try file.execute(damage)
    let result = try await survey.run("query", "f.gpkg", "--json")
    #expect(result.output.contains(#""layer":"wells","count":1,"#), "\(result)")
    let reason = "feature 12 cannot be written: the bytes end before a geometry's header at byte 0"
    let end = #""error":{"code":"invalidData","message":"\#(reason)"}}"# + "\n"
    #expect(result.output.hasSuffix(end), "\(result)")
    #expect(result.status == 1)
  }

  @Test func `a layer without a filtered column is left out with a note`() async throws {
    let result = try await survey.run(
      "query", "survey.scfg", "--where", "open = TRUE", "--count", "--skip-errors")
    #expect(result.output == "1\n")
    #expect(
      result.error == """
        note: left out: layer 'default' has no column 'open' (it has: id, geom, name, depth)
        \(gone(survey.real("gone.gpkg")))
        """)
  }

  // MARK: End

  @Test func `a store that is named and down is an error`() async throws {
    let result = try await survey.run("query", "survey.scfg", "--store", "gone")
    #expect(result.error == gone(survey.real("gone.gpkg")))
    #expect(result.output == "")
    #expect(result.status == 66)
  }

  @Test func `time that is over ends the query`() async throws {
    let result = try await survey.run("query", "walk.gpx", "--timeout", "0")
    #expect(result.status == 130)
    #expect(result.error == "fieldpack: not done within 0 s. Try: a longer --timeout\n")
  }

  @Test func `a reader that has enough is no error`() async throws {
    var lines = ""
    for number in 0..<20_000 {
      lines += "{\"type\":\"Feature\",\"properties\":{\"n\":\(number)},\"geometry\":null}\n"
    }
    let many = try survey.folder.write(lines, to: "many.geojsonl")
    let result = try await Program.run(
      "bash",
      [
        "-c", #""$0" query "$1" --format csv | head -n 1; echo " ${PIPESTATUS[0]}""#, Tool.path,
        many.path,
      ])
    #expect(result.output == "n,wkt\r\n 0\n")
    #expect(result.error == "")
  }
}
