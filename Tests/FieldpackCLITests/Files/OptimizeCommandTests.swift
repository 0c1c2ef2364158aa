import FieldpackSQLite
import FieldpackTestSupport
import Testing

@Suite(.programs) struct OptimizeCommandTests {
  private let survey: SurveyFolder

  init() throws { survey = try SurveyFolder() }

  @Test func `says what became of each layer`() async throws {
    _ = try await survey.run("import", "wells.geojson", "walk.gpx", "--into", "field.gpkg")
    let before = try await survey.run("query", "field.gpkg")
    let result = try await survey.run("optimize", "field.gpkg")
    let table = """

      layer         index   entries  new ids
      ────────────  ──────  ───────  ───────
      wells         packed        2
      waypoints     packed        1
      tracks        packed        1
      track_points  packed        2

      """
    #expect(result.output.hasPrefix("field.gpkg: "))
    #expect(result.output.hasSuffix(" now\n" + table), "\(result)")
    #expect(result.error == "")
    #expect(result.status == 0)
    #expect(try await survey.run("query", "field.gpkg") == before)
    #expect(try survey.names.filter { $0.hasPrefix("field") } == ["field.gpkg"])
  }

  @Test func `writes nothing but indexes where that is asked`() async throws {
    _ = try await survey.run("import", "wells.geojson", "--into", "field.gpkg")
    let result = try await survey.run("optimize", "field.gpkg", "--index", "--json")
    #expect(
      result.output.hasSuffix(
        #"""
        "is_compacted":false,"layers":[\#
        {"layer":"wells","index":"packed","entry_count":2,"new_ids":null}],"notes":[]}

        """#), "\(result)")
  }

  @Test func `a query names it where an index lacks features`() async throws {
    _ = try await survey.run("import", "wells.geojson", "--into", "field.gpkg")
    try Connection(path: survey.real("field.gpkg"), mode: .readWrite, profile: .bulk)
      .executeScript("DELETE FROM rtree_wells_geom")
    let box = ["query", "field.gpkg", "--bbox", "13,52,14,53", "--format", "csv"]
    let result = try await survey.run(box)
    #expect(result.output.hasPrefix("fid,name,depth,open,wkt\r\n11,Mitte,"), "\(result)")
    #expect(
      result.error.hasSuffix("so all features are read. Try: fieldpack optimize --index\n"),
      "\(result)")
    _ = try await survey.run("optimize", "field.gpkg", "--index")
    let mended = try await survey.run(box)
    #expect(mended.output == result.output && mended.error == "", "\(mended)")
  }

  @Test func `clusters what it may, and what is named or not at all`() async throws {
    _ = try await survey.run("import", "walk.gpx", "--into", "field.gpkg")
    let result = try await survey.run("optimize", "field.gpkg", "--cluster", "--json")
    #expect(
      result.output.hasSuffix(
        #"""
        "is_compacted":true,"layers":[\#
        {"layer":"waypoints","index":"packed","entry_count":1,"new_ids":{"first_id":1,"last_id":1}},\#
        {"layer":"tracks","index":"packed","entry_count":1,"new_ids":null},\#
        {"layer":"track_points","index":"packed","entry_count":2,"new_ids":{"first_id":1,"last_id":2}}],\#
        "notes":["layer 'tracks' keeps its order: its ids are referred to by layer 'track_points', \#
        as tracks are by their points"]}

        """#), "\(result)")
    let named = try await survey.run("optimize", "field.gpkg", "tracks", "--cluster")
    #expect(named.status == 1)
    #expect(named.error.contains("layer 'tracks' keeps its order"), "\(named)")
    let missing = try await survey.run("optimize", "field.gpkg", "lakes")
    #expect(missing.status == 66)
  }

  @Test func `import orders features whose ids are ours to give`() async throws {
    _ = try survey.folder.write("x,y\n9,9\n0,0\n9,8\n0,1\n", to: "spots.csv")
    let result = try await survey.run(
      "import", "spots.csv", "wells.geojson", "walk.gpx", "--into", "f.gpkg", "--cluster")
    #expect(result.status == 0)
    #expect(
      result.error == """
        note: layer 'wells' keeps the file's order: its ids are the file's
        note: layer 'tracks' keeps the file's order: its ids are referred to by another layer
        note: spots.csv: the file does not say its reference system. Try: --source-srs

        """)
    let spots = try await survey.run("query", "f.gpkg", "spots", "--format", "csv")
    #expect(
      spots.output
        == "fid,wkt\r\n1,POINT (0 0)\r\n2,POINT (0 1)\r\n3,POINT (9 9)\r\n4,POINT (9 8)\r\n")
  }

  @Test func `points of several files tell their tracks apart without the tracks`() async throws {
    for into in ["f.gpkg", "f.gpkg"] {
      let result = try await survey.run(
        "import", "walk.gpx", "walk.gpx", "--layer", "w", "--only", "track_points", "--mode",
        "append", "--into", into)
      #expect(result.status == 0, "\(result)")
    }
    let points = try await survey.run(
      "query", "f.gpkg", "--select", "track_fid", "--format", "csv")
    let tracks = points.output.split(separator: "\r\n").dropFirst()
      .map { $0.split(separator: ",")[1] }
    #expect(tracks == ["1", "1", "2", "2", "3", "3", "4", "4"], "\(points)")
  }

  @Test func `import reads one layer of a GPX file`() async throws {
    let result = try await survey.run(
      "import", "walk.gpx", "--only", "tracks", "--into", "f.gpkg")
    #expect(
      result.output == """
        1 feature imported into f.gpkg

        layer   features  ids  geometry         SRS        from
        ──────  ────────  ───  ───────────────  ─────────  ────────
        tracks         1  1    MULTILINESTRING  EPSG:4326  walk.gpx

        """)
    let wrong = try await survey.run(
      "import", "walk.gpx", "--only", "track", "--into", "g.gpkg")
    #expect(wrong.status == 64)
    #expect(!survey.exists("g.gpkg"))
  }
}
