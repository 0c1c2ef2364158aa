import FieldpackCore
import FieldpackGeometry
import FieldpackSQL
import FieldpackSQLite
import FieldpackTestSupport
import Testing

@testable import FieldpackGeoPackage

/// Who is held to keeping indexes: the file's triggers, not the user's statements.
@Suite struct TriggerGuardTests {
  /// Two points of the names a and b, and what `script` adds.
  private func package(_ script: String = "") async throws -> TestPackage {
    let points = ["a", "b"].map { name in
      Feature(geometry: .point(x: 1, y: 0), attributes: ["name": .text(name)])
    }
    return try await TestPackage(points: points, script)
  }

  @Test(arguments: [
    // A name of a trigger's text, too: `new`.
    """
    WITH new AS (SELECT fid, printf('%s%d', name, ST_X(geom)) AS n FROM points)
    UPDATE points SET name = (SELECT n FROM new WHERE new.fid = points.fid)
    """,
    """
    WITH s AS (SELECT group_concat(replace(name, 'a', 'z')) AS n, avg(fid) FROM points)
    UPDATE points SET name = (SELECT n FROM s)
    """,
    "INSERT INTO points (name) SELECT label FROM labels",
    "INSERT INTO points (name) WITH x AS (SELECT printf(label) AS n FROM labels) SELECT n FROM x",
  ])
  func `a statement's CTEs and the views that it reads call functions`(sql: String) async throws {
    let package = try await package(
      """
      CREATE VIEW labels AS WITH p AS (SELECT printf('<%s>', name) AS label FROM points)
        SELECT label FROM p;
      """)
    try await package.withStore { store in
      let outcomes = try await store.run(sql: sql)
      #expect(outcomes.map(\.changes) == [2])
    }
    #expect(try package.faults() == [])
  }

  @Test func `a layer that is a view with functions is read while writing`() async throws {
    let package = try await package(
      """
      CREATE VIEW labels AS
        SELECT fid, (SELECT group_concat(name) FROM points) AS all_names FROM points;
      INSERT INTO gpkg_contents (table_name, data_type, identifier)
        VALUES ('labels', 'attributes', 'labels');
      """)
    try await package.withStore { store in
      let feature = try await store.write { (writer) throws(FieldpackError) in
        try writer.create(Feature(attributes: ["name": "c"]), in: "points")
        return try writer.feature(1, in: "labels")
      }
      #expect(feature?.attributes["all_names"] == "a,b,c")
    }
  }

  @Test func `a trigger that came since is held to its limits, too`() async throws {
    let package = try await package("CREATE TABLE log (a)")
    try await package.withStore { store in
      _ = try await store.run(sql: "INSERT INTO points (name) VALUES ('c')")
      try package.run(
        "CREATE TRIGGER late AFTER INSERT ON points BEGIN INSERT INTO log VALUES (1); END")
      let error = await thrown {
        _ = try await store.run(sql: "INSERT INTO points (name) VALUES ('d')")
      }
      #expect(error?.code == .permission)
    }
  }

  @Test(arguments: [
    ("t", "CREATE TRIGGER t AFTER INSERT ON p BEGIN SELECT 1; END", nil),
    ("a\"b", "CREATE TRIGGER \"a\"\"b\" AFTER INSERT ON p BEGIN SELECT 1; END", nil),
    ("a b", "CREATE TRIGGER [a b] AFTER INSERT ON p BEGIN SELECT 1; END", nil),
    ("v", "CREATE VIEW v AS SELECT 1", nil),
    ("t", "create table t (a)", nil),
    ("t", "CREATE TRIGGER u AFTER INSERT ON p BEGIN SELECT 1; END", "t"),
    ("t", "CREATE TRIGGER \"t\"\"u\" AFTER INSERT ON p BEGIN SELECT 1; END", "t"),
    ("t", "CREATE TEMP TRIGGER t AFTER INSERT ON p BEGIN SELECT 1; END", "t"),
    ("t", "CREATE TRIGGER IF NOT EXISTS t AFTER INSERT ON p BEGIN SELECT 1; END", "t"),
    ("t", "CREATE VIEW IF NOT EXISTS t AS SELECT 1", "t"),
    ("t", "", "t"),
  ])
  func `a text that is not as SQLite writes it makes everything suspect`(
    name: String, sql: String, unclear: String?
  ) {
    #expect(SchemaReach([(name, sql)]).unclear == unclear)
  }
}
