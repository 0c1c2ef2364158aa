import FieldpackCore
import Testing

@testable import FieldpackCLI

@Suite struct RenamingTests {
  /// A command line with the old spelling.
  private static func line(_ renaming: Renaming) -> [String] {
    let command = renaming.command.split(separator: " ").map(String.init)
    let required = ["track record": ["--into", "f.gpkg"]][renaming.command] ?? []
    let given = ["monitor": 1, "track record": 1, "motion join": 2][renaming.command] ?? 0
    switch renaming.word {
    case .command(let name): return command + [name, "f.gpkg"]
    case .option(let name): return command + ["f.gpkg", name, "1"]
    case .extraWord:
      return command + Array(repeating: "f.gpkg", count: given) + ["layer"] + required
    case .missingWord: return command + ["f.gpkg"]
    }
  }

  @Test(arguments: Renaming.all.indices)
  func `an old spelling is answered with the new one`(index: Int) throws {
    let renaming = Renaming.all[index]
    let error = #expect(throws: FieldpackError.self) {
      _ = try FieldpackTool.root.parse(Self.line(renaming))
    }
    #expect(error?.code == .invalidArgument)
    #expect(error?.code.exitStatus == 64)
    #expect(
      error?.message == "'\(renaming.old)' is now '\(renaming.new)'. Try: \(renaming.example)")
  }

  @Test(arguments: Renaming.all.indices)
  func `the new spelling is one`(index: Int) throws {
    let renaming = Renaming.all[index]
    var words = renaming.example.split(separator: " ").map(String.init)
    if words[0] == "fieldpack" {
      words.removeFirst()
      guard case .run = try FieldpackTool.root.parse(words) else {
        Issue.record("\(renaming.example) runs no command")
        return
      }
    } else {
      let path = try #require(
        FieldpackTool.root.descend(renaming.command.split(separator: " ").map(String.init)))
      let declaration = try #require(path.last).declaration()
      for option in words where option.hasPrefix("--") {
        #expect(declaration.option(named: option.dropFirst(2)) != nil)
      }
    }
  }

  @Test func `no old spelling is one of today`() throws {
    for renaming in Renaming.all {
      let path = try #require(
        FieldpackTool.root.descend(renaming.command.split(separator: " ").map(String.init)))
      let command = try #require(path.last)
      switch renaming.word {
      case .command(let name): #expect(command.subcommand(named: name) == nil)
      case .option(let name):
        #expect(command.declaration().option(named: name.dropFirst(2)) == nil)
      case .extraWord, .missingWord: break
      }
    }
  }
}
