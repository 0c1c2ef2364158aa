import FieldpackCore
import FieldpackGeometry
import FieldpackSQLite
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackGeoPackage

/// What a file's own code may do, and for how long.
@Suite struct OpeningProfileTests {
  /// Two points, and what `script` adds.
  private func package(_ script: String = "") async throws -> TestPackage {
    let points = [1.0, 2].map { Feature(geometry: .point(x: $0, y: 0)) }
    return try await TestPackage(points: points, script)
  }

  private func open(
    _ package: TestPackage, _ profile: OpeningProfile
  ) async throws -> GeoPackageStore {
    try await GeoPackageStore(path: package.path, id: "survey", profile: profile)
  }

  private func add(to store: GeoPackageStore) async throws {
    try await store.write { (writer) throws(FieldpackError) in
      _ = try writer.create(Feature(geometry: .point(x: 3, y: 0)), in: "points")
    }
  }

  @Test func `a trigger runs where it is allowed to`() async throws {
    let package = try await package(
      """
      CREATE TABLE log (fid);
      CREATE TRIGGER audit AFTER INSERT ON points BEGIN INSERT INTO log VALUES (NEW.fid); END
      """)
    var profile = OpeningProfile.foreign
    profile.runsTriggers = true
    let store = try await open(package, profile)
    try await add(to: store)
    await store.close()
    #expect(try package.rows("SELECT fid FROM log") == ["3"])
  }

  @Test func `readers map own files alone`() async throws {
    let package = try await package()
    for (profile, isMapped) in [(OpeningProfile.foreign, false), (.own, true)] {
      let store = try await open(package, profile)
      try await add(to: store)
      let sizes = try await store.read { (reading) throws(FieldpackError) in
        try reading.file.rows("PRAGMA mmap_size")
      }
      #expect(((sizes.first?.first?.integerValue ?? 0) > 0) == isMapped)
      await store.close()
    }
    #expect(try package.rows("SELECT count(*) FROM points") == ["4"])
  }

  @Test(.enabled(if: SharedData.isPresent, Comment(rawValue: SharedData.absent)))
  func `mapped files read the same`() async throws {
    var mapping = OpeningProfile.foreign
    mapping.mapsReads = true
    for file in RealGeoPackageTests.files {
      let path = SharedData.url("real/" + file).path
      for profile in [.own, mapping] {
        let lines = await Survey.lines(of: path, as: profile)
        #expect(lines == RealGeoPackageTests.outcomes[file], "\(file)")
      }
    }
  }

  @Test func `views call plain functions and use no virtual table`() async throws {
    let package = try await package(
      """
      CREATE VIEW plain AS SELECT fid, upper(name) AS name FROM points;
      CREATE VIEW sly AS SELECT id AS fid FROM rtree_points_geom;
      INSERT INTO gpkg_contents (table_name, data_type, identifier) VALUES
        ('plain', 'attributes', 'plain'), ('sly', 'attributes', 'sly');
      """)
    let store = try await open(package, .foreign)
    #expect(try await store.ids(Query("plain")) == [1, 2])
    let error = await thrown { _ = try await store.ids(Query("sly")) }
    #expect(error?.code == .invalidData)
    #expect(error?.message.contains("unsafe use of virtual table") == true)
    await store.close()
    let own = try await open(package, .own)
    #expect(try await own.ids(Query("sly")) == [1, 2])
    await own.close()
  }

  private static let endless =
    "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i AS fid FROM n"

  @Test func `a view without end is not counted for long`() async throws {
    let package = try await package(
      """
      CREATE VIEW endless AS \(Self.endless);
      INSERT INTO gpkg_contents (table_name, data_type, identifier)
        VALUES ('endless', 'attributes', 'endless');
      """)
    let store = try await open(package, Self.impatient)
    let layers = try await store.layers()
    #expect(layers.map(\.featureCount) == [2, nil])
    #expect(
      layers[1].notes == [
        "it cannot be read: counting its rows takes too long: a view of the file may have no end"
      ])
    await store.close()
  }

  @Test(arguments: [
    ("", OpeningProfile.foreign, "a view gives more than the file has room for"),
    ("WHERE i < 0", impatient, "reading the file's catalogue takes too long"),
    ("WHERE i < 0", hurried, "reading the file's catalogue takes too long"),
  ])
  func `a catalogue without end is refused`(
    condition: String, profile: OpeningProfile, reason: String
  ) async throws {
    let package = try await package(
      """
      ALTER TABLE gpkg_contents RENAME TO other;
      CREATE VIEW gpkg_contents AS
        SELECT i AS table_name, 'features' AS data_type, NULL AS identifier, NULL AS description,
          NULL AS srs_id, 0 AS min_x, 0 AS min_y, 0 AS max_x, 0 AS max_y, i AS rowid
        FROM (\(Self.endless.replacingOccurrences(of: "AS fid", with: ""))) \(condition);
      """)
    let error = await thrown { _ = try await open(package, profile) }
    #expect(error?.code == .invalidData)
    #expect(error?.message.contains(reason) == true, "\(error?.message ?? "none")")
  }

  private static let noEnd =
    "a view of the file gives no row for too long, and may have no end"

  @Test(arguments: [
    Query("barren"), Query("barren").limit(1), Query("barren", where: Column<Int64>("fid") == 7),
    Query("endless").order(by: [Order("fid", descending: true)]),
  ])
  func `a query of a view that gives no row ends`(query: Query) async throws {
    let store = try await open(try await endlessViews(), Self.limited)
    for work in [
      { @Sendable () async throws in _ = try await store.ids(query) },
      { @Sendable () async throws in _ = try await store.count(query) },
    ] {
      let error = await thrown(work)
      #expect(error?.code == .invalidData)
      #expect(error?.message == Self.noEnd)
      #expect(error?.advice == .waitInSQL)
    }
    await store.close()
  }

  /// `endless` gives rows for ever, `barren` none.
  private func endlessViews() async throws -> TestPackage {
    try await package(
      """
      CREATE VIEW endless AS \(Self.endless);
      CREATE VIEW barren AS \(Self.endless) WHERE i < 0;
      INSERT INTO gpkg_contents (table_name, data_type, identifier)
        VALUES ('endless', 'attributes', 'endless'), ('barren', 'attributes', 'barren');
      """)
  }

  private static var limited: OpeningProfile {
    var profile = OpeningProfile.foreign
    profile.viewSteps = 100_000
    return profile
  }

  /// By its own clock, which a machine that sleeps does not turn.
  private static var hurried: OpeningProfile {
    var profile = OpeningProfile.foreign
    profile.patience = .milliseconds(50)
    return profile
  }

  private static var impatient: OpeningProfile {
    var profile = OpeningProfile.foreign
    (profile.patience, profile.clock) = (.milliseconds(300), CountedClock().clock)
    return profile
  }
}
