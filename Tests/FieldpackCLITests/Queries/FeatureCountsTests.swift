import FieldpackTestSupport
import Testing

/// `query --count`.
@Suite(.programs) struct FeatureCountsTests {
  private let survey: SurveyFolder

  init() throws { survey = try SurveyFolder() }

  @Test func `counts`() async throws {
    let plain = try await survey.run("query", "survey.scfg", "--count", "--skip-errors", "-q")
    #expect(plain.output == "3\n")
    #expect(plain.status == 2)
    let json = try await survey.run(
      "query", "survey.scfg", "--count", "--json", "--store", "wells", "--store", "sights",
      "--limit", "2")
    #expect(
      json.output == """
        {"count":2,"layers":[{"store":"wells","layer":"default","count":2},\
        {"store":"sights","layer":"default","count":1}],\
        "stores":[{"store":"wells","state":"open","error":null},\
        {"store":"sights","state":"open","error":null}],\
        "skipped":{"count":0,"features":[]},"notes":[]}

        """)
    #expect(json.status == 0)
  }

  @Test func `a count tells what the features are told with`() async throws {
    _ = try survey.folder.write("x,y,name\n500000,5700000,a\n500001,b,b\n", to: "points.csv")
    let arguments = ["query", "points.csv", "--skip-errors"]
    let features = try await survey.run(arguments)
    let count = try await survey.run(arguments + ["--count"])
    #expect(count.output == "1\n")
    #expect(
      count.error == """
        note: points.csv: the file does not say its reference system. Try: --source-srs
        note: skipped: points.csv:3, feature 2: the coordinate 'b' is not a number

        """)
    #expect(count.error == features.error)
    #expect(count.status == 2)
    #expect(features.status == 2)
  }
}
