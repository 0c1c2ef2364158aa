@testable import FieldpackCheck
@testable import FieldpackGeoPackage

extension CheckDamage {
  static let coverage: [CheckDamage] = [
    CheckDamage(
      name: "coverage tables",
      sql: """
        DROP TABLE gpkg_2d_gridded_coverage_ancillary; ALTER TABLE gpkg_2d_gridded_tile_ancillary \
        RENAME COLUMN scale TO factor
        """,
      findings: [
        "error coverage-1 gpkg_2d_gridded_coverage_ancillary: the table is missing",
        "error coverage-2 gpkg_2d_gridded_tile_ancillary.scale: the column is missing",
        "error gpkg-60 gpkg_2d_gridded_coverage_ancillary: gpkg_2d_gridded_coverage is "
          + "registered for it, and there is no such table",
      ]),
    CheckDamage(
      name: "coverage columns",
      sql: """
        ALTER TABLE gpkg_2d_gridded_coverage_ancillary DROP COLUMN grid_cell_encoding; ALTER TABLE \
        gpkg_2d_gridded_coverage_ancillary DROP COLUMN uom; ALTER TABLE \
        gpkg_2d_gridded_coverage_ancillary DROP COLUMN field_name; ALTER TABLE \
        gpkg_2d_gridded_coverage_ancillary DROP COLUMN quantity_definition
        """,
      findings: ["grid_cell_encoding", "uom", "field_name", "quantity_definition"].map {
        "error coverage-1 gpkg_2d_gridded_coverage_ancillary.\($0): the column is missing"
      }),
    CheckDamage(
      name: "system of coverages missing",
      sql: "DELETE FROM gpkg_spatial_ref_sys WHERE srs_id = 4979",
      findings: [
        "error coverage-3 gpkg_spatial_ref_sys#4979: srs_id 4979 is missing, which coverages need +"
      ],
      repairs: [
        "gpkg_spatial_ref_sys: the reference system of coverages set"
      ]),
    CheckDamage(
      name: "system of coverages of somebody else",
      sql: "UPDATE gpkg_spatial_ref_sys SET organization = 'ESRI' WHERE srs_id = 4979",
      findings: [
        "error coverage-3 gpkg_spatial_ref_sys#4979: srs_id 4979 is ESRI:4979, not EPSG:4979"
      ]),
    CheckDamage(
      name: "coverage not registered",
      sql: "DELETE FROM gpkg_extensions WHERE table_name = 'heights'",
      findings: [
        "error coverage-6 heights: gpkg_2d_gridded_coverage is not registered in "
          + "gpkg_extensions for it +"
      ],
      repairs: [
        "heights: gpkg_2d_gridded_coverage registered in gpkg_extensions"
      ]),
    CheckDamage(
      name: "coverage rows",
      sql: """
        UPDATE gpkg_2d_gridded_coverage_ancillary SET tile_matrix_set_name = 'depths', datatype = \
        'complex'
        """,
      findings: [
        "error coverage-7 gpkg_2d_gridded_coverage_ancillary#1: 'depths' is no coverage of "
          + "gpkg_contents",
        "error coverage-9 gpkg_2d_gridded_coverage_ancillary#1: datatype 'complex' is neither "
          + "integer nor float",
        "error coverage-7 heights: it has 0 rows in gpkg_2d_gridded_coverage_ancillary, not 1",
      ]),
    CheckDamage(
      name: "coverage tiles",
      sql: """
        UPDATE gpkg_2d_gridded_tile_ancillary SET tpudt_id = 9; INSERT INTO \
        gpkg_2d_gridded_tile_ancillary (tpudt_name, tpudt_id) VALUES ('tiles', 1)
        """,
      findings: [
        "error coverage-10 heights#1: the tile has no row in gpkg_2d_gridded_tile_ancillary",
        "error coverage-12 gpkg_2d_gridded_tile_ancillary#1: tile 9 is not in 'heights'",
        "error coverage-11 gpkg_2d_gridded_tile_ancillary: 'tiles' is no coverage of gpkg_contents",
      ]),
  ]
}
