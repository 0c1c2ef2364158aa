import FieldpackCore
import FieldpackGeometry
import FieldpackSQL
import FieldpackSQLite
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackCheck
@testable import FieldpackGeoPackage

/// What becomes of changes of a file whose triggers are not known.
@Suite struct ForeignTriggerTests {
  /// A change of the layer `points`, which has features 1 and 2.
  enum Change: String, CaseIterable {
    case create, update, upsert, delete, append, replace, sqlInsert, sqlUpdate, sqlDelete
    case addColumn, rename, remove
  }

  /// A trigger and the changes that it refuses; `nil` for all.
  struct Case: CustomTestStringConvertible {
    var name: String
    var script: String
    var refuses: Set<Change>?
    var testDescription: String { name }
  }

  private static let insertions: Set<Change> = [.create, .append, .sqlInsert]

  static let cases = [
    Case(
      name: "quiet",
      script: "CREATE TRIGGER quiet BEFORE INSERT ON points BEGIN SELECT RAISE(IGNORE); END"),
    Case(
      name: "still",
      script: "CREATE TRIGGER still BEFORE UPDATE ON points BEGIN SELECT RAISE(IGNORE); END"),
    Case(
      name: "keeper",
      script: "CREATE TRIGGER keeper BEFORE DELETE ON points BEGIN SELECT RAISE(IGNORE); END"),
    Case(
      name: "wipe",
      script: "CREATE TRIGGER wipe AFTER INSERT ON points BEGIN DELETE FROM gpkg_contents; END"),
    Case(
      name: "other",
      script: """
        CREATE TABLE remarks (n); CREATE TRIGGER other AFTER UPDATE ON points
        BEGIN UPDATE remarks SET n = 1; END
        """),
    Case(
      name: "stamp",
      script: "CREATE TRIGGER stamp AFTER UPDATE ON gpkg_contents BEGIN SELECT 1; END"),
    Case(
      name: "hidden",
      script: """
        CREATE TABLE points_audit (fid, name);
        CREATE TRIGGER points_audit_insert AFTER INSERT ON points
          BEGIN INSERT INTO points_audit (fid, name) VALUES (NEW.fid, NEW.name); END;
        CREATE TRIGGER hidden AFTER INSERT ON points_audit BEGIN DELETE FROM gpkg_contents; END
        """, refuses: insertions),
    Case(
      name: "rtree_points_geom_insert",
      script: """
        DROP TRIGGER rtree_points_geom_insert;
        CREATE TRIGGER rtree_points_geom_insert AFTER INSERT ON points BEGIN SELECT 1; END
        """),
    Case(
      name: "rtree_points_geom_delete",
      script: """
        DROP TRIGGER rtree_points_geom_delete;
        CREATE TRIGGER rtree_points_geom_delete AFTER DELETE ON points WHEN OLD.name NOT NULL
          BEGIN DELETE FROM rtree_points_geom WHERE id = OLD.fid; END
        """),
    Case(
      name: "odd",
      script: """
        CREATE TRIGGER odd AFTER INSERT ON points BEGIN SELECT 1; END;
        PRAGMA writable_schema = ON;
        UPDATE sqlite_master SET sql = replace(sql, 'TRIGGER odd', 'TRIGGER IF NOT EXISTS odd')
          WHERE name = 'odd';
        PRAGMA writable_schema = OFF
        """),
  ]

  private static func package(_ script: String) async throws -> TestPackage {
    try await TestPackage(
      points: ["a", "b"].enumerated().map { index, name in
        Feature(geometry: .point(x: Double(index), y: 0), attributes: ["name": .text(name)])
      }, script)
  }

  private static func make(
    _ change: Change, in package: TestPackage, _ profile: OpeningProfile = .foreign
  ) async throws {
    switch change {
    case .append, .replace:
      let writer = try GeoPackageBulkWriter(
        changing: package.path, store: "survey", profile: profile)
      let schema = Schema(
        layer: "points", geometry: GeometryColumn(type: .point),
        columns: [ColumnDefinition("name", .text())])
      if change == .replace {
        try writer.remove("points")
        try writer.create(schema)
      } else {
        try writer.append(schema, to: "points")
      }
      var batch = FeatureBatch(store: "other", schema: schema)
      for id in 5...7 { batch.append(PointRow(id: .integer(Int64(id)), x: Double(id), y: 1)) }
      var sink = writer.loader
      try batch.drive(&sink)
      _ = try writer.commit()
    default:
      let store = try await package.store(profile: profile, usesWAL: false)
      do {
        try await make(change, in: store)
        await store.close()
      } catch {
        await store.close()
        throw error
      }
    }
  }

  private static func make(_ change: Change, in store: GeoPackageStore) async throws {
    let new = Feature(geometry: .point(x: 9, y: 9), attributes: ["name": "new"])
    switch change {
    case .sqlInsert: _ = try await store.run(sql: "INSERT INTO points (name) VALUES ('new')")
    case .sqlUpdate: _ = try await store.run(sql: "UPDATE points SET name = 'new'")
    case .sqlDelete: _ = try await store.run(sql: "DELETE FROM points")
    default:
      try await store.write { (writer) throws(FieldpackError) in
        switch change {
        case .create: _ = try writer.create(new, in: "points")
        case .update: try writer.update(1, in: "points", set: ["name": "new"])
        case .upsert:
          var old = new
          old.id = 1
          _ = try writer.upsert(old, in: "points")
        case .delete: try writer.delete(1, in: "points")
        case .addColumn: try writer.addColumns([ColumnDefinition("n", .integer)], to: "points")
        case .rename: try writer.renameLayer("points", to: "renamed")
        default: try writer.removeLayer("points")
        }
      }
    }
  }

  @Test(arguments: cases)
  func `a change of its table is refused, and the file stays as it was`(
    trigger: Case
  ) async throws {
    let package = try await Self.package(trigger.script)
    let before = try Data(contentsOf: URL(fileURLWithPath: package.path))
    for change in Change.allCases where trigger.refuses?.contains(change) ?? true {
      let error = await thrown { try await Self.make(change, in: package) }
      #expect(error?.code == .permission, "\(change): \(error?.message ?? "no error")")
      #expect(error?.message.contains("'\(trigger.name)'") == true, "\(error?.message ?? "")")
      #expect(error?.advice == .allowTriggers)
      let after = try Data(contentsOf: URL(fileURLWithPath: package.path))
      #expect(after == before, "\(change) changed the file")
    }
  }

  @Test func `what it does, and how it may run, is said`() async throws {
    let package = try await Self.package(Self.cases[3].script)
    let error = await thrown { try await Self.make(.create, in: package) }
    #expect(
      error?.message == "'points' cannot be changed: the file's trigger 'wipe' deletes from "
        + "'gpkg_contents', and only triggers that Fieldpack knows are run")
    #expect(error?.advice == .allowTriggers)
    #expect(error?.location.layer == "points")
  }

  @Test func `one on a table that is not written refuses nothing`() async throws {
    for change in Change.allCases {
      let package = try await Self.package(
        """
        CREATE TABLE log (a); CREATE VIEW seen AS SELECT * FROM points;
        CREATE TRIGGER quiet BEFORE INSERT ON log BEGIN SELECT RAISE(IGNORE); END;
        CREATE TRIGGER instead INSTEAD OF INSERT ON seen BEGIN DELETE FROM points; END
        """)
      if change == .rename { try package.run("DROP VIEW seen") }
      if change == .remove || change == .replace { try package.run("DROP VIEW seen") }
      try await Self.make(change, in: package)
    }
  }

  @Test func `one on a view is refused where the view is written`() async throws {
    let package = try await Self.package(
      """
      CREATE VIEW seen AS SELECT * FROM points;
      CREATE TRIGGER instead INSTEAD OF INSERT ON seen BEGIN DELETE FROM points; END
      """)
    try await package.withStore { store in
      let error = await thrown {
        _ = try await store.run(sql: "INSERT INTO seen (name) VALUES (1)")
      }
      #expect(error?.code == .permission)
      #expect(error?.message.contains("'instead' deletes from 'points'") == true)
    }
  }

  /// With all triggers allowed.
  @Test(arguments: [
    ("INSERT", [Change.create, .append], "quiet"), ("UPDATE", [.update, .upsert], "quiet"),
    ("DELETE", [.delete], "quiet"),
  ])
  func `what a trigger has ignored is an error, and nothing stays`(
    event: String, changes: [Change], name: String
  ) async throws {
    let package = try await Self.package(
      "CREATE TRIGGER quiet BEFORE \(event) ON points BEGIN SELECT RAISE(IGNORE); END")
    let all = "SELECT fid, name, ST_MinX(geom) FROM points; "
    let before = try package.rows(all)
    for change in changes {
      let error = await thrown { try await Self.make(change, in: package, .runningTriggers) }
      #expect(error?.code == .constraint)
      #expect(
        error?.message.hasSuffix(
          "was not changed: the file's trigger 'quiet' can have changes ignored") == true,
        "\(error?.message ?? "no error")")
      #expect(try package.rows(all) == before)
      #expect(try package.rows("SELECT count(*) FROM rtree_points_geom") == ["2"])
    }
  }

  @Test func `a row that no index hears of is an error`() async throws {
    let package = try await Self.package(
      "CREATE TRIGGER quiet AFTER INSERT ON points BEGIN SELECT RAISE(IGNORE); END")
    let error = await thrown { try await Self.make(.create, in: package, .runningTriggers) }
    #expect(error?.code == .constraint)
    #expect(try package.rows("SELECT count(*) FROM points") == ["2"])
  }

  @Test func `a change of the catalogue that is ignored is an error`() async throws {
    let package = try await Self.package(
      "CREATE TRIGGER quiet BEFORE UPDATE ON gpkg_contents BEGIN SELECT RAISE(IGNORE); END")
    let error = await thrown { try await Self.make(.create, in: package, .runningTriggers) }
    #expect(error?.code == .constraint)
    #expect(error?.message.hasPrefix("a row of 'gpkg_contents' was not changed") == true)
    #expect(try package.rows("SELECT count(*) FROM points") == ["2"])
  }

  @Test(arguments: [Change.create, .append, .sqlInsert])
  func `one without end is ended, and nothing stays`(change: Change) async throws {
    let package = try await Self.package(
      """
      CREATE TABLE log (a);
      CREATE VIEW endless AS
        WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n;
      CREATE TRIGGER busy AFTER INSERT ON points BEGIN
        INSERT INTO log SELECT count(*) FROM endless; END
      """)
    let error = await thrown { try await Self.make(change, in: package, .runningTriggers) }
    #expect(error?.code == .invalidData, "\(error?.message ?? "no error")")
    #expect(
      error?.message.contains("a trigger or view of the file may have no end") == true,
      "\(error?.message ?? "")")
    #expect(try package.rows("SELECT count(*) FROM points") == ["2"])
  }

  @Test func `optimizing keeps them, and the order of their layer`() async throws {
    let package = try await Self.package(Self.cases[0].script)
    var options = OptimizeOptions()
    options.clusters = true
    let report = try GeoPackageOptimizer(path: package.path, store: "s", options: options).run()
    #expect(report.notes == ["layer 'points' keeps its order: it has a trigger 'quiet' of its own"])
    #expect(try package.rows("SELECT name FROM sqlite_master WHERE name = 'quiet'") == ["quiet"])
  }

  @Test func `repairing runs none and keeps them`() async throws {
    let package = try await Self.package(
      """
      CREATE TRIGGER still BEFORE UPDATE ON gpkg_contents BEGIN SELECT RAISE(IGNORE); END;
      """)
    try package.run("DROP TRIGGER rtree_points_geom_insert")
    var options = CheckOptions()
    options.repairs = true
    let report = try GeoPackageChecker(path: package.path, store: "s", options: options).run()
    #expect(report.repairs.map(\.detail) == ["the triggers of its R-tree made anew"])
    #expect(try package.rows("SELECT name FROM sqlite_master WHERE name = 'still'") == ["still"])
  }

  @Test func `one on an R-tree's own tables is refused`() async throws {
    let package = try await Self.package(
      "CREATE TRIGGER sly AFTER INSERT ON rtree_points_geom_rowid BEGIN SELECT 1; END")
    let error = await thrown { try await Self.make(.append, in: package) }
    #expect(error?.code == .permission, "\(error?.message ?? "no error")")
    #expect(error?.message.contains("'sly'") == true)
  }
}
