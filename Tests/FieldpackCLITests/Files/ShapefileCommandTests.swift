import FieldpackTestSupport
import Foundation
import Testing

@Suite(.programs) struct ShapefileCommandTests {
  let survey: SurveyFolder

  init() throws { survey = try SurveyFolder() }

  private static let suffixes = ["cpg", "dbf", "prj", "shp", "shx"]

  @Test func `a layer goes to a shapefile and comes back`() async throws {
    let written = try await survey.run("export", "wells.geojson", "-o", "wells.shp")
    #expect(written.status == 0, "\(written.error)")
    #expect(Self.suffixes.allSatisfy { survey.exists("wells.\($0)") })
    let source = try await survey.run("query", "wells.geojson", "--format", "csv")
    let back = try await survey.run("query", "wells.shp", "--format", "csv")
    #expect(back.status == 0, "\(back.error)")
    #expect(back.output == source.output)
    let again = try await survey.run("export", "wells.geojson", "-o", "wells.shp")
    #expect(again.status == 73)
    #expect(again.error == "fieldpack: wells.shp exists. Try: --overwrite, or another name\n")
  }

  @Test func `a change of any file of the set is seen`() async throws {
    _ = try await survey.run("export", "wells.geojson", "-o", "wells.shp")
    let before = try await survey.run("info", "wells.shp")
    #expect(before.output.contains("EPSG:4326"))
    try FileManager.default.removeItem(at: survey.folder.file("wells.prj"))
    let after = try await survey.run("info", "wells.shp")
    #expect(!after.output.contains("EPSG:4326"))
  }

  @Test func `what belonged to the old features goes with them`() async throws {
    _ = try await survey.run("export", "wells.geojson", "-o", "wells.shp")
    for suffix in ["qix", "sbn", "txt"] {
      try Data().write(to: survey.folder.file("wells.\(suffix)"))
    }
    let written = try await survey.run(
      "export", "wells.geojson", "-o", "wells.shp", "--overwrite", "--srs", "EPSG:25833")
    #expect(written.status == 0, "\(written.error)")
    #expect(!survey.exists("wells.qix") && !survey.exists("wells.sbn"))
    #expect(survey.exists("wells.txt"))
    #expect(try await survey.run("info", "wells.shp").output.contains("EPSG:25833"))
  }

  @Test func `a missing file of the set is named`() async throws {
    _ = try await survey.run("export", "wells.geojson", "-o", "wells.shp")
    try FileManager.default.removeItem(at: survey.folder.file("wells.shx"))
    let refused = try await survey.run("import", "wells.shp", "--into", "a.gpkg")
    #expect(refused.status == 66)
    #expect(
      refused.error == "fieldpack: wells.shx: the file is missing: it tells where the shapes are. "
        + "Try: --skip-errors\n")
    let skipped = try await survey.run(
      "import", "wells.shp", "--into", "a.gpkg", "--skip-errors")
    #expect(skipped.status == 0, "\(skipped.error)")
  }

  @Test func `a shapefile is no stream`() async throws {
    let written = try await survey.run("export", "wells.geojson", "--format", "shp", "-o", "-")
    #expect(written.status == 64)
    let read = try await survey.run("info", "-", "--input-format", "shp", input: "?")
    #expect(read.status == 65)
    #expect(
      read.error
        == "fieldpack: stdin: the file has 1 bytes, less than the header of a shapefile\n")
  }

  @Test(.enabled(if: Programs.ogr2ogr != nil, Comment(rawValue: Programs.noOGR)))
  func `GDAL reads what is written`() async throws {
    _ = try await survey.run("export", "wells.geojson", "-o", "wells.shp")
    let path = survey.folder.file("wells.shp").path
    let text = try Programs.output(
      try #require(Programs.ogr2ogr),
      ["-f", "CSV", "/vsistdout/", path, "-lco", "GEOMETRY=AS_WKT", "-lco", "SEPARATOR=SEMICOLON"])
    let ours = try await survey.run("query", "wells.shp", "--format", "csv")
    let lines = text.split(separator: "\n").count
    #expect(lines == ours.output.split(whereSeparator: \.isNewline).count)
    #expect(text.contains("Mitte"))
  }
}
