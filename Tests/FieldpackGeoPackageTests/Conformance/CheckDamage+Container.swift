@testable import FieldpackCheck
@testable import FieldpackGeoPackage

extension CheckDamage {
  static let container: [CheckDamage] = [
    CheckDamage(
      name: "application_id of another",
      sql: "PRAGMA application_id = 1",
      findings: [
        "error gpkg-2 -: application_id is 1, not GPKG, GP11 or GP10 +",
        "note gpkg-77 sites.geom: its R-tree has the triggers of 1.4, as that version recommends",
        "note gpkg-77 areas.geom: its R-tree has the triggers of 1.4, as that version recommends",
      ],
      repairs: [
        "application_id GPKG, user_version 10400"
      ]),
    CheckDamage(
      name: "user_version without a meaning",
      sql: "PRAGMA user_version = 7",
      findings: [
        "error gpkg-2 -: user_version is 7, which no version from 1.2 on has +",
        "note gpkg-77 sites.geom: its R-tree has the triggers of 1.4, as that version recommends",
        "note gpkg-77 areas.geom: its R-tree has the triggers of 1.4, as that version recommends",
      ],
      repairs: [
        "application_id GPKG, user_version 10400"
      ]),
    CheckDamage(
      name: "version of the future",
      sql: "PRAGMA user_version = 10500",
      findings: [
        "warning gpkg-2 -: version 1.5 is newer than 1.4, and checked as 1.4"
      ]),
    CheckDamage(
      name: "column type unknown",
      sql: "ALTER TABLE sites ADD COLUMN odd geography",
      findings: [
        "error gpkg-5 sites.odd: its type 'geography' is none of the standard's"
      ]),
    CheckDamage(
      name: "boolean of 7",
      sql: "UPDATE sites SET open = 7 WHERE fid = 2",
      findings: [
        "warning gpkg-5 sites.open#2: 7 is neither 0 nor 1"
      ]),
    CheckDamage(
      name: "text too long",
      sql: "UPDATE sites SET short = 'four' WHERE fid = 3",
      findings: [
        "warning gpkg-5 sites.short#3: it is 4 characters long, and at most 3 are declared"
      ]),
    CheckDamage(
      name: "date and time in words",
      sql: "UPDATE sites SET day = 'monday', seen = '2024-01-01 10:00:00' WHERE fid = 1",
      findings: [
        "warning gpkg-5 sites.day#1: the text is not like 2024-05-06",
        "warning gpkg-5 sites.seen#1: the text is not like 2024-05-06T07:08:09.012Z",
      ]),
    CheckDamage(
      name: "index of SQLite that lacks a row",
      sql: """
        CREATE INDEX by_name ON sites (name) WHERE name <> 's4'; UPDATE sqlite_master SET sql = \
        'CREATE INDEX by_name ON sites (name)' WHERE name = 'by_name'
        """,
      findings: [
        "error gpkg-6 -: row 4 missing from index by_name +",
        "error gpkg-6 -: wrong # of entries in index by_name +",
      ],
      repairs: [
        "SQLite's indexes made anew"
      ]),
    CheckDamage(
      name: "NULL where none may be",
      sql: """
        INSERT INTO notes VALUES (3, NULL); UPDATE sqlite_master SET sql = replace(sql, '"text" \
        TEXT', '"text" TEXT NOT NULL') WHERE name = 'notes'
        """,
      findings: [
        "error gpkg-6 -: NULL value in notes.text"
      ]),
    CheckDamage(
      name: "foreign key to nothing",
      sql: """
        CREATE TABLE child (id INTEGER PRIMARY KEY, site INTEGER REFERENCES sites(fid)); INSERT \
        INTO child VALUES (1, 99)
        """,
      findings: [
        "error gpkg-7 child#1: it refers to a row that is not in sites"
      ]),
    CheckDamage(
      name: "srs column missing",
      sql: "ALTER TABLE gpkg_spatial_ref_sys DROP COLUMN description",
      findings: [
        "error gpkg-10 gpkg_spatial_ref_sys.description: the column is missing"
      ]),
    CheckDamage(
      name: "required systems missing",
      sql: "DELETE FROM gpkg_spatial_ref_sys WHERE srs_id IN (-1, 0)",
      findings: [
        "error gpkg-11 gpkg_spatial_ref_sys#-1: srs_id -1 is missing +",
        "error gpkg-11 gpkg_spatial_ref_sys#0: srs_id 0 is missing +",
      ],
      repairs: [
        "gpkg_spatial_ref_sys: the required reference systems set"
      ]),
    CheckDamage(
      name: "required systems wrong",
      sql: """
        UPDATE gpkg_spatial_ref_sys SET definition = 'Undefined' WHERE srs_id = -1; UPDATE \
        gpkg_spatial_ref_sys SET organization = 'x' WHERE srs_id = 0
        """,
      findings: [
        "error gpkg-11 gpkg_spatial_ref_sys#-1: the definition of srs_id -1 is 'Undefined', "
          + "not 'undefined' +",
        "error gpkg-11 gpkg_spatial_ref_sys#0: srs_id 0 is x:0, not NONE:0 +",
      ],
      repairs: [
        "gpkg_spatial_ref_sys: the required reference systems set"
      ]),
    CheckDamage(
      name: "4326 of somebody else",
      sql: "UPDATE gpkg_spatial_ref_sys SET organization = 'ESRI' WHERE srs_id = 4326",
      findings: [
        "error gpkg-11 gpkg_spatial_ref_sys#4326: srs_id 4326 is ESRI:4326, not EPSG:4326"
      ]),
    CheckDamage(
      name: "system without definition",
      sql: "UPDATE gpkg_spatial_ref_sys SET definition = 'undefined' WHERE srs_id = 4979",
      findings: [
        "warning gpkg-117 gpkg_spatial_ref_sys#4979: the reference system has no definition"
      ]),
    CheckDamage(
      name: "no table of systems",
      sql: "DROP TABLE gpkg_spatial_ref_sys",
      findings: [
        "error gpkg-7 gpkg_contents#1: it refers to a row that is not in gpkg_spatial_ref_sys",
        "error gpkg-7 gpkg_contents#2: it refers to a row that is not in gpkg_spatial_ref_sys",
        "error gpkg-7 gpkg_contents#4: it refers to a row that is not in gpkg_spatial_ref_sys",
        "error gpkg-7 gpkg_contents#5: it refers to a row that is not in gpkg_spatial_ref_sys",
        "error gpkg-7 gpkg_geometry_columns#1: it refers to a row that is not in "
          + "gpkg_spatial_ref_sys",
        "error gpkg-7 gpkg_geometry_columns#2: it refers to a row that is not in "
          + "gpkg_spatial_ref_sys",
        "error gpkg-10 gpkg_spatial_ref_sys: the table is missing +",
      ],
      repairs: [
        "gpkg_spatial_ref_sys: the table made",
        "gpkg_spatial_ref_sys: the required reference systems set",
        "gpkg_spatial_ref_sys: the reference system of coverages set",
      ]),
    CheckDamage(
      name: "CRS WKT not registered",
      sql: withWKT2,
      findings: [
        defaultFound,
        "error gpkg-145 gpkg_spatial_ref_sys.definition_12_063: gpkg_crs_wkt is not registered in "
          + "gpkg_extensions for it +",
      ],
      repairs: [
        "gpkg_spatial_ref_sys: gpkg_crs_wkt registered in gpkg_extensions"
      ],
      left: [defaultFound],
      falseAlarms: [oldDefault]),
    CheckDamage(
      name: "CRS WKT 1.1 not registered",
      sql: withEpoch,
      findings: [
        defaultFound,
        "error gpkg-145 gpkg_spatial_ref_sys.definition_12_063: gpkg_crs_wkt_1_1 is not "
          + "registered in gpkg_extensions for it +",
        "error gpkg-145 gpkg_spatial_ref_sys.epoch: gpkg_crs_wkt_1_1 is not registered in "
          + "gpkg_extensions for it +",
      ],
      repairs: [
        "gpkg_spatial_ref_sys: gpkg_crs_wkt_1_1 registered in gpkg_extensions",
        "gpkg_spatial_ref_sys: gpkg_crs_wkt_1_1 registered in gpkg_extensions",
      ],
      left: [defaultFound],
      falseAlarms: [oldDefault]),
    CheckDamage(
      name: "CRS WKT 1.1 registered as 1.0",
      sql: withEpoch + registered,
      findings: [
        defaultFound,
        "error gpkg-145 gpkg_spatial_ref_sys.definition_12_063: gpkg_crs_wkt_1_1 is not "
          + "registered in gpkg_extensions for it +",
        "error gpkg-145 gpkg_spatial_ref_sys.epoch: gpkg_crs_wkt_1_1 is not registered in "
          + "gpkg_extensions for it +",
      ],
      repairs: [
        "gpkg_spatial_ref_sys: gpkg_crs_wkt_1_1 registered in gpkg_extensions",
        "gpkg_spatial_ref_sys: gpkg_crs_wkt_1_1 registered in gpkg_extensions",
      ],
      left: [defaultFound],
      // Requirement 145 of CRS WKT 1.1 has a row of 1.0 beside its own; the validator reads the
      // first alone.
      falseAlarms: [
        "Req 145: gpkg_extensions should declare gpkg_crs_wkt_1_1 extension as "
          + "gpkg_spatial_ref_sys has a epoch column", oldDefault,
      ]),
    CheckDamage(
      name: "CRS WKT without its column",
      sql: """
        INSERT INTO gpkg_extensions VALUES ('gpkg_spatial_ref_sys', NULL, 'gpkg_crs_wkt', \
        'http://example.org', 'read-write')
        """,
      findings: [
        "error gpkg-115 gpkg_spatial_ref_sys.definition_12_063: the CRS WKT extension is "
          + "registered, and its column is missing"
      ]),
    CheckDamage(
      name: "CRS WKT of other text",
      sql: withWKT2 + registered
        + "UPDATE gpkg_spatial_ref_sys SET definition_12_063 = 'none' WHERE srs_id < 1",
      findings: [
        defaultFound,
        "error gpkg-116 gpkg_spatial_ref_sys#-1: definition_12_063 of srs_id -1 is 'none', not "
          + "'undefined' +",
        "error gpkg-116 gpkg_spatial_ref_sys#0: definition_12_063 of srs_id 0 is 'none', not "
          + "'undefined' +",
      ],
      repairs: [
        "gpkg_spatial_ref_sys: the required reference systems set"
      ],
      left: [defaultFound],
      falseAlarms: [oldDefault]),
    CheckDamage(
      name: "4326 without its WKT 2",
      sql: withWKT2 + registered
        + "UPDATE gpkg_spatial_ref_sys SET definition_12_063 = 'undefined' WHERE srs_id = 4326",
      findings: [
        defaultFound,
        "error gpkg-116 gpkg_spatial_ref_sys#4326: srs_id 4326 has no definition_12_063 +",
      ],
      repairs: [
        "gpkg_spatial_ref_sys: the required reference systems set"
      ],
      left: [defaultFound],
      falseAlarms: [oldDefault]),
  ]

  // MARK: CRS WKT

  private static let withWKT2 = """
    ALTER TABLE gpkg_spatial_ref_sys ADD COLUMN definition_12_063 TEXT NOT NULL DEFAULT \
    'undefined'; UPDATE gpkg_spatial_ref_sys SET definition_12_063 = 'GEOGCRS["WGS 84"]' \
    WHERE srs_id > 0;
    """

  private static let withEpoch =
    withWKT2 + "ALTER TABLE gpkg_spatial_ref_sys ADD COLUMN epoch DOUBLE;"

  private static let registered = """
    INSERT INTO gpkg_extensions VALUES ('gpkg_spatial_ref_sys', 'definition_12_063', \
    'gpkg_crs_wkt', 'http://example.org', 'read-write');
    """

  private static let defaultFound =
    "warning gpkg-115 gpkg_spatial_ref_sys.definition_12_063: its default is 'undefined', and the "
    + "standard has none"

  /// The extension asked for this default up to GeoPackage 1.2, and tells since that files have it.
  private static let oldDefault: Substring =
    "Req 10: Wrong default for definition_12_063 of gpkg_spatial_ref_sys. Expected None, got "
    + "'undefined'"
}
