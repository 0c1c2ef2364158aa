@testable import FieldpackGeoPackage

extension CheckDamage {
  static let extensions2: [CheckDamage] = [
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
      ])
  ]
}
