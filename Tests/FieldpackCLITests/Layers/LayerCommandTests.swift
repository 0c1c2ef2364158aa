import FieldpackSQLite
import FieldpackTestSupport
import Foundation
import Testing

/// `fieldpack layer`: a change reaches everything that belongs to the layer.
@Suite(.programs) struct LayerCommandTests {
  private let folder: TemporaryFolder
  private var path: String { folder.file("f.gpkg").path }

  init() async throws {
    folder = try TemporaryFolder()
    try Data(contentsOf: Checkout.file("TestData/gpkg/gdal-3.12.gpkg"))
      .write(to: folder.file("f.gpkg"))
    try run(Self.belongings)
  }

  /// What QGIS, GeoGig and the extensions keep about `wells`.
  private static let belongings = """
    CREATE TABLE layer_styles (id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, f_table_name TEXT(256),
      f_geometry_column TEXT(256), styleName TEXT(30));
    INSERT INTO layer_styles VALUES (1, 'wells', 'geom', 'blue');
    INSERT INTO gpkg_contents (table_name, data_type, identifier)
      VALUES ('layer_styles', 'attributes', 'layer_styles');
    CREATE TABLE wells_audit (audit_id INTEGER PRIMARY KEY AUTOINCREMENT, fid INTEGER, geom BLOB,
      name TEXT, depth REAL, audit_op INTEGER);
    CREATE TRIGGER wells_audit_insert AFTER INSERT ON wells BEGIN
      INSERT INTO wells_audit (fid, geom, name, depth, audit_op)
      VALUES (NEW.fid, NEW.geom, NEW.name, NEW.depth, 1); END;
    CREATE TRIGGER wells_audit_update AFTER UPDATE ON wells BEGIN
      INSERT INTO wells_audit (fid, geom, name, depth, audit_op)
      VALUES (NEW.fid, NEW.geom, NEW.name, NEW.depth, 2); END;
    CREATE TRIGGER wells_audit_delete AFTER DELETE ON wells BEGIN
      INSERT INTO wells_audit (fid, audit_op) VALUES (OLD.fid, 3); END;
    CREATE TABLE geogig_audited_tables (table_name VARCHAR, mapped_path VARCHAR,
      audit_table VARCHAR, root_tree_id VARCHAR);
    INSERT INTO geogig_audited_tables VALUES ('wells', 'wells', 'wells_audit', 'x');
    CREATE INDEX by_depth ON wells (depth);
    """

  private func run(_ script: String) throws {
    try Connection(path: path, mode: .readWrite, profile: .bulk).executeScript(script)
  }

  private func rows(_ sql: String) throws -> [String] {
    try storedRows(sql, in: folder.file("f.gpkg"))
  }

  private func fieldpack(_ words: String...) async throws -> RunResult {
    try await Tool.run(words, folder: folder.url)
  }

  /// Expects a command to succeed with that output, and the file to have no fault afterwards.
  private func expect(_ words: String..., says line: String) async throws {
    let result = try await Tool.run(["layer"] + words, folder: folder.url)
    #expect([result.output, result.error] == [line + "\n", ""], "\(words)")
    #expect(result.status == 0, "\(words)")
    let check = try await fieldpack("check", "f.gpkg", "--json")
    let document = try #require(
      JSONSerialization.jsonObject(with: Data(check.output.utf8)) as? [String: Any])
    #expect((document["findings"] as? [Any])?.count == 0, "\(words): \(check.output)")
  }

  /// How many rows GDAL reads from a layer, and of which columns.
  private func gdalReads(_ layer: String) async throws -> [String]? {
    guard Programs.ogr2ogr != nil else { return nil }
    let read = try await Program.run(
      "ogr2ogr", ["-f", "CSV", "/vsistdout/", "f.gpkg", layer], folder: folder.url)
    let lines = read.output.split(whereSeparator: \.isNewline).map(String.init)
    return [lines.first ?? "", "\(lines.count - 1)"]
  }

  @Test func `a layer's new name is everywhere`() async throws {
    let name = #"a"b; DROP"#
    try await expect("rename", "f.gpkg:wells", name, says: #"wells is now a"b; DROP"#)
    #expect(try rows("SELECT f_table_name FROM layer_styles") == [name])
    #expect(
      try rows("SELECT table_name, audit_table FROM geogig_audited_tables")
        == ["\(name)|\(name)_audit"])
    #expect(
      try rows("SELECT count(*) FROM sqlite_master WHERE name LIKE '%wells%'") == ["0"])
    let query = try await fieldpack("query", "f.gpkg", name, "--bbox", "13,52,14,53", "--count")
    #expect(query.output == "3\n")
    if let read = try await gdalReads(name) { #expect(read == ["name,depth", "4"]) }
    try await expect("rename", "f.gpkg:\(name)", "Wells", says: #"a"b; DROP is now Wells"#)
    // The log goes on under its new name.
    let sql = try await fieldpack("sql", "f.gpkg", "--write", "DELETE FROM Wells WHERE fid = 1")
    #expect(sql.status == 0, "\(sql)")
    #expect(try rows("SELECT fid, audit_op FROM Wells_audit") == ["1|3"])
  }

  @Test func `a column's new name is everywhere`() async throws {
    try await expect(
      "rename-column", "f.gpkg:wells", "DEPTH", "depth_m", says: "DEPTH is now depth_m")
    try await expect("rename-column", "f.gpkg:wells", "geom", "shape", says: "geom is now shape")
    try await expect("rename-column", "f.gpkg:wells", "fid", "ID", says: "fid is now ID")
    #expect(try rows("SELECT f_geometry_column FROM layer_styles") == ["shape"])
    #expect(
      try rows("SELECT name FROM pragma_table_info('wells_audit')")
        == ["audit_id", "ID", "shape", "name", "depth_m", "audit_op"])
    let sql = try await fieldpack(
      "sql", "f.gpkg", "--write", "UPDATE wells SET depth_m = 1 WHERE ID = 1")
    #expect(sql.status == 0, "\(sql)")
    #expect(try rows("SELECT ID, depth_m, audit_op FROM wells_audit") == ["1|1.0|2"])
    if let read = try await gdalReads("wells") { #expect(read == ["name,depth_m", "4"]) }
  }

  @Test func `columns come and go`() async throws {
    try await expect(
      "add-column", "f.gpkg:wells", "owner", "TEXT", "--default", "o'x",
      says: "wells has the column owner")
    try await expect(
      "add-column", "f.gpkg:wells", "checked", "boolean", "--default", "false", "--not-null",
      says: "wells has the column checked")
    try await expect("drop-column", "f.gpkg:wells", "depth", says: "depth is removed")
    #expect(try rows("SELECT DISTINCT owner, checked FROM wells") == ["o'x|0"])
    #expect(try rows("SELECT count(*) FROM sqlite_master WHERE name = 'by_depth'") == ["0"])
    let sql = try await fieldpack(
      "sql", "f.gpkg", "--write", "INSERT INTO wells (name) VALUES ('new')")
    #expect(sql.status == 0, "\(sql)")
    // The log keeps what it has of a removed column, and takes up new ones.
    #expect(
      try rows("SELECT name, depth, owner, checked, audit_op FROM wells_audit")
        == ["new|NULL|o'x|0|1"])
    if let read = try await gdalReads("wells") { #expect(read == ["name,owner,checked", "5"]) }
  }

  @Test func `a column's values become values of its new type`() async throws {
    try await expect("retype", "f.gpkg:wells", "depth", "text", says: "depth is now TEXT")
    #expect(try rows("SELECT DISTINCT typeof(depth) FROM wells WHERE depth NOTNULL") == ["text"])
    try await expect("retype", "f.gpkg:wells", "depth", "REAL", says: "depth is now REAL")
    try await expect(
      "retype", "f.gpkg:wells", "geom", "geometryz", says: "geom is now GEOMETRY Z")
    try await expect("retype", "f.gpkg:wells", "geom", "point", says: "geom is now POINT")
    #expect(
      try rows("SELECT name, type FROM pragma_table_info('wells')")
        == ["fid|INTEGER", "geom|POINT", "name|TEXT", "depth|REAL"])
    #expect(try rows("SELECT count(*) FROM wells_audit") == ["0"])
    if let read = try await gdalReads("wells") { #expect(read == ["name,depth", "4"]) }
  }

  @Test func `deleting a layer leaves nothing of it`() async throws {
    try await expect("delete", "f.gpkg", "wells", says: "1 layer deleted")
    #expect(
      try rows("SELECT name FROM sqlite_master WHERE name LIKE '%wells%' OR sql LIKE '%wells%'")
        == [])
    #expect(try rows("SELECT count(*) FROM layer_styles") == ["0"])
    #expect(try rows("SELECT count(*) FROM geogig_audited_tables") == ["0"])
  }

  private static let refusals: [([String], Int32, String)] = [
    (["rename", "f.gpkg", "x"], 64, "'f.gpkg' names no layer. Try: f.gpkg:LAYER"),
    (["rename", "f.gpkg:wells", "remarks"], 73, "f/remarks: layer 'remarks' exists already"),
    (
      ["delete", "f.gpkg", "remarks", "well"], 66,
      "layer 'well' is not in store 'f', did you mean 'wells'? (it has: wells, remarks, layer_styles)"
    ),
    (
      ["drop", "f.gpkg:wells"], 64,
      "'layer drop' is now 'layer delete'. Try: fieldpack layer delete field.gpkg:wells"
    ),
    (
      ["drop-column", "f.gpkg:wells", "geom"], 1,
      "column 'geom' is the geometry of layer 'wells'. Try: fieldpack export --sql "
        + "'SELECT …' --output NEW.gpkg, which makes the layer anew"
    ),
    (
      ["rename-column", "f.gpkg:wells", "name", "DEPTH"], 64,
      "f/wells: layer 'wells' has a column 'DEPTH' already"
    ),
    (
      ["retype", "f.gpkg:wells", "name", "INTEGER"], 1,
      "f/wells/1: column 'name' of feature 1 is 'Mitte', which is no INTEGER, so nothing was changed"
    ),
    (
      ["retype", "f.gpkg:wells", "geom", "POLYGON"], 1,
      "layer 'wells': feature 1 would not fit: it is a POINT, not a POLYGON, and 2 more"
    ),
    (
      ["add-column", "f.gpkg:wells", "n", "INTEGER", "--default", "x"], 64,
      "--default 'x' is no INTEGER"
    ),
    (
      ["add-column", "f.gpkg:wells", "n", "INTEGER", "--not-null"], 64,
      "--not-null needs a value for the features that there are. Try: --default"
    ),
  ]

  @Test(arguments: refusals)
  func `what cannot be done changes nothing`(
    words: [String], status: Int32, line: String
  ) async throws {
    let before = try Data(contentsOf: folder.file("f.gpkg"))
    let result = try await Tool.run(["layer"] + words, folder: folder.url)
    #expect(result.error == "fieldpack: \(line)\n")
    #expect(result.status == status)
    #expect(try Data(contentsOf: folder.file("f.gpkg")) == before)
  }

  @Test func `a view keeps its layer and its columns`() async throws {
    try run("CREATE VIEW deep AS SELECT name FROM wells WHERE depth > 10")
    let deleted = try await fieldpack("layer", "delete", "f.gpkg:wells")
    #expect(
      deleted.error == "fieldpack: layer 'wells' cannot be removed, because the view 'deep' "
        + "reads it. Try: remove the view first\n")
    let dropped = try await fieldpack("layer", "drop-column", "f.gpkg:wells", "depth")
    #expect(dropped.error.contains("is needed by"), "\(dropped.error)")
    #expect(try rows("SELECT count(*) FROM deep") != ["0"])
    try await expect("rename", "f.gpkg:wells", "brunnen", says: "wells is now brunnen")
    #expect(try rows("SELECT count(*) FROM deep") != ["0"])
  }
}
