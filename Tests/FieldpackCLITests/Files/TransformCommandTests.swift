import FieldpackTestSupport
import Foundation
import Testing

@Suite(.programs) struct TransformCommandTests {
  private let survey: SurveyFolder

  init() throws { survey = try SurveyFolder() }

  private func field() async throws {
    _ = try await survey.run("export", "wells.geojson", "-o", "field.gpkg")
    _ = try survey.folder.write("id,remark\r\n7,dry\r\n", to: "notes.csv")
    let added = try await survey.run(
      "import", "notes.csv", "--into", "field.gpkg", "--mode", "append", "--id", "id")
    #expect(added.status == 0, "\(added)")
  }

  @Test func `moves every layer and says by which operation`() async throws {
    try await field()
    let result = try await survey.run(
      "transform", "field.gpkg", "--srs", "EPSG:25833", "-o", "utm.gpkg")
    #expect(
      result.output == """
        3 features of layers wells, notes written to utm.gpkg

        layer  features  operation
        ─────  ────────  \(String(repeating: "─", count: 86))
        wells         2  EPSG:4326 to EPSG:25833: Inverse of ETRS89 to WGS 84 (1) + UTM zone \
        33N (accuracy 1 m)
        notes         1  copied

        """)
    #expect(result.error == "")
    #expect(result.status == 0)
    let query = try await survey.run("query", "utm.gpkg")
    #expect(
      query.output == """
        wells
        fid  name   depth  open  geom
        ───  ─────  ─────  ────  ────────────────────────────
         11  Mitte   12.5  true  POINT (391390.73 5817855.24)
         12  Nord       8        POINT (398409.61 5828831.86)

        notes
        fid  remark
        ───  ──────
          7  dry

        """)
  }

  @Test func `cuts geometries and keeps layers without geometry`() async throws {
    try await field()
    let result = try await survey.run(
      "transform", "field.gpkg", "--srs", "EPSG:25833", "-o", "utm.gpkg", "--clip", "13,52,13.45,53"
    )
    #expect(result.status == 0, "\(result)")
    let query = try await survey.run("query", "utm.gpkg")
    #expect(
      query.output == """
        wells
        fid  name   depth  open  geom
        ───  ─────  ─────  ────  ────────────────────────────
         11  Mitte   12.5  true  POINT (391390.73 5817855.24)

        notes
        fid  remark
        ───  ──────
          7  dry

        """)
  }

  @Test func `json has the operations`() async throws {
    try await field()
    let result = try await survey.run(
      "transform", "field.gpkg", "wells", "--srs", "EPSG:25833", "-o", "utm.gpkg", "--json")
    #expect(
      result.output == """
        {"output":"utm.gpkg","format":"gpkg","count":2,\
        "layers":[{"store":"field","layer":"wells","count":2}],\
        "stores":[{"store":"field","state":"open","error":null}],\
        "skipped":{"count":0,"features":[]},"transformations":[{"store":"field",\
        "layer":"wells","transformation":{"source_srs":"EPSG:4326","target_srs":"EPSG:25833",\
        "operation":"Inverse of ETRS89 to WGS 84 (1) + UTM zone 33N","accuracy_m":1,\
        "missing_grids":[]}}],"notes":[]}

        """)
  }

  @Test func `a position that cannot be moved stops it unless errors are skipped`() async throws {
    let poles = """
      {"type":"Feature","id":1,"properties":{},"geometry":{"type":"Point","coordinates":[0,0]}}
      {"type":"Feature","id":2,"properties":{},"geometry":{"type":"Point","coordinates":[0,91]}}

      """
    _ = try await survey.run("import", "-", "--into", "p.gpkg", "--layer", "p", input: poles)
    let result = try await survey.run("transform", "p.gpkg", "--srs", "EPSG:3857", "-o", "m.gpkg")
    #expect(result.status == 1)
    #expect(result.output == "")
    #expect(try survey.names.filter { $0.contains("m.gpkg") } == [])
    let skipping = try await survey.run(
      "transform", "p.gpkg", "--srs", "EPSG:3857", "-o", "m.gpkg", "--skip-errors")
    #expect(skipping.output.hasPrefix("1 feature of layer p written to m.gpkg\n"))
    #expect(skipping.error.hasPrefix("note: skipped: p/2: "))
    #expect(skipping.status == 2)
  }

  @Test(arguments: ["Point", "LineString"])
  func `a bad feature amid many is named, and only that one left out`(type: String) async throws {
    let bad = [1700, 2500, 4000]
    let lines = (1...4000).map { id in
      let position = "[\(Double(id % 359) - 179),\(bad.contains(id) ? 91 : id % 80)]"
      let coordinates = type == "Point" ? position : "[[0,0],\(position),[1,1]]"
      return #"{"type":"Feature","id":\#(id),"properties":{},"#
        + #""geometry":{"type":"\#(type)","coordinates":\#(coordinates)}}"#
    }
    _ = try await survey.run(
      "import", "-", "--into", "p.gpkg", "--layer", "p",
      input: lines.joined(separator: "\n") + "\n")
    let result = try await survey.run("transform", "p.gpkg", "--srs", "EPSG:3857", "-o", "m.gpkg")
    let share = type == "Point" ? "1 of 1 position" : "1 of 3 positions"
    #expect(result.error.contains("feature 1700"), "\(result.error)")
    #expect(result.error.contains("\(share) of the geometry cannot be transformed"))
    #expect(result.status == 1)
    let skipping = try await survey.run(
      "transform", "p.gpkg", "--srs", "EPSG:3857", "-o", "m.gpkg", "--skip-errors")
    #expect(skipping.output.hasPrefix("3997 features of layer p written to m.gpkg\n"))
    let notes = skipping.error.split(separator: "\n").map { $0.split(separator: " ")[2] }
    #expect(notes == ["p/1700:", "p/2500:", "p/4000:"])
    #expect(skipping.status == 2)
    let rest = try await survey.run(
      "sql", "m.gpkg", "SELECT sum(fid), rtreecheck('rtree_p_geom') FROM p", "--format", "csv")
    let sum: Int = 4000 * 4001 / 2 - (1700 + 2500 + 4000)
    #expect(rest.output.contains("\(sum),ok"), "\(rest)")
  }

  @Test(arguments: [
    (
      ["wells.geojson", "--srs", "EPSG:3857", "-o", "x.gpkg"], 64,
      "wells.geojson is no GeoPackage but geojson. Try: fieldpack import wells.geojson --srs …"
    ),
    (
      ["field.gpkg", "--srs", "EPSG:3857", "-o", "field.gpkg", "--overwrite"], 64,
      "field.gpkg is the file that store 'field' is read from. Try: another --output"
    ),
    (
      ["field.gpkg", "--srs", "EPSG:3857", "-o", "walk.gpx"], 73,
      "walk.gpx exists. Try: --overwrite, or another name"
    ),
    (
      ["nix.gpkg", "--srs", "EPSG:3857", "-o", "x.gpkg"], 66,
      "cannot open nix.gpkg: No such file or directory"
    ),
    (
      ["field.gpkg", "-o", "x.gpkg"], 64, "--srs is missing. Try: fieldpack help transform"
    ),
  ])
  func `refuses what has no sense`(
    words: [String], status: Int32, line: String
  ) async throws {
    try await field()
    let result = try await survey.run(["transform"] + words)
    #expect(result.error == "fieldpack: \(line)\n")
    #expect(result.status == status)
    #expect(!survey.exists("x.gpkg"))
  }
}
