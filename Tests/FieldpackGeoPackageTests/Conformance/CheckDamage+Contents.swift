@testable import FieldpackCheck
@testable import FieldpackGeoPackage

extension CheckDamage {
  static let contents: [CheckDamage] = [
    CheckDamage(
      name: "no contents",
      sql: """
        DROP TABLE gpkg_contents; DROP TABLE gpkg_metadata_reference; DROP TABLE gpkg_metadata; \
        DROP TABLE gpkgext_relations; DROP TABLE gpkg_data_columns; DROP TABLE \
        gpkg_data_column_constraints; DELETE FROM gpkg_extensions WHERE extension_name NOT LIKE \
        '%rtree%'; DROP TABLE gpkg_tile_matrix; DROP TABLE gpkg_tile_matrix_set
        """,
      findings: [
        "error gpkg-7 gpkg_geometry_columns#1: it refers to a row that is not in gpkg_contents",
        "error gpkg-7 gpkg_geometry_columns#2: it refers to a row that is not in gpkg_contents",
        "error gpkg-13 gpkg_contents: the table is missing +",
      ],
      repairs: [
        "gpkg_contents: the table made",
        "sites: a row in gpkg_contents made",
        "areas: a row in gpkg_contents made",
        "sites: the extent in gpkg_contents set",
        "areas: the extent in gpkg_contents set",
      ]),
    CheckDamage(
      name: "contents without column",
      sql: "ALTER TABLE gpkg_contents DROP COLUMN description",
      findings: [
        "error gpkg-13 gpkg_contents.description: the column is missing"
      ]),
    CheckDamage(
      name: "contents of no table",
      sql: "INSERT INTO gpkg_contents (table_name, data_type) VALUES ('ghost', 'attributes')",
      findings: [
        "error gpkg-14 ghost: it is in gpkg_contents, but there is no such table"
      ]),
    CheckDamage(
      name: "contents in other case",
      sql: "UPDATE gpkg_contents SET table_name = 'NOTES' WHERE table_name = 'notes'",
      findings: [
        "warning gpkg-14 NOTES: the table's name is 'notes', which differs in case"
      ]),
    CheckDamage(
      name: "last change in words",
      sql: """
        UPDATE gpkg_contents SET last_change = '2024-01-02 03:04:05' WHERE table_name = 'notes'; \
        UPDATE gpkg_contents SET last_change = 'today' WHERE table_name = 'tiles'
        """,
      findings: [
        "error gpkg-15 notes.last_change: '2024-01-02 03:04:05' is not like "
          + "2024-05-06T07:08:09.012Z +",
        "error gpkg-15 tiles.last_change: 'today' is not like 2024-05-06T07:08:09.012Z +",
      ],
      repairs: [
        "notes: last_change written in the standard's form",
        "tiles: last_change written in the standard's form",
      ]),
    CheckDamage(
      name: "contents of no system",
      sql: "UPDATE gpkg_contents SET srs_id = 77 WHERE table_name = 'notes'",
      findings: [
        "error gpkg-7 gpkg_contents#3: it refers to a row that is not in gpkg_spatial_ref_sys",
        "error gpkg-16 notes.srs_id: srs_id 77 is not in gpkg_spatial_ref_sys",
      ]),
    CheckDamage(
      name: "data type unknown",
      sql: """
        UPDATE gpkg_contents SET data_type = 'songs' WHERE table_name = 'notes'; DELETE FROM \
        gpkg_extensions WHERE table_name = 'notes'
        """,
      findings: [
        "warning gpkg-17 notes.data_type: 'songs' is no data type of the standard"
      ]),
    CheckDamage(
      name: "data type in capitals",
      sql: "UPDATE gpkg_contents SET data_type = 'Features' WHERE table_name = 'areas'",
      findings: [
        "error gpkg-18 areas.data_type: 'Features' is not in lower case +"
      ],
      repairs: [
        "areas: its data type written in lower case"
      ]),
    CheckDamage(
      name: "blob of another magic",
      sql: """
        UPDATE sites SET geom = x'585800010000000001010000000000000000000000000000000000F03F' \
        WHERE fid = 2
        """,
      findings: [
        "error gpkg-19 sites.geom#2: the blob does not begin with 'GP' at byte 0"
      ]),
    CheckDamage(
      name: "text for a geometry",
      sql: "UPDATE sites SET geom = 'POINT (1 2)' WHERE fid = 2",
      findings: [
        "error gpkg-19 sites.geom#2: it is a text, not a blob"
      ]),
    CheckDamage(
      name: "WKB cut short",
      sql: "UPDATE sites SET geom = substr(geom, 1, length(geom) - 3) WHERE fid = 4",
      findings: [
        "error gpkg-20 sites.geom#4: the bytes end before a point's position at byte 13"
      ]),
    CheckDamage(
      name: "extended encoding",
      sql: """
        UPDATE sites SET geom = CAST(x'47500021E6100000' || x'464F4F42' || x'00' AS BLOB) WHERE \
        fid = 4
        """,
      findings: [
        "error gpkg-19 sites.geom#4: it is in the extended encoding 'FOOB', not WKB"
      ]),
    CheckDamage(
      name: "envelope too small",
      sql: """
        UPDATE areas SET geom = CAST(substr(geom, 1, 16) || x'000000000000F03F' || substr(geom, \
        25) AS BLOB) WHERE fid = 1
        """,
      findings: [
        "error gpkg-19 areas.geom#1: its envelope does not hold it +"
      ],
      repairs: [
        "areas: the headers of 1 geometry written anew"
      ],
      changesRows: true),
    CheckDamage(
      name: "no geometry columns",
      sql: "DROP TABLE gpkg_geometry_columns",
      findings: [
        "error gpkg-21 gpkg_geometry_columns: the table is missing +"
      ],
      repairs: [
        "gpkg_geometry_columns: the table made",
        "sites: column 'geom' registered in gpkg_geometry_columns",
        "areas: column 'geom' registered in gpkg_geometry_columns",
      ]),
    CheckDamage(
      name: "geometry columns without m",
      sql: "ALTER TABLE gpkg_geometry_columns DROP COLUMN m",
      findings: [
        "error gpkg-21 gpkg_geometry_columns.m: the column is missing"
      ]),
    CheckDamage(
      name: "geometry column not registered",
      sql: "DELETE FROM gpkg_geometry_columns WHERE table_name = 'sites'",
      findings: [
        "error gpkg-22 sites: it has no row in gpkg_geometry_columns +",
        "error gpkg-75 sites.geom: an R-tree is registered for it, which is no geometry column",
      ],
      repairs: [
        "sites: column 'geom' registered in gpkg_geometry_columns"
      ]),
    CheckDamage(
      name: "geometry column of no layer",
      sql: """
        INSERT INTO gpkg_geometry_columns SELECT 'notes', 'text', 'POINT', 4326, 0, 0; UPDATE \
        gpkg_contents SET srs_id = 4326 WHERE table_name = 'notes'
        """,
      findings: [
        "error gpkg-23 notes.text: it is in gpkg_geometry_columns, but not as features in "
          + "gpkg_contents"
      ]),
    CheckDamage(
      name: "geometry column that is not there",
      sql: """
        UPDATE gpkg_geometry_columns SET column_name = 'shape' WHERE table_name = 'areas'; DELETE \
        FROM gpkg_extensions WHERE table_name = 'areas'
        """,
      findings: [
        "error gpkg-24 areas.shape: there is no such column"
      ]),
    CheckDamage(
      name: "geometry type in lower case",
      sql: """
        UPDATE gpkg_geometry_columns SET geometry_type_name = 'point' WHERE table_name = 'sites'
        """,
      findings: [
        "error gpkg-25 sites.geom: geometry type 'point' is not written POINT +",
        "error gpkg-31 sites.geom: its declared type is POINT, and point in "
          + "gpkg_geometry_columns +",
      ],
      repairs: [
        "sites: its geometry type written in capitals"
      ]),
    CheckDamage(
      name: "geometry type unknown",
      sql: """
        UPDATE gpkg_geometry_columns SET geometry_type_name = 'SPHERE' WHERE table_name = 'areas'
        """,
      findings: [
        "error gpkg-25 areas.geom: geometry type 'SPHERE' is not known",
        "error gpkg-31 areas.geom: its declared type is GEOMETRY, and SPHERE in "
          + "gpkg_geometry_columns",
      ]),
    CheckDamage(
      name: "geometry column of no system",
      sql: """
        UPDATE gpkg_geometry_columns SET srs_id = 77 WHERE table_name = 'areas'; UPDATE \
        gpkg_contents SET srs_id = 77 WHERE table_name = 'areas'; DELETE FROM areas WHERE fid < 9; \
        DELETE FROM rtree_areas_geom
        """,
      findings: [
        "error gpkg-7 gpkg_contents#2: it refers to a row that is not in gpkg_spatial_ref_sys",
        "error gpkg-7 gpkg_geometry_columns#2: it refers to a row that is not in "
          + "gpkg_spatial_ref_sys",
        "error gpkg-16 areas.srs_id: srs_id 77 is not in gpkg_spatial_ref_sys",
        "error gpkg-26 areas.geom: srs_id 77 is not in gpkg_spatial_ref_sys",
        "note upkeep-extent areas: gpkg_contents has an extent, and no row a geometry +",
      ],
      repairs: [
        "areas: the extent in gpkg_contents set"
      ],
      left: [
        "error gpkg-7 gpkg_contents#2: it refers to a row that is not in gpkg_spatial_ref_sys",
        "error gpkg-7 gpkg_geometry_columns#2: it refers to a row that is not in "
          + "gpkg_spatial_ref_sys",
        "error gpkg-16 areas.srs_id: srs_id 77 is not in gpkg_spatial_ref_sys",
        "error gpkg-26 areas.geom: srs_id 77 is not in gpkg_spatial_ref_sys",
      ]),
    CheckDamage(
      name: "z and m of 5",
      sql: "UPDATE gpkg_geometry_columns SET z = 5, m = -1 WHERE table_name = 'areas'",
      findings: [
        "error gpkg-27 areas.geom: z is 5, not 0, 1 or 2 +",
        "error gpkg-28 areas.geom: m is -1, not 0, 1 or 2 +",
      ],
      repairs: [
        "areas: M made optional",
        "areas: Z made optional",
      ]),
    CheckDamage(
      name: "Z and M where prohibited",
      sql: """
        UPDATE sites SET geom = \
        x'47500001E610000001B90B0000000000000000F03F00000000000024400000000000000040000000000000\
        F03F' WHERE fid = 1
        """,
      findings: [
        "error gpkg-27 sites.geom#1: it has Z, which is prohibited +",
        "error gpkg-28 sites.geom#1: it has M, which is prohibited +",
      ],
      repairs: [
        "sites: M made optional",
        "sites: Z made optional",
      ]),
    CheckDamage(
      name: "Z mandatory",
      sql: """
        UPDATE gpkg_geometry_columns SET z = 1 WHERE table_name = 'sites'; DELETE FROM sites WHERE \
        fid > 2; DELETE FROM rtree_sites_geom WHERE id > 2; UPDATE gpkg_ogr_contents SET \
        feature_count = 2; DELETE FROM gpkg_metadata_reference; DELETE FROM sites_plain; UPDATE \
        gpkg_contents SET max_x = 2 WHERE table_name = 'sites'
        """,
      findings: [
        "error gpkg-27 sites.geom#1: it has no Z, which is mandatory +",
        "error gpkg-27 sites.geom#2: it has no Z, which is mandatory +",
      ],
      repairs: [
        "sites: Z made optional"
      ]),
    CheckDamage(
      name: "features without a key",
      sql: """
        CREATE TABLE keyless (geom POINT, a TEXT); INSERT INTO gpkg_contents (table_name, \
        data_type, srs_id) VALUES ('keyless', 'features', 4326); INSERT INTO gpkg_geometry_columns \
        VALUES ('keyless', 'geom', 'POINT', 4326, 0, 0)
        """,
      findings: [
        "error gpkg-29 keyless: it has no primary key",
        "note upkeep-index keyless.geom: it has no spatial index",
      ]),
    CheckDamage(
      name: "two geometry columns",
      sql: """
        ALTER TABLE areas ADD COLUMN other POINT; CREATE TABLE g AS SELECT * FROM \
        gpkg_geometry_columns; DROP TABLE gpkg_geometry_columns; CREATE TABLE \
        gpkg_geometry_columns (table_name TEXT NOT NULL, column_name TEXT NOT NULL, \
        geometry_type_name TEXT NOT NULL, srs_id INTEGER NOT NULL, z TINYINT NOT NULL, m TINYINT \
        NOT NULL, PRIMARY KEY (table_name, column_name)); INSERT INTO gpkg_geometry_columns SELECT \
        * FROM g; DROP TABLE g; INSERT INTO gpkg_geometry_columns VALUES ('areas', 'other', \
        'POINT', 4326, 0, 0)
        """,
      findings: [
        "error gpkg-30 areas: it has 2 geometry columns",
        "error gpkg-5 areas.other: its type 'POINT' is none of the standard's",
      ]),
    CheckDamage(
      name: "declared type differs",
      sql: """
        UPDATE gpkg_geometry_columns SET geometry_type_name = 'GEOMETRY' WHERE table_name = \
        'sites'
        """,
      findings: [
        "error gpkg-31 sites.geom: its declared type is POINT, and GEOMETRY in "
          + "gpkg_geometry_columns"
      ]),
    CheckDamage(
      name: "geometry of another type",
      sql: """
        UPDATE sites SET geom = (SELECT geom FROM areas WHERE fid = 1) WHERE fid = 5; DELETE FROM \
        rtree_sites_geom WHERE id = 5; INSERT INTO rtree_sites_geom VALUES (5, 0, 4, 0, 4); UPDATE \
        gpkg_contents SET min_x = 0, min_y = 0, max_x = 4, max_y = 10 WHERE table_name = 'sites'
        """,
      findings: [
        "error gpkg-32 sites.geom#5: it is a POLYGON, not a POINT"
      ]),
    CheckDamage(
      name: "geometry of another known system",
      sql: """
        UPDATE sites SET geom = CAST(x'4750000173130000' || substr(geom, 9) AS BLOB) WHERE fid = 5
        """,
      findings: [
        "error gpkg-33 sites.geom#5: its srs_id is 4979, not 4326"
      ]),
    CheckDamage(
      name: "geometry of no system",
      sql: """
        UPDATE sites SET geom = CAST(x'4750000107000000' || substr(geom, 9) AS BLOB) WHERE fid = 5
        """,
      findings: [
        "error gpkg-33 sites.geom#5: its srs_id is 7, not 4326 +"
      ],
      repairs: [
        "sites: the headers of 1 geometry written anew"
      ],
      changesRows: true),
    CheckDamage(
      name: "curve not registered",
      sql: """
        UPDATE areas SET geom = \
        x'47500001E610000001080000000300000000000000000000000000000000000000000000000000F03F0000\
        00000000F03F00000000000000400000000000000000' WHERE fid = 3; INSERT INTO rtree_areas_geom \
        VALUES (3, 0, 2, 0, 1)
        """,
      findings: [
        "error gpkg-68 areas.geom: CIRCULARSTRING is in use, and gpkg_geom_CIRCULARSTRING is "
          + "not in gpkg_extensions +"
      ],
      repairs: [
        "areas: gpkg_geom_CIRCULARSTRING registered in gpkg_extensions"
      ]),
    CheckDamage(
      name: "geometry column of an undefined system",
      sql: """
        UPDATE gpkg_geometry_columns SET srs_id = 999 WHERE table_name = 'sites'; \
        UPDATE gpkg_contents SET last_change = 2023 WHERE table_name = 'notes'
        """,
      findings: [
        undefinedSystem[0],
        "error gpkg-15 notes.last_change: '' is not like 2024-05-06T07:08:09.012Z +",
      ] + undefinedSystem.dropFirst(),
      repairs: [
        "notes: last_change written in the standard's form"
      ],
      left: undefinedSystem),
    CheckDamage(
      name: "geometry column of a great srs_id",
      sql: """
        INSERT INTO gpkg_spatial_ref_sys (srs_name, srs_id, organization, \
        organization_coordsys_id, definition) VALUES ('great', 3000000000, 'me', 1, 'LOCAL_CS["me"]'); \
        UPDATE gpkg_geometry_columns SET srs_id = 3000000000 WHERE table_name = 'areas'; \
        UPDATE gpkg_contents SET srs_id = 3000000000 WHERE table_name = 'areas'; \
        UPDATE areas SET geom = CAST(substr(geom, 1, 4) || x'00000000' || substr(geom, 9) AS BLOB) \
        WHERE fid = 1
        """,
      findings: [
        "error gpkg-33 areas.geom#1: its srs_id is 0, not 3000000000",
        "error gpkg-33 areas.geom#3: its srs_id is 4326, not 3000000000",
      ]),
  ]
}

/// What a geometry column of an undefined system gives, which no repair mends.
private let undefinedSystem = [
  "error gpkg-7 gpkg_geometry_columns#1: it refers to a row that is not in "
    + "gpkg_spatial_ref_sys",
  "error gpkg-26 sites.geom: srs_id 999 is not in gpkg_spatial_ref_sys",
  "error gpkg-146 sites.srs_id: srs_id is 4326 in gpkg_contents and 999 in "
    + "gpkg_geometry_columns",
  "error gpkg-33 sites.geom#1: its srs_id is 4326, not 999",
  "error gpkg-33 sites.geom#2: its srs_id is 4326, not 999",
  "error gpkg-33 sites.geom#3: its srs_id is 4326, not 999",
  "error gpkg-33 sites.geom#4: its srs_id is 4326, not 999",
  "error gpkg-33 sites.geom#5: its srs_id is 4326, not 999",
]
