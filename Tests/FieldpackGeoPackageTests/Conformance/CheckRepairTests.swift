import FieldpackCore
import FieldpackSQLite
import Testing

@testable import FieldpackCheck
@testable import FieldpackGeoPackage

/// What a repair may not do.
@Suite(.serialized) struct CheckRepairTests {
  @Test func `what breaks a foreign key is left, and the rest mended`() async throws {
    let package = try await CheckFixture.package()
    try await package.damage(
      """
      DELETE FROM gpkg_geometry_columns WHERE table_name = 'sites'; UPDATE gpkg_contents SET \
      srs_id = 999 WHERE table_name = 'sites'; UPDATE gpkg_contents SET last_change = 'today' \
      WHERE table_name = 'notes'
      """)
    let (_, report) = try await package.check { $0.repairs = true }
    #expect(report.notes == ["not mended in 'sites': FOREIGN KEY constraint failed"])
    #expect(report.repairs.map(\.text) == ["notes: last_change written in the standard's form"])
    #expect(try package.rows("SELECT count(*) FROM gpkg_geometry_columns") == ["1"])
  }

  @Test func `contents are made without a reference system that is not there`() async throws {
    let package = try await CheckFixture.package()
    try await package.damage(
      "DROP TABLE gpkg_contents; UPDATE gpkg_geometry_columns SET srs_id = 999 "
        + "WHERE table_name = 'sites'")
    let (_, report) = try await package.check { $0.repairs = true }
    #expect(report.notes == [])
    #expect(
      try package.rows("SELECT table_name, srs_id, max_x FROM gpkg_contents ORDER BY 1") == [
        "areas|4326|4.0", "sites|NULL|5.0",
      ])
  }

  @Test func `moments that are right stay, and years are no days`() async throws {
    let package = try await CheckFixture.package()
    try await package.damage(
      """
      UPDATE gpkg_metadata_reference SET timestamp = '2024-05-06T07:08:09.123456Z' WHERE rowid = 1; \
      UPDATE gpkg_metadata_reference SET timestamp = '2024-05-06' WHERE rowid = 2; \
      UPDATE gpkg_contents SET last_change = 2023 WHERE table_name = 'notes'
      """)
    _ = try await package.check { $0.repairs = true }
    #expect(
      try package.rows("SELECT timestamp FROM gpkg_metadata_reference ORDER BY rowid") == [
        "2024-05-06T07:08:09.123456Z", "2024-05-06T00:00:00.000Z",
      ])
    #expect(
      try package.rows(
        "SELECT last_change LIKE '20%' FROM gpkg_contents WHERE table_name = 'notes'")
        == ["1"])
  }

  @Test(
    arguments: [
      ("ok", []),
      (
        "*** in database main ***\nPage 7: never used\nPage 8: x",
        ["Page 7: never used", "Page 8: x"]
      ),
      ("In RTree main.rtree_sites_geom:\nDimension 0 of cell 0 on node 1 is corrupt", []),
      (
        "In RTree main.idx_old:\nMapping (1 -> 1) missing",
        ["In RTree main.idx_old: Mapping (1 -> 1) missing"]
      ),
    ] as [(String, [String])])
  func `what SQLite's check says is taken apart`(text: String, messages: [String]) {
    #expect(ContainerCheck.messages(text) == messages)
  }
}
