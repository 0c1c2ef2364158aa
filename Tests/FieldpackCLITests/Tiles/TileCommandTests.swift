import FieldpackTestSupport
import Foundation
import Testing

@Suite(.programs) struct TileCommandTests {
  private let survey: SurveyFolder

  init() throws {
    survey = try SurveyFolder()
    for name in ["0/0/0", "1/1/0"] {
      let file = survey.folder.file("map/\(name).png")
      try FileManager.default.createDirectory(
        at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
      try Self.tile.write(to: file)
    }
  }

  private static let tile = Data(TestPicture.png(color: (10, 200, 30)))

  private func expect(
    _ result: RunResult, _ status: Int32, output: String = "", error: String = "",
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    #expect(result.output == output, sourceLocation: sourceLocation)
    #expect(result.error == error, sourceLocation: sourceLocation)
    #expect(result.status == status, sourceLocation: sourceLocation)
  }

  @Test func `tiles go in, out one by one, and out together`() async throws {
    expect(
      try await survey.run("import", "map", "--into", "f.gpkg"), 0,
      output: "2 tiles of zooms 0 to 1 imported into f.gpkg as map\n")
    expect(
      try await survey.run("tile", "f.gpkg:map", "1/1/0", "-o", "a.png"), 0,
      output: "tile 1/1/0 of map written to a.png: image/png\n")
    #expect(try Data(contentsOf: survey.folder.file("a.png")) == Self.tile)
    let standard = try await survey.run("tile", "f.gpkg", "0/0/0", "-o", "-")
    #expect(standard.outputBytes == Self.tile)
    expect(
      try await survey.run("export", "f.gpkg:map", "-o", "f.mbtiles"), 0,
      output: "2 tiles of map written to f.mbtiles\n")
    expect(
      try await survey.run("import", "f.mbtiles", "--into", "f.gpkg", "--layer", "again"), 0,
      output: "2 tiles of zooms 0 to 1 imported into f.gpkg as again\n")
    expect(
      try await survey.run("export", "f.gpkg", "again", "-o", "out/"), 0,
      output: "2 tiles of again written to out/\n")
    #expect(try Data(contentsOf: survey.folder.file("out/1/1/0.png")) == Self.tile)
  }

  @Test func `what cannot be done is told`() async throws {
    _ = try await survey.run("import", "map", "--into", "f.gpkg")
    expect(
      try await survey.run("tile", "f.gpkg", "1/0/0", "-o", "a.png"), 66,
      error: "fieldpack: 'map' has nothing at tile 1/0/0\n")
    #expect(!survey.exists("a.png"))
    expect(
      try await survey.run("tile", "f.gpkg:other", "1/0/0", "-o", "a.png"), 66,
      error: "fieldpack: store 'f' has no tiles 'other' (it has: map)\n")
    let address = try await survey.run("tile", "f.gpkg", "1/0", "-o", "a.png")
    #expect(address.error.contains("'1/0' is no address of a tile, such as 14/8587/5664"))
    #expect(address.status == 64)
    expect(
      try await survey.run("import", "map", "--into", "f.gpkg"), 73,
      error: "fieldpack: f/map: there is a table 'map' already\n")
    expect(
      try await survey.run("import", "map", "wells.geojson", "--into", "f.gpkg"), 64,
      error: "fieldpack: map holds tiles, which are imported alone. Try: two commands\n")
    expect(
      try await survey.run("import", "map", "--into", "f.gpkg", "--srs", "EPSG:25832"), 64,
      error: "fieldpack: --srs does not go with tiles\n")
    expect(
      try await survey.run("export", "f.gpkg", "--limit", "1", "-o", "f.mbtiles"), 64,
      error:
        "fieldpack: tiles are exported whole, a pyramid a time, without other options\n")
    #expect(!survey.exists("f.mbtiles"))
  }

  @Test func `features of a layer come out as a vector tile`() async throws {
    _ = try await survey.run("import", "wells.geojson", "--into", "f.gpkg")
    expect(
      try await survey.run("tile", "f.gpkg:wells", "3/4/2", "-o", "a.mvt"), 0,
      output:
        "tile 3/4/2 of wells written to a.mvt: application/vnd.mapbox-vector-tile, 2 features\n")
    expect(
      try await survey.run(
        "tile", "f.gpkg", "3/4/2", "--properties", "name", "--budget", "1", "-o", "b.mvt", "--json"),
      0,
      output: """
        {"output":"b.mvt","layer":"wells","zoom":3,"column":4,"row":2,\
        "media_type":"application/vnd.mapbox-vector-tile","byte_count":104,"feature_count":1,\
        "thinned_from":2,"skipped_count":0}

        """)
    let bare = try await survey.run(
      "tile", "f.gpkg:wells", "3/4/2", "--properties", "", "-o", "-")
    // Two features of an id and a point.
    #expect(bare.outputBytes.count == 40)
    expect(
      try await survey.run("tile", "f.gpkg:wells", "3/0/0", "-o", "c.mvt"), 66,
      error: "fieldpack: 'wells' has nothing at tile 3/0/0\n")
    #expect(!survey.exists("c.mvt"))
    _ = try await survey.run("import", "map", "--into", "f.gpkg")
    expect(
      try await survey.run("tile", "f.gpkg", "0/0/0", "-o", "d.png"), 0,
      output: "tile 0/0/0 of map written to d.png: image/png\n")
    expect(
      try await survey.run("tile", "f.gpkg:map", "0/0/0", "--budget", "9", "-o", "e.png"), 64,
      error: "fieldpack: 'map' holds pictures, with which --properties and --budget do not go\n")
    expect(
      try await survey.run("tile", "f.gpkg:well", "0/0/0", "-o", "e.png"), 66,
      error: "fieldpack: store 'f' has no tiles 'well' (it has: map)\n")
  }

  @Test func `tiles come out of the stores of a config`() async throws {
    _ = try await survey.run("import", "map", "--into", "f.gpkg")
    _ = try survey.folder.write(
      """
      {"stores":[
        {"id":"field","store_type":"gpkg","version":"1","uri":"f.gpkg"},
        {"id":"lines","store_type":"xyz","version":"1","uri":"grid:"},
        {"id":"gone","store_type":"gpkg","version":"1","uri":"gone.gpkg"}]}
      """, to: "t.scfg")
    expect(
      try await survey.run("tile", "t.scfg:field", "1/1/0", "-o", "a.png"), 0,
      output: "tile 1/1/0 of map written to a.png: image/png\n")
    #expect(try Data(contentsOf: survey.folder.file("a.png")) == Self.tile)
    expect(
      try await survey.run("tile", "t.scfg:lines", "30/5/6", "-o", "b.png"), 0,
      output: "tile 30/5/6 of lines written to b.png: image/png\n")
    expect(
      try await survey.run("tile", "t.scfg", "1/1/0", "-o", "c.png"), 64,
      error: "fieldpack: t.scfg has several tile pyramids (field/map, lines/lines). "
        + "Try: FILE:LAYER\n")
    expect(
      try await survey.run("tile", "t.scfg:none", "1/1/0", "-o", "c.png"), 66,
      error: "fieldpack: t.scfg has no tiles 'none' (it has: field/map, lines/lines)\n")
    let info = try await survey.run("info", "t.scfg", "--store", "lines")
    #expect(
      info.output == """
        lines: open (xyz.1, grid:)

        tiles  zoom  SRS        envelope
        ─────  ────  ─────────  ─────────────────────────────────────────────────
        lines  0-30  EPSG:3857  -20037508.35,-20037508.35,20037508.35,20037508.35

        """)
  }
}
