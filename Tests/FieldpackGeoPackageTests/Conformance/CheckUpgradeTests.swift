import FieldpackCore
import FieldpackGeometry
import FieldpackSQLite
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackCheck
@testable import FieldpackGeoPackage

/// Older files made ones of 1.4, and what GDAL's validator says of files that were mended.
@Suite(.serialized, .programs) struct CheckUpgradeTests {
  @Test(arguments: [GeoPackageVersion.v12, .v13])
  func `triggers, header and registrations become those of 1.4`(
    version: GeoPackageVersion
  ) async throws {
    let package = try await CheckFixture.package(version)
    let rows = try await package.userRows()
    let (lines, report) = try await package.check { $0.upgrade = .v14 }
    #expect(lines == [])
    #expect(
      report.repairs.map(\.text) == [
        "upgraded from version \(version.rawValue) to 1.4",
        "areas: the triggers of its R-tree made anew",
        "sites: the triggers of its R-tree made anew",
      ])
    #expect(try package.rows("PRAGMA user_version") == ["10400"])
    #expect(try await package.userRows() == rows)
    try await package.withStore { store in
      try await store.write { (writer) throws(FieldpackError) in
        try writer.update(2, in: "sites", geometry: .set(.point(x: 40, y: 41)))
        try writer.delete(5, in: "sites")
        try writer.upsert(Feature(id: 3, geometry: .point(x: 7, y: 7)), in: "sites")
      }
    }
    // The deletion was no business of the metadata or the relations, which name rows 1 to 3.
    #expect(try await package.check().lines == [])
  }

  @Test func `a file of 1.0 loses what 1.2 did away with`() async throws {
    let package = try await CheckFixture.package(.v12)
    try await package.damage(
      """
      PRAGMA application_id = 1196437808; PRAGMA user_version = 0; \
      ALTER TABLE gpkg_data_column_constraints RENAME COLUMN min_is_inclusive TO minIsInclusive; \
      ALTER TABLE gpkg_data_column_constraints RENAME COLUMN max_is_inclusive TO maxIsInclusive; \
      DELETE FROM gpkg_extensions WHERE extension_name IN ('gpkg_schema', 'gpkg_metadata'); \
      INSERT INTO gpkg_extensions (table_name, column_name, extension_name, definition, scope) VALUES \
      ('sites', 'geom', 'gpkg_geometry_type_trigger', 'Annex N', 'write-only'); \
      CREATE TRIGGER fgti_sites_geom BEFORE INSERT ON sites BEGIN SELECT 1; END
      """)
    #expect(
      try await package.check().lines == [
        "note gpkg-140 gpkg_metadata: gpkg_metadata is not registered in gpkg_extensions for it +",
        "note gpkg-140 gpkg_metadata_reference: gpkg_metadata is not registered in gpkg_extensions "
          + "for it +",
        "note gpkg-141 gpkg_data_columns: gpkg_schema is not registered in gpkg_extensions for it +",
        "note gpkg-141 gpkg_data_column_constraints: gpkg_schema is not registered in "
          + "gpkg_extensions for it +",
        "note gpkg-107 gpkg_data_column_constraints.minIsInclusive: "
          + "1.1 renamed it min_is_inclusive +",
        "note upkeep-triggers sites: the trigger 'fgti_sites_geom' does what cannot be told; it is "
          + "not known, so that changes of the table are refused where it may not run",
      ])
    let (lines, report) = try await package.check { $0.upgrade = .v14 }
    #expect(lines == [])
    #expect(
      report.repairs.map(\.text) == [
        "upgraded from version 1.0 to 1.4",
        "gpkg_data_column_constraints: columns renamed min_is_inclusive and max_is_inclusive",
        "extensions that 1.2 did away with taken out, and 1 of their triggers dropped",
        "gpkg_data_column_constraints: gpkg_schema registered in gpkg_extensions",
        "gpkg_data_columns: gpkg_schema registered in gpkg_extensions",
        "gpkg_metadata: gpkg_metadata registered in gpkg_extensions",
        "gpkg_metadata_reference: gpkg_metadata registered in gpkg_extensions",
        "areas: the triggers of its R-tree made anew",
        "sites: the triggers of its R-tree made anew",
      ])
    try await GDALChecks.expectValid(package, .v14, besides: ConformanceTests.falseAlarm)
  }

  @Test func `an upgrade alone mends nothing else`() async throws {
    let package = try await CheckFixture.package(.v13)
    try await package.damage("UPDATE gpkg_contents SET max_x = 3 WHERE table_name = 'sites'")
    let (lines, _) = try await package.check { $0.upgrade = .v14 }
    #expect(
      lines == [
        "warning upkeep-extent sites: the extent in gpkg_contents does not hold all geometries +"
      ])
  }

  @Test(
    .enabled(
      if: Programs.validators.contains(where: \.knowsVersion14),
      Comment(rawValue: Programs.noValidator)))
  func `GDAL's validator finds nothing in what was mended`() async throws {
    let damages = CheckDamage.all.filter { $0.left.isEmpty && !$0.repairs.isEmpty }
    var packages: [TestPackage] = []
    for damage in damages {
      let package = try await CheckFixture.package(damage.version)
      try await package.damage(damage.sql)
      _ = try await package.check { $0.repairs = true }
      #expect(try package.faults() == [], "\(damage.name)")
      packages.append(package)
    }
    for validator in Programs.validators where validator.knowsVersion14 {
      let verdicts = try await GDALChecks.verdicts(on: packages, by: validator)
      for (damage, (lines, status)) in zip(damages, verdicts) {
        let name = "\(damage.name), \(validator.python)"
        #expect(
          lines.filter { $0 != ConformanceTests.falseAlarm } == damage.falseAlarms, "\(name)")
        #expect(status == (lines.isEmpty ? 0 : 1), "\(name)")
      }
    }
  }
}
