@testable import FieldpackCheck
@testable import FieldpackGeoPackage

extension CheckDamage {
  /// SQL that the file itself holds.
  static let views: [CheckDamage] = [
    CheckDamage(
      name: "views",
      sql: """
        CREATE VIEW vf AS SELECT name, geom FROM sites; CREATE VIEW va AS SELECT CAST(1 AS \
        INTEGER) AS a, text FROM notes; CREATE VIEW vb AS SELECT fid % 1 AS a, text FROM notes; \
        CREATE VIEW vc (id, text) AS SELECT fid, text FROM notes UNION ALL SELECT fid, text FROM \
        notes; INSERT INTO gpkg_contents (table_name, data_type, srs_id) VALUES ('vf', 'features', \
        4326), ('va', 'attributes', NULL), ('vc', 'attributes', NULL); INSERT INTO \
        gpkg_geometry_columns VALUES ('vf', 'geom', 'POINT', 4326, 0, 0)
        """,
      findings: [
        "error gpkg-150 vf.name: the first column is not INTEGER",
        "note upkeep-extent vf: gpkg_contents has no extent +",
        "error gpkg-151 va.a: the first column is not INTEGER",
        "error gpkg-151 vc.id: 2 of its values are NULL or there before",
      ],
      repairs: [
        "vf: the extent in gpkg_contents set"
      ],
      left: [
        "error gpkg-150 vf.name: the first column is not INTEGER",
        "error gpkg-151 va.a: the first column is not INTEGER",
        "error gpkg-151 vc.id: 2 of its values are NULL or there before",
      ]),
    CheckDamage(
      name: "mappings in a view",
      sql: """
        ALTER TABLE sites_media RENAME TO links; CREATE VIEW sites_media AS \
        SELECT base_id, related_id FROM links; INSERT INTO links VALUES (1, 98)
        """,
      findings: [
        "error related-9 sites_media.base_id: it is not NOT NULL",
        "error related-9 sites_media.related_id: it is not NOT NULL",
        "error related-11 sites_media.related_id: related_id 98 is no id of table 'media'",
      ]),
    CheckDamage(
      name: "geometry column that is generated",
      sql: """
        DROP TABLE rtree_sites_geom; DELETE FROM gpkg_extensions WHERE table_name = 'sites'; \
        DELETE FROM sqlite_master WHERE type = 'trigger' AND name LIKE 'rtree_sites%'; \
        ALTER TABLE sites RENAME COLUMN geom TO old; \
        ALTER TABLE sites ADD COLUMN geom POINT AS (zeroblob(900000000))
        """,
      findings: [
        "error gpkg-6 -: the file cannot be read: a value is too large",
        "error gpkg-5 sites.old: its type 'POINT' is none of the standard's",
        "note gpkg-19 sites.geom: its values are generated, so they are not checked",
        "note upkeep-index sites.geom: it has no spatial index",
      ]),
    CheckDamage(
      name: "view that calls printf",
      sql: """
        CREATE VIEW lines AS SELECT fid, geom, printf('%s', name) AS label FROM sites; \
        INSERT INTO gpkg_contents (table_name, data_type, identifier, srs_id, last_change) \
        SELECT 'lines', 'features', 'lines', srs_id, 'today' FROM gpkg_contents \
        WHERE table_name = 'sites'; INSERT INTO gpkg_geometry_columns \
        SELECT 'lines', column_name, geometry_type_name, srs_id, z, m FROM gpkg_geometry_columns WHERE table_name = 'sites'
        """,
      findings: [
        "error gpkg-15 lines.last_change: 'today' is not like 2024-05-06T07:08:09.012Z +",
        "note upkeep-extent lines: gpkg_contents has no extent +",
      ],
      repairs: [
        "lines: last_change written in the standard's form",
        "lines: the extent in gpkg_contents set",
      ],
      // Requirement 5 is about columns of tables; SQLite declares no type for a view's expression.
      falseAlarms: ["Req 5: table lines has column label of unexpected type "]),
  ]
}
