import FieldpackTestSupport
import Foundation
import Testing

/// Curves, Z and M on their way through the tool.
@Suite(.programs) struct GeometryEditCommandTests {
  private let survey: SurveyFolder
  private static let arc = "CIRCULARSTRING ZM (13 52 1 10,13.1 52.1 2 20,13.2 52.0 3 30)"
  private static let line = "LINESTRING M (13 52 10,13.25 52.25 20)"
  private static let height = "POINT Z (13.5 52.5 30)"
  private static let keys = ["Zg==.YW55.MQ==", "Zg==.YW55.Mg==", "Zg==.YW55.Mw=="]

  init() throws { survey = try SurveyFolder() }

  /// A file of GDAL's, of version 1.2, with a layer `any` that has all of them.
  private func makeFile() async throws {
    let script = """
      import sys
      from osgeo import ogr, osr
      srs = osr.SpatialReference()
      srs.ImportFromEPSG(4326)
      file = ogr.GetDriverByName("GPKG").CreateDataSource("f.gpkg", ["VERSION=1.2"])
      layer = file.CreateLayer("any", srs, ogr.wkbUnknown)
      layer.CreateField(ogr.FieldDefn("name", ogr.OFTString))
      for wkt in sys.argv[1:]:
          feature = ogr.Feature(layer.GetLayerDefn())
          feature.SetField("name", "old")
          feature.SetGeometry(ogr.CreateGeometryFromWkt(wkt))
          layer.CreateFeature(feature)
      """
    let result = try await Program.run(
      Programs.gdalPython ?? "", ["-c", script, Self.arc, Self.line, Self.height],
      folder: survey.folder.url)
    #expect(result.status == 0, "\(result)")
  }

  /// What GDAL reads.
  private func seen(_ file: String = "f.gpkg") async throws -> [String] {
    let script = """
      import sys
      from osgeo import ogr
      file = ogr.Open(sys.argv[1])
      for f in file.GetLayer(0): print(f.GetGeometryRef().ExportToIsoWkt())
      """
    let result = try await Program.run(
      Programs.gdalPython ?? "", ["-c", script, file], folder: survey.folder.url)
    #expect(result.status == 0, "\(result)")
    return result.output.split(separator: "\n").map(String.init)
  }

  private func blobs() async throws -> String {
    try await survey.run("sql", "f.gpkg", "SELECT hex(geom) FROM \"any\" ORDER BY 1", "--json")
      .output
  }

  @Test(.enabled(if: Programs.gdalPython != nil, Comment(rawValue: Programs.noGDALPython)))
  func `what get prints leaves the stored geometries as they are`() async throws {
    try await makeFile()
    let before = try await blobs()
    var features = ""
    for key in Self.keys { features += try await survey.run("get", "f.gpkg", key).output }
    #expect(features.contains("LineString"))
    let edited = features.replacing(#""name":"old""#, with: #""name":"new""#)
    let result = try await survey.run("update", "f.gpkg", input: edited)
    #expect(result.output == "3 features updated\n")
    #expect(result.error == "")
    #expect(try await blobs() == before)
    #expect(
      try await survey.run("query", "f.gpkg", "--where", "name = 'new'", "--count").output
        == "3\n")
    let printed = try await survey.run("query", "f.gpkg", "--keys", "--format", "geojson")
    _ = try await survey.run("update", "f.gpkg", input: printed.output)
    #expect(try await blobs() == before)
    #expect(try await seen() == [Self.arc, Self.line, Self.height])
  }

  private static let refusals = [
    (
      0, "LineString", "[[13,52,1],[13.3,52,3]]",
      "m values and arcs, which the new one has not "
        + "and GeoJSON cannot carry"
    ),
    (
      1, "LineString", "[[13,52],[13.25,52.5]]",
      "m values, which the new one has not and GeoJSON cannot carry"
    ),
    (2, "Point", "[13.5,52.25]", "z values, which the new one has not"),
  ]

  @Test(
    .enabled(if: Programs.gdalPython != nil, Comment(rawValue: Programs.noGDALPython)),
    arguments: refusals)
  func `what would lose them is refused`(
    index: Int, type: String, coordinates: String, loss: String
  ) async throws {
    try await makeFile()
    let before = try await blobs()
    let feature =
      #"{"type":"Feature","id":"\#(Self.keys[index])","properties":{},"geometry":"#
      + #"{"type":"\#(type)","coordinates":\#(coordinates)}}"#
    let refused = try await survey.run("update", "f.gpkg", input: feature)
    #expect(
      refused.error == """
        fieldpack: stdin, feature 1, byte 0: the geometry of feature \(index + 1) in layer 'any' \
        has \(loss). Try: fieldpack sql --write with ST_GeomFromText to keep them, or \
        --allow-loss to give them up

        """)
    #expect(refused.status == 1)
    #expect(try await blobs() == before)
    let lost = try await survey.run("update", "f.gpkg", "--allow-loss", input: feature)
    #expect(lost.output == "1 feature updated\n")
    let expected = [
      "LINESTRING Z (13 52 1,13.3 52.0 3)", "LINESTRING (13 52,13.25 52.5)",
      "POINT (13.5 52.25)",
    ]
    #expect(try await seen().dropFirst(index).first == expected[index])
    let cleared = try await survey.run(
      "update", "f.gpkg",
      input: #"{"type":"Feature","id":"\#(Self.keys[0])","properties":{},"geometry":null}"#)
    #expect(cleared.output == "1 feature updated\n")
  }

  @Test(.enabled(if: Programs.gdalPython != nil, Comment(rawValue: Programs.noGDALPython)))
  func `commands on whole files keep them`() async throws {
    try await makeFile()
    let all = [Self.arc, Self.line, Self.height]
    for words in [
      ["check", "f.gpkg", "--repair"], ["check", "f.gpkg", "--upgrade", "1.4"],
      ["optimize", "f.gpkg"], ["optimize", "f.gpkg", "--cluster"],
    ] {
      let result = try await survey.run(words)
      #expect(result.status == 0, "\(result)")
      #expect(try await seen().sorted() == all.sorted(), "\(words)")
    }
    let exported = try await survey.run("export", "f.gpkg", "-o", "copy.gpkg")
    #expect(exported.status == 0, "\(exported)")
    #expect(try await seen("copy.gpkg").sorted() == all.sorted())
    // Metres and degrees back: Z and M do not change, and arcs stay arcs.
    for (srs, from, to) in [("EPSG:3857", "f.gpkg", "m.gpkg"), ("EPSG:4326", "m.gpkg", "d.gpkg")] {
      let moved = try await survey.run("transform", from, "--srs", srs, "-o", to)
      #expect(moved.status == 0, "\(moved)")
    }
    #expect(try await seen("d.gpkg").map(shape).sorted() == all.map(shape).sorted())
  }

  /// A WKT with its numbers to six digits.
  private func shape(_ text: String) -> String {
    let words = text.split(separator: " ").map { word in
      word.split(separator: ",", omittingEmptySubsequences: false).map { part in
        let digits = part.trimmingCharacters(in: CharacterSet(charactersIn: "()"))
        guard let number = Double(digits) else { return String(part) }
        return String(format: "%.6f", number)
      }.joined(separator: ",")
    }
    return words.joined(separator: " ")
  }

  @Test(.enabled(if: Programs.gdalPython != nil, Comment(rawValue: Programs.noGDALPython)))
  func `of two updates of a feature the last counts`() async throws {
    try await makeFile()
    let before = try await seen()
    let stored = try await survey.run("get", "f.gpkg", Self.keys[2])
    #expect(stored.status == 0, "\(stored)")
    let moved = stored.output.replacing("[13.5,52.5,30", with: "[14.5,52.5,30")
    #expect(moved != stored.output)
    func compact(_ text: String) -> String { text.filter { !$0.isNewline } }
    let result = try await survey.run(
      "update", "f.gpkg", input: compact(moved) + "\n" + compact(stored.output) + "\n")
    #expect(result.status == 0, "\(result)")
    #expect(try await seen() == before)
  }

  @Test func `import holds the flags of the layer that it appends to`() async throws {
    _ = try survey.folder.write("wkt\nPOINT(1 2)\n", to: "flat.csv")
    _ = try survey.folder.write("wkt\nPOINT M(1 2 3)\n", to: "measured.csv")
    _ = try survey.folder.write("wkt\n\"CIRCULARSTRING(0 0,1 1,2 0)\"\n", to: "arc.csv")
    for (first, second, why) in [
      ("flat", "measured", "layer 'x' takes no m, measured.csv has it"),
      ("measured", "flat", "layer 'x' needs m, the feature has none"),
      ("flat", "arc", "layer 'x' takes POINT, arc.csv has CIRCULARSTRING"),
    ] {
      let file = "\(first)-\(second).gpkg"
      let made = try await survey.run(
        "import", "\(first).csv", "--layer", "x", "--into", file, "--source-srs", "EPSG:4326")
      #expect(made.status == 0, "\(made)")
      let added = try await survey.run(
        "import", "\(second).csv", "--layer", "x", "--into", file, "--mode", "append",
        "--source-srs", "EPSG:4326")
      #expect(added.status == 65)
      #expect(added.error.contains(why), "\(added)")
      #expect(try await survey.run("query", file, "--count").output == "1\n")
    }
  }
}
