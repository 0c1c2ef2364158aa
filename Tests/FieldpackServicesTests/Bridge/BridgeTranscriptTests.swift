import FieldpackCore
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackServices

/// What pages and their bridge exchange, word for word: `TestData/bridge`.
///
/// Lines with `>` are messages, those with `!` what happens meanwhile, and those with `<` the replies that
/// follow. With `FIELDPACK_FIXTURES` set the replies are written anew.
@Suite struct BridgeTranscriptTests {
  private static let names = [
    "lists", "queries", "changes", "forms", "positions", "sign-in", "network", "configs", "backend",
    "stores", "mistakes", "names",
  ]

  @Test(arguments: names) func `messages are answered as the transcript says`(
    name: String
  ) async throws {
    let file = Checkout.file("TestData/bridge/\(name).txt")
    let text = try String(contentsOf: file, encoding: .utf8)
    let lines = text.split(separator: "\n").map(String.init)
    let writes = ProcessInfo.processInfo.environment["FIELDPACK_FIXTURES"] != nil
    let folder = try await BridgeFolder()
    if name == "positions" { await folder.bridge.location?.start() }
    let session = folder.session()
    var index = 0
    var said: [String] = []
    while index < lines.count {
      let line = lines[index]
      said.append(line)
      index += 1
      guard !line.hasPrefix("#") else { continue }
      var expected: [String] = []
      while index < lines.count, lines[index].hasPrefix("< ") {
        expected.append(String(lines[index].dropFirst(2)))
        index += 1
      }
      try await folder.perform(line, session)
      if writes { try await Task.sleep(for: .milliseconds(300)) }
      // What goes on is told beside the answers.
      let told = try await folder.told(writes ? 0 : expected.count).sorted()
      said += told.map { "< " + $0 }
      if !writes { #expect(told == expected, "after \(line)") }
    }
    if writes {
      try (said.joined(separator: "\n") + "\n").write(to: file, atomically: true, encoding: .utf8)
    }
    await folder.close()
  }

  @Test func `each action has a transcript`() throws {
    var actions = Set(BridgeAction.allCases)
    for name in Self.names {
      let text = try String(
        contentsOf: Checkout.file("TestData/bridge/\(name).txt"), encoding: .utf8)
      for line in text.split(separator: "\n") where line.hasPrefix("> ") {
        if let message = try? BridgeMessage(String(line.dropFirst(2))) {
          actions.remove(message.action)
        }
      }
    }
    #expect(actions == [])
  }
}
