import FieldpackSQLite
import FieldpackTestSupport
import Foundation
import Testing

/// Commands that change a GeoPackage whose triggers are not known.
@Suite(.programs) struct TriggerCommandTests {
  private let survey: SurveyFolder
  private var path: String { survey.folder.file("f.gpkg").path }

  init() async throws { survey = try SurveyFolder() }

  private func makeFile(_ script: String) async throws {
    let made = try await survey.run("import", "wells.geojson", "--into", "f.gpkg")
    #expect(made.status == 0)
    let connection = try Connection(path: path, mode: .readWrite, profile: .bulk)
    try connection.executeScript(script)
  }

  private func rows(_ sql: String) throws -> [String] {
    let connection = try Connection(path: path, mode: .readOnly)
    let statement = try connection.prepare(sql)
    var rows: [String] = []
    while try statement.step() { rows.append(statement.string(0) ?? "") }
    return rows
  }

  private static let quiet =
    "CREATE TRIGGER quiet BEFORE INSERT ON wells BEGIN SELECT RAISE(IGNORE); END"
  private static let logging = """
    CREATE TABLE log (a); CREATE TRIGGER watch AFTER INSERT ON wells
    BEGIN INSERT INTO log VALUES (NEW.name); END
    """

  private static let changes = [
    ["create", "f.gpkg", "wells", "sights.geojson"],
    ["import", "sights.geojson", "--into", "f.gpkg", "--layer", "wells", "--mode", "append"],
    ["import", "sights.geojson", "--into", "f.gpkg", "--layer", "wells", "--mode", "replace"],
    ["sql", "f.gpkg", "--write", "INSERT INTO wells (name) VALUES ('x')"],
  ]

  @Test(arguments: changes)
  func `a trigger that is not known is refused by name`(command: [String]) async throws {
    try await makeFile(Self.quiet)
    let before = try Data(contentsOf: URL(fileURLWithPath: path))
    let refused = try await survey.run(command)
    #expect(refused.status == 77)
    #expect(
      refused.error.contains(
        "'wells' cannot be changed: the file's trigger 'quiet' can have changes ignored, and only "
          + "triggers that Fieldpack knows are run. Try: --allow-triggers, or a store config with "
          + #""options": {"triggers": true}"#), "\(refused.error)")
    #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
    #expect(try survey.names.filter { $0.contains("f.gpkg") } == ["f.gpkg"])
  }

  @Test(arguments: changes.prefix(2))
  func `what an allowed one has ignored is an error`(command: [String]) async throws {
    try await makeFile(Self.quiet)
    let failed = try await survey.run(command + ["--allow-triggers"])
    #expect(failed.status == 1)
    #expect(
      failed.error.contains(
        "was not changed: the file's trigger 'quiet' can have changes ignored"),
      "\(failed.error)")
    #expect(try rows("SELECT count(*) FROM wells") == ["2"])
    #expect(try rows("SELECT count(*) FROM rtree_wells_geom_rowid") == ["2"])
  }

  @Test(arguments: changes.enumerated().filter { $0.offset != 2 }.map(\.element))
  func `an allowed one runs`(command: [String]) async throws {
    try await makeFile(Self.logging)
    let done = try await survey.run(command + ["--allow-triggers"])
    #expect(done.status == 0, "\(done.error)")
    #expect(try rows("SELECT count(*) FROM log") == ["1"])
    #expect(try rows("SELECT count(*) FROM wells") == ["3"])
  }

  @Test func `a config may allow them`() async throws {
    try await makeFile(Self.logging)
    _ = try survey.folder.write(
      #"{"stores":[{"id":"f","store_type":"gpkg","version":"1","uri":"f.gpkg","#
        + #""options":{"triggers":true}}]}"#, to: "f.scfg")
    let done = try await survey.run("create", "f.scfg", "wells", "sights.geojson")
    #expect(done.status == 0, "\(done.error)")
    #expect(try rows("SELECT a FROM log") == ["Dom"])
  }

  @Test func `check lists them`() async throws {
    try await makeFile(Self.quiet + "; " + Self.logging)
    let found = try await survey.run("check", "f.gpkg", "--json")
    #expect(found.status == 0)
    for part in [
      #""message":"the trigger 'quiet' can have changes ignored; it is not known, so that changes "#,
      #""message":"the trigger 'watch' inserts into 'log'; it is not known, so that changes "#,
      #""requirement":"upkeep-triggers""#,
    ] {
      #expect(found.output.contains(part), "\(found.output)")
    }
  }
}

/// Files of GDAL are changed as they come.
@Suite(
  .programs, .enabled(if: Programs.gdalPython != nil, Comment(rawValue: Programs.noGDALPython)))
struct GDALTriggerTests {
  @Test(arguments: ["1.2", "1.3"])
  func `all triggers of a file of GDAL are known`(version: String) async throws {
    let survey = try SurveyFolder()
    let script = """
      import sys
      from osgeo import ogr, osr
      d = ogr.GetDriverByName('GPKG').CreateDataSource(sys.argv[1], ['VERSION=' + sys.argv[2]])
      s = osr.SpatialReference(); s.ImportFromEPSG(4326)
      l = d.CreateLayer('it\\'s "odd"', s, ogr.wkbPoint, options=['GEOMETRY_NAME=the geom'])
      l.CreateField(ogr.FieldDefn('name')); l.CreateField(ogr.FieldDefn('depth', ogr.OFTReal))
      f = ogr.Feature(l.GetLayerDefn()); f['name'] = 'a'
      f.SetGeometry(ogr.CreateGeometryFromWkt('POINT (1 2)')); l.CreateFeature(f)
      d.SetMetadataItem('a', 'b')
      """
    let made = try await Program.run(
      Programs.gdalPython ?? "", ["-c", script, "g.gpkg", version], folder: survey.folder.url)
    #expect(made.status == 0, "\(made)")
    let created = try await survey.run(
      "create", "g.gpkg", #"it's "odd""#, "sights.geojson")
    #expect(created.status == 0, "\(created.error)")
    let found = try await survey.run("check", "g.gpkg", "--json")
    #expect(!found.output.contains("upkeep-triggers"))
  }
}
