import FieldpackCore
import FieldpackGeometry
import FieldpackSQLite
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackCheck
@testable import FieldpackGeoPackage

/// Files that are no GeoPackages, damaged pages, SQL that never ends.
@Suite(.serialized, .calculation) struct CheckHostileTests {
  @Test func `says of files that are none what they are`() throws {
    let folder = try TemporaryFolder()
    let cases = [
      ("", "error gpkg-1 -: the file is empty"),
      ("no database", "error gpkg-1 -: the file is no SQLite database"),
    ]
    for (text, line) in cases {
      let file = try folder.write(text, to: "x.gpkg")
      for repairs in [false, true] {
        var options = CheckOptions()
        options.repairs = repairs
        let report = try GeoPackageChecker(path: file.path, store: "x", options: options).run()
        #expect(report.findings.map(\.line) == [line])
        #expect(report.version == nil)
      }
      #expect(try String(contentsOf: file, encoding: .utf8) == text)
    }
  }

  @Test func `a database without tables of a GeoPackage is left alone`() throws {
    let folder = try TemporaryFolder()
    let path = folder.file("notes.sqlite").path
    do {
      let connection = try Connection(path: path, mode: .create, profile: .own)
      try connection.execute("CREATE TABLE a (b)")
    }
    let before = try Data(contentsOf: folder.file("notes.sqlite"))
    var options = CheckOptions()
    options.repairs = true
    let report = try GeoPackageChecker(path: path, store: "x", options: options).run()
    #expect(
      report.findings.map(\.line) == [
        "error gpkg-2 -: application_id is 0, not GPKG, GP11 or GP10",
        "error gpkg-3 -: the file's name does not end with .gpkg",
        "error gpkg-10 gpkg_spatial_ref_sys: the table is missing",
        "error gpkg-13 gpkg_contents: the table is missing",
      ])
    #expect(report.notes == ["nothing was mended: it has no tables of a GeoPackage"])
    #expect(try Data(contentsOf: folder.file("notes.sqlite")) == before)
  }

  @Test func `a file that is not there cannot be checked`() async throws {
    let path = try TemporaryFolder().file("missing/x.gpkg").path
    let error = await thrown { _ = try GeoPackageChecker(path: path, store: "x") }
    #expect(error?.code == .notFound)
  }

  /// 3,000 points on pages of 512 bytes, one of which is then overwritten.
  private func damagedPages() async throws -> TestPackage {
    let package = try TestPackage()
    try package.run("PRAGMA page_size = 512; VACUUM")
    try await package.withStore { store in
      try await store.write { (writer) throws(FieldpackError) in
        try writer.createLayer(Schema(layer: "pts", geometry: GeometryColumn(type: .point)))
        for x in 1...3_000 {
          try writer.create(Feature(geometry: .point(x: Double(x), y: 1)), in: "pts")
        }
      }
    }
    let leaf = try #require(
      try package.rows("SELECT pageno FROM dbstat WHERE name = 'pts' AND pagetype = 'leaf'")
        .dropFirst(9).first.flatMap { Int($0) })
    let file = try FileHandle(forUpdating: URL(fileURLWithPath: package.path))
    try file.seek(toOffset: UInt64((leaf - 1) * 512))
    try file.write(contentsOf: Data(repeating: 0xFF, count: 512))
    try file.close()
    return package
  }

  @Test func `reads on behind a damaged page`() async throws {
    let package = try await damagedPages()
    let (lines, report) = try await package.check()
    let rows = lines.filter { $0.contains("the rows between") }
    #expect(rows.count == 1, "\(lines)")
    #expect(report.rowCount > 2_950 && report.rowCount < 3_000)
    #expect(report.count(.error) == lines.count)
    #expect(Set(report.groups.map(\.requirement)) == [.core(6)])
    let before = try Data(contentsOf: URL(fileURLWithPath: package.path))
    let (_, repaired) = try await package.check { $0.repairs = true }
    #expect(repaired.notes.count == 1)
    #expect(repaired.repairs == [])
    #expect(try Data(contentsOf: URL(fileURLWithPath: package.path)) == before)
  }

  @Test func `a view that never ends is left after a while`() async throws {
    let package = try await CheckFixture.package()
    try await package.damage(
      """
      CREATE VIEW long AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i FROM n) \
      SELECT i FROM n WHERE i > 1; \
      INSERT INTO gpkg_contents (table_name, data_type) VALUES ('long', 'attributes')
      """)
    let (lines, _) = try await package.check {
      ($0.patience, $0.clock) = (.milliseconds(50), CountedClock().clock)
    }
    #expect(
      lines == [
        "error gpkg-151 long.i: the first column is not INTEGER",
        "note gpkg-14 long: a view takes too long, so the table is not checked as a whole",
      ])
  }

  /// Tables that a check reads, in place of which a view never ends: with rows and without.
  @Test(
    arguments: [
      "gpkg_spatial_ref_sys", "gpkg_contents", "gpkg_geometry_columns", "gpkg_extensions",
      "gpkg_tile_matrix_set", "gpkg_tile_matrix", "gpkg_ogr_contents", "gpkg_metadata",
      "gpkg_metadata_reference", "gpkg_data_columns", "gpkg_data_column_constraints",
      "gpkgext_relations", "gpkg_2d_gridded_coverage_ancillary", "gpkg_2d_gridded_tile_ancillary",
      "tiles", "heights", "sites_media", "media", "rtree_sites_geom_node",
    ], [false, true])
  func `views that never end stop neither a check nor a repair`(
    table: String, hasRows: Bool
  ) async throws {
    let package = try await CheckFixture.package()
    let columns = try package.rows("SELECT name FROM pragma_table_info('\(table)')")
    let values = columns.map { "CAST(i AS TEXT) AS \(quoted($0))" }.joined(separator: ", ")
    try await package.damage(
      """
      DELETE FROM sqlite_master WHERE type = 'trigger'; ALTER TABLE \(quoted(table)) RENAME TO \
      old; CREATE VIEW \(quoted(table)) AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 \
      FROM n) SELECT \(values) FROM n \(hasRows ? "" : "WHERE i < 0")
      """)
    for repairs in [false, true] {
      let time = CountedClock()
      let error = await thrown {
        _ = try await package.check {
          ($0.patience, $0.clock) = (.milliseconds(50), time.clock)
          $0.repairs = repairs
        }
      }
      #expect(error == nil || error?.code == .invalidData, "\(repairs): \(error?.message ?? "")")
      // Up to five looks at the file, each with three times the patience.
      #expect(time.looks < 1_000, "\(repairs)")
    }
  }

  @Test func `hundreds of views take no longer than a few`() async throws {
    let package = try await CheckFixture.package()
    let views = (0..<300).map { number in
      """
      CREATE VIEW v\(number) AS SELECT * FROM long; INSERT INTO gpkg_contents (table_name, \
      data_type, identifier) VALUES ('v\(number)', 'attributes', 'v\(number)');
      """
    }
    try await package.damage(
      "CREATE TABLE one (i INTEGER); CREATE VIEW long AS WITH RECURSIVE n(i) AS "
        + "(SELECT i FROM one UNION ALL SELECT i FROM n) SELECT i FROM n WHERE i > 1; "
        + "INSERT INTO one VALUES (1); " + views.joined(separator: " "))
    let time = CountedClock()
    let (lines, _) = try await package.check {
      ($0.patience, $0.clock) = (.milliseconds(500), time.clock)
    }
    // Three of them may take the whole time; a few looks tell that there is none for the others.
    #expect((1_500..<6_000).contains(time.looks), "\(time.looks)")
    #expect(lines.filter { $0.hasPrefix("note gpkg-14 v") }.count == 300)
  }

  @Test func `stops when it is told to, and leaves the file as it was`() async throws {
    let package = try await CheckFixture.package()
    try await package.damage("UPDATE gpkg_contents SET last_change = 'today'")
    let steps = Locked(0)
    _ = try await package.check { options in
      options.progress = { (_) throws(FieldpackError) in steps.withLock { $0 += 1 } }
    }
    let before = try Data(contentsOf: package.file)
    let error = await thrown {
      _ = try await package.check { options in
        options.repairs = true
        // The look before the repairs is over then.
        options.progress = { (_) throws(FieldpackError) in
          let isOver = steps.withLock { steps in
            steps -= 1
            return steps < 0
          }
          if isOver { throw FieldpackError(.interrupted, "interrupted") }
        }
      }
    }
    #expect(error?.code == .interrupted)
    #expect(try package.names() == ["survey.gpkg"])
    #expect(try Data(contentsOf: package.file) == before)
  }

  /// A generator that gives the same numbers each time.
  private struct Random: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return state ^ state >> 29
    }
  }

  @Test(arguments: 0..<4)
  func `survives bytes that are changed at random`(seed: Int) async throws {
    let package = try await CheckFixture.package()
    let whole = try Data(contentsOf: URL(fileURLWithPath: package.path))
    var random = Random(state: UInt64(seed) &+ 77)
    for _ in 0..<25 {
      var bytes = whole
      for _ in 0..<Int.random(in: 1...40, using: &random) {
        let offset = Int.random(in: 100..<bytes.count, using: &random)
        bytes[offset] = UInt8.random(in: 0...255, using: &random)
      }
      try bytes.write(to: URL(fileURLWithPath: package.path))
      for repairs in [false, true] {
        let (lines, report) = try await package.check { $0.repairs = repairs }
        #expect(report.groups.reduce(0) { $0 + $1.count } == lines.count)
      }
    }
  }

  @Test(
    .enabled(if: SharedData.isPresent, Comment(rawValue: SharedData.absent)),
    arguments: SharedData.files(in: "real/gpkg-malformed", extensions: ["gpkg"]))
  func `reads every malformed file in a moment, and leaves it as it was`(file: URL) async throws {
    let package = try TestPackage(copying: file)
    let before = try Data(contentsOf: file)
    let seconds = try await onThread {
      let begun = threadSeconds()
      _ = try GeoPackageChecker(path: package.path, store: "survey").run()
      return threadSeconds() - begun
    }
    #expect(seconds < 30)
    #expect(try Data(contentsOf: URL(fileURLWithPath: package.path)) == before)
    #expect(try package.names() == [file.lastPathComponent])
  }
}
