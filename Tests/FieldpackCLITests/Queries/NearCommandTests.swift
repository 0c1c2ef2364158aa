import FieldpackTestSupport
import Foundation
import Testing

/// `query --near` and `--within`.
@Suite(.programs) struct NearCommandTests {
  private let survey: SurveyFolder

  init() throws { survey = try SurveyFolder() }

  /// Name and metres of each line of a CSV.
  private func distances(_ arguments: String...) async throws -> [(name: String, metres: Double)] {
    let result = try await survey.run(["query"] + arguments + ["--format", "csv"])
    #expect(result.error == "" && result.status == 0)
    let lines = result.output.split(whereSeparator: \.isNewline).map {
      $0.split(separator: ",", omittingEmptySubsequences: false)
    }
    let name = try #require(lines.first?.firstIndex(of: "name"))
    let metres = try #require(lines.first?.firstIndex(of: "distance"))
    return lines.dropFirst().map { (String($0[name]), Double($0[metres]) ?? .nan) }
  }

  @Test func `the nearest come first with their distance in metres`() async throws {
    let found = try await distances("wells.geojson", "--near", "13.5,52.7")
    #expect(found.map(\.name) == ["Nord", "Mitte"])
    let near = try await distances("wells.geojson", "--near", "13.4,52.51")
    #expect(near.map(\.name) == ["Mitte", "Nord"])
    // pyproj 3.7.
    #expect(abs(near[0].metres - 1112.7692753707106) < 1e-6)
    #expect(abs(near[1].metres - 12095.588375531386) < 1e-6)
  }

  @Test func `limit, offset and the farthest distance cut what is near`() async throws {
    let here = ["wells.geojson", "--near", "13.4,52.51"]
    #expect(try await distances(here[0], here[1], here[2], "--limit", "1").map(\.name) == ["Mitte"])
    #expect(try await distances(here[0], here[1], here[2], "--offset", "1").map(\.name) == ["Nord"])
    let close = try await distances(here[0], here[1], here[2], "--max-distance", "2000")
    #expect(close.map(\.name) == ["Mitte"])
    let count = try await survey.run(["query"] + here + ["--max-distance", "2000", "--count"])
    #expect(count.output == "1\n")
  }

  @Test func `layers of several stores come in one order`() async throws {
    let result = try await survey.run(
      "query", "survey.scfg", "--store", "wells", "--store", "sights", "--near", "13.4,52.51",
      "--select", "name")
    let lines = result.output.split(separator: "\n").dropFirst(2)
    let names = lines.map { line in ["Dom", "Mitte", "Nord"].first { line.contains($0) } }
    #expect(names == ["Dom", "Mitte", "Nord"])
    #expect(result.status == 0)
  }

  @Test func `a column of the same name stays one column`() async throws {
    let feature = { (id: Int, x: Double) in
      #"{"type":"Feature","id":\#(id),"properties":{"distance":\#(id)},"#
        + #""geometry":{"type":"Point","coordinates":[\#(x),52]}}"#
    }
    _ = try survey.folder.write(feature(7, 13.1), to: "a.geojson")
    _ = try survey.folder.write(feature(8, 13.2), to: "b.geojson")
    let stores = ["a", "b"].map {
      #"{"id":"\#($0)","store_type":"geojson","version":"1","uri":"\#($0).geojson"}"#
    }
    _ = try survey.folder.write(#"{"stores":[\#(stores.joined(separator: ","))]}"#, to: "ab.scfg")
    let result = try await survey.run(
      "query", "ab.scfg", "--near", "13,52", "--select", "distance", "--json")
    #expect(result.output.contains(#""properties":{"distance":7,"distance_2":6"#), "\(result)")
    #expect(result.status == 0)
  }

  @Test func `counts of layers are of what is near`() async throws {
    let result = try await survey.run(
      "query", "wells.geojson", "--near", "13.4,52.51", "--max-distance", "2000", "--count",
      "--json")
    let counts = #"{"count":1,"layers":[{"store":"wells","layer":"wells","count":1}]"#
    #expect(result.output.hasPrefix(counts), "\(result)")
  }

  @Test(arguments: [
    (
      ["--max-distance", "5"],
      "fieldpack: --max-distance says how far from a --near, which is missing\n"
    ),
    (
      ["--near", "52,100"],
      "fieldpack: --near '52,100' is no longitude and latitude in degrees; longitude comes first\n"
    ),
    (
      ["--near", "13,52", "--sort", "name"],
      "fieldpack: features that come by their distance take no other order\n"
    ),
  ])
  func `what does not go together is refused`(options: [String], error: String) async throws {
    let result = try await survey.run(["query", "wells.geojson"] + options)
    #expect(result.output == "")
    #expect(result.error.hasPrefix(error.dropLast()), "\(result.error)")
    #expect(result.status == 64)
  }

  @Test func `a condition in CQL2 asks for a distance`() async throws {
    let condition = "S_DWITHIN(geometry, POINT(13.4 52.51), 2000)"
    let result = try await survey.run(
      "query", "wells.geojson", "--where", condition, "--select", "name", "--format", "csv")
    #expect(result.output.contains("Mitte") && !result.output.contains("Nord"))
  }
}
