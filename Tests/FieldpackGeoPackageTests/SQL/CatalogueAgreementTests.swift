import FieldpackCore
import FieldpackGeometry
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackCheck
@testable import FieldpackGeoPackage
@testable import FieldpackSQL

/// Users' SQL that would leave a layer at odds with the catalogue.
@Suite struct CatalogueAgreementTests {
  /// Two wells, and `script`.
  private func package(_ script: String = "") async throws -> TestPackage {
    let package = try TestPackage()
    try await package.withStore { store in
      try await store.write { (writer) throws(FieldpackError) in
        try writer.createLayer(
          Schema(
            layer: "wells", geometry: GeometryColumn(type: .point),
            columns: [ColumnDefinition("name", .text(), isUnique: true)]))
        for number in 1...2 {
          try writer.create(
            Feature(
              geometry: .point(x: Double(number), y: 0),
              attributes: ["name": .text("w\(number)")]), in: "wells")
        }
      }
    }
    if !script.isEmpty { try await package.damage(script) }
    return package
  }

  private static let refused: [(sql: String, message: String, advice: FieldpackError.Advice?)] = [
    (
      "ALTER TABLE wells RENAME TO brunnen",
      "gpkg_contents names the table 'wells', which would no longer exist", .renameOrDeleteLayer
    ),
    (
      "DROP TABLE wells",
      "gpkg_contents names the table 'wells', which would no longer exist", .renameOrDeleteLayer
    ),
    (
      "ALTER TABLE wells RENAME COLUMN geom TO shape",
      "gpkg_extensions names the column 'geom' of 'wells', which would no longer exist",
      .renameOrDropColumn
    ),
    (
      "UPDATE wells SET geom = ST_Buffer(geom, 0.01)",
      "layer 'wells': feature 1 would not fit: it is a POLYGON, not a POINT, and 1 more",
      .retypeLayer
    ),
    (
      "INSERT INTO wells (geom) SELECT ST_Buffer(geom, 1) FROM wells WHERE fid = 2",
      "layer 'wells': feature 3 would not fit: it is a POLYGON, not a POINT", .retypeLayer
    ),
    (
      "UPDATE wells SET geom = ST_SetSRID(geom, 3857) WHERE fid = 2",
      "layer 'wells': feature 2 would not fit: its srs_id is 3857, not 4326", .transformFile
    ),
    (
      "UPDATE wells SET geom = x'00' WHERE fid = 2",
      "layer 'wells': feature 2 would not fit: "
        + "1 bytes are less than a GeoPackage header's 8", nil
    ),
    (
      "UPDATE wells SET geom = 'here'",
      "layer 'wells': feature 1 would not fit: it is no blob, and 1 more", nil
    ),
    (
      "DELETE FROM rtree_wells_geom WHERE id = 1",
      "layer 'wells': its R-tree would lack 1 entries", .rebuildIndex
    ),
    (
      "INSERT OR REPLACE INTO wells (fid, name) VALUES (5, 'w1')",
      "layer 'wells': its R-tree would have 1 entries too many", .rebuildIndex
    ),
    (
      "DROP TABLE rtree_wells_geom", "'wells' would lose its R-tree rtree_wells_geom",
      .rebuildIndex
    ),
    (
      "DROP TRIGGER rtree_wells_geom_insert",
      "'wells' would lose the trigger rtree_wells_geom_insert, which keeps its R-tree",
      .rebuildIndex
    ),
    (
      "UPDATE gpkg_geometry_columns SET geometry_type_name = 'POLYGON'",
      "the geometry column of 'wells' would be declared POINT, and POLYGON in "
        + "gpkg_geometry_columns", .retypeLayer
    ),
    (
      "UPDATE gpkg_contents SET srs_id = 0",
      "gpkg_contents and gpkg_geometry_columns would state different systems for 'wells'",
      .transformFile
    ),
    (
      "ALTER TABLE wells ADD COLUMN depth numeric",
      "the column 'depth' of 'wells' would have the type 'numeric', "
        + "which GeoPackage does not have",
      .retypeLayer
    ),
    (
      "ALTER TABLE gpkg_spatial_ref_sys RENAME TO systems",
      "a GeoPackage needs the table gpkg_spatial_ref_sys", nil
    ),
    (
      "CREATE TABLE keyless (a TEXT); INSERT INTO gpkg_contents (table_name, data_type) "
        + "VALUES ('keyless', 'attributes')", "'keyless' would have no INTEGER PRIMARY KEY", nil
    ),
  ]

  @Test(arguments: refused)
  func `SQL that would break a layer is undone`(
    sql: String, message: String, advice: FieldpackError.Advice?
  ) async throws {
    let package = try await package()
    let before = try package.storedRows()
    let error = await thrown {
      try await package.withStore { _ = try await $0.run(sql: sql) }
    }
    #expect(error?.code == .constraint)
    #expect(error?.message == "SQL: \(message), so nothing was changed")
    #expect(error?.advice == advice)
    #expect(try package.storedRows() == before)
    #expect(try await package.check().lines == [])
  }

  @Test(arguments: [
    "UPDATE wells SET geom = ST_Translate(geom, 1, 0, 0)",
    "UPDATE wells SET name = 'x' || name",
    "DELETE FROM wells",
    "ALTER TABLE wells RENAME COLUMN name TO title",
    "ALTER TABLE wells ADD COLUMN depth REAL",
    "CREATE TABLE own (a); INSERT INTO own VALUES (1); DROP TABLE own",
    "UPDATE wells SET geom = NULL WHERE fid = 1",
    "UPDATE wells SET fid = fid + 10",
    "CREATE VIEW deep AS SELECT * FROM wells",
    """
    CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT);
    INSERT INTO gpkg_contents (table_name, data_type, identifier)
      VALUES ('notes', 'attributes', 'notes')
    """,
  ])
  func `SQL that leaves the layers whole runs`(sql: String) async throws {
    let package = try await package()
    try await package.withStore { _ = try await $0.run(sql: sql) }
    #expect(try await package.check().lines.filter { $0.hasPrefix("error") } == [])
  }

  @Test func `statements may break a layer that later statements make whole`() async throws {
    let package = try await package()
    try await package.withStore { store in
      _ = try await store.run(
        sql: """
          UPDATE wells SET geom = ST_Buffer(geom, 1);
          UPDATE wells SET geom = ST_Centroid(geom);
          """)
    }
    #expect(try await package.check().lines == [])
  }

  @Test(arguments: [
    "UPDATE wells SET geom = geom WHERE fid = 2",
    "INSERT INTO wells (name) VALUES ('new')",
    "DELETE FROM wells WHERE fid = 1",
    "ALTER TABLE wells ADD COLUMN depth REAL",
  ])
  func `what was wrong before does not stand in the way`(sql: String) async throws {
    let package = try await package(
      "UPDATE wells SET geom = x'00' WHERE fid = 1; "
        + "INSERT INTO gpkg_contents (table_name, data_type) VALUES ('gone', 'attributes');")
    try await package.withStore { _ = try await $0.run(sql: sql) }
  }

  @Test func `a faulty row may be mended, and no other made faulty`() async throws {
    let package = try await package("UPDATE wells SET geom = x'00' WHERE fid = 1;")
    try await package.withStore { store in
      let error = await thrown {
        _ = try await store.run(sql: "UPDATE wells SET geom = x'00' WHERE fid = 2")
      }
      #expect(error?.code == .constraint)
      _ = try await store.run(sql: "UPDATE wells SET geom = NULL WHERE fid = 1")
    }
  }
}

extension TestPackage {
  /// The schema, and the rows of the wells and of the catalogue.
  fileprivate func storedRows() throws -> [String] {
    try rows("SELECT type, name, sql FROM sqlite_master")
      + rows("SELECT fid, hex(geom), name FROM wells")
      + rows("SELECT table_name, last_change, srs_id FROM gpkg_contents")
      + rows("SELECT * FROM gpkg_geometry_columns") + rows("SELECT id FROM rtree_wells_geom")
  }
}
