import FieldpackTestSupport
import Foundation
import Testing

/// How much a query asks of SQLite, counted by `SQLITE_TRACE_STMT` from opening to the last row.
@Suite(.programs) struct StatementBudgetTests {
  private let folder: TemporaryFolder
  private static let conditions = ["--bbox", "13,52,13.2,52.3", "--where", "depth > 10"]

  init() throws { folder = try TemporaryFolder() }

  /// A GeoPackage of 40 points.
  private func makeWells(_ name: String) async throws {
    let features = (1...40).map {
      #"{"type":"Feature","properties":{"depth":\#($0)},"#
        + #""geometry":{"type":"Point","coordinates":[\#(13 + Double($0) / 100),52.1]}}"#
    }
    let imported = try await Tool.run(
      "import", "-", "--layer", "wells", "--into", name,
      input: Data(features.joined(separator: "\n").utf8), folder: folder.url)
    try #require(imported.status == 0, "\(imported)")
  }

  /// The statements of a run of the tool, by the name of the file.
  private func statements(_ words: String...) async throws -> [String: [String]] {
    let list = folder.file("statements")
    let run = try await Program.run(
      Tool.built("FieldpackTestSubject"), ["statements", list.path] + words + Self.conditions,
      folder: folder.url)
    try #require(run.status == 0 && run.output.contains("POINT (13.2 52.1)"), "\(run)")
    var statements: [String: [String]] = [:]
    for line in try String(contentsOf: list, encoding: .utf8).split(separator: "\n") {
      let parts = line.split(separator: "\t", maxSplits: 1, omittingEmptySubsequences: false)
      let file = URL(fileURLWithPath: String(parts[0])).lastPathComponent
      statements[file, default: []].append(String(parts[1]))
    }
    return statements
  }

  private func expectFew(_ statements: [String]?, _ file: String) throws {
    let statements = try #require(statements, "\(file)")
    #expect(statements.count <= 17, "\(file): \(statements.joined(separator: "\n"))")
    #expect(statements.count { $0.hasPrefix("BEGIN") } <= 3, "\(file)")
    #expect(!statements.contains { $0.hasPrefix("EXPLAIN") }, "\(file)")
    #expect(statements.contains { $0.contains("'rtree_wells_geom'") }, "\(file)")
  }

  @Test func `a box and a condition take 17 statements in 3 transactions`() async throws {
    try await makeWells("wells.gpkg")
    let statements = try await statements("query", "wells.gpkg")
    #expect(Array(statements.keys) == ["wells.gpkg"])
    try expectFew(statements["wells.gpkg"], "wells.gpkg")
  }

  @Test func `each of four stores of a config takes no more`() async throws {
    let names = ["a", "b", "c", "d"]
    for name in names { try await makeWells(name + ".gpkg") }
    let stores = names.map {
      #"{"id":"\#($0)","store_type":"gpkg","version":"1","uri":"\#($0).gpkg"}"#
    }
    _ = try folder.write(#"{"stores":[\#(stores.joined(separator: ","))]}"#, to: "survey.scfg")
    let statements = try await statements("query", "survey.scfg")
    #expect(statements.keys.sorted() == names.map { $0 + ".gpkg" })
    for (file, statements) in statements { try expectFew(statements, file) }
  }
}
