import FieldpackTestSupport
import Foundation
import Testing

@Suite(.programs) struct InfoCommandTests {
  private let survey: SurveyFolder

  init() throws { survey = try SurveyFolder() }

  @Test func `lists the layers of a file`() async throws {
    let result = try await survey.run("info", "walk.gpx")
    #expect(
      result.output == """
        walk: open (gpx.1, walk.gpx)

        layer         features  geometry            SRS               envelope
        ────────────  ────────  ──────────────────  ────────────────  ─────────────────────
        waypoints            1  POINT Z             EPSG:4326 WGS 84  13.4,52.5,13.4,52.5
        tracks               1  MULTILINESTRING ZM  EPSG:4326 WGS 84  13.4,52.5,13.41,52.51
        track_points         2  POINT ZM            EPSG:4326 WGS 84  13.4,52.5,13.41,52.51

        """)
    #expect(result.error == "")
    #expect(result.status == 0)
  }

  @Test func `lists every store of a config with its state, and what the config says wrong`()
    async throws
  {
    let result = try await survey.run("info", "survey.scfg")
    #expect(
      result.output == """
        wells: open (geojson.1, wells.geojson)

        layer    features  geometry  SRS               envelope
        ───────  ────────  ────────  ────────────────  ───────────────────
        default         2  POINT     EPSG:4326 WGS 84  13.4,52.5,13.5,52.6

        sights: open (geojson.1, sights.geojson)

        layer    features  geometry  SRS               envelope
        ───────  ────────  ────────  ────────────────  ───────────────────────────
        default         1  POINT     EPSG:4326 WGS 84  13.401,52.519,13.401,52.519

        gone: failed (gpkg.1, gone.gpkg)
          'gone.gpkg' is not there (looked for \(survey.real("gone.gpkg")))

        """)
    #expect(
      result.error
        == "note: survey.scfg:3:76: warning: unknown key 'colour', kept and not used\n")
    #expect(result.status == 0)
  }

  @Test func `shows the columns of a layer and a map`() async throws {
    _ = try await survey.run("export", "wells.geojson", "-o", "wells.gpkg")
    let result = try await survey.run(
      "info", "wells.gpkg", "WELLS", "--map", environment: ["COLUMNS": "40"])
    #expect(
      result.output == """
        wells: open (gpkg.1, wells.gpkg)

        layer       wells
        kind        features
        features    2
        geometry    POINT in column geom
        SRS         EPSG:4326, WGS 84
        envelope    13.4,52.5,13.5,52.6
        index       R-tree

        column  type     remarks
        ──────  ───────  ──────────
        fid              feature id
        geom    POINT    geometry
        name    TEXT
        depth   REAL
        open    BOOLEAN

        13.40000 52.6000  13.50000 52.6000
        ┌─────────────────────────┐
        │                        ⠁│
        \(String(repeating: "│                         │\n", count: 18))\
        │⡀                        │
        └─────────────────────────┘
        13.40000 52.5000  13.50000 52.5000
        EPSG:4326

        """)
    #expect(result.status == 0)
  }

  @Test func `tells what the columns of a layer hold`() async throws {
    let result = try await survey.run("info", "wells.geojson", "--stats")
    let statistics = result.output.components(separatedBy: "\ncounted").last ?? ""
    #expect(
      statistics == """
             2 rows
        geometries  2 POINT
        within      13.4,52.5,13.5,52.6

        column  nulls  distinct  least  greatest   mean
        ──────  ─────  ────────  ─────  ────────  ─────
        name        0         2  Mitte  Nord
        depth       0         2  8.0    12.5      10.25
        open        1         1  true   true

        """)
    #expect(result.status == 0)
    let json = try await survey.run(
      "info", "wells.geojson", "--stats", "--where", "depth > 10", "--json")
    #expect(
      json.output.contains(
        """
        "statistics":{"count":1,"geometry":{"column":"geom","null_count":0,"empty_count":0,\
        "damaged_count":0,"types":[{"geometry_type":"POINT","count":1}],\
        "envelope":[13.4,52.5,13.4,52.5]},"columns":[{"column":"name","null_count":0,\
        "kinds":[{"kind":"text","count":1}],"distinct_count":1,"distinct_is_estimated":false,\
        "least":"Mitte","greatest":"Mitte","mean":null,"least_blob_bytes":null,\
        "greatest_blob_bytes":null,"most_frequent":[]},{"column":"depth",
        """.trimmingCharacters(in: .newlines)), "\(json)")
    let refused = try await survey.run("info", "wells.geojson", "--where", "depth > 10")
    #expect(
      refused.error
        == "fieldpack: --where and --bbox choose the features of --stats, which is missing\n")
    #expect(refused.status == 64)
  }

  @Test func `cuts wide values, and tells frequent ones and mixtures`() async throws {
    let long = String(repeating: "x", count: 100)
    let lines = ["name,kind", "\(long),a", "b,\(long)", "b,\(long)"]
    _ = try survey.folder.write(lines.joined(separator: "\n") + "\n", to: "wide.csv")
    _ = try await survey.run("import", "wide.csv", "--into", "wide.gpkg")
    _ = try await survey.run(
      "sql", "wide.gpkg", "UPDATE wide SET kind = x'0102' WHERE fid = 1", "--write")
    let result = try await survey.run("info", "wide.gpkg", "wide", "--stats")
    let statistics = result.output.components(separatedBy: "\ncounted").last ?? ""
    #expect(statistics.split(separator: "\n").allSatisfy { $0.count <= 80 }, "\(statistics)")
    #expect(statistics.hasSuffix("\n\ncolumn 'kind' holds 2 texts and 1 blob\n"), "\(statistics)")
    #expect(statistics.contains("\nname    b (2)\n"), "\(statistics)")
  }

  @Test func `lists tables that are in no catalogue`() async throws {
    _ = try await survey.run("export", "wells.geojson", "-o", "wells.gpkg")
    _ = try await survey.run("sql", "wells.gpkg", "CREATE TABLE notes (note TEXT)", "--write")
    let text = try await survey.run("info", "wells.gpkg")
    #expect(
      text.output.hasSuffix("\n\nin no catalogue\n───────────────\nnotes\n"), "\(text)")
    let json = try await survey.run("info", "wells.gpkg", "--json")
    #expect(json.output.contains(#""uncatalogued_tables":["notes"]}"#), "\(json)")
  }

  @Test func `shows what a column may hold`() async throws {
    _ = try await survey.run("export", "wells.geojson", "-o", "wells.gpkg")
    let script = """
      CREATE TABLE gpkg_data_columns (table_name TEXT NOT NULL, column_name TEXT NOT NULL,
        name TEXT, title TEXT, description TEXT, mime_type TEXT, constraint_name TEXT,
        PRIMARY KEY (table_name, column_name));
      CREATE TABLE gpkg_data_column_constraints (constraint_name TEXT NOT NULL,
        constraint_type TEXT NOT NULL, value TEXT, min NUMERIC, min_is_inclusive BOOLEAN,
        max NUMERIC, max_is_inclusive BOOLEAN, description TEXT,
        UNIQUE (constraint_name, constraint_type, value));
      INSERT INTO gpkg_data_columns VALUES
        ('wells', 'depth', NULL, 'Depth', NULL, NULL, 'depths');
      INSERT INTO gpkg_data_column_constraints VALUES
        ('depths', 'range', NULL, 0, 1, 99.5, 0, 'in metres');
      """
    #expect(try await survey.run("sql", "wells.gpkg", script, "--write").status == 0)
    let text = try await survey.run("info", "wells.gpkg", "wells")
    #expect(text.output.contains("\ndepth   REAL     at least 0 and below 99.5, Depth\n"))
    let json = try await survey.run("info", "wells.gpkg", "wells", "--json")
    #expect(
      json.output.contains(
        """
        "title":"Depth","description":null,"constraint":{"name":"depths","kind":"range",\
        "values":[],"minimum":{"value":0,"is_inclusive":true},"maximum":{"value":99.5,\
        "is_inclusive":false},"pattern":null,"description":"in metres"}}
        """))
    _ = try await survey.run("export", "wells.gpkg", "-o", "copy.gpkg")
    _ = try await survey.run("transform", "wells.gpkg", "--srs", "EPSG:3857", "-o", "moved.gpkg")
    for file in ["copy.gpkg", "moved.gpkg"] {
      let copy = try await survey.run("info", file, "wells")
      #expect(copy.output.contains("\ndepth   REAL     at least 0 and below 99.5, Depth\n"))
    }
    let feature = #"{"type":"Feature","geometry":null,"properties":{"depth":99.5}}"#
    let refused = try await survey.run("create", "copy.gpkg", "wells", "-", input: feature)
    #expect(refused.status == 1)
    #expect(
      refused.error
        == "fieldpack: stdin, feature 1, byte 0: column 'depth' of layer 'wells' cannot hold the value '99.5': its "
        + "constraint 'depths' allows at least 0 and below 99.5\n")
  }

  @Test(.enabled(if: SharedData.isPresent, Comment(rawValue: SharedData.absent)))
  func `shows relations, metadata and tiles`() async throws {
    let file = SharedData.url("real/gpkg/import_db.gpkg").path
    let all = try await survey.run("info", file, environment: ["COLUMNS": "200"])
    let sections = all.output.components(separatedBy: "\n\n")
    let tiles = sections.first { $0.hasPrefix("tiles ") }?.split(separator: "\n") ?? []
    #expect(tiles.count == 15)
    #expect(tiles.last?.hasPrefix("coverage_tiff (gridded coverage)") == true)
    let point = try await survey.run("info", file, "point1")
    #expect(
      point.output.contains(
        """
        relation    to polygon1 as features, links in point1_polygon1
        metadata    1 document

        """))
    let json = try await survey.run("info", file, "polygon1", "--json")
    #expect(
      json.output.contains(
        #""relations":[{"base":"point1","related":"polygon1","kind":"features","#
          + #""mapping":"point1_polygon1"}],"metadata_count":0"#))
    #expect(json.output.contains(#""layer":"webp_tiles","kind":"tiles""#))
    let copy = try await survey.run("export", file, "--skip-errors", "-o", "copy.gpkg")
    #expect(
      copy.error.contains(
        "note: only layers are exported; store 'import_db' also has 13 tile pyramids, "
          + "3 metadata documents, 11 relations"))
  }

  @Test(.enabled(if: Programs.sqlite3 != nil, Comment(rawValue: Programs.noSQLite)))
  func `a relation of a layer to itself is told once`() async throws {
    _ = try await survey.run("import", "wells.geojson", "--into", "field.gpkg")
    let sqlite = try #require(Programs.sqlite3)
    let script = """
      CREATE TABLE gpkgext_relations (id INTEGER PRIMARY KEY, base_table_name TEXT,
        base_primary_column TEXT, related_table_name TEXT, related_primary_column TEXT,
        relation_name TEXT, mapping_table_name TEXT);
      CREATE TABLE feeds (base_id INTEGER, related_id INTEGER);
      INSERT INTO gpkgext_relations VALUES (1, 'wells', 'fid', 'wells', 'fid', 'features', 'feeds')
      """
    let made = try await Program.run(sqlite, [survey.folder.file("field.gpkg").path, script])
    #expect(made.status == 0, "\(made)")
    let text = try await survey.run("info", "field.gpkg", "wells")
    #expect(text.output.contains("relation    to wells as features, links in feeds\n"))
    #expect(!text.output.contains("from wells"))
    let json = try await survey.run("info", "field.gpkg", "--json")
    let once =
      #""relations":[{"base":"wells","related":"wells","kind":"features","mapping":"feeds"}],"#
    #expect(json.output.contains(once), "\(json)")
  }

  @Test func `json has everything in one document`() async throws {
    let result = try await survey.run("info", "survey.scfg", "--store", "wells", "--json")
    #expect(
      result.output == """
        {"source":"survey.scfg","stores":[{"store":"wells","name":"wells","type":"geojson",\
        "version":"1","uri":"wells.geojson","state":"open",\
        "downloaded_bytes":null,"error":null,"layers":[\
        {"layer":"default","kind":"features","title":"default","description":"","count":2,\
        "envelope":[13.4,52.5,13.5,52.6],"geometry":{"column":"geom","geometry_type":"POINT",\
        "z":"prohibited","m":"prohibited","srs":"EPSG:4326","srs_name":"WGS 84",\
        "epoch":null,"has_spatial_index":true},"id_column":"fid","columns":[\
        {"column":"name","type":"TEXT","is_nullable":true,"is_unique":false,"default":null,\
        "is_generated":false,"title":null,"description":null,\
        "constraint":null},\
        {"column":"depth","type":"REAL","is_nullable":true,"is_unique":false,"default":null,\
        "is_generated":false,"title":null,"description":null,\
        "constraint":null},\
        {"column":"open","type":"BOOLEAN","is_nullable":true,"is_unique":false,"default":null,\
        "is_generated":false,"title":null,"description":null,\
        "constraint":null}],"is_view":false,\
        "relations":[],"metadata_count":0,"notes":[],"statistics":null}],"tiles":[],\
        "metadata_count":0,"uncatalogued_tables":[]}],\
        "forms":[],"backend":null,"diagnostics":[{"level":"warning","file":"survey.scfg","line":3,"column":76,\
        "message":"unknown key 'colour', kept and not used"}]}

        """)
    #expect(result.status == 0)
  }

  @Test func `forms and the backend of a config are listed`() async throws {
    _ = try survey.folder.write(
      """
      {"remote": {"http_host": "a.b", "mqtt_host": "m", "mqtt_protocol": "tls"}, "forms": [
      {"id": 7, "form_key": "visit", "form_label": "Visit of a well", "version": 2,
       "fields": [{"field_key": "level", "field_label": "Level", "type": "number"}]}]}
      """, to: "forms.scfg")
    let text = try await survey.run("info", "forms.scfg")
    #expect(
      text.output == """
        no stores

        form   label            version  fields
        ─────  ───────────────  ───────  ──────
        visit  Visit of a well        2       1

        backend: http://a.b:8085, broker m:1883

        """)
    #expect(text.error == "" && text.status == 0)
    let json = try await survey.run("info", "forms.scfg", "--json")
    #expect(
      json.output == """
        {"source":"forms.scfg","stores":[],"forms":[{"form":"visit","label":"Visit of a well",\
        "id":7,"version":2,"field_count":1}],"backend":{"uri":"http://a.b:8085",\
        "broker":{"host":"m","port":1883,"is_encrypted":true}},"diagnostics":[]}

        """)
  }

  @Test func `json says why a store failed`() async throws {
    let result = try await survey.run("info", "survey.scfg", "--store", "gone", "--json", "-q")
    #expect(
      result.output == """
        {"source":"survey.scfg","stores":[{"store":"gone","name":"gone","type":"gpkg",\
        "version":"1","uri":"gone.gpkg","state":"failed","downloaded_bytes":null,\
        "error":{"code":"notFound",\
        "message":"'gone.gpkg' is not there (looked for \(survey.real("gone.gpkg")))"},\
        "layers":[],"tiles":[],"metadata_count":0,"uncatalogued_tables":[]}],\
        "forms":[],"backend":null,"diagnostics":[{"level":"warning","file":"survey.scfg","line":3,\
        "column":76,"message":"unknown key 'colour', kept and not used"}]}

        """)
    #expect(result.error == "")
    #expect(result.status == 0)
  }

  @Test(arguments: [
    (["info", "nix.gpkg"], "fieldpack: nix.gpkg does not exist\n"),
    (
      ["info", "walk.gpx", "nix"],
      "fieldpack: layer 'nix' is in none of the stores asked "
        + "(there are: waypoints, tracks, track_points)\n"
    ),
    (
      ["info", "survey.scfg", "--store", "nix"],
      "fieldpack: store 'nix' is not in the workspace (it has: wells, sights, gone)\n"
    ),
  ])
  func `what is not there ends with 66`(words: [String], line: String) async throws {
    let result = try await survey.run(words)
    #expect(result.error == line)
    #expect(result.output == "")
    #expect(result.status == 66)
  }

  @Test func `reads standard input`() async throws {
    let result = try await survey.run("info", "-", input: SurveyFolder.sights)
    #expect(
      result.output == """
        stdin: open (geojson.1, stdin)

        layer  features  geometry  SRS               envelope
        ─────  ────────  ────────  ────────────────  ───────────────────────────
        stdin         1  POINT     EPSG:4326 WGS 84  13.401,52.519,13.401,52.519

        """)
    let unknown = try await survey.run("info", "-", input: "?")
    #expect(
      unknown.error
        == "fieldpack: the format of stdin is not known. Try: --input-format geojson, geojsonl, "
        + "gpx, kml, kmz, csv, shp, fgb, nmea, igc or tcx\n")
    #expect(unknown.status == 1)
    let broken = try await survey.run("info", "-", input: "{\"type\":\"Feature\"")
    #expect(broken.status == 65)
    #expect(broken.error.hasPrefix("fieldpack: stdin:1:18, feature 1, byte 17: "))
  }
}
