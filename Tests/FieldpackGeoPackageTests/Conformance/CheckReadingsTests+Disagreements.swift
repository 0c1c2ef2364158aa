@testable import FieldpackGeoPackage

extension CheckReadingsTests {
  /// Where a check differs from GDAL's validator or OGC's test suite, and why. `also` is what only we
  /// find, `not` what only they find.
  static let disagreements: [(reason: String, cases: [String])] = [
    (
      "the validator takes a bit of the envelope code for the empty flag, so that every "
        + "empty geometry seems wrong to it",
      [
        "db-empty.gpkg: validator not gpkg-152",
        "gdal_multilayer_1_4.gpkg: validator not gpkg-152",
        "polygon-parcel.gpkg: validator not gpkg-152",
        "test_geometry_empty.gpkg: validator not gpkg-152",
      ]
    ),
    (
      "the validator does not ask whether a registered R-tree is there",
      [
        "d_rtree_registered_missing.gpkg: validator also gpkg-77"
      ]
    ),
    (
      "the validator reads application_id before it asks whether the file is a database",
      [
        "d_text_renamed.gpkg: validator not gpkg-2",
        "import_db_corrupt.gpkg: validator not gpkg-2",
      ]
    ),
    (
      "half of a database is one still, and damaged",
      [
        "d_truncated_half.gpkg: validator not gpkg-1"
      ]
    ),
    (
      "requirement 17 is gone since 1.1; an unknown data type is a warning here",
      [
        "features-0_1.gpkg: validator not gpkg-17"
      ]
    ),
    (
      "CRS WKT 1.0 gave the column the default that the validator refuses; what it misses "
        + "otherwise is not told, for it stops there",
      [
        "geometrycollection.gpkg: validator not gpkg-10",
        "multi.gpkg: validator not gpkg-10",
        "multipleholes.gpkg: validator not gpkg-10",
        "styled.gpkg: validator not gpkg-10",
      ]
    ),
    (
      "1.0 gave gpkg_metadata no default for its text",
      [
        "nc.gpkg: validator not gpkg-93"
      ]
    ),
    (
      "1.1 corrected the names of these columns, and a file of 1.0 that has the corrected "
        + "ones is none the worse",
      [
        "lakes_srs_0.gpkg: validator not gpkg-107",
        "lakes_srs_0.gpkg: suite not dataColumnConstraintsGlobMinMax",
        "lakes_srs_0.gpkg: suite not dataColumnConstraintsInclusive",
        "lakes_srs_0.gpkg: suite not dataColumnConstraintsTableDefinition",
      ]
    ),
    (
      "1.4 recommends its triggers for older files, too (annex F.3), so they are a note "
        + "here",
      [
        "import_db.gpkg: validator not gpkg-75",
        "import_db.gpkg: suite not extensionIndexImplementation",
        "legacy_gp10.gpkg: validator not gpkg-75",
        "legacy_gp10.gpkg: suite not extensionIndexImplementation",
      ]
    ),
    (
      "the suite is for 1.2 and wants the triggers that 1.4 did away with",
      [
        "gdal_multilayer_1_4.gpkg: suite not extensionIndexImplementation",
        "test_generated.gpkg: suite not extensionIndexImplementation",
      ]
    ),
    (
      "Z and M are held against what requirements 27 and 28 declare; the validator has that "
        + "under 19, and the suite not at all",
      [
        "test_dimensions.gpkg: validator not gpkg-19",
        "test_dimensions.gpkg: suite also gpkg-27",
        "test_dimensions.gpkg: suite also gpkg-28",
      ]
    ),
    (
      "neither looks at the entries of an R-tree: these have some for geometries that are "
        + "empty",
      [
        "gdal_sample_view.gpkg: validator also upkeep-index",
        "gdal_sample_view.gpkg: suite also upkeep-index",
      ]
    ),
    (
      "the validator does not hold mapping tables and simple attributes against OGC 18-000; "
        + "the suite does",
      [
        "gdal_related.gpkg: validator also related-9",
        "gdal_related.gpkg: validator also related-15",
      ]
    ),
    (
      "the suite writes names into its SQL without quotes, and stumbles over a dot, a dash, "
        + "a plus, a blank or a digit",
      [
        "cities_srs_84.gpkg: suite not extensionsColumnValues",
        "kart_points-3d.gpkg: suite not extensionsColumnValues",
        "mosselzaad.gpkg: suite not extensionsColumnValues",
        "nc.gpkg: suite not extensionsColumnValues",
        "polygon-3overlappingcircles-2+3.gpkg: suite not extensionsColumnValues",
        "polygon-invalid.gpkg: suite not extensionsColumnValues",
        "dot.in.name.gpkg: suite not tilesTableDefinitions",
        "styled.gpkg: suite not udmtBaseIDs",
        "styled.gpkg: suite not udmtRelatedIDs",
        "styled.gpkg: suite not udmtTableStructure",
      ]
    ),
    (
      "the suite's patterns know neither a plus in a name nor quotes around the columns of "
        + "a virtual table",
      [
        "polygon-3overlappingcircles-2+3.gpkg: suite not extensionIndexImplementation",
        "ne_110m_admin_0_countries_from_shp.gpkg: suite not extensionIndexImplementation",
      ]
    ),
    (
      "the table that the column should be in does not exist, which is requirement 60 here",
      [
        "geonames_belgium.gpkg: suite not extensionsColumnValues",
        "test_correct_attribute_with_many_to_many.gpkg: suite not extensionsColumnValues",
      ]
    ),
    (
      "names are compared as SQLite compares them; that they differ in case is a warning",
      [
        "case_mismatch.gpkg: suite not contentsTablesExist"
      ]
    ),
    (
      "requirement 147 came with 1.3, and the file is of 1.0: a warning",
      [
        "rivers.gpkg: suite not tileMatrixSetDataValuesSrsId"
      ]
    ),
    (
      "the suite takes GEOMCOLLECTION for a type of its own; here the spelling alone is at "
        + "fault",
      [
        "gpkg_test.gpkg: suite not featureGeometryEncodingTesting"
      ]
    ),
    (
      "the suite looks at metadata only where the extension is registered, and does not "
        + "miss the registration",
      [
        "geodiff_triggers.gpkg: suite also gpkg-95",
        "geodiff_triggers.gpkg: suite also gpkg-140",
        "kart_nz-pa-points-topo-150k.gpkg: suite also gpkg-93",
        "kart_nz-pa-points-topo-150k.gpkg: suite also gpkg-140",
        "sample1_2.gpkg: suite also gpkg-93",
      ]
    ),
    (
      "a layer of an unknown data type is no features table, and gpkg_ is kept for the "
        + "standard's extensions; the suite does not ask",
      [
        "features-0_1.gpkg: suite also gpkg-23",
        "features-0_1.gpkg: suite also gpkg-62",
      ]
    ),
    (
      "declared and registered geometry types differ, or are not in capitals, and a default "
        + "is not the standard's; the suite lets that pass",
      [
        "gpkg_test.gpkg: suite also gpkg-31",
        "simple_sewer_features.gpkg: suite also gpkg-25",
        "simple_sewer_features.gpkg: suite also gpkg-31",
        "simple_sewer_features.gpkg: suite also gpkg-107",
      ]
    ),
    (
      "a MULTILINESTRING holds a CIRCULARSTRING, which the suite does not look for",
      [
        "import_db.gpkg: suite also gpkg-20"
      ]
    ),
    (
      "a table has no primary key at all, which the suite's test of keys lets pass",
      [
        "test_featureid.gpkg: suite also gpkg-29",
        "test_foreign_key_violation.gpkg: suite also gpkg-29",
      ]
    ),
  ]
}
