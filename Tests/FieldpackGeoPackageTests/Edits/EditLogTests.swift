import FieldpackCore
import FieldpackGeometry
import FieldpackSQLite
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackGeoPackage

/// A change log has every edit, whoever makes it.
@Suite struct EditLogTests {
  static let editor: OpeningProfile = {
    var profile = OpeningProfile.foreign
    profile.editor = Editor(author: "ann", device: "D1")
    return profile
  }()

  /// A layer `points` with two features of before the log.
  static func package(_ names: [String] = ["one", "two"]) async throws -> TestPackage {
    let points = names.enumerated().map { index, name in
      Feature(geometry: .point(x: Double(index), y: 0), attributes: ["name": .text(name)])
    }
    let package = try await TestPackage(points: points, "")
    try await package.withStore { store in
      try await store.write { (writer: GeoPackageWriter) throws(FieldpackError) in
        _ = try writer.logEdits(of: "points")
      }
    }
    return package
  }

  private static let edits =
    "SELECT audit_id, fid, name, audit_op, author, device, sent IS NULL FROM points_audit"

  @Test func `edits of the engine say who made them, and those of others do not`() async throws {
    let package = try await Self.package()
    try await package.withStore(Self.editor) { store in
      try await store.write { (writer) throws(FieldpackError) in
        let id = try writer.create(
          Feature(geometry: .point(x: 5, y: 5), attributes: ["name": "three"]), in: "points")
        try writer.update(.integer(1), in: "points", set: ["name": "uno"])
        try writer.delete(id, in: "points")
      }
    }
    try package.run("UPDATE points SET name = 'due' WHERE fid = 2")
    #expect(
      try package.rows(Self.edits) == [
        "1|3|three|1|ann|D1|1", "2|1|one|0|NULL|NULL|0", "3|1|uno|2|ann|D1|1",
        "4|3|three|3|ann|D1|1", "5|2|two|0|NULL|NULL|0", "6|2|due|2|NULL|NULL|1",
      ])
    let ids = try package.rows(
      "SELECT edit_id FROM points_audit WHERE edit_id GLOB '????????-????-7???-[89ab]???-????????????'"
    )
    #expect(Set(ids).count == 4)
    #expect(ids == ids.sorted(), "UUIDs of version 7 grow")
    #expect(try package.rows("SELECT author, device FROM fieldpack_editor") == ["NULL|NULL"])
    #expect(try package.faults() == [])
  }

  @Test func `UUIDs grow within one statement, for which SQLite has one time`() async throws {
    let package = try await Self.package((1...80).map { "well \($0)" })
    try package.run("UPDATE points SET name = 'all'")
    let ids = try package.rows(
      "SELECT substr(edit_id, 1, 23) FROM points_audit WHERE audit_op = 2 ORDER BY audit_id")
    // Sixteen rows share what is before the random bits.
    #expect(ids.count == 80 && Set(ids).count == 6)
    #expect(ids == ids.sorted())
  }

  /// What SQL does, and the operations and names that the log has then.
  @Test(arguments: [
    ("INSERT OR REPLACE INTO points (fid, name) VALUES (1, 'new')", ["0 one", "2 new"]),
    ("INSERT OR IGNORE INTO points (fid, name) VALUES (1, 'new')", ["0 one"]),
    ("INSERT INTO points (fid, name) VALUES (7, 'new')", ["1 new"]),
    ("INSERT INTO points (name) VALUES ('new')", ["1 new"]),
    (
      "INSERT INTO points (fid, name) VALUES (1, 'x') ON CONFLICT (fid) DO UPDATE SET name = 'new'",
      ["0 one", "2 new"]
    ),
    ("UPDATE points SET fid = 9 WHERE fid = 1", ["0 one", "3 one", "1 one"]),
    ("DELETE FROM points WHERE fid = 1", ["3 one"]),
    (
      "DELETE FROM points; INSERT INTO points (fid, name) VALUES (1, 'again')",
      ["3 one", "3 two", "1 again"]
    ),
    ("BEGIN; UPDATE points SET name = 'new'; ROLLBACK", []),
  ])
  func `statements of other programs are logged`(sql: String, edits: [String]) async throws {
    let package = try await Self.package()
    try package.run(sql)
    #expect(
      try package.rows("SELECT audit_op || ' ' || name FROM points_audit ORDER BY 1 <> 1") == edits)
  }

  @Test func `sqlite3 fires the triggers without any function of ours`() async throws {
    let package = try await Self.package()
    let plain = try Connection(path: package.path, mode: .readWrite, profile: .bulk)
    for name in RTreeSQL(table: "points", column: "geom", idColumn: "fid").triggerNames {
      try plain.execute("DROP TRIGGER IF EXISTS \(quoted(name))")
    }
    try plain.executeScript(
      "INSERT INTO points (name) VALUES ('x'); UPDATE points SET name = 'y' WHERE fid = 3; "
        + "DELETE FROM points WHERE fid = 3")
    #expect(try package.rows("SELECT audit_op FROM points_audit") == ["1", "2", "3"])
  }

  @Test func `a file of others lets the triggers run, and no other text of their names`()
    async throws
  {
    let package = try await Self.package()
    #expect(
      await thrown {
        try await package.withStore { store in
          try await store.write { (writer) throws(FieldpackError) in
            try writer.update(.integer(1), in: "points", set: ["name": "x"])
          }
        }
      } == nil)
    try package.run(
      """
      DROP TRIGGER points_audit_insert;
      CREATE TRIGGER points_audit_insert AFTER INSERT ON points BEGIN DELETE FROM points_audit; END
      """)
    // The log is mended at the first change.
    try await package.withStore { store in
      try await store.write { (writer) throws(FieldpackError) in
        _ = try writer.create(Feature(attributes: ["name": "z"]), in: "points")
      }
    }
    #expect(try package.rows("SELECT name FROM points_audit WHERE audit_op = 1") == ["z"])
  }

  @Test func `follows columns, also those that are called as its own`() async throws {
    let package = try await Self.package()
    try await package.withStore(Self.editor) { store in
      try await store.write { (writer) throws(FieldpackError) in
        try writer.update(.integer(1), in: "points", set: ["name": "a"])
        try writer.addColumns(
          [ColumnDefinition("author", .text()), ColumnDefinition("n", .integer)], to: "points")
        try writer.update(.integer(1), in: "points", set: ["author": "poet", "n": 7])
        try writer.renameColumn("name", to: "title", in: "points")
        try writer.removeColumn("n", from: "points")
        try writer.update(.integer(1), in: "points", set: ["title": "b"])
        try writer.renameLayer("points", to: "a\"b; DROP")
        try writer.update(.integer(1), in: "a\"b; DROP", set: ["title": "c"])
      }
    }
    #expect(
      try package.rows(
        "SELECT audit_op, title, author, n, audit_author FROM \"a\"\"b; DROP_audit\"") == [
          "0|one|NULL|NULL|NULL", "2|a|NULL|NULL|ann", "2|a|poet|7|ann", "2|b|poet|NULL|ann",
          "2|c|poet|NULL|ann",
        ])
    try await package.withStore { store in
      try await store.write { (writer) throws(FieldpackError) in
        let log = try writer.editLog(of: "a\"b; DROP")
        #expect(try log?.isCurrent() == true)
        try writer.removeLayer("a\"b; DROP")
      }
    }
    #expect(
      try package.rows(
        "SELECT name FROM sqlite_master WHERE name LIKE '%audit%' OR name LIKE 'a\"%'") == [])
    #expect(try package.rows("SELECT count(*) FROM fieldpack_log") == ["0"])
  }

  @Test func `takes the last edit of a feature back as a new edit`() async throws {
    let package = try await Self.package()
    let gone = try await package.withStore(Self.editor) { store in
      try await store.write { (writer: GeoPackageWriter) throws(FieldpackError) -> Int64? in
        try writer.update(
          .integer(1), in: "points", set: ["name": "x"], geometry: .set(.point(x: 9, y: 9)))
        try writer.delete(.integer(2), in: "points")
        let new = try writer.create(Feature(attributes: ["name": "new"]), in: "points")
        let log = try writer.logEdits(of: "points")
        #expect(try writer.undo(1, in: log) == 1)
        #expect(try writer.undo(2, in: log) == 2)
        return try writer.undo(new == .integer(3) ? 3 : 0, in: log)
      }
    }
    #expect(gone == nil)
    #expect(
      try package.rows("SELECT fid, name, ST_MinX(geom) FROM points") == ["1|one|0.0", "2|two|1.0"])
    #expect(try package.rows("SELECT max_x FROM gpkg_contents") == ["1.0"])
    #expect(try package.faults() == [])
  }

  @Test func `features keep their identities when ids are used again`() async throws {
    let package = try await Self.package()
    try package.run(
      "DELETE FROM points WHERE fid = 1; INSERT INTO points (fid, name) VALUES (1, 'other')")
    try package.withSession { file in
      let log = try #require(try EditLog(of: "points", in: file))
      let edits = try log.edits(after: 0, limit: 10)
      #expect(edits.map(\.operation) == [.delete, .insert])
      #expect(try log.identity(of: 1, at: edits[0].number) == "\(log.origin):1")
      #expect(try log.identity(of: 1) == edits[1].id)
      #expect(
        try log.place(of: edits[1].id ?? "") == .init(feature: 1, start: 2, end: .max))
      #expect(try log.place(of: "\(log.origin):1") == .init(feature: 1, start: 0, end: 2))
      #expect(try log.place(of: "\(log.origin):2") == .init(feature: 2, start: 0, end: .max))
      #expect(try log.place(of: "another:2") == nil)
    }
  }

  @Test func `logs of GeoGig and of SpatialConnect become one of ours, once`() async throws {
    let package = try await TestPackage(
      points: [Feature(attributes: ["name": "one"])],
      """
      CREATE TABLE points_audit (fid INTEGER, name TEXT, geom BLOB,
        audit_timestamp INTEGER DEFAULT CURRENT_TIMESTAMP, audit_op INTEGER, synced INTEGER);
      CREATE TRIGGER points_audit_delete AFTER DELETE ON points
        BEGIN INSERT INTO points_audit (fid, audit_op) VALUES (OLD.fid, 3); END;
      INSERT INTO points_audit (fid, audit_op) VALUES (8, 3), (9, 3);
      """)
    for _ in 1...2 {
      try await package.withStore { store in
        try await store.write { (writer: GeoPackageWriter) throws(FieldpackError) in
          _ = try writer.logEdits(of: "points")
        }
      }
    }
    try package.run("DELETE FROM points")
    try package.withSession { file in
      let log = try #require(try EditLog(of: "points", in: file))
      #expect(try log.edits(after: 0, limit: 9).map(\.feature) == [8, 9, 1])
      #expect(try log.pending(limit: 9).map(\.feature) == [1])
    }
  }
}
