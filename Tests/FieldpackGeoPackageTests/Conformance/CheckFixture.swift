import FieldpackCore
import FieldpackGeometry
import FieldpackSQLite
import FieldpackTestSupport
import Foundation

@testable import FieldpackCheck
@testable import FieldpackGeoPackage

/// A GeoPackage with something of everything that a check looks at, and nothing wrong with it.
enum CheckFixture {
  /// A copy for one test: to make one takes many times as long.
  static func package(_ version: GeoPackageVersion = .v14) async throws -> TestPackage {
    if let made = originals.withLock({ $0[version] }) { return try TestPackage(copying: made.file) }
    let package = try await make(version)
    originals.withLock { $0[version] = package }
    return try TestPackage(copying: package.file)
  }

  private static let originals = Locked<[GeoPackageVersion: TestPackage]>([:])

  private static func make(_ version: GeoPackageVersion) async throws -> TestPackage {
    let package = try TestPackage(version)
    try await package.withStore { store in
      try await store.write { (writer) throws(FieldpackError) in
        try writer.createLayer(
          Schema(
            layer: "sites", geometry: GeometryColumn(type: .point),
            columns: [
              ColumnDefinition("name", .text()), ColumnDefinition("open", .boolean),
              ColumnDefinition("short", .text(maximumLength: 3)),
              ColumnDefinition("day", .date), ColumnDefinition("seen", .dateTime),
            ]))
        try writer.createLayer(Schema(layer: "areas", geometry: GeometryColumn()))
        try writer.createLayer(Schema(layer: "notes", columns: [ColumnDefinition("text", .text())]))
        for index in 1...5 {
          try writer.create(
            Feature(
              geometry: .point(x: Double(index), y: 10), attributes: ["name": .text("s\(index)")]),
            in: "sites")
        }
        try writer.create(Feature(geometry: polygon(0, 0, 4, 0, 4, 4, 0, 0)), in: "areas")
        try writer.create(Feature(geometry: nil), in: "areas")
        try writer.create(Feature(geometry: .point(nil, .xy)), in: "areas")
        for text in ["one", "two"] {
          try writer.create(Feature(attributes: ["text": .text(text)]), in: "notes")
        }
      }
    }
    try package.run(extensions)
    return package
  }

  /// A tile pyramid, a coverage, metadata, constraints, a relation and GDAL's counts.
  private static let extensions =
    tiles + coverage + metadata + schema + relation + counts

  private static let png = "x'89504E470D0A1A0A0000000D49484452'"

  private static let tiles = """
    CREATE TABLE gpkg_tile_matrix_set (table_name TEXT NOT NULL PRIMARY KEY,
      srs_id INTEGER NOT NULL, min_x DOUBLE NOT NULL, min_y DOUBLE NOT NULL,
      max_x DOUBLE NOT NULL, max_y DOUBLE NOT NULL);
    CREATE TABLE gpkg_tile_matrix (table_name TEXT NOT NULL, zoom_level INTEGER NOT NULL,
      matrix_width INTEGER NOT NULL, matrix_height INTEGER NOT NULL,
      tile_width INTEGER NOT NULL, tile_height INTEGER NOT NULL,
      pixel_x_size DOUBLE NOT NULL, pixel_y_size DOUBLE NOT NULL,
      PRIMARY KEY (table_name, zoom_level));
    CREATE TABLE tiles (id INTEGER PRIMARY KEY AUTOINCREMENT, zoom_level INTEGER NOT NULL,
      tile_column INTEGER NOT NULL, tile_row INTEGER NOT NULL, tile_data BLOB NOT NULL,
      UNIQUE (zoom_level, tile_column, tile_row));
    INSERT INTO gpkg_contents (table_name, data_type, identifier, srs_id)
      VALUES ('tiles', 'tiles', 'tiles', 4326);
    INSERT INTO gpkg_tile_matrix_set VALUES ('tiles', 4326, -180, -90, 180, 90);
    INSERT INTO gpkg_tile_matrix VALUES ('tiles', 0, 2, 1, 256, 256, 0.703125, 0.703125),
      ('tiles', 1, 4, 2, 256, 256, 0.3515625, 0.3515625);
    INSERT INTO tiles VALUES (1, 0, 0, 0, \(png)), (2, 1, 3, 1, x'FFD8FFE000104A4649460001');

    """

  private static let coverage = """
    CREATE TABLE gpkg_2d_gridded_coverage_ancillary (id INTEGER NOT NULL PRIMARY KEY,
      tile_matrix_set_name TEXT NOT NULL UNIQUE, datatype TEXT NOT NULL DEFAULT 'integer',
      scale REAL NOT NULL DEFAULT 1.0, offset REAL NOT NULL DEFAULT 0.0,
      precision REAL DEFAULT 1.0, data_null REAL,
      grid_cell_encoding TEXT DEFAULT 'grid-value-is-center', uom TEXT,
      field_name TEXT DEFAULT 'Height', quantity_definition TEXT DEFAULT 'Height');
    CREATE TABLE gpkg_2d_gridded_tile_ancillary (id INTEGER PRIMARY KEY AUTOINCREMENT,
      tpudt_name TEXT NOT NULL, tpudt_id INTEGER NOT NULL, scale REAL NOT NULL DEFAULT 1.0,
      offset REAL NOT NULL DEFAULT 0.0, min REAL DEFAULT NULL, max REAL DEFAULT NULL,
      mean REAL DEFAULT NULL, std_dev REAL DEFAULT NULL, UNIQUE (tpudt_name, tpudt_id));
    CREATE TABLE heights (id INTEGER PRIMARY KEY, zoom_level INTEGER NOT NULL,
      tile_column INTEGER NOT NULL, tile_row INTEGER NOT NULL, tile_data BLOB NOT NULL);
    INSERT INTO gpkg_spatial_ref_sys (srs_name, srs_id, organization, organization_coordsys_id,
      definition) VALUES ('WGS 84 3D', 4979, 'EPSG', 4979, 'GEODCRS["WGS 84 3D"]');
    INSERT INTO gpkg_contents (table_name, data_type, identifier, srs_id)
      VALUES ('heights', '2d-gridded-coverage', 'heights', 4326);
    INSERT INTO gpkg_tile_matrix_set VALUES ('heights', 4326, 0, 0, 1, 1);
    INSERT INTO gpkg_tile_matrix VALUES ('heights', 0, 1, 1, 256, 256, 0.00390625, 0.00390625);
    INSERT INTO heights VALUES (1, 0, 0, 0, \(png));
    INSERT INTO gpkg_2d_gridded_coverage_ancillary (id, tile_matrix_set_name) VALUES (1, 'heights');
    INSERT INTO gpkg_2d_gridded_tile_ancillary (id, tpudt_name, tpudt_id) VALUES (1, 'heights', 1);
    INSERT INTO gpkg_extensions (table_name, column_name, extension_name, definition, scope) VALUES
      ('gpkg_2d_gridded_coverage_ancillary', NULL, 'gpkg_2d_gridded_coverage', '\(ogc)',
        'read-write'),
      ('gpkg_2d_gridded_tile_ancillary', NULL, 'gpkg_2d_gridded_coverage', '\(ogc)', 'read-write'),
      ('heights', 'tile_data', 'gpkg_2d_gridded_coverage', '\(ogc)', 'read-write');

    """

  private static let ogc = "http://docs.opengeospatial.org/is/17-066r1/17-066r1.html"

  private static let metadata = """
    CREATE TABLE gpkg_metadata (id INTEGER PRIMARY KEY NOT NULL,
      md_scope TEXT NOT NULL DEFAULT 'dataset', md_standard_uri TEXT NOT NULL,
      mime_type TEXT NOT NULL DEFAULT 'text/xml', metadata TEXT NOT NULL DEFAULT '');
    CREATE TABLE gpkg_metadata_reference (reference_scope TEXT NOT NULL, table_name TEXT,
      column_name TEXT, row_id_value INTEGER,
      timestamp DATETIME NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ','now')),
      md_file_id INTEGER NOT NULL, md_parent_id INTEGER);
    INSERT INTO gpkg_metadata (id, md_standard_uri) VALUES (1, 'http://example.org'),
      (2, 'http://example.org');
    INSERT INTO gpkg_metadata_reference (reference_scope, table_name, column_name, row_id_value,
      md_file_id, md_parent_id) VALUES ('geopackage', NULL, NULL, NULL, 1, NULL),
      ('row/col', 'sites', 'name', 2, 2, 1);
    INSERT INTO gpkg_extensions (table_name, extension_name, definition, scope) VALUES
      ('gpkg_metadata', 'gpkg_metadata', 'http://www.geopackage.org/spec121/#extension_metadata',
        'read-write'),
      ('gpkg_metadata_reference', 'gpkg_metadata',
        'http://www.geopackage.org/spec121/#extension_metadata', 'read-write');

    """

  private static let schema = """
    CREATE TABLE gpkg_data_columns (table_name TEXT NOT NULL, column_name TEXT NOT NULL, name TEXT,
      title TEXT, description TEXT, mime_type TEXT, constraint_name TEXT,
      PRIMARY KEY (table_name, column_name), UNIQUE (table_name, name));
    CREATE TABLE gpkg_data_column_constraints (constraint_name TEXT NOT NULL,
      constraint_type TEXT NOT NULL, value TEXT, min NUMERIC, min_is_inclusive BOOLEAN,
      max NUMERIC, max_is_inclusive BOOLEAN, description TEXT,
      UNIQUE (constraint_name, constraint_type, value));
    INSERT INTO gpkg_data_column_constraints VALUES
      ('kinds', 'enum', 'a', NULL, NULL, NULL, NULL, NULL),
      ('kinds', 'enum', 'b', NULL, NULL, NULL, NULL, NULL),
      ('depths', 'range', NULL, 1, 1, 9, 0, NULL),
      ('names', 'glob', 's*', NULL, NULL, NULL, NULL, NULL);
    INSERT INTO gpkg_data_columns (table_name, column_name, name, constraint_name)
      VALUES ('sites', 'name', 'Name', 'names');
    INSERT INTO gpkg_extensions (table_name, extension_name, definition, scope) VALUES
      ('gpkg_data_columns', 'gpkg_schema', 'http://www.geopackage.org/spec121/#extension_schema',
        'read-write'),
      ('gpkg_data_column_constraints', 'gpkg_schema',
        'http://www.geopackage.org/spec121/#extension_schema', 'read-write');

    """

  private static let relation = """
    CREATE TABLE gpkgext_relations (id INTEGER PRIMARY KEY AUTOINCREMENT,
      base_table_name TEXT NOT NULL, base_primary_column TEXT NOT NULL DEFAULT 'id',
      related_table_name TEXT NOT NULL, related_primary_column TEXT NOT NULL DEFAULT 'id',
      relation_name TEXT NOT NULL, mapping_table_name TEXT NOT NULL UNIQUE);
    CREATE TABLE sites_media (base_id INTEGER NOT NULL, related_id INTEGER NOT NULL);
    CREATE TABLE media (id INTEGER PRIMARY KEY, data BLOB NOT NULL, content_type TEXT NOT NULL);
    CREATE TABLE sites_plain (base_id INTEGER NOT NULL, related_id INTEGER NOT NULL);
    CREATE TABLE plain (id INTEGER PRIMARY KEY, value TEXT NOT NULL);
    INSERT INTO media VALUES (1, x'00', 'image/png');
    INSERT INTO plain VALUES (7, 'seven');
    INSERT INTO sites_media VALUES (1, 1), (2, 1);
    INSERT INTO sites_plain VALUES (3, 7);
    INSERT INTO gpkg_contents (table_name, data_type, identifier) VALUES
      ('media', 'attributes', 'media'), ('plain', 'attributes', 'plain');
    INSERT INTO gpkgext_relations VALUES
      (1, 'sites', 'fid', 'media', 'id', 'media', 'sites_media'),
      (2, 'sites', 'fid', 'plain', 'id', 'simple_attributes', 'sites_plain');
    INSERT INTO gpkg_extensions (table_name, extension_name, definition, scope) VALUES
      ('gpkgext_relations', 'gpkg_related_tables', 'http://www.geopackage.org/18-000.html',
        'read-write'),
      ('sites_media', 'gpkg_related_tables', 'http://www.geopackage.org/18-000.html', 'read-write'),
      ('sites_plain', 'gpkg_related_tables', 'http://www.geopackage.org/18-000.html', 'read-write');

    """

  private static let counts = """
    CREATE TABLE gpkg_ogr_contents (table_name TEXT NOT NULL PRIMARY KEY, feature_count INTEGER);
    INSERT INTO gpkg_ogr_contents VALUES ('sites', 5);
    CREATE TRIGGER trigger_insert_feature_count_sites AFTER INSERT ON sites
      BEGIN UPDATE gpkg_ogr_contents SET feature_count = feature_count + 1
      WHERE lower(table_name) = lower('sites'); END;
    CREATE TRIGGER trigger_delete_feature_count_sites AFTER DELETE ON sites
      BEGIN UPDATE gpkg_ogr_contents SET feature_count = feature_count - 1
      WHERE lower(table_name) = lower('sites'); END;
    """
}

extension TestPackage {
  var file: URL { URL(fileURLWithPath: path) }

  /// What a check finds, in its order, and what it did.
  func check(
    _ change: @escaping @Sendable (inout CheckOptions) -> Void = { _ in }
  ) async throws -> (lines: [String], report: CheckReport) {
    try await onThread { [self] in
      let lines = Locked<[String]>([])
      var options = CheckOptions()
      change(&options)
      options.receive = { (finding) throws(FieldpackError) in
        lines.withLock { $0.append(finding.line) }
      }
      let report = try GeoPackageChecker(path: path, store: "survey", options: options).run()
      return (lines.withLock { $0 }, report)
    }
  }

  /// Runs SQL that damages the file, without what would stand in its way.
  func damage(_ sql: String) async throws {
    try await onThread { [self] in
      try withConnection { connection in
        try connection.setTriggers(areEnabled: false)
        try connection.executeScript(
          "PRAGMA synchronous = OFF; PRAGMA foreign_keys = OFF; PRAGMA writable_schema = ON; "
            + sql)
      }
    }
  }

  /// Every row of every table that a user would call theirs.
  func userRows() async throws -> [String] {
    try await onThread { [self] in
      let tables = try rows(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'gpkg%' "
          + "AND name NOT LIKE 'rtree%' AND name NOT LIKE 'sqlite%' ORDER BY name")
      return try tables.flatMap { table in
        try rows("SELECT '\(table)', t.* FROM \(quoted(table)) t")
      }
    }
  }
}

extension ConformanceFinding {
  /// `error gpkg-33 sites.geom#3: reason`, with a `+` where it can be mended.
  var line: String {
    let subject = (table ?? "-") + (column.map { "." + $0 } ?? "") + (row.map { "#\($0)" } ?? "")
    return "\(level.rawValue) \(requirement) \(subject): \(reason)\(isMendable ? " +" : "")"
  }
}
