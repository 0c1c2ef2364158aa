import FieldpackTestSupport
import Foundation
import Testing

@Suite struct InfoCommandTests {
  private let survey: SurveyFolder

  init() throws { survey = try SurveyFolder() }

  @Test func `lists the layers of a file`() async throws {
    let result = try await survey.run("info", "walk.gpx")
    #expect(
      result.output == """
        walk: open (gpx.1, walk.gpx)

        layer         features  geometry            SRS               envelope
        ────────────  ────────  ──────────────────  ────────────────  ─────────────────────
        waypoints            1  POINT Z             EPSG:4326 WGS 84  13.4,52.5,13.4,52.5
        tracks               1  MULTILINESTRING ZM  EPSG:4326 WGS 84  13.4,52.5,13.41,52.51
        track_points         2  POINT ZM            EPSG:4326 WGS 84  13.4,52.5,13.41,52.51

        """)
    #expect(result.error == "")
    #expect(result.status == 0)
  }
}
