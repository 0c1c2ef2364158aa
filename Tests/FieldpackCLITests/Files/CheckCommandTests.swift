import FieldpackTestSupport
import Foundation
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

@Suite(.programs) struct CheckCommandTests {
  private let survey: SurveyFolder

  init() throws { survey = try SurveyFolder() }

  /// Makes `field.gpkg` with 20 wells, of which the R-tree knows none, at another extent.
  private func damagedFile() async throws {
    let features = (1...20).map { id in
      #"{"type":"Feature","id":\#(id),"properties":{"a":1},"#
        + #""geometry":{"type":"Point","coordinates":[\#(id),50]}}"#
    }
    let text = #"{"type":"FeatureCollection","features":[\#(features.joined(separator: ","))]}"#
    _ = try survey.folder.write(text, to: "many.geojson")
    _ = try await survey.run("import", "many.geojson", "--into", "field.gpkg", "--layer", "wells")
    try await sql(
      "DELETE FROM rtree_wells_geom; UPDATE gpkg_contents SET max_x = 3 WHERE table_name = 'wells'")
  }

  private func sql(_ text: String) async throws {
    let program = try #require(Programs.sqlite3)
    let result = try await Program.run(program, [survey.folder.file("field.gpkg").path, text])
    #expect(result.status == 0, "\(result)")
  }

  @Test func `finds nothing in what was just made`() async throws {
    _ = try await survey.run("import", "wells.geojson", "walk.gpx", "--into", "field.gpkg")
    let result = try await survey.run("check", "field.gpkg")
    #expect(result.output == "field.gpkg: GeoPackage 1.4, nothing found\n")
    #expect(result.error == "")
    #expect(result.status == 0)
    #expect(try survey.names.filter { $0.hasPrefix("field") } == ["field.gpkg"])
  }

  @Test(arguments: ["", " --json"])
  func `a reader that has enough is no error`(option: String) async throws {
    _ = try await survey.run("import", "wells.geojson", "--into", "field.gpkg")
    let script = #"exec {end}> >(exit); wait $!; "$0" check "$1"\#(option) >&$end; echo $?"#
    let result = try await Program.run(
      "bash", ["-c", script, Tool.path, survey.folder.file("field.gpkg").path])
    #expect(result.output == "0\n")
    #expect(result.error == "")
  }

  @Test(.enabled(if: Programs.sqlite3 != nil, Comment(rawValue: Programs.noSQLite)))
  func `groups findings, the first few of each, in 80 columns`() async throws {
    try await damagedFile()
    let result = try await survey.run("check", "field.gpkg")
    let rows = (1...10).map { "  row \($0), geom: it is not in the R-tree\n" }.joined()
    #expect(
      result.output == """
        field.gpkg: GeoPackage 1.4, 20 errors, 1 warning

        error upkeep-index wells: R-trees hold what their layers hold (--repair mends
          this)
        \(rows)  10 more

        warning upkeep-extent wells: extents are those of the geometries (--repair
          mends this)
          the extent in gpkg_contents does not hold all geometries

        """)
    #expect(result.error == "")
    #expect(result.status == 65)
  }

  @Test(.enabled(if: Programs.sqlite3 != nil, Comment(rawValue: Programs.noSQLite)))
  func `lists all findings as JSON`() async throws {
    try await damagedFile()
    let result = try await survey.run("check", "field.gpkg", "--json")
    let rows = (1...20).map { row in
      #"{"level":"error","requirement":"upkeep-index","table":"wells","column":"geom","#
        + #""row":\#(row),"place":null,"message":"it is not in the R-tree","is_mendable":true}"#
    }
    #expect(
      result.output == #"""
        {"target":"field.gpkg","gpkg_version":"1.4","is_conformant":false,\#
        "error_count":20,"warning_count":1,"note_count":0,"row_count":20,"repairs":[],"notes":[],\#
        "findings":[\#(rows.joined(separator: ",")),\#
        {"level":"warning","requirement":"upkeep-extent","table":"wells","column":null,"row":null,"place":null,\#
        "message":"the extent in gpkg_contents does not hold all geometries","is_mendable":true}]}

        """#)
    #expect(result.status == 65)
  }

  @Test(.enabled(if: Programs.sqlite3 != nil, Comment(rawValue: Programs.noSQLite)))
  func `mends, says what it did, and finds nothing then`() async throws {
    try await damagedFile()
    let before = try await survey.run("query", "field.gpkg")
    let result = try await survey.run("check", "field.gpkg", "--repair")
    #expect(
      result.output == """
        field.gpkg: GeoPackage 1.4, nothing found

        mended
          wells: R-tree of geom packed anew, 20 entries
          wells: the extent in gpkg_contents set

        """)
    #expect(result.status == 0)
    #expect(try await survey.run("query", "field.gpkg") == before)
    let found = try await survey.run("query", "field.gpkg", "--bbox", "4,49,6,51", "--count")
    #expect(found.output == "3\n")
    #expect(try survey.names.filter { $0.hasPrefix("field") } == ["field.gpkg"])
  }

  @Test func `upgrades, and refuses to go back`() async throws {
    _ = try await survey.run(
      "import", "wells.geojson", "--into", "field.gpkg", "--gpkg-version", "1.2")
    let result = try await survey.run("check", "field.gpkg", "--upgrade", "1.4")
    #expect(
      result.output == """
        field.gpkg: GeoPackage 1.4, nothing found

        mended
          upgraded from version 1.2 to 1.4
          wells: the triggers of its R-tree made anew

        """)
    #expect(result.status == 0)
    let again = try await survey.run("check", "field.gpkg", "--upgrade", "1.4")
    #expect(again.output == "field.gpkg: GeoPackage 1.4, nothing found\n")
    let back = try await survey.run("check", "field.gpkg", "--upgrade", "1.3")
    #expect(back.status == 64)
    #expect(back.error.contains("the file is of version 1.4, and 1.3 is older"))
    #expect(try await survey.run("check", "field.gpkg", "--upgrade", "1.1").status == 64)
  }

  @Test func `a file that is no GeoPackage is a finding, one that is not there an error`()
    async throws
  {
    _ = try survey.folder.write("no database", to: "text.gpkg")
    let text = try await survey.run("check", "text.gpkg", "--repair")
    #expect(
      text.output == """
        text.gpkg: no version of GeoPackage, 1 error

        error gpkg-1: the file is an SQLite 3 database
          the file is no SQLite database

        """)
    #expect(text.status == 65)
    #expect(try survey.text("text.gpkg") == "no database")
    let missing = try await survey.run("check", "missing.gpkg")
    #expect(missing.status == 1)
    #expect(missing.output == "")
    #expect(missing.error.hasPrefix("fieldpack: cannot be opened ("), "\(missing)")
    #expect(missing.error.contains("missing.gpkg"))
    let json = try await survey.run("check", "missing.gpkg", "--json")
    #expect(json.status == 1)
    #expect(json.error.hasPrefix(#"{"error":{"code":"notFound","#), "\(json)")
  }

  @Test(.enabled(if: Programs.sqlite3 != nil, Comment(rawValue: Programs.noSQLite)))
  func `an interruption ends it and changes nothing`() async throws {
    _ = try await survey.run("import", "wells.geojson", "--into", "field.gpkg")
    let before = try Data(contentsOf: survey.folder.file("field.gpkg"))
    let program = try #require(Programs.sqlite3)
    // A view that never ends.
    _ = try await Program.run(
      program,
      [
        survey.folder.file("field.gpkg").path,
        """
        CREATE VIEW long AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) \
        SELECT CAST(i AS INTEGER) AS i FROM n; \
        INSERT INTO gpkg_contents (table_name, data_type) VALUES ('long', 'attributes')
        """,
      ])
    let after = try Data(contentsOf: survey.folder.file("field.gpkg"))
    #expect(before != after)
    for arguments in [["check", "field.gpkg"], ["check", "field.gpkg", "--repair"]] {
      let result = try await interrupted(arguments, in: survey.folder.url)
      #expect(result.status == 130, "\(result)")
      #expect(result.error == "fieldpack: interrupted\n")
      #expect(result.output == "")
    }
    #expect(try Data(contentsOf: survey.folder.file("field.gpkg")) == after)
    #expect(try survey.names.filter { $0.hasPrefix("field") } == ["field.gpkg"])
  }
}
