import FieldpackTestSupport
import Foundation
import Testing

@Suite(.programs) struct ExplainCommandTests {
  private let survey: SurveyFolder

  init() throws { survey = try SurveyFolder() }

  @Test func `shows SQL, parameters, plan and transformation`() async throws {
    let result = try await survey.run(
      "explain", "wells.geojson", "--where", "name = 'O''Hara' AND depth > 3", "--srs",
      "EPSG:25833", "--limit", "5", "--no-run")
    #expect(
      result.output == """
        wells/wells
          SQL
            SELECT "fid", "geom", "name", "depth", "open" FROM "wells" WHERE ("name" = ?
            COLLATE BINARY AND ("depth" > ? AND +"depth" < '')) ORDER BY "fid" LIMIT ?
            OFFSET ?
          parameters
            1  'O''Hara'
            2  3
            3  5
            4  0
          plan
            SCAN wells
          rows
            2 estimated
          transformation
            EPSG:4326 to EPSG:25833: Inverse of ETRS89 to WGS 84 (1) + UTM zone 33N (accuracy 1 m)

        """)
    #expect(result.error == "")
    #expect(result.status == 0)
  }

  @Test func `json has the layers, and what is left out`() async throws {
    let result = try await survey.run(
      "explain", "survey.scfg", "--where", "open = TRUE", "--json", "--store", "wells", "--store",
      "sights", "--no-run")
    #expect(
      result.output == """
        {"layers":[{"store":"wells","layer":"default","sql":"SELECT \\"fid\\", \\"geom\\", \
        \\"name\\", \\"depth\\", \\"open\\" FROM \\"default\\" WHERE \\"open\\" = ? \
        ORDER BY \\"fid\\"","parameters":[1],"plan":["SCAN default"],"transformation":null,\
        "estimated_row_count":2,"row_count":null,"duration_ms":null}],\
        "stores":[{"store":"wells","state":"open","error":null},\
        {"store":"sights","state":"open","error":null}],\
        "skipped":{"count":0,"features":[]},"notes":["left out: layer 'default' has no column 'open' \
        (it has: id, geom, name, depth)"]}

        """)
    #expect(result.status == 0)
  }

  @Test func `lists what is passed over while rows are counted`() async throws {
    let features = [(1, "0,0"), (2, "0,91"), (3, "1,1"), (4, "2,99")].map { id, position in
      #"{"type":"Feature","id":\#(id),"properties":{},"#
        + #""geometry":{"type":"Point","coordinates":[\#(position)]}}"#
    }
    _ = try await survey.run(
      "import", "-", "--into", "p.gpkg", "--layer", "p",
      input: features.joined(separator: "\n") + "\n")
    let words = ["explain", "p.gpkg", "--srs", "EPSG:3857"]
    let refused = try await survey.run(words)
    #expect(refused.status == 1)
    #expect(refused.error.contains("feature 2 in layer 'p'"), "\(refused.error)")
    let passing = try await survey.run(words + ["--skip-errors"])
    #expect(passing.output.contains("    4 estimated, 2 rows in "), "\(passing.output)")
    let notes = passing.error.split(separator: "\n").map { $0.split(separator: " ")[1...2] }
    #expect(notes == [["skipped:", "p/2:"], ["skipped:", "p/4:"]])
    #expect(passing.status == 2)
    let json = try await survey.run(words + ["--skip-errors", "--json"])
    #expect(json.output.contains(#""skipped":{"count":2,"features":[{"#), "\(json.output)")
    #expect(json.status == 2)
    let planned = try await survey.run(words + ["--skip-errors", "--no-run"])
    #expect(planned.error == "")
    #expect(planned.status == 0)
  }

  @Test func `what a file was read without is listed once for all its layers`() async throws {
    let gpx = SurveyFolder.walk.replacing(
      "<trk>", with: #"<wpt lat="north" lon="1"><name>Bad</name></wpt><trk>"#)
    _ = try survey.folder.write(gpx, to: "bad.gpx")
    let query = try await survey.run("query", "bad.gpx", "--skip-errors")
    let explain = try await survey.run("explain", "bad.gpx", "--skip-errors")
    #expect(
      explain.error
        == "note: skipped: bad.gpx:4, feature 2: lat 'north' of wpt is not a number from -90 to 90\n"
    )
    #expect(query.error == explain.error)
    #expect([explain.status, query.status] == [2, 2])
  }

  @Test func `uses the R-tree for a box`() async throws {
    let result = try await survey.run(
      "explain", "wells.geojson", "--bbox", "13,52,14,53", "--no-run")
    #expect(
      result.output == """
        wells/wells
          SQL
            SELECT "fid", "geom", "name", "depth", "open" FROM
            fieldpack_candidates('rtree_wells_geom', 'intersects', ?, ?, ?, ?) CROSS
            JOIN "wells" ON "fid" = "fieldpack id" WHERE ("fieldpack sure" OR
            fieldpack_envelope_intersects("geom", ?, ?, ?, ?)) ORDER BY "fieldpack id"
          parameters
            1  13.0
            2  52.0
            3  14.0
            4  53.0
            5  13.0
            6  52.0
            7  14.0
            8  53.0
          plan
            SCAN fieldpack_candidates VIRTUAL TABLE INDEX 0:
            SEARCH wells USING INTEGER PRIMARY KEY (rowid=?)
          rows
            2 estimated

        """)
    let run = try await survey.run("explain", "wells.geojson", "--bbox", "13,52,13.45,53")
    #expect(run.output.contains("    1 estimated, 1 row in "), "\(run.output)")
  }
}
