import FieldpackSQLite
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackGeoPackage

/// Which texts are those of triggers that run.
@Suite struct KnownTriggerTests {
  private static func isKnown(_ name: String, _ sql: String, tables: [String] = []) -> Bool {
    let tables = Set(tables.map(SQLName.init))
    let triggers = FileTriggers([(name, sql)]) { tables.contains(SQLName($0)) }
    return triggers.foreign.isEmpty && !triggers.known.isEmpty
  }

  @Test(arguments: [RTreeTriggerSet.upTo13, .from14])
  func `those that Fieldpack writes are known, whatever the names`(set: RTreeTriggerSet) {
    for (table, column, id) in [
      ("points", "geom", "fid"), ("a \"b\"; DROP", "the geom", "ROWID"), ("大", "形", "号"),
    ] {
      let sql = RTreeSQL(table: table, column: column, idColumn: id)
      for text in sql.triggers(set) {
        let suffix = sql.triggerNames.first { text.hasPrefix("CREATE TRIGGER \(quoted($0)) ") }
        #expect(Self.isKnown(suffix ?? "", text), "\(text)")
      }
    }
  }

  private static let insertion =
    "CREATE TRIGGER rtree_t_g_insert AFTER INSERT ON t WHEN (NEW.g NOT NULL AND NOT "
    + "ST_IsEmpty(NEW.g)) BEGIN INSERT OR REPLACE INTO rtree_t_g VALUES (NEW.fid, ST_MinX(NEW.g), "
    + "ST_MaxX(NEW.g), ST_MinY(NEW.g), ST_MaxY(NEW.g)); END"

  /// What is put in the place of something in the text of an R-tree's trigger.
  @Test(arguments: [
    ("NOT NULL", "NOTNULL", true), ("NOT NULL", "IS NOT NULL", true),
    ("ON t", "ON [t] FOR EACH ROW", true), ("ON t", "ON 'T'", true),
    ("INSERT OR REPLACE", "insert", true), ("NEW.g", "new.\"G\"", true),
    ("BEGIN", "BEGIN /* here */ --\n", true), (" VALUES ", "\n\tVALUES", true),
    ("INTO rtree_t_g", "INTO rtree_t_h", false), ("INTO rtree_t_g", "INTO rtree_u_g", false),
    ("ST_MinX(NEW.g)", "ST_MinX(NEW.h)", false), ("AFTER", "BEFORE", false),
    ("; END", "; SELECT RAISE(IGNORE); END", false), ("; END", "; DELETE FROM t; END", false),
    ("INSERT OR REPLACE", "INSERT OR IGNORE", false), ("NOT ST_IsEmpty", "ST_IsEmpty", false),
    ("INSERT ON t", "INSERT ON u", false), ("NEW.g NOT NULL", "'NEW.g' NOT NULL", false),
    ("rtree_t_g_insert", "rtree_t_g_update1", false), ("NOT NULL AND", "NOT NULL OR", false),
    ("rtree_t_g_insert", "other", false), ("NOT NULL", "NOT \"NULL\"", false),
  ])
  func `quotes, case and white space do not matter, and all else does`(
    part: String, other: String, isKnown: Bool
  ) {
    let text = Self.insertion.replacing(part, with: other)
    let name = part == "rtree_t_g_insert" ? other : "rtree_t_g_insert"
    #expect(Self.isKnown(name, text, tables: ["t", "u"]) == isKnown, "\(text)")
  }

  @Test func `the R-tree of a renamed table is known while nobody else has its name`() {
    let text = Self.insertion.replacing("ON t", with: "ON \"renamed\"")
    #expect(Self.isKnown("rtree_t_g_insert", text, tables: ["renamed"]))
    #expect(!Self.isKnown("rtree_t_g_insert", text, tables: ["renamed", "T"]))
  }

  private static func copy(
    _ event: String, _ columns: String, _ values: String, into target: String = "t_audit"
  ) -> (String, String) {
    let name = "t_audit_\(event)"
    return (
      name,
      "CREATE TRIGGER '\(name)' AFTER \(event.uppercased()) ON 't' BEGIN INSERT INTO '\(target)' "
        + "(\(columns)) VALUES (\(values)); END"
    )
  }

  /// As SpatialConnect 0.10, its change 205 and GeoGig write them, and others.
  @Test(arguments: [
    (copy("insert", "id,g", "NEW.id,NEW.g"), true),
    (copy("insert", "id, g, sent, received", "NEW.id, NEW.g, NULL, NULL"), true),
    (copy("insert", "'fid', 'g', audit_op", "NEW.'fid', NEW.'g', 1"), true),
    (copy("update", "'fid', 'g', audit_op", "NEW.'fid', NEW.'g', 2"), true),
    (copy("delete", "'fid', audit_op", "OLD.fid, 3"), true),
    (copy("delete", "'fid', g, audit_op", "OLD.fid, OLD.g, 3"), true),
    (copy("insert", "id, g", "NEW.g, NEW.id"), false),
    (copy("insert", "id, audit_op", "NEW.id, 2"), false),
    (copy("insert", "id", "NEW.id", into: "gpkg_contents"), false),
    (copy("insert", "id", "load_extension('x')"), false),
    (copy("insert", "id", "NEW.id); DELETE FROM t WHERE id IN (1"), false),
    (copy("delete", "id", "NEW.id"), false),
    (copy("insert", "id, g", "NEW.id"), false),
  ])
  func `logs of changes are known`(trigger: (name: String, sql: String), isKnown: Bool) {
    #expect(Self.isKnown(trigger.name, trigger.sql) == isKnown)
  }

  @Test func `what an unknown one does is told`() {
    let triggers = FileTriggers([
      ("a", "CREATE TRIGGER a BEFORE INSERT ON t BEGIN SELECT RAISE(IGNORE); END"),
      (
        "b",
        "CREATE TRIGGER b AFTER UPDATE OF x, \"y\" ON [u v] BEGIN DELETE FROM gpkg_contents; END"
      ),
      (
        "c",
        "CREATE TRIGGER c INSTEAD OF DELETE ON w WHEN OLD.a BEGIN UPDATE t SET a = 1; "
          + "INSERT INTO log VALUES (1); REPLACE INTO log VALUES (2); END"
      ),
      ("d", "CREATE TRIGGER d AFTER INSERT ON t BEGIN SELECT RAISE(ABORT, 'no'); END"),
    ])
    let told = triggers.foreign.values.map { "\($0.name) on \($0.table ?? "?"): \($0.deed)" }
    #expect(
      told.sorted() == [
        "a on t: can have changes ignored", "b on u v: deletes from 'gpkg_contents'",
        "c on w: changes 't' and inserts into 'log'", "d on t: refuses changes",
      ])
    #expect(triggers.foreign.values.filter(\.canIgnore).map(\.name) == ["a"])
    #expect(triggers.foreign.values.filter(\.deletes).map(\.name) == ["b"])
  }
}

/// The triggers of every real file.
@Suite(.enabled(if: SharedData.isPresent, Comment(rawValue: SharedData.absent)))
struct RealTriggerTests {
  static let folders = ["real/gpkg", "real/gpkg-malformed", "spatialconnect/ios-sdk"]
  static let files = folders.flatMap { folder in
    SharedData.files(in: folder, extensions: ["gpkg"]).map { "\(folder)/\($0.lastPathComponent)" }
  }

  /// `file: trigger`.
  static let foreign: [String] = []

  @Test func `all are known`() async throws {
    var (found, count): ([String], Int) = ([], 0)
    for file in Self.files {
      let package = try TestPackage(copying: SharedData.url(file))
      guard let rows = try? package.rows("SELECT name FROM sqlite_master WHERE type = 'trigger'")
      else { continue }
      count += rows.count
      try package.withSession { session in
        let triggers = session.triggers
        try triggers?.learn(session.connection)
        found += (triggers?.allForeign ?? []).map { "\(file): \($0.name)" }
      }
    }
    #expect(found.sorted() == Self.foreign)
    #expect(count > 900)
  }
}
