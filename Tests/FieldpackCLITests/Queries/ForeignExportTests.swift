import FieldpackGeometry
import FieldpackSQLite
import FieldpackTestSupport
import Foundation
import Testing

/// Exports of GeoPackages that other programs made in ways of their own.
@Suite(.programs) struct ForeignExportTests {
  private let survey: SurveyFolder

  init() throws { survey = try SurveyFolder() }

  /// A GeoPackage of two wells, changed by `script` without its triggers.
  private func makeWells(_ script: String = "", blob: [UInt8]? = nil) async throws {
    let made = try await survey.run("import", "wells.geojson", "--into", "f.gpkg")
    try #require(made.status == 0, "\(made)")
    let file = try Connection(path: survey.folder.file("f.gpkg").path, mode: .readWrite)
    try file.setTriggers(areEnabled: false)
    if let blob { try file.execute("UPDATE wells SET geom = ? WHERE fid = 12", .blob(blob)) }
    try file.executeScript(script)
  }

  private func blob(_ ordinates: Double...) -> [UInt8] {
    let ring = CoordinateSequence(dimensions: .xy, ordinates: ordinates)
    var blob: [UInt8] = []
    GeoPackageBinary.append(.polygon([ring], .xy), srsID: 4326, to: &blob)
    return blob
  }

  private func rows(_ sql: String, of file: String) async throws -> String {
    try await survey.run("sql", file, sql, "--format", "csv").output
  }

  /// Gives the layer a reference system of the file's own.
  private func useSystem(_ id: Int, _ organization: String, _ name: String, _ wkt: String)
    async throws
  {
    let result = try await survey.run(
      "sql", "f.gpkg", "--write",
      """
      INSERT INTO gpkg_spatial_ref_sys (srs_name, srs_id, organization, organization_coordsys_id,
        definition) VALUES ('\(name)', \(id), '\(organization)', \(id), '\(wkt)');
      UPDATE wells SET geom = ST_SetSRID(geom, \(id));
      UPDATE gpkg_contents SET srs_id = \(id);
      UPDATE gpkg_geometry_columns SET srs_id = \(id);
      """)
    try #require(result.status == 0, "\(result)")
  }

  private static let local = """
    LOCAL_CS["NAME",LOCAL_DATUM["unknown",32767],UNIT["unknown",0],AXIS["Easting",EAST],\
    AXIS["Northing",NORTH]]
    """

  // MARK: What is written passes the check

  @Test func `a copy declares the types that its rows have`() async throws {
    try await makeWells(
      "ALTER TABLE wells ADD COLUMN size numeric; UPDATE wells SET size = fid + 0.5",
      blob: blob(0, 0, 1, 0, 1, 1, 0, 0))
    let result = try await survey.run("export", "f.gpkg", "-o", "out.gpkg")
    #expect(result.status == 0, "\(result)")
    #expect(
      result.error == """
        note: layer 'wells' is declared GEOMETRY in the copy: geometries do not fit what the \
        source declares

        """)
    #expect(try await survey.run("check", "out.gpkg").status == 0)
    #expect(
      try await rows(
        "SELECT name, type FROM pragma_table_info('wells') WHERE name IN ('geom', 'size')",
        of: "out.gpkg") == "name,type\r\ngeom,GEOMETRY\r\nsize,REAL\r\n")
    #expect(
      try await rows("SELECT geometry_type_name AS t FROM gpkg_geometry_columns", of: "out.gpkg")
        == "t\r\nGEOMETRY\r\n")
    #expect(try await rows("SELECT sum(size) AS s FROM wells", of: "out.gpkg") == "s\r\n24\r\n")
  }

  @Test func `a copy states the envelopes of its geometries`() async throws {
    let stale = blob(5, 5, 6, 5, 6, 6, 5, 5)[..<40] + blob(0, 0, 1, 0, 1, 1, 0, 0)[40...]
    try await makeWells(blob: Array(stale))
    #expect(try await survey.run("export", "f.gpkg", "-o", "out.gpkg").status == 0)
    #expect(try await survey.run("check", "out.gpkg").status == 0)
    #expect(
      try await rows("SELECT min_x, max_x FROM gpkg_contents", of: "out.gpkg")
        == "min_x,max_x\r\n0,13.4\r\n")
  }

  @Test func `a layer whose name begins as the standard's tables do is copied`() async throws {
    try await makeWells(
      """
      CREATE TABLE gpkg_media (id INTEGER PRIMARY KEY, data BLOB NOT NULL);
      INSERT INTO gpkg_media VALUES (1, x'00');
      INSERT INTO gpkg_contents (table_name, data_type, identifier)
        VALUES ('gpkg_media', 'attributes', 'gpkg_media');
      """)
    let result = try await survey.run("export", "f.gpkg", "-o", "out.gpkg")
    #expect(result.status == 0, "\(result)")
    let copied = try await rows("SELECT hex(data) AS h FROM gpkg_media", of: "out.gpkg")
    #expect(copied == "h\r\n00\r\n")
    #expect(try await survey.run("check", "out.gpkg").status == 0)
  }

  // MARK: Reference systems

  @Test func `GDAL's undefined system is none`() async throws {
    try await makeWells()
    try await useSystem(
      99999, "GDAL", "Undefined SRS", Self.local.replacing("NAME", with: "Undefined SRS"))
    let result = try await survey.run("export", "f.gpkg", "-o", "out.geojson")
    #expect(
      result.error
        == "note: layer 'wells' has no SRS; its coordinates are written as they are\n")
    #expect(result.status == 0)
    #expect(try survey.text("out.geojson").contains(#""coordinates":[13.4,52.5]"#))
    let count = try await survey.run("query", "f.gpkg", "--bbox", "13,52,13.45,53", "--count")
    #expect(count.output == "1\n", "\(count)")
  }

  @Test func `coordinates of a local system are written as they are`() async throws {
    try await makeWells()
    try await useSystem(100_001, "NONE", "Site", Self.local.replacing("NAME", with: "Site"))
    let result = try await survey.run("export", "f.gpkg", "-o", "out.geojson")
    #expect(
      result.error == """
        note: layer 'wells' is in the local system 'Site', which is tied to no place on Earth; its \
        coordinates are written as they are

        """)
    #expect(result.status == 0)
    #expect(try survey.text("out.geojson").contains(#""coordinates":[13.4,52.5]"#))
  }

  // MARK: Odd contents

  @Test func `tiles alone are no empty export`() async throws {
    try await makeWells(
      """
      DELETE FROM gpkg_geometry_columns; DELETE FROM gpkg_extensions; DELETE FROM gpkg_contents;
      CREATE TABLE gpkg_tile_matrix_set (table_name TEXT NOT NULL PRIMARY KEY, srs_id INTEGER,
        min_x DOUBLE, min_y DOUBLE, max_x DOUBLE, max_y DOUBLE);
      CREATE TABLE gpkg_tile_matrix (table_name TEXT, zoom_level INTEGER, matrix_width INTEGER,
        matrix_height INTEGER, tile_width INTEGER, tile_height INTEGER, pixel_x_size DOUBLE,
        pixel_y_size DOUBLE);
      CREATE TABLE photo (id INTEGER PRIMARY KEY, zoom_level INTEGER, tile_column INTEGER,
        tile_row INTEGER, tile_data BLOB);
      INSERT INTO gpkg_contents (table_name, data_type, identifier, srs_id)
        VALUES ('photo', 'tiles', 'photo', 4326);
      INSERT INTO gpkg_tile_matrix_set VALUES ('photo', 4326, -180, -90, 180, 90);
      """)
    let result = try await survey.run("export", "f.gpkg", "-o", "out.gpkg")
    #expect(
      result.error == """
        fieldpack: store 'f' has no layer to export, only tile pyramids, which go to MBTiles \
        files and to folders: 'photo'

        """)
    #expect(result.status != 0)
    #expect(!FileManager.default.fileExists(atPath: survey.folder.file("out.gpkg").path))
  }

  @Test func `a geometry of SpatiaLite is called one`() async throws {
    let head = "0001E6100000" + String(repeating: "00", count: 32) + "7C01000000"
    try await makeWells(
      "UPDATE wells SET geom = x'\(head)00000000000000000000000000000000FE' WHERE fid = 12")
    let result = try await survey.run("query", "f.gpkg", "--format", "geojsonl")
    #expect(result.error.contains("the blob is a geometry of SpatiaLite, not of GeoPackage"))
    #expect(result.status == 1)
  }

  @Test func `an infinite position leaves the envelope of all others`() async throws {
    let point = "47500001E61000000101000000000000000000F07F0000000000404A40"
    try await makeWells(
      """
      UPDATE wells SET geom = x'\(point)' WHERE fid = 12;
      UPDATE gpkg_contents SET min_x = NULL, min_y = NULL, max_x = NULL, max_y = NULL;
      """)
    let info = try await survey.run("info", "f.gpkg", "--json")
    #expect(info.output.contains(#""envelope":[13.4,52.5,13.4,52.5]"#), "\(info)")
  }
}
