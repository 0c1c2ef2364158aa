import FieldpackTestSupport
import Foundation
import Testing

/// Features by layer and id, and by a condition.
@Suite(.programs) struct ChosenFeaturesTests {
  private let folder: TemporaryFolder

  init() async throws {
    folder = try TemporaryFolder()
    try Data(contentsOf: Checkout.file("TestData/gpkg/gdal-3.12.gpkg"))
      .write(to: folder.file("f.gpkg"))
  }

  private func fieldpack(_ words: String...) async throws -> RunResult {
    try await Tool.run(words, folder: folder.url)
  }

  private func rows(_ sql: String) throws -> [String] {
    try storedRows(sql, in: folder.file("f.gpkg"))
  }

  private static let wells = ["1|Mitte|12.5", "2|Nord|3.25", "3|West|NULL", "4|ohne|1.0"]

  @Test func `get finds a feature by its id`() async throws {
    let found = try await fieldpack("get", "f.gpkg:wells", "2")
    #expect(
      found.output == #"{"type":"Feature","id":"Zg==.d2VsbHM=.Mg==","properties":{"name":"Nord","#
        + #""depth":3.25},"geometry":{"type":"Point","coordinates":[13.5,52.6]}}"# + "\n")
    #expect(found.status == 0)
  }

  private static let changes: [(words: [String], output: String, rows: [String])] = [
    (
      ["f.gpkg:wells", "1", "2", "--set", "depth=depth * 2 + 1", "--set", "name=depth"],
      "2 features updated", ["1|depth|26.0", "2|depth|7.5"] + wells[2...]
    ),
    (
      ["f.gpkg:wells", "--where", "depth > 3", "--set", "depth=NULL"],
      "2 features updated", ["1|Mitte|NULL", "2|Nord|NULL"] + wells[2...]
    ),
    (
      ["f.gpkg:wells", "--all", "--set", "name='NULL'"], "4 features updated",
      ["1|NULL|12.5", "2|NULL|3.25", "3|NULL|NULL", "4|NULL|1.0"]
    ),
    (
      ["f.gpkg:wells", "--all", "--set", "depth=7", "--dry-run"],
      "4 features would be updated", wells
    ),
  ]

  @Test(arguments: changes)
  func `update sets columns of chosen features`(
    words: [String], output: String, rows expected: [String]
  ) async throws {
    let result = try await Tool.run(["update"] + words, folder: folder.url)
    #expect([result.output, result.error] == [output + "\n", ""])
    #expect(try rows("SELECT fid, name, depth FROM wells") == expected)
  }

  @Test func `delete takes ids or a condition`() async throws {
    let trial = try await fieldpack("delete", "f.gpkg:wells", "--where", "depth > 3", "--dry-run")
    #expect(trial.output == "2 features would be deleted\n")
    #expect(try rows("SELECT fid, name, depth FROM wells") == Self.wells)
    let deleted = try await fieldpack("delete", "f.gpkg:wells", "--where", "depth > 3", "--json")
    #expect(
      deleted.output == #"{"count":2,"keys":["Zg==.d2VsbHM=.MQ==","Zg==.d2VsbHM=.Mg=="]}"# + "\n")
    #expect(try await fieldpack("delete", "f.gpkg:wells", "4").output == "1 feature deleted\n")
    #expect(try rows("SELECT fid FROM wells") == ["3"])
    #expect(try await fieldpack("check", "f.gpkg").status == 0)
  }

  private static let refusals: [([String], Int32, String)] = [
    (
      ["update", "f.gpkg:wells", "--set", "depth=1"], 64,
      "no features are chosen. Try: ids, --where, or --all for every feature"
    ),
    (
      ["delete", "f.gpkg:wells"], 64,
      "no features are chosen. Try: ids, --where, or --all for every feature"
    ),
    (
      ["delete", "f.gpkg:wells", "1", "--all"], 64,
      "features are chosen by ids, by --where or by --all, not by two of these"
    ),
    (
      ["update", "f.gpkg:wells", "--all"], 64,
      "what the features of a layer are to be set to is missing. Try: --set column=VALUE"
    ),
    (
      ["update", "f.gpkg:wells", "1", "--set", "depth=1 = 1"], 64,
      "--set depth='1 = 1' is neither a value of the column, which is REAL, nor arithmetic such as "
        + "depth * 2"
    ),
    (
      ["update", "f.gpkg:wells", "1", "9", "--set", "depth=1"], 66,
      "layer 'wells' of store 'f' has no feature 9"
    ),
    (["delete", "f.gpkg:wells", "1", "9"], 66, "layer 'wells' of store 'f' has no feature 9"),
    (
      ["delete", "f.gpkg", "1"], 64,
      "<key> '1' is not a key tuple of store, layer and feature. Try: f.gpkg:LAYER 1"
    ),
    (
      ["delete", "f.gpkg", "eA==.d2VsbHM=.MQ=="], 66,
      "store 'x' is not in the workspace (it has: f). Try: --any-store, where the file has another "
        + "name now"
    ),
  ]

  @Test(arguments: refusals)
  func `what is not said clearly changes nothing`(
    words: [String], status: Int32, line: String
  ) async throws {
    let result = try await Tool.run(words, folder: folder.url)
    #expect(result.error == "fieldpack: \(line)\n")
    #expect(result.status == status)
    #expect(try rows("SELECT fid, name, depth FROM wells") == Self.wells)
  }

  @Test func `a key tuple of the file's former name is told`() async throws {
    let note = "note: 'x' is taken as 'f', the only store of f.gpkg\n"
    let key = "eA==.d2VsbHM=.MQ=="
    let found = try await fieldpack("get", "f.gpkg", key)
    #expect(found.error == note)
    #expect(found.output.contains("Mitte"))
    let deleted = try await fieldpack("delete", "f.gpkg", key, "--any-store")
    #expect([deleted.output, deleted.error] == ["1 feature deleted\n", note])
    #expect(try rows("SELECT fid FROM wells") == ["2", "3", "4"])
  }
}
