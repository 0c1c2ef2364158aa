import FieldpackTestSupport
import Foundation
import Testing

/// `fieldpack import --mode upsert`.
@Suite(.programs) struct UpsertCommandTests {
  private let folder: TemporaryFolder

  init() async throws {
    folder = try TemporaryFolder()
    _ = try folder.write(
      """
      {"type":"FeatureCollection","features":[
      {"type":"Feature","id":1,"properties":{"code":"A","name":"Alpha","depth":1.5},
       "geometry":{"type":"Point","coordinates":[10,50]}},
      {"type":"Feature","id":2,"properties":{"code":"B","name":"Beta","depth":2.5},
       "geometry":{"type":"Point","coordinates":[11,51]}}]}
      """, to: "wells.geojson")
    _ = try folder.write(
      """
      {"type":"FeatureCollection","features":[
      {"type":"Feature","id":2,"properties":{"code":"B","depth":22.5},
       "geometry":{"type":"Point","coordinates":[21,51]}},
      {"type":"Feature","id":7,"properties":{"code":"D","depth":4.5},"geometry":null}]}
      """, to: "news.geojson")
    let made = try await Tool.run(
      "import", "wells.geojson", "--into", "f.gpkg", folder: folder.url)
    #expect(made.status == 0)
  }

  private func upsert(_ file: String, _ words: String...) async throws -> RunResult {
    try await Tool.run(
      ["import", file, "--into", "f.gpkg", "--layer", "wells", "--mode", "upsert"] + words,
      folder: folder.url)
  }

  private func rows(_ sql: String) throws -> [String] {
    try storedRows(sql, in: folder.file("f.gpkg"))
  }

  private static let merged = [
    "A|Alpha|1.5|10.0", "B|Beta|22.5|21.0", "D|NULL|4.5|NULL",
  ]

  @Test(arguments: [[], ["--match", "code"]])
  func `features that are there are changed, and others are added`(match: [String]) async throws {
    let result = try await Tool.run(
      ["import", "news.geojson", "--into", "f.gpkg", "--layer", "wells", "--mode", "upsert"]
        + match,
      folder: folder.url)
    #expect(result.output.hasPrefix("2 features imported into f.gpkg: 1 new, 1 changed\n"))
    #expect(result.status == 0, "\(result)")
    let tree = "SELECT code, name, depth, minx FROM wells LEFT JOIN rtree_wells_geom ON id = fid"
    #expect(try rows(tree) == Self.merged)
    #expect(try rows("SELECT min_x, max_x FROM gpkg_contents") == ["10.0|21.0"])
    #expect(try rows("SELECT count(*) FROM sqlite_master WHERE name LIKE 'fieldpack%'") == ["0"])
    let check = try await Tool.run("check", "f.gpkg", folder: folder.url)
    #expect(check.output.hasSuffix("nothing found\n"))
  }

  @Test func `a trial tells both counts and changes nothing`() async throws {
    let before = try Data(contentsOf: folder.file("f.gpkg"))
    let result = try await upsert("news.geojson", "--dry-run", "--json")
    let document = try #require(
      JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any])
    #expect(document["count"] as? Int == 2 && document["updated_count"] as? Int == 1)
    #expect(try Data(contentsOf: folder.file("f.gpkg")) == before)
  }

  @Test func `rows that name no reference system are not placed by guessing`() async throws {
    _ = try folder.write("code,x,y\nA,13,52\n", to: "places.csv")
    let refused = try await upsert("places.csv", "--match", "code")
    #expect(
      refused.error
        == "fieldpack: the rows say no reference system, and layer 'wells' has EPSG:4326. "
        + "Try: --source-srs\n")
    #expect(refused.status == 64)
    let placed = try await upsert("places.csv", "--match", "code", "--source-srs", "4326")
    #expect(placed.status == 0, "\(placed)")
    #expect(try rows("SELECT minx FROM rtree_wells_geom WHERE id = 1") == ["13.0"])
  }

  @Test func `what cannot tell features apart is refused`() async throws {
    _ = try folder.write("code,depth\nA,9\nA,10\n", to: "news.csv")
    let noIDs = try await upsert("news.csv")
    #expect(
      noIDs.error.contains(
        "the features have no integer ids to be found by. Try: --match COLUMN, or --id COLUMN"),
      "\(noIDs.error)")
    let unknown = try await upsert("news.csv", "--match", "cod")
    #expect(unknown.error.contains("has no column 'cod', did you mean 'code'?"), "\(unknown.error)")
    _ = try await Tool.run(
      "sql", "f.gpkg", "--write", "UPDATE wells SET code = 'A'", folder: folder.url)
    let twice = try await upsert("news.csv", "--match", "code")
    #expect(
      twice.error.contains("layer 'wells' has features with one value in column 'code'"),
      "\(twice.error)")
    #expect(try rows("SELECT depth FROM wells") == ["1.5", "2.5"])
  }
}
