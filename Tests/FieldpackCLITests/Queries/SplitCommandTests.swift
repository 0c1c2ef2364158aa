import FieldpackTestSupport
import Foundation
import Testing

@Suite(.programs) struct SplitCommandTests {
  private let survey: SurveyFolder

  init() throws { survey = try SurveyFolder() }

  @Test func `writes a file for each value and says how many`() async throws {
    let result = try await survey.run(
      "export", "wells.geojson", "--split-by", "open", "--format", "csv", "-o", "by/")
    #expect(result.output == "2 features of layer wells written to 2 files in by/\n")
    #expect(result.error == "")
    #expect(result.status == 0)
    #expect(
      try survey.text("by/true.csv") == "fid,name,depth,open,wkt\r\n11,Mitte,12.5,true,"
        + "POINT (13.4 52.5)\r\n")
    let again = try await survey.run(
      "export", "wells.geojson", "--split-by", "open", "--format", "csv", "-o", "by")
    #expect(
      again.error == "fieldpack: by/null.csv exists. Try: --overwrite, or another name\n")
    #expect(again.status == 73)
  }

  @Test func `lists the files under json, GeoPackages where no format is named`() async throws {
    let result = try await survey.run(
      "export", "wells.geojson", "--split-by", "name", "-o", "by", "--json")
    #expect(
      result.output == """
        {"output":"by","format":"gpkg","count":2,\
        "layers":[{"store":"wells","layer":"wells","count":2}],\
        "files":[{"file":"Mitte.gpkg","value":"Mitte","count":1},\
        {"file":"Nord.gpkg","value":"Nord","count":1}],\
        "stores":[{"store":"wells","state":"open","error":null}],\
        "skipped":{"count":0,"features":[]},"transformations":[],"notes":[]}

        """)
    #expect(result.error == "")
    let standard = try await survey.run(
      "export", "wells.geojson", "--split-by", "name", "-o", "-")
    #expect(
      standard.error
        == "fieldpack: --split-by writes files into a folder. Try: --output FOLDER\n")
    #expect(standard.status == 64)
  }
}
