@testable import FieldpackCheck
@testable import FieldpackGeoPackage

extension CheckDamage {
  static let tiles: [CheckDamage] = [
    CheckDamage(
      name: "no matrix sets",
      sql: "DROP TABLE gpkg_tile_matrix_set",
      findings: [
        "error gpkg-38 gpkg_tile_matrix_set: the table is missing"
      ]),
    CheckDamage(
      name: "no matrices",
      sql: "DROP TABLE gpkg_tile_matrix",
      findings: [
        "error gpkg-42 gpkg_tile_matrix: the table is missing",
        "error gpkg-44 tiles: there are tiles of zoom level 0, which gpkg_tile_matrix does not "
          + "have",
        "error gpkg-44 tiles: there are tiles of zoom level 1, which gpkg_tile_matrix does not "
          + "have",
        "error gpkg-44 heights: there are tiles of zoom level 0, which gpkg_tile_matrix does "
          + "not have",
      ]),
    CheckDamage(
      name: "matrix set of no tiles",
      sql: "INSERT INTO gpkg_tile_matrix_set VALUES ('sites', 4326, 0, 0, 1, 1)",
      findings: [
        "error gpkg-39 sites: it is in gpkg_tile_matrix_set, but not as tiles in gpkg_contents"
      ]),
    CheckDamage(
      name: "matrix of no tiles",
      sql: "INSERT INTO gpkg_tile_matrix VALUES ('sites', 0, 1, 1, 1, 1, 1, 1)",
      findings: [
        "error gpkg-43 sites: it is in gpkg_tile_matrix, but not as tiles in gpkg_contents"
      ]),
    CheckDamage(
      name: "tiles without a set",
      sql: "DELETE FROM gpkg_tile_matrix_set WHERE table_name = 'tiles'",
      findings: [
        "error gpkg-40 tiles: it has no row in gpkg_tile_matrix_set"
      ]),
    CheckDamage(
      name: "matrix set of no system",
      sql: """
        UPDATE gpkg_tile_matrix_set SET srs_id = 77 WHERE table_name = 'tiles'; UPDATE \
        gpkg_contents SET srs_id = 77 WHERE table_name = 'tiles'
        """,
      findings: [
        "error gpkg-7 gpkg_contents#4: it refers to a row that is not in gpkg_spatial_ref_sys",
        "error gpkg-16 tiles.srs_id: srs_id 77 is not in gpkg_spatial_ref_sys",
        "error gpkg-41 tiles: srs_id 77 is not in gpkg_spatial_ref_sys",
      ]),
    CheckDamage(
      name: "matrix set of another system",
      sql: "UPDATE gpkg_tile_matrix_set SET srs_id = 4979 WHERE table_name = 'tiles'",
      findings: [
        "error gpkg-147 tiles: srs_id is 4326 in gpkg_contents and 4979 in gpkg_tile_matrix_set"
      ]),
    CheckDamage(
      name: "pixels not halved",
      sql: """
        UPDATE gpkg_tile_matrix SET pixel_x_size = 0.25, tile_width = 360, pixel_y_size = 0.25, \
        tile_height = 360 WHERE table_name = 'tiles' AND zoom_level = 1
        """,
      findings: [
        "error gpkg-35 tiles: pixels of zoom level 1 are not half of those of 0"
      ]),
    CheckDamage(
      name: "pixels that grow",
      sql: """
        UPDATE gpkg_tile_matrix SET pixel_x_size = 0.9375, tile_width = 96, pixel_y_size = 0.9375, \
        tile_height = 96 WHERE table_name = 'tiles' AND zoom_level = 1
        """,
      findings: [
        "error gpkg-53 tiles: pixels of zoom level 1 are not smaller than those of 0"
      ]),
    CheckDamage(
      name: "matrix that spans less",
      sql: """
        UPDATE gpkg_tile_matrix SET matrix_width = 3 WHERE table_name = 'tiles' AND zoom_level = \
        1; UPDATE tiles SET tile_column = 2 WHERE id = 2
        """,
      findings: [
        "error gpkg-45 tiles: zoom level 1 is 270.0 wide, and the set 360.0"
      ]),
    CheckDamage(
      name: "matrices of nothing",
      sql: "INSERT INTO gpkg_tile_matrix VALUES ('tiles', -1, 0, 0, 0, 0, 0, 0)",
      findings: [
        "error gpkg-46 tiles: zoom level -1 is below 0",
        "error gpkg-47 tiles.matrix_width: matrix_width of zoom level -1 is 0",
        "error gpkg-48 tiles.matrix_height: matrix_height of zoom level -1 is 0",
        "error gpkg-49 tiles.tile_width: tile_width of zoom level -1 is 0",
        "error gpkg-50 tiles.tile_height: tile_height of zoom level -1 is 0",
        "error gpkg-51 tiles.pixel_x_size: pixel_x_size of zoom level -1 is 0.0",
        "error gpkg-52 tiles.pixel_y_size: pixel_y_size of zoom level -1 is 0.0",
        "error gpkg-53 tiles: pixels of zoom level 0 are not smaller than those of -1",
        "error gpkg-45 tiles: zoom level -1 is 0.0 wide, and the set 360.0",
        "error gpkg-45 tiles: zoom level -1 is 0.0 high, and the set 180.0",
      ]),
    CheckDamage(
      name: "level without a matrix",
      sql: "UPDATE tiles SET zoom_level = 5 WHERE id = 2",
      findings: [
        "error gpkg-44 tiles: there are tiles of zoom level 5, which gpkg_tile_matrix does not "
          + "have",
        "error gpkg-55 tiles.zoom_level#2: zoom level 5 is outside of those of gpkg_tile_matrix",
      ]),
    CheckDamage(
      name: "tiles outside of the matrix",
      sql: """
        UPDATE tiles SET tile_column = 4 WHERE id = 2; UPDATE tiles SET tile_row = -1 WHERE id = 1
        """,
      findings: [
        "error gpkg-57 tiles.tile_row#1: tile_row -1 is not from 0 to 0",
        "error gpkg-56 tiles.tile_column#2: tile_column 4 is not from 0 to 3",
      ]),
    CheckDamage(
      name: "tile that is a text file",
      sql: "UPDATE tiles SET tile_data = x'48656C6C6F2C20776F726C6421' WHERE id = 1",
      findings: [
        "error gpkg-36 tiles.tile_data#1: the tile is no image of a known kind"
      ]),
    CheckDamage(
      name: "tiles without rows",
      sql: "ALTER TABLE tiles RENAME COLUMN tile_data TO data",
      findings: [
        "error gpkg-54 tiles.tile_data: the column is missing"
      ]),
    CheckDamage(
      name: "WebP not registered",
      sql: "UPDATE tiles SET tile_data = CAST('RIFF1234WEBP' AS BLOB) WHERE id = 1",
      findings: [
        "error gpkg-91 tiles.tile_data: tiles are WebP, and gpkg_webp is not in gpkg_extensions +"
      ],
      repairs: [
        "tiles: gpkg_webp registered in gpkg_extensions"
      ]),
    CheckDamage(
      name: "other zooms for another column",
      sql: """
        INSERT INTO gpkg_extensions VALUES ('tiles', 'id', 'gpkg_zoom_other', 'x', 'read-write')
        """,
      findings: [
        "error gpkg-88 tiles: gpkg_zoom_other is not registered for column tile_data"
      ]),
    CheckDamage(
      name: "matrix of the least width",
      sql: """
        UPDATE gpkg_tile_matrix SET matrix_width = -9223372036854775808 WHERE \
        table_name = 'tiles' AND zoom_level = 1
        """,
      findings: [
        "error gpkg-47 tiles.matrix_width: matrix_width of zoom level 1 is -9223372036854775808",
        "error gpkg-45 tiles: zoom level 1 is -8.301034833169298e+20 wide, and the set 360.0",
        "error gpkg-56 tiles.tile_column#2: tile_column 3 is not from 0 to -1",
      ]),
    CheckDamage(
      name: "greatest zoom level",
      sql: """
        INSERT INTO gpkg_tile_matrix VALUES \
        ('tiles', 9223372036854775807, 8, 4, 256, 256, 0.17578125, 0.17578125), \
        ('tiles', 'x', 16, 8, 256, 256, 0.087890625, 0.087890625)
        """,
      findings: [
        "error gpkg-46 tiles: zoom level -1 is below 0",
        "error gpkg-55 tiles.zoom_level#1: zoom level 0 is outside of those of gpkg_tile_matrix",
        "error gpkg-55 tiles.zoom_level#2: zoom level 1 is outside of those of gpkg_tile_matrix",
      ]),
  ]
}
