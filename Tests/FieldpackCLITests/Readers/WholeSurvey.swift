import Fieldpack
import FieldpackCore
import FieldpackGeoPackage
import FieldpackGeometry
import FieldpackSQLite
import FieldpackTestSupport
import Foundation

/// A folder with two GeoPackages that hold what may belong to a layer: rules of columns, a constraint,
/// z and m, pictures, links, metadata, a style, a change log and an index.
///
/// `f.gpkg` has the wells 5 and 9, `other.gpkg` the wells 9 and 12. `news.geojson` has the northern well
/// and a new one, `both.scfg` the two GeoPackages as stores, `edit.geojson` a change of well 9.
struct WholeSurvey {
  let folder: TemporaryFolder
  /// The folder of the files, which a test copies.
  var files: URL { folder.file("survey") }

  init() async throws {
    folder = try TemporaryFolder()
    try FileManager.default.createDirectory(at: files, withIntermediateDirectories: false)
    try await Self.make(folder.file("survey/f.gpkg"), [(5, "north", 50), (9, "south", 90)])
    try await Self.make(folder.file("survey/other.gpkg"), [(9, "west", 50), (12, "east", 120)])
    _ = try folder.write(
      #"""
      {"stores": [
        {"id": "old", "store_type": "gpkg", "version": "1", "uri": "f.gpkg"},
        {"id": "new", "store_type": "gpkg", "version": "1", "uri": "other.gpkg"}
      ]}
      """#, to: "survey/both.scfg")
    _ = try folder.write(
      #"""
      {"type": "FeatureCollection", "features": [
        {"type": "Feature", "properties": {"name": "north", "number": 51},
         "geometry": {"type": "Point", "coordinates": [13.5, 52.5, 4]}},
        {"type": "Feature", "properties": {"name": "middle", "number": 70},
         "geometry": {"type": "Point", "coordinates": [13.6, 52.6, 5]}}]}
      """#, to: "survey/news.geojson")
    let well9 = KeyTuple(store: "f", layer: "wells", feature: 9)
    _ = try folder.write(
      #"{"type": "Feature", "id": "\#(well9)", "properties": {"depth": null}, "#
        + #""geometry": {"type": "Point", "coordinates": [13.7, 52.7, 6]}}"#,
      to: "survey/edit.geojson")
  }

  private static let wells = Schema(
    layer: "wells",
    geometry: GeometryColumn(type: .point, srs: SRS("EPSG", 25833), z: .mandatory),
    columns: [
      ColumnDefinition(
        "name", .text(maximumLength: 20), isNullable: false, isUnique: true, title: "The name"),
      ColumnDefinition("number", .integer),
      ColumnDefinition("depth", .float, defaultSQL: "7.5"),
      ColumnDefinition(
        "quality", .text(),
        constraint: ColumnConstraint("quality", .oneOf([.init("good"), .init("bad")]))),
      ColumnDefinition("isOpen", .boolean),
      ColumnDefinition("seen", .dateTime),
    ])

  private static let paths = Schema(
    layer: "paths",
    geometry: GeometryColumn(type: .lineString, srs: .wgs84, z: .mandatory, m: .mandatory),
    columns: [ColumnDefinition("surface", .text())])

  private static func make(_ file: URL, _ rows: [(Int64, String, Int64)]) async throws {
    _ = try GeoPackageBulkWriter(creating: file.path, store: "made").commit()
    let store = try await GeoPackageStore(path: file.path, id: "made", usesWAL: false)
    try await store.write { (writer) throws(FieldpackError) in
      try writer.createLayer(wells)
      for row in rows { try writer.create(well(row), in: "wells") }
      try writer.createLayer(paths)
      try writer.create(
        Feature(
          geometry: .lineString(
            CoordinateSequence(dimensions: .xyzm, ordinates: [13, 52, 3, 0, 14, 53, 4, 60])),
          attributes: ["surface": "sand"]), in: "paths")
      try writer.createMediaLayer("photos")
      let photos = try writer.createRelation(
        from: "wells", to: "photos", as: .media, columns: [ColumnDefinition("rank", .integer)])
      try writer.addMedia([1, 2, 3], as: "image/jpeg", to: "photos", relatedTo: 9, by: photos)
      try writer.addMetadata(
        "<wells/>", standard: "urn:x", about: .layer("wells"), .row(9, of: "wells"),
        .column("depth", of: "wells"))
    }
    await store.close()
    try Connection(path: file.path, mode: .readWrite, profile: .bulk).executeScript(belongings)
  }

  private static func well(_ row: (id: Int64, name: String, number: Int64)) -> Feature {
    Feature(
      id: .integer(row.id),
      geometry: .point(Position(x: 400_000 + Double(row.id), y: 5_700_000, z: 3), .xyz),
      attributes: [
        "name": .text(row.name), "number": .integer(row.number), "quality": "good",
        "isOpen": true, "seen": .dateTime(Instant(milliseconds: 1_700_000_000_123)),
      ])
  }

  /// What QGIS and GeoGig keep about `wells`.
  private static let belongings = """
    CREATE TABLE layer_styles (id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, f_table_catalog TEXT(256),
      f_table_schema TEXT(256), f_table_name TEXT(256), f_geometry_column TEXT(256),
      styleName TEXT(30), styleQML TEXT, styleSLD TEXT, useAsDefault BOOLEAN, description TEXT,
      owner TEXT(30), ui TEXT(30), update_time DATETIME);
    INSERT INTO layer_styles (f_table_name, f_geometry_column, styleName) VALUES ('wells', 'geom', 'blue');
    INSERT INTO gpkg_contents (table_name, data_type, identifier)
      VALUES ('layer_styles', 'attributes', 'layer_styles');
    CREATE TABLE wells_audit (audit_id INTEGER PRIMARY KEY AUTOINCREMENT, fid INTEGER, geom BLOB,
      name TEXT, audit_op INTEGER);
    CREATE TRIGGER wells_audit_insert AFTER INSERT ON wells BEGIN
      INSERT INTO wells_audit (fid, geom, name, audit_op)
      VALUES (NEW.fid, NEW.geom, NEW.name, 1); END;
    CREATE TRIGGER wells_audit_update AFTER UPDATE ON wells BEGIN
      INSERT INTO wells_audit (fid, geom, name, audit_op)
      VALUES (NEW.fid, NEW.geom, NEW.name, 2); END;
    CREATE TRIGGER wells_audit_delete AFTER DELETE ON wells BEGIN
      INSERT INTO wells_audit (fid, audit_op) VALUES (OLD.fid, 3); END;
    CREATE TABLE geogig_audited_tables (table_name VARCHAR, mapped_path VARCHAR,
      audit_table VARCHAR, root_tree_id VARCHAR);
    INSERT INTO geogig_audited_tables VALUES ('wells', 'wells', 'wells_audit', 'x');
    CREATE INDEX by_depth ON wells (depth);
    """
}
