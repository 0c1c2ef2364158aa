import FieldpackTestSupport
import Foundation
import Testing

/// `export` to maps with what they say.
@Suite(.programs) struct MapCommandTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    _ = try folder.write(
      """
      {"type":"Feature","properties":{"name":"</script><b>","depth":3},"geometry":\
      {"type":"Point","coordinates":[179,-17]}}
      {"type":"Feature","properties":{"name":"B","depth":9},"geometry":\
      {"type":"Point","coordinates":[-179,-18]}}
      """, to: "wells.geojsonl")
  }

  private func run(_ arguments: String...) async throws -> RunResult {
    try await Tool.run(["export", "wells.geojsonl"] + arguments, folder: folder.url)
  }

  @Test func `a map has the title, labels, classes and sizes that are asked for`() async throws {
    let result = try await run(
      "--title", "Deep <wells>", "--label", "name", "--color-by", "depth", "--classes", "2",
      "--method", "jenks", "--size", "depth", "--output", "map.svg")
    #expect(result.status == 0, "\(result)")
    let svg = try String(contentsOf: folder.file("map.svg"), encoding: .utf8)
    #expect(svg.contains("<title>Deep &lt;wells&gt;</title>"))
    #expect(svg.contains(">&lt;/script&gt;&lt;b&gt;</text>"))
    // Cut to its data across the antimeridian.
    #expect(svg.contains(">179.000°, -17.000°<") && svg.contains(">-179.000°, -18.000°<"))
    let page = try await run("--label", "name", "--output", "map.html")
    #expect(page.status == 0, "\(page)")
    let html = try String(contentsOf: folder.file("map.html"), encoding: .utf8)
    #expect(html.contains(#""\u003c/script>\u003cb>",3]"#))
    #expect(!html.contains("</script><b>"))
  }

  @Test(arguments: [
    (["--classes", "3", "--output", "m.svg"], "--classes is for the numbers of a column"),
    (["--method", "equal", "--output", "m.svg"], "--method is for the numbers of a column"),
    (["--label", "name", "--output", "m.csv"], "csv has no title, labels, colours and sizes"),
    (["--color-by", "x", "--classes", "0", "--output", "m.svg"], "'0' is not between 1 and 12"),
  ])
  func `an option without a meaning is told`(arguments: [String], message: String) async throws {
    let result = try await Tool.run(["export", "wells.geojsonl"] + arguments, folder: folder.url)
    #expect(result.status == 64 && result.error.contains(message), "\(result)")
  }
}
