import FieldpackTestSupport
import Foundation
import Testing

@Suite(.programs) struct OddNameTests {
  private let survey: SurveyFolder

  init() throws { survey = try SurveyFolder() }

  private static let names = [
    "a\"b; DROP TABLE x", "🗺️ emoji", "select", "comma, here", "n", "rowid",
    String(repeating: "x", count: 1000),
  ]

  @Test(arguments: names)
  func `any name works as layer and as column`(name: String) async throws {
    let quoted = String(decoding: try JSONEncoder().encode(name), as: UTF8.self)
    let feature = """
      {"type":"Feature","properties":{\(quoted):1,"b":"x"},\
      "geometry":{"type":"Point","coordinates":[1,2]}}

      """
    let column = "\"\(name.replacing("\"", with: "\"\""))\""
    _ = try await survey.run(
      "import", "-", "--into", "n.gpkg", "--layer", name, input: feature + feature)
    let query = try await survey.run(
      "query", "n.gpkg", name, "--select", column, "--sort", "-\(column)", "--where",
      "\(column) = 1", "--json")
    #expect(query.error == "")
    #expect(query.output.contains("\"properties\":{\(quoted):1}"))
    let bare = try await survey.run("query", "-", "--count", input: feature + feature)
    #expect(bare.output == "2\n")
    for suffix in ["geojson", "gpx", "kml", "kmz", "csv", "gpkg", "svg", "html"] {
      let result = try await survey.run("export", "n.gpkg", name, "-o", "out.\(suffix)")
      #expect(result.status == 0, "\(result)")
    }
    let info = try await survey.run("info", "out.gpkg", name, "--map", "--json")
    #expect(info.output.contains("{\"layer\":\(quoted),\"kind\":\"features\""))
    let explained = try await survey.run("explain", "out.gpkg", name, "--where", "\(column) > 0")
    #expect(explained.status == 0)
    let transformed = try await survey.run(
      "transform", "out.gpkg", name, "--srs", "EPSG:3857", "-o", "t.gpkg")
    #expect(transformed.status == 0)
  }
}
