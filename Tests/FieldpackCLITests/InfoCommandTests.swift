import FieldpackTestSupport
import Foundation
import Testing

@Suite struct InfoCommandTests {
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
      "info", "wells.gpkg", "DEFAULT", "--map", environment: ["COLUMNS": "40"])
    #expect(
      result.output == """
        wells: open (gpkg.1, wells.gpkg)

        layer       default
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

  @Test func `json has everything in one document`() async throws {
    let result = try await survey.run("info", "survey.scfg", "--store", "wells", "--json")
    #expect(
      result.output == """
        {"source":"survey.scfg","stores":[{"id":"wells","name":"wells","type":"geojson",\
        "version":"1","uri":"wells.geojson","state":"open","error":null,"layers":[\
        {"name":"default","kind":"features","title":"default","description":"","count":2,\
        "envelope":[13.4,52.5,13.5,52.6],"geometry":{"column":"geom","type":"POINT",\
        "z":"prohibited","m":"prohibited","srs":"EPSG:4326","srsName":"WGS 84",\
        "hasSpatialIndex":true},"idColumn":"fid","columns":[\
        {"name":"name","type":"TEXT","isNullable":true,"isUnique":false,"default":null,\
        "isGenerated":false,"title":null,"description":null},\
        {"name":"depth","type":"REAL","isNullable":true,"isUnique":false,"default":null,\
        "isGenerated":false,"title":null,"description":null},\
        {"name":"open","type":"BOOLEAN","isNullable":true,"isUnique":false,"default":null,\
        "isGenerated":false,"title":null,"description":null}],"isView":false,"notes":[]}]}],\
        "diagnostics":[{"severity":"warning","file":"survey.scfg","line":3,"column":76,\
        "message":"unknown key 'colour', kept and not used"}]}

        """)
    #expect(result.status == 0)
  }

  @Test func `json says why a store failed`() async throws {
    let result = try await survey.run("info", "survey.scfg", "--store", "gone", "--json", "-q")
    #expect(
      result.output == """
        {"source":"survey.scfg","stores":[{"id":"gone","name":"gone","type":"gpkg",\
        "version":"1","uri":"gone.gpkg","state":"failed","error":{"code":"notFound",\
        "message":"'gone.gpkg' is not there (looked for \(survey.real("gone.gpkg")))"},\
        "layers":[]}],"diagnostics":[{"severity":"warning","file":"survey.scfg","line":3,\
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

        layer    features  geometry  SRS               envelope
        ───────  ────────  ────────  ────────────────  ───────────────────────────
        default         1  POINT     EPSG:4326 WGS 84  13.401,52.519,13.401,52.519

        """)
    let unknown = try await survey.run("info", "-", input: "?")
    #expect(
      unknown.error
        == "fieldpack: the format of stdin is not known. Try: --input-format geojson, geojsonl, "
        + "gpx or csv\n")
    #expect(unknown.status == 1)
    let broken = try await survey.run("info", "-", input: "{\"type\":\"Feature\"")
    #expect(broken.status == 65)
    #expect(broken.error.hasPrefix("fieldpack: stdin:1:18, feature 1, byte 17: "))
  }
}
