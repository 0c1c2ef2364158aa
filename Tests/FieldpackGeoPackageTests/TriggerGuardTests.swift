import FieldpackCore
import FieldpackGeometry
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
      CREATE TRIGGER kept AFTER UPDATE ON points BEGIN
        UPDATE gpkg_contents SET description = 'x' WHERE table_name = 'points'; END;
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

  @Test(arguments: [
    ("INSERT INTO gpkg_ogr_x SELECT n FROM labels", "labels"),
    ("INSERT INTO gpkg_ogr_x SELECT n FROM LABELS", "LABELS"),
    ("INSERT INTO gpkg_ogr_x SELECT n FROM \"odd \"\"view\"", "labels"),
    ("INSERT INTO gpkg_ogr_x SELECT * FROM (WITH c AS (SELECT printf('x')) SELECT * FROM c)", "c"),
    (
      "INSERT INTO gpkg_ogr_x SELECT * FROM (WITH \"c \"\"d\" AS (SELECT printf('x')) "
        + "SELECT * FROM \"c \"\"d\")", "c \"d"
    ),
    ("INSERT INTO gpkg_ogr_x SELECT n FROM nested", "inner"),
    ("INSERT INTO gpkg_ogr_x VALUES (printf('x'))", "audit"),
  ])
  func `a trigger is held to its limits through views and CTEs, too`(
    body: String, source: String
  ) async throws {
    let package = try await package(
      """
      CREATE TABLE gpkg_ogr_x (a);
      CREATE VIEW labels AS SELECT printf('<%s>', name) AS n FROM points;
      CREATE VIEW "odd ""view" AS SELECT n FROM labels;
      CREATE VIEW nested AS WITH [inner] AS (SELECT printf(name) AS n FROM points)
        SELECT n FROM [inner];
      CREATE TRIGGER audit AFTER INSERT ON points BEGIN \(body); END;
      """)
    try await package.withStore { store in
      let error = await thrown {
        try await store.write { (writer) throws(FieldpackError) in
          _ = try writer.create(Feature(attributes: ["name": "c"]), in: "points")
        }
      }
      #expect(error?.code == .permission)
      let words = "the file's '\(source)' calls printf()"
      #expect(error?.message.hasPrefix(words) == true, "\(error?.message ?? "")")
      let scripted = await thrown {
        _ = try await store.run(sql: "INSERT INTO points (name) VALUES ('c')")
      }
      #expect(scripted?.code == .permission)
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
    ("t", "CREATE TRIGGER t AFTER INSERT ON p BEGIN SELECT 1; END", ["t"], false),
    ("a\"b", "CREATE TRIGGER \"a\"\"b\" AFTER INSERT ON p BEGIN SELECT 1; END", ["a\"b"], false),
    ("a b", "CREATE TRIGGER [a b] AFTER INSERT ON p BEGIN SELECT 1; END", ["a b", "A B"], false),
    ("t", "CREATE TRIGGER u AFTER INSERT ON p BEGIN SELECT 1; END", [], true),
    ("t", "CREATE TRIGGER \"t\"\"u\" AFTER INSERT ON p BEGIN SELECT 1; END", [], true),
    ("t", "CREATE TRIGGER tu AFTER INSERT ON p BEGIN SELECT 1; END", [], true),
    ("t", "CREATE  TRIGGER t AFTER INSERT ON p BEGIN SELECT 1; END", [], true),
    ("t", "create table t (a)", [], true),
  ])
  func `a text that is not as SQLite writes it makes everything suspect`(
    name: String, sql: String, names: [String], isUnclear: Bool
  ) {
    let reach = SchemaReach([(name, sql)])
    #expect(reach.isUnclear == isUnclear)
    #expect(names.allSatisfy { reach.triggers.hold($0) })
    #expect(!reach.triggers.hold("p"))
  }
}
