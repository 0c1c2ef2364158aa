@testable import FieldpackCheck
@testable import FieldpackGeoPackage

extension CheckDamage {
  static let registrations: [CheckDamage] = [
    CheckDamage(
      name: "extensions without scope",
      sql: """
        DROP TABLE gpkg_extensions; CREATE TABLE gpkg_extensions (table_name TEXT, column_name \
        TEXT, extension_name TEXT NOT NULL, definition TEXT NOT NULL)
        """,
      findings: [
        "error gpkg-58 gpkg_extensions.scope: the column is missing"
      ]),
    CheckDamage(
      name: "extension of no table",
      sql: """
        INSERT INTO gpkg_extensions VALUES ('ghost', NULL, 'my_ext', 'http://example.org', \
        'read-write')
        """,
      findings: [
        "error gpkg-60 ghost: my_ext is registered for it, and there is no such table"
      ]),
    CheckDamage(
      name: "extension of no column",
      sql: """
        INSERT INTO gpkg_extensions VALUES ('sites', 'ghost', 'my_ext', 'http://example.org', \
        'read-write')
        """,
      findings: [
        "error gpkg-61 sites.ghost: my_ext is registered for it, and there is no such column"
      ]),
    CheckDamage(
      name: "extension names",
      sql: """
        INSERT INTO gpkg_extensions VALUES (NULL, NULL, 'gpkg_own', 'x', 'read-write'), (NULL, \
        NULL, 'nobody', 'x', 'read-write'), (NULL, NULL, 'a-b_c', '', 'read-write')
        """,
      findings: [
        "error gpkg-62 gpkg_extensions: 'gpkg_own' is no extension of the standard's",
        "error gpkg-62 gpkg_extensions: 'nobody' is not of the form author_extension",
        "error gpkg-62 gpkg_extensions: 'a-b_c' is not of the form author_extension",
        "warning gpkg-63 gpkg_extensions: a-b_c does not say where it is defined",
      ]),
    CheckDamage(
      name: "scope unknown",
      sql: "INSERT INTO gpkg_extensions VALUES (NULL, NULL, 'my_ext', 'x', 'all')",
      findings: [
        "error gpkg-64 gpkg_extensions: the scope of my_ext is 'all'"
      ]),
    CheckDamage(
      name: "retired triggers",
      sql: """
        INSERT INTO gpkg_extensions VALUES ('sites', 'geom', 'gpkg_geometry_type_trigger', 'x', \
        'write-only'); CREATE TRIGGER fgti_sites_geom BEFORE INSERT ON sites BEGIN SELECT 1; END
        """,
      findings: [
        "error gpkg-62 gpkg_extensions: gpkg_geometry_type_trigger is no extension since 1.2 +",
        "note upkeep-triggers sites: the trigger 'fgti_sites_geom' does what cannot be told; it is not known, so that "
          + "changes of the table are refused where it may not run",
      ],
      repairs: [
        "extensions that 1.2 did away with taken out, and 1 of their triggers dropped"
      ]),
  ]
}
