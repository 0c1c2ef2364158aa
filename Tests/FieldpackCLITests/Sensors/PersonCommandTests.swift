import FieldpackTestSupport
import Foundation
import Testing

/// Persons and their items on the command line.
@Suite(.programs) struct PersonCommandTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  @discardableResult
  private func run(_ arguments: String...) async throws -> RunResult {
    try await Tool.run(arguments, folder: folder.url)
  }

  /// Two persons, the first with two items.
  private func make() async throws {
    for arguments in [
      ["person", "add", "bio.gpkg", "--first-name", "Zofia", "--last-name", "Kowalska"],
      ["person", "add", "bio.gpkg"],
      [
        "item", "setup", "bio.gpkg", "--person", "1", "--type", "Left Slap", "--sensor",
        "192.0.2.7", "--name", "desk",
      ],
      ["item", "setup", "bio.gpkg", "--person", "1", "--type", "face2d", "--index", "0"],
    ] {
      let result = try await Tool.run(arguments, folder: folder.url)
      #expect(result.status == 0, "\(result)")
    }
  }

  @Test func `persons and items are added, changed and listed`() async throws {
    try await make()
    #expect(try await run("item", "move", "bio.gpkg", "1", "0").output == "item 1 is now at 0\n")
    #expect(
      try await run("item", "setup", "bio.gpkg", "--item", "1", "--type", "RightSlap").output
        == "item 1 set up\n")
    let items = try await run("item", "list", "bio.gpkg", "1").output.split(separator: "\n")
    #expect(
      items.map { $0.split(separator: " ").joined(separator: " ") }.filter { !$0.hasPrefix("─") }
        == [
          "item person index type data sensor", "1 1 0 Right Slap http://192.0.2.7", "2 1 1 Face",
          "2 items",
        ])
    #expect(
      try await run("person", "edit", "bio.gpkg", "1", "--last-name", "", "--eyes", "Blue").output
        == "person 1 edited\n")
    let listed = try await run("person", "list", "bio.gpkg").output.split(separator: "\n")
    #expect(listed.map { $0.split(separator: " ").count } == [4, 4, 4, 3, 2])
    #expect(listed[2].split(separator: " ").first == "1" && listed[2].contains("Zofia "))
    #expect(try await run("person", "duplicate", "bio.gpkg", "1").output == "person 3 added\n")
    #expect(
      try await run("person", "delete", "bio.gpkg", "3", "--scrub").output
        == "deleted features: bio_person 1, bio_item 2, bio_device 1\n")
    #expect(try await run("check", "bio.gpkg").status == 0)
  }

  @Test func `what leaves a file is said`() async throws {
    try await make()
    let exported = try await run("item", "export", "bio.gpkg", "1", "--output", "session.geojson")
    #expect(
      exported.output
        == "session.geojson: 1 person, 2 items and 0 files (0 bytes) leave the file, with: "
        + "first_name, last_name, sensor addresses\n")
    let again = try await run("item", "export", "bio.gpkg", "--output", "session.geojson")
    #expect(again.status == 73)
    #expect(try await run("item", "export", "bio.gpkg", "--output", "session").status == 0)
    #expect(
      FileManager.default.fileExists(atPath: folder.file("session/session.json").path))
    let shown = try await run("item", "export", "bio.gpkg", "-o", "page.html")
    #expect(
      shown.output
        == "page.html: 2 persons, 2 items and 0 files (0 bytes) leave the file, with: "
        + "first_name, last_name\n")
    #expect(shown.status == 0)
    let page = try String(contentsOf: folder.file("page.html"), encoding: .utf8)
    #expect(page.contains("<h2>Zofia Kowalska</h2>"))
  }

  @Test func `what makes no sense is refused with what does`() async throws {
    try await make()
    let table: [([String], Int32, String)] = [
      (["item", "setup", "bio.gpkg", "--type", "LeftSlap"], 64, "Try: --person or --item"),
      (["item", "setup", "bio.gpkg", "--person", "1"], 64, "Try: --type LeftSlap"),
      (["item", "setup", "bio.gpkg", "--person", "9", "--type", "Dna"], 66, "no person '9'"),
      (["item", "annotate", "bio.gpkg", "1", "--mark", "5"], 64, "Index, Middle, Ring, Little"),
      (["item", "annotate", "bio.gpkg", "2", "--mark", "2"], 64, "Try: 1"),
      (["item", "annotate", "bio.gpkg", "1"], 64, "Try: --mark, --unmark or --notes"),
      (["item", "move", "bio.gpkg", "7", "0"], 66, "no item '7'"),
      (["person", "edit", "bio.gpkg", "1", "--eyes", "Red"], 64, "is none of Brown, Blue, Green"),
    ]
    for (arguments, status, words) in table {
      let result = try await Tool.run(arguments, folder: folder.url)
      #expect(result.status == status, "\(arguments) \(result)")
      #expect(result.error.contains(words), "\(arguments) \(result.error)")
    }
  }
}
