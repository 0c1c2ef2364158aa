import FieldpackTestSupport
import Foundation
import Testing

@Suite struct ExplainCommandTests {
  private let survey: SurveyFolder

  init() throws { survey = try SurveyFolder() }

  @Test func `shows SQL, parameters, plan and transformation`() async throws {
    let result = try await survey.run(
      "explain", "wells.geojson", "--where", "name = 'O''Hara' AND depth > 3", "--srs",
      "EPSG:25833", "--limit", "5", "--no-run")
    #expect(
      result.output == """
        wells/default
          SQL
            SELECT "fid", "geom", "name", "depth", "open" FROM "default" WHERE ("name" =
            ? COLLATE BINARY AND ("depth" > ? AND "depth" < '')) ORDER BY "fid" LIMIT ?
            OFFSET ?
          parameters
            1  'O''Hara'
            2  3
            3  5
            4  0
          plan
            SCAN default
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
        "estimatedRows":2,"rows":null,"milliseconds":null}],\
        "stores":[{"id":"wells","state":"open","error":null},\
        {"id":"sights","state":"open","error":null}],\
        "notes":["left out: layer 'default' has no column 'open' \
        (it has: id, geom, name, depth)"]}

        """)
    #expect(result.status == 0)
  }

  @Test func `uses the R-tree for a box`() async throws {
    let result = try await survey.run(
      "explain", "wells.geojson", "--bbox", "13,52,14,53", "--no-run")
    #expect(
      result.output == """
        wells/default
          SQL
            SELECT "fid", "geom", "name", "depth", "open" FROM
            fieldpack_candidates('rtree_default_geom', 'intersects', ?, ?, ?, ?) CROSS
            JOIN "default" ON "fid" = "fieldpack id" WHERE ("fieldpack sure" OR
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
            SEARCH default USING INTEGER PRIMARY KEY (rowid=?)
          rows
            2 estimated

        """)
    let run = try await survey.run("explain", "wells.geojson", "--bbox", "13,52,13.45,53")
    #expect(run.output.contains("    1 estimated, 1 row in "), "\(run.output)")
  }
}
