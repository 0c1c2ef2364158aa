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

  @Test func `what is done is logged only where that is asked for`() async throws {
    try await make()
    #expect(try await !run("layer", "list", "bio.gpkg").output.contains("bio_interaction"))
    let commands: [([String], Int32)] = [
      (["person", "add", "bio.gpkg", "--last-name", "Nowak"], 0),
      (["person", "edit", "bio.gpkg", "1", "--notes", "a secret"], 0),
      (["person", "duplicate", "bio.gpkg", "1"], 0),
      (["item", "setup", "bio.gpkg", "--person", "2", "--type", "Dna"], 0),
      (["item", "annotate", "bio.gpkg", "1", "--notes", "a secret"], 0),
      (["item", "move", "bio.gpkg", "1", "0"], 0), (["item", "capture", "bio.gpkg", "2"], 1),
      (["item", "clear", "bio.gpkg", "2", "--scrub"], 0),
      (["item", "export", "bio.gpkg", "1", "2", "-o", "session.geojson"], 0),
      (["item", "delete", "bio.gpkg", "2"], 0), (["person", "delete", "bio.gpkg", "1"], 0),
      // What changes nothing is not logged.
      (["person", "edit", "bio.gpkg", "1", "--notes", "a secret"], 66),
    ]
    for (arguments, status) in commands {
      let result = try await Tool.run(arguments + ["--log-interactions"], folder: folder.url)
      #expect(result.status == status, "\(arguments) \(result)")
    }
    func key(_ layer: String, _ id: Int) -> String {
      ["bio", layer, "\(id)"].map { Data($0.utf8).base64EncodedString() }.joined(separator: ".")
    }
    func person(_ id: Int) -> String { key("bio_person", id) }
    func item(_ id: Int) -> String { key("bio_item", id) }
    let logged = try await run(
      "sql", "bio.gpkg", "SELECT what, key FROM bio_interaction ORDER BY id", "--format", "csv")
    #expect(
      logged.output.split(whereSeparator: \.isNewline).dropFirst() == [
        "person add,\(person(3))", "person edit,\(person(1))", "person duplicate,\(person(4))",
        "item setup,\(item(5))", "item annotate,\(item(1))", "item move,\(item(1))",
        "item capture,\(item(2))", "item clear,\(item(2))", "item export,\(person(1))",
        "item export,\(person(2))", "item delete,\(item(2))", "person delete,\(person(1))",
      ])
    #expect(try await run("check", "bio.gpkg").status == 0)
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
