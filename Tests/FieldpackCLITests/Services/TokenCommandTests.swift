import FieldpackTestSupport
import Foundation
import Testing

/// `fieldpack token`.
@Suite(.programs) struct TokenCommandTests {
  private let survey: SurveyFolder

  init() throws { survey = try SurveyFolder() }

  @Test func `a token is shown once, and its rights each time`() async throws {
    let first = try await survey.run("token", "add", "t.json", "guest")
    #expect(first.output.wholeMatch(of: #/fp_[A-Za-z0-9_-]{43}\n/#) != nil)
    let second = try await survey.run(
      "token", "add", "t.json", "office", "--allow", "write", "--allow", "read:bio_pulse",
      "--allow", "bio", "--allow", "ingest")
    #expect(second.status == 0)
    let list = try await survey.run("token", "list", "t.json", "--json")
    let shown = list.output.replacing(#/"created":"[^"]+"/#, with: #""created":"""#)
    #expect(
      shown == #"{"file":"t.json","tokens":[{"name":"guest","rights":["read"],"created":""},"#
        + #"{"name":"office","rights":["write","read:bio_pulse","bio","ingest"],"created":""}]}"#
        + "\n")
    let kept = try String(contentsOf: survey.folder.file("t.json"), encoding: .utf8)
    for token in [first.output, second.output] {
      #expect(!kept.contains(token.dropLast()) && !list.output.contains(token.dropLast()))
    }
    let table = try await survey.run("token", "list", "t.json")
    #expect(table.output.contains("write read:bio_pulse bio ingest"))
    #expect(try await survey.run("token", "revoke", "t.json", "guest").output == "revoked guest\n")
    let rest = try await survey.run("token", "list", "t.json", "--json")
    #expect(!rest.output.contains("guest") && rest.output.contains("office"))
  }

  private static let refusals: [(words: String, error: String, status: Int32)] = [
    ("add t.json a", "t.json has a token 'a'", 73),
    ("add t.json b --allow own", "is none of read, write, read:LAYER", 64),
    ("revoke t.json b", "t.json has no token 'b' (it has: a)", 66),
    ("list none.json", "none.json", 66),
    ("list wells.geojson", "others may read wells.geojson", 77),
  ]

  @Test(arguments: refusals)
  func `what cannot be is told`(words: String, error: String, status: Int32) async throws {
    _ = try await survey.run("token", "add", "t.json", "a")
    let result = try await survey.run(["token"] + words.split(separator: " ").map(String.init))
    #expect(result.error.contains(error), "\(result.error)")
    #expect(result.status == status)
  }
}
