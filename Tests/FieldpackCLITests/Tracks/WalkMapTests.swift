import FieldpackTestSupport
import Foundation
import Testing

/// Maps of what recordings and monitors write.
@Suite(.programs) struct WalkMapTests {
  private let folder: TemporaryFolder

  init() async throws {
    folder = try TemporaryFolder()
    _ = try folder.write(
      Self.points(column: "radius_m", [("120", 13.4), ("null", 13.41)]), to: "gates.geojsonl")
    _ = try folder.write(
      Self.points(
        column: "kind", [("\"enter\"", 13.399), ("\"exit\"", 13.402), ("null", 13.403)]),
      to: "detection.geojsonl")
    _ = try folder.write(
      """
      {"type":"Feature","properties":{"length_m":1.5},"geometry":
      """ + "{\"type\":\"LineString\",\"coordinates\":[[13.398,52.5],[13.404,52.501]]}}",
      to: "track.geojsonl")
  }

  /// Points at one latitude, a line each.
  private static func points(column: String, _ rows: [(value: String, x: Double)]) -> String {
    rows.map { row in
      "{\"type\":\"Feature\",\"properties\":{\"\(column)\":\(row.value)},"
        + "\"geometry\":{\"type\":\"Point\",\"coordinates\":[\(row.x),52.5]}}"
    }.joined(separator: "\n")
  }

  private func run(_ arguments: String...) async throws -> RunResult {
    try await Tool.run(arguments, folder: folder.url)
  }

  @Test func `a point with a radius is drawn as a circle of so many metres`() async throws {
    let result = try await run("export", "gates.geojsonl", "--output", "gates.svg")
    #expect(result.status == 0, "\(result)")
    let svg = try String(contentsOf: folder.file("gates.svg"), encoding: .utf8)
    #expect(svg.matches(of: #/<path d="M[^"]*z"/>/#).count == 1)
    #expect(svg.matches(of: #/<circle /#).count == 1)
    // The circle counts for what the map shows: 120 m are 0.0017677 degrees of longitude here.
    #expect(svg.contains(">13.39823°, 52.501078°<"), "\(svg)")
  }

  @Test func `detections have the colours of their kinds`() async throws {
    _ = try await run("import", "detection.geojsonl", "track.geojsonl", "--into", "walk.gpkg")
    let result = try await run(
      "export", "walk.gpkg", "track", "detection", "--output", "walk.svg", "--json")
    #expect(
      result.output.contains(
        #""count":4,"layers":[{"store":"walk","layer":"track","count":1},"#
          + #"{"store":"walk","layer":"detection","count":3}]"#), "\(result)")
    let svg = try String(contentsOf: folder.file("walk.svg"), encoding: .utf8)
    let legend = svg.matches(of: #/<text [^>]*font-size="13"[^>]*>([^<]*)</#).map { String($0.1) }
    #expect(legend == ["track", "detection: enter", "detection: exit", "detection: other"])
    let colors = svg.matches(of: ##/<g class="p h" fill="(#[0-9a-fA-F]+)" stroke="#fff"/##).map {
      String($0.1)
    }
    #expect(colors.map { $0.uppercased() } == ["#009E73", "#D55E00", "#555555"])
    #expect(svg.contains(##"stroke="#0072b2" stroke-opacity="1.0" stroke-width="3""##), "\(svg)")
  }
}
