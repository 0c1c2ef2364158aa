import FieldpackTestSupport
import Testing

/// `fieldpack shard`, as far as it goes without PostgreSQL.
@Suite(.programs) struct ShardCommandTests {
  private let survey: SurveyFolder

  init() throws { survey = try SurveyFolder() }

  private static let refusals: [(words: String, error: String, status: Int32)] = [
    ("plan survey.scfg", "<layer>", 64),
    ("apply survey.scfg:wells wells", "store 'wells' is not on PostgreSQL", 1),
    ("rebalance survey.scfg wells --ranges 0", "--ranges", 64),
    ("plan none.scfg wells", "none.scfg", 66),
  ]

  @Test(arguments: refusals)
  func `what cannot be is told`(words: String, error: String, status: Int32) async throws {
    let result = try await survey.run(["shard"] + words.split(separator: " ").map(String.init))
    #expect(result.error.contains(error), "\(result.error)")
    #expect(result.status == status)
  }
}
