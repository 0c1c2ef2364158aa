@testable import FieldpackCheck
@testable import FieldpackGeoPackage

extension CheckDamage {
  static let extensions: [CheckDamage] = [
    CheckDamage(
      name: "metadata without default",
      sql: """
        DROP TABLE gpkg_metadata; CREATE TABLE gpkg_metadata (id INTEGER PRIMARY KEY NOT NULL, \
        md_scope TEXT NOT NULL DEFAULT 'dataset', md_standard_uri TEXT NOT NULL, mime_type TEXT \
        NOT NULL DEFAULT 'text/xml', metadata TEXT NOT NULL); INSERT INTO gpkg_metadata VALUES (1, \
        'dataset', 'u', 'm', ''), (2, 'dataset', 'u', 'm', '')
        """,
      findings: [
        "error gpkg-93 gpkg_metadata.metadata: its default is none, not ''"
      ]),
    CheckDamage(
      name: "scope of metadata", version: .v12,
      sql: "UPDATE gpkg_metadata SET md_scope = 'song' WHERE id = 1",
      findings: [
        "error gpkg-94 gpkg_metadata.md_scope#1: 'song' is no scope of the standard's"
      ]),
    CheckDamage(
      name: "metadata references without column",
      sql: "ALTER TABLE gpkg_metadata_reference DROP COLUMN row_id_value",
      findings: [
        "error gpkg-95 gpkg_metadata_reference.row_id_value: the column is missing"
      ]),
    CheckDamage(
      name: "scope of a reference",
      sql: "UPDATE gpkg_metadata_reference SET reference_scope = 'song' WHERE md_file_id = 2",
      findings: [
        "error gpkg-96 gpkg_metadata_reference#2: 'song' is no scope of a reference"
      ]),
    CheckDamage(
      name: "references to the file",
      sql: """
        UPDATE gpkg_metadata_reference SET table_name = 'sites', column_name = 'name', \
        row_id_value = 1 WHERE md_file_id = 1
        """,
      findings: [
        "error gpkg-97 gpkg_metadata_reference#1: it is about the file, and names a table",
        "error gpkg-98 gpkg_metadata_reference#1: it is about the file, and names a column",
        "error gpkg-99 gpkg_metadata_reference#1: it is about the file, and names a row",
      ]),
    CheckDamage(
      name: "references to nothing",
      sql: """
        INSERT INTO gpkg_metadata_reference (reference_scope, table_name, column_name, \
        row_id_value, md_file_id) VALUES ('table', 'ghost', NULL, NULL, 1), ('column', 'sites', \
        'ghost', NULL, 1), ('column', 'sites', NULL, NULL, 1), ('row', 'sites', NULL, 99, 1), \
        ('row', 'sites', NULL, NULL, 1), ('table', 'sites', 'name', 1, 1)
        """,
      findings: [
        "error gpkg-97 gpkg_metadata_reference#3: table 'ghost' is not in gpkg_contents",
        "error gpkg-98 gpkg_metadata_reference#4: column 'ghost' is not in table 'sites'",
        "error gpkg-98 gpkg_metadata_reference#5: it is about a column, and names none",
        "error gpkg-99 gpkg_metadata_reference#6: row 99 is not in table 'sites'",
        "error gpkg-99 gpkg_metadata_reference#7: it is about a row, and names none",
        "error gpkg-98 gpkg_metadata_reference#8: it is about a table, and names a column",
        "error gpkg-99 gpkg_metadata_reference#8: it is about a table, and names a row",
      ]),
    CheckDamage(
      name: "timestamp of metadata",
      sql: """
        UPDATE gpkg_metadata_reference SET timestamp = '2024-01-02 03:04:05' WHERE md_file_id = 2
        """,
      findings: [
        "error gpkg-100 gpkg_metadata_reference#2: timestamp '2024-01-02 03:04:05' is not like "
          + "2024-05-06T07:08:09.012Z +"
      ],
      repairs: [
        "gpkg_metadata_reference: timestamps written in the standard's form"
      ]),
    CheckDamage(
      name: "metadata files",
      sql: """
        UPDATE gpkg_metadata_reference SET md_file_id = 9 WHERE md_file_id = 1; UPDATE \
        gpkg_metadata_reference SET md_parent_id = 2 WHERE md_file_id = 2
        """,
      findings: [
        "error gpkg-101 gpkg_metadata_reference#1: md_file_id 9 is not in gpkg_metadata",
        "error gpkg-102 gpkg_metadata_reference#2: md_parent_id 2 is not another row of "
          + "gpkg_metadata",
      ]),
    CheckDamage(
      name: "metadata not registered",
      sql: "DELETE FROM gpkg_extensions WHERE extension_name = 'gpkg_metadata'",
      findings: [
        "error gpkg-140 gpkg_metadata: gpkg_metadata is not registered in gpkg_extensions for it +",
        "error gpkg-140 gpkg_metadata_reference: gpkg_metadata is not registered in "
          + "gpkg_extensions for it +",
      ],
      repairs: [
        "gpkg_metadata: gpkg_metadata registered in gpkg_extensions",
        "gpkg_metadata_reference: gpkg_metadata registered in gpkg_extensions",
      ]),
    CheckDamage(
      name: "metadata registered alone",
      sql: "DROP TABLE gpkg_metadata_reference; DROP TABLE gpkg_metadata",
      findings: [
        "error gpkg-60 gpkg_metadata: gpkg_metadata is registered for it, and there is no such "
          + "table",
        "error gpkg-60 gpkg_metadata_reference: gpkg_metadata is registered for it, and there "
          + "is no such table",
        "error gpkg-140 gpkg_metadata: the extension gpkg_metadata is registered, and its "
          + "table is missing",
        "error gpkg-140 gpkg_metadata_reference: the extension gpkg_metadata is registered, "
          + "and its table is missing",
      ]),
    CheckDamage(
      name: "data columns without column",
      sql: "ALTER TABLE gpkg_data_columns DROP COLUMN title",
      findings: [
        "error gpkg-103 gpkg_data_columns.title: the column is missing"
      ]),
    CheckDamage(
      name: "data columns of nothing",
      sql: """
        INSERT INTO gpkg_data_columns (table_name, column_name) VALUES ('ghost', 'a'), ('sites', \
        'ghost')
        """,
      findings: [
        "error gpkg-104 ghost.a: gpkg_data_columns describes it, and it is neither in "
          + "gpkg_contents nor gpkg_extensions",
        "error gpkg-105 ghost.a: gpkg_data_columns describes it, and there is no such table",
        "error gpkg-105 sites.ghost: gpkg_data_columns describes it, and there is no such column",
      ]),
    CheckDamage(
      name: "constraint of nothing",
      sql: "UPDATE gpkg_data_columns SET constraint_name = 'ghost'",
      findings: [
        "error gpkg-106 sites.name: constraint 'ghost' is not in gpkg_data_column_constraints"
      ]),
    CheckDamage(
      name: "constraints of 1.0 in 1.4",
      sql: """
        ALTER TABLE gpkg_data_column_constraints RENAME COLUMN min_is_inclusive TO minIsInclusive; \
        ALTER TABLE gpkg_data_column_constraints RENAME COLUMN max_is_inclusive TO maxIsInclusive
        """,
      findings: [
        "error gpkg-107 gpkg_data_column_constraints.minIsInclusive: 1.1 renamed it "
          + "min_is_inclusive +"
      ],
      repairs: [
        "gpkg_data_column_constraints: columns renamed min_is_inclusive and max_is_inclusive"
      ]),
    CheckDamage(
      name: "constraints",
      sql: """
        INSERT INTO gpkg_data_column_constraints VALUES ('c1', 'song', 'x', NULL, NULL, NULL, \
        NULL, NULL), ('c2', 'range', 'x', 1, 1, 2, 1, NULL), ('c3', 'range', NULL, 2, 1, 1, 1, \
        NULL), ('c4', 'range', NULL, 1, 7, 2, 1, NULL), ('c5', 'enum', 'x', 1, NULL, NULL, NULL, \
        NULL), ('c6', 'glob', NULL, NULL, NULL, NULL, NULL, NULL), ('depths', 'glob', 'x', NULL, \
        NULL, NULL, NULL, NULL)
        """,
      findings: [
        "error gpkg-108 gpkg_data_column_constraints#5: constraint 'c1': 'song' is none of "
          + "range, enum and glob",
        "error gpkg-110 gpkg_data_column_constraints#6: constraint 'c2': a range has no value",
        "error gpkg-111 gpkg_data_column_constraints#7: constraint 'c3': its minimum is not "
          + "below its maximum",
        "error gpkg-112 gpkg_data_column_constraints#8: constraint 'c4': it does not say "
          + "whether its ends belong to it",
        "error gpkg-113 gpkg_data_column_constraints#9: constraint 'c5': only a range has a "
          + "minimum or maximum",
        "error gpkg-114 gpkg_data_column_constraints#10: constraint 'c6': it has no value",
        "error gpkg-109 gpkg_data_column_constraints: constraint 'depths' is there 2 times",
      ]),
    CheckDamage(
      name: "schema not registered",
      sql: "DELETE FROM gpkg_extensions WHERE extension_name = 'gpkg_schema'",
      findings: [
        "error gpkg-141 gpkg_data_columns: gpkg_schema is not registered in gpkg_extensions "
          + "for it +",
        "error gpkg-141 gpkg_data_column_constraints: gpkg_schema is not registered in "
          + "gpkg_extensions for it +",
      ],
      repairs: [
        "gpkg_data_column_constraints: gpkg_schema registered in gpkg_extensions",
        "gpkg_data_columns: gpkg_schema registered in gpkg_extensions",
      ]),
    CheckDamage(
      name: "attributes without a key",
      sql: """
        CREATE TABLE keyless (a TEXT); INSERT INTO gpkg_contents (table_name, data_type) VALUES \
        ('keyless', 'attributes')
        """,
      findings: [
        "error gpkg-119 keyless: it has no primary key"
      ]),
    CheckDamage(
      name: "systems that differ",
      sql: "UPDATE gpkg_contents SET srs_id = 0 WHERE table_name = 'sites'",
      findings: [
        "error gpkg-146 sites.srs_id: srs_id is 0 in gpkg_contents and 4326 in "
          + "gpkg_geometry_columns +"
      ],
      repairs: [
        "sites: srs_id in gpkg_contents set to that of gpkg_geometry_columns"
      ]),
    CheckDamage(
      name: "empty flag on a point",
      sql: """
        UPDATE sites SET geom = CAST(x'47500011E6100000' || substr(geom, 9) AS BLOB) WHERE fid = 1
        """,
      findings: [
        "error gpkg-152 sites.geom#1: it is flagged as empty, and has positions +"
      ],
      repairs: [
        "sites: the headers of 1 geometry written anew"
      ],
      changesRows: true),
    CheckDamage(
      name: "empty without its flag",
      sql: """
        UPDATE areas SET geom = CAST(x'47500001E6100000' || substr(geom, 9) AS BLOB) WHERE fid = 3
        """,
      findings: [
        "error gpkg-152 areas.geom#3: it is empty, and not flagged as such +"
      ],
      repairs: [
        "areas: the headers of 1 geometry written anew"
      ],
      changesRows: true),
    CheckDamage(
      name: "relations not registered",
      sql: "DELETE FROM gpkg_extensions WHERE extension_name = 'gpkg_related_tables'",
      findings: [
        "error related-1 gpkgext_relations: gpkg_related_tables is not registered in "
          + "gpkg_extensions for it +",
        "error related-2 gpkgext_relations#1: mapping table 'sites_media' is not registered in "
          + "gpkg_extensions +",
        "error related-2 gpkgext_relations#2: mapping table 'sites_plain' is not registered in "
          + "gpkg_extensions +",
      ],
      repairs: [
        "gpkgext_relations: gpkg_related_tables registered in gpkg_extensions",
        "sites_media: gpkg_related_tables registered in gpkg_extensions",
        "sites_plain: gpkg_related_tables registered in gpkg_extensions",
      ]),
    CheckDamage(
      name: "scope of relations",
      sql: "UPDATE gpkg_extensions SET scope = 'write-only' WHERE table_name = 'sites_media'",
      findings: [
        "error related-1 sites_media: the scope of gpkg_related_tables is 'write-only', not "
          + "read-write +"
      ],
      repairs: [
        "sites_media: gpkg_related_tables registered in gpkg_extensions"
      ]),
    CheckDamage(
      name: "relations without name",
      sql: "ALTER TABLE gpkgext_relations DROP COLUMN relation_name",
      findings: [
        "error related-4 gpkgext_relations.relation_name: the column is missing"
      ]),
    CheckDamage(
      name: "relations of nothing",
      sql: """
        INSERT INTO gpkgext_relations VALUES (3, 'ghost', 'id', 'sites', 'id', 'songs', \
        'map_ghost'), (4, 'sites', 'fid', 'ghost', 'id', 'x-me_songs', 'sites_ghost')
        """,
      findings: [
        "error related-5 gpkgext_relations#3: there is no base table 'ghost'",
        "error related-6 gpkgext_relations#3: related table 'sites' has no column 'id'",
        "error related-8 gpkgext_relations#3: 'songs' is no kind of relation, and not of the "
          + "form x-author_name",
        "error related-7 gpkgext_relations#3: there is no mapping table 'map_ghost'",
        "error related-6 gpkgext_relations#4: there is no related table 'ghost'",
        "error related-7 gpkgext_relations#4: there is no mapping table 'sites_ghost'",
      ]),
    CheckDamage(
      name: "mapping as defined by GDAL",
      sql: """
        DROP TABLE sites_media; CREATE TABLE sites_media (id INTEGER PRIMARY KEY, base_id INTEGER, \
        related_id TEXT NOT NULL)
        """,
      findings: [
        "error related-9 sites_media.base_id: it is not NOT NULL",
        "error related-9 sites_media.related_id: its type is TEXT, not INTEGER",
      ]),
    CheckDamage(
      name: "mappings of nothing",
      sql: "INSERT INTO sites_media VALUES (99, 1), (1, 98)",
      findings: [
        "error related-10 sites_media.base_id#3: base_id 99 is no fid of table 'sites'",
        "error related-11 sites_media.related_id#4: related_id 98 is no id of table 'media'",
      ]),
    CheckDamage(
      name: "media without type",
      sql: "ALTER TABLE media DROP COLUMN content_type",
      findings: [
        "error related-13 media.content_type: the column is missing"
      ]),
    CheckDamage(
      name: "simple attributes with a blob",
      sql: "ALTER TABLE plain ADD COLUMN picture BLOB; ALTER TABLE plain ADD COLUMN maybe TEXT",
      findings: [
        "error related-15 plain.picture: it is BLOB, which is no text or number",
        "error related-15 plain.maybe: it may be NULL",
      ]),
    CheckDamage(
      name: "timestamps of metadata beside good ones",
      sql: """
        UPDATE gpkg_metadata_reference SET timestamp = '2024-05-06T07:08:09.123456Z' WHERE rowid = 1; \
        UPDATE gpkg_metadata_reference SET timestamp = 2023 WHERE rowid = 2
        """,
      findings: [
        "error gpkg-100 gpkg_metadata_reference#2: timestamp '' is not like "
          + "2024-05-06T07:08:09.012Z +"
      ],
      repairs: [
        "gpkg_metadata_reference: timestamps written in the standard's form"
      ]),
    CheckDamage(
      name: "mappings without row ids",
      sql: """
        DROP TABLE sites_media; CREATE TABLE sites_media (base_id INTEGER NOT NULL, related_id \
        INTEGER NOT NULL, PRIMARY KEY (base_id, related_id)) WITHOUT ROWID; \
        INSERT INTO sites_media VALUES (1, 1), (99, 1)
        """,
      findings: [
        "error related-9 sites_media.base_id: it is part of the primary key",
        "error related-9 sites_media.related_id: it is part of the primary key",
        "error related-10 sites_media.base_id: base_id 99 is no fid of table 'sites'",
      ]),
  ]
}
