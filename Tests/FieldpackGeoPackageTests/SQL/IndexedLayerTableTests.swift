import FieldpackCore
import FieldpackGeometry
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackGeoPackage
@testable import FieldpackSQL

/// SQL of users that finds features by the R-tree on its own.
@Suite struct IndexedLayerTableTests {
  private let package: TestPackage

  init() async throws { package = try TestPackage(copying: await Self.original.value.file) }

  private func store() async throws -> GeoPackageStore {
    try await package.store(as: "a", usesWAL: false)
  }

  /// 40 by 40 points, squares of 3 by 3 around every hundredth, and rows without geometry: made once,
  /// since each test only needs a copy.
  private static let original = Task {
    let package = try TestPackage(
      named: "a.gpkg",
      [
        Schema(
          layer: "points", geometry: GeometryColumn(type: .point),
          columns: [ColumnDefinition("n", .integer), ColumnDefinition("name", .text())]),
        Schema(
          layer: #"a"b; DROP TABLE points"#, geometry: GeometryColumn(type: .polygon),
          columns: [ColumnDefinition("n", .integer)]),
      ])
    let store = try await package.store(as: "a", usesWAL: false)
    try await store.write { (writer) throws(FieldpackError) in
      for n in 0..<1600 {
        let feature = Feature(
          geometry: .point(x: Double(n % 40), y: Double(n / 40)),
          attributes: ["n": .integer(Int64(n)), "name": .text("p\(n % 7)")])
        try writer.create(feature, in: "points")
      }
      for n in 0..<16 {
        let (x, y) = (Double(n % 4) * 10, Double(n / 4) * 10)
        try writer.create(
          Feature(geometry: square(x, y, 2.5), attributes: ["n": .integer(Int64(n))]),
          in: LayerID(#"a"b; DROP TABLE points"#))
      }
      try writer.create(Feature(attributes: ["n": -1]), in: "points")
      try writer.create(Feature(geometry: .point(nil, .xy), attributes: ["n": -2]), in: "points")
    }
    await store.close()
    return package
  }

  private static func square(_ x: Double, _ y: Double, _ size: Double) -> Geometry {
    let ring = [(0, 0), (size, 0), (size, size), (0, size), (0, 0)].map {
      Position(x: x + $0.0, y: y + $0.1)
    }
    return .polygon([CoordinateSequence(ring, dimensions: .xy)], .xy)
  }

  private func rows(
    _ store: GeoPackageStore, _ sql: String, _ parameters: [Value] = []
  ) async throws -> [[Value]] {
    var rows: [[Value]] = []
    for try await batch in store.rows(sql: sql, parameters: parameters) { rows += batch.rows }
    return rows
  }

  /// The same statement with `+` before the geometry column, which no index can help.
  private func agree(
    _ store: GeoPackageStore, _ sql: String, _ parameters: [Value] = [], _ line: String
  ) async throws {
    let plan = try await store.explain(sql: sql, parameters: parameters)
    #expect(plan.plan.contains { $0.contains(line) }, "\(plan.plan)")
    let plain = sql.replacing("(geom,", with: "(+geom,").replacing("(p.geom,", with: "(+p.geom,")
    let slow = try await store.explain(sql: plain, parameters: parameters)
    #expect(!slow.plan.contains { $0.contains("R-TREE") }, "\(slow.plan)")
    let (fast, all) = (
      try await rows(store, sql, parameters), try await rows(store, plain, parameters)
    )
    #expect(fast == all)
    #expect(!fast.isEmpty && plan.rows == fast.count)
  }

  @Test(arguments: [
    "Intersects", "Within", "CoveredBy", "Covers", "Contains", "Equals", "Touches", "Overlaps",
    "Crosses",
  ])
  func `relations by the index are those without`(name: String) async throws {
    let store = try await store()
    let area: Geometry =
      switch name {
      case "Covers", "Contains", "Equals": .point(x: 7, y: 9)
      case "Overlaps": Self.square(1, 1, 12)
      case "Crosses":
        .lineString(
          CoordinateSequence([Position(x: -1, y: 1), Position(x: 25, y: 1)], dimensions: .xy))
      default: Self.square(1, 1, 12.5)
      }
    let isOfAreas = ["Overlaps", "Crosses"].contains(name)
    let table = isOfAreas ? #""a""b; DROP TABLE points""# : "points"
    try await agree(
      store, "SELECT fid, n, geom FROM \(table) WHERE ST_\(name)(geom, ?) ORDER BY fid",
      [.geometry(name == "Touches" ? Self.square(1, 1, 12) : area)], "USING R-TREE")
    await store.close()
  }

  @Test(arguments: [
    "SELECT count(*) FROM points WHERE ST_Intersects(geom, ?)",
    "SELECT rowid, _rowid_ FROM points WHERE ST_Intersects(geom, ?) AND n % 2 = 0",
    "SELECT p.name, count(*), min(p.n) FROM points AS p WHERE ST_Within(p.geom, ?) GROUP BY p.name",
    "SELECT geom FROM points WHERE NOT n > 400 AND Intersects(geom, ?) ORDER BY fid DESC LIMIT 3",
    "SELECT max(fid) FROM points WHERE ST_Intersects(geom, ?) OR ST_Intersects(geom, geom) AND 0",
    "WITH x AS (SELECT * FROM points WHERE ST_Intersects(geom, ?)) SELECT sum(n) FROM x",
    "SELECT n FROM points WHERE name = 'p1' AND ST_Intersects(geom, ?) ORDER BY name, n",
  ])
  func `forms of statements answer as without the index`(sql: String) async throws {
    let store = try await store()
    let line = sql.contains(" OR ") ? "points" : "USING R-TREE rtree_points_geom"
    try await agree(store, sql, [.geometry(Self.square(3, 3, 14))], line)
    await store.close()
  }

  @Test func `joins look up one side in the index of the other`() async throws {
    let store = try await store()
    for join in ["JOIN", "LEFT JOIN", "CROSS JOIN"] {
      try await agree(
        store,
        #"SELECT a.n, p.n FROM "a""b; DROP TABLE points" AS a \#(join) points AS p "#
          + "ON ST_Within(p.geom, a.geom) AND a.n <> 3 ORDER BY a.n, p.n",
        [], "SEARCH p USING R-TREE rtree_points_geom FOR within")
    }
    await store.close()
  }

  @Test func `an index on an attribute is used where it finds fewer`() async throws {
    let store = try await store()
    _ = try await store.run(
      sql: "CREATE INDEX points_n ON points (n); CREATE INDEX x ON points (name)")
    let area = [Value.geometry(Self.square(-1, -1, 100))]
    for (condition, line) in [
      ("n = 70", "SEARCH points USING TABLE (n = ?)"),
      ("fid = 70", "SEARCH points USING TABLE (rowid = ?)"),
      ("name = 'p1'", "SEARCH points USING TABLE (name = ?)"),
      ("name = 'p1' COLLATE NOCASE", "R-TREE"), ("name = 5 OR n = 5", "MULTI-INDEX OR"),
      ("n IN (3, 5, 900, 'x', '7')", "R-TREE"),
      ("n IS 3", "SEARCH points USING TABLE (n IS ?)"),
    ] {
      let sql = "SELECT fid, name FROM points WHERE ST_Intersects(geom, ?) AND \(condition)"
      let plan = try await store.explain(sql: sql, parameters: area).plan
      #expect(plan.contains { $0.contains(line) }, "\(condition): \(plan)")
      let plain = sql.replacing("FROM points", with: "FROM main.points")
      #expect(try await rows(store, sql, area) == rows(store, plain, area), "\(condition)")
    }
    await store.close()
  }

  @Test func `comparisons are SQLite's whatever the kinds of values`() async throws {
    let store = try await store()
    _ = try await store.run(
      sql: """
        CREATE INDEX points_n ON points (n); CREATE INDEX points_name ON points (name);
        UPDATE points SET name = '5' WHERE n = 1; UPDATE points SET name = '5.0' WHERE n = 2;
        UPDATE points SET n = 'word' WHERE n = 9; UPDATE points SET name = NULL WHERE n = 4;
        """)
    let values = [
      "5", "5.0", "'5'", "'5.0'", "x'35'", "NULL", "'word'", "'p1'", "n", "name", "fid",
    ]
    for column in ["n", "name", "fid"] {
      for comparison in ["=", "<", "<=", ">", ">=", "IS", "IN"] {
        for value in values {
          let right = comparison == "IN" ? "(\(value), 7)" : value
          let condition = "\(column) \(comparison) \(right)"
          // The function is true everywhere, and keeps its layer shadowed.
          let tail = "points WHERE \(condition) AND (ST_Intersects(geom, geom) OR 1) ORDER BY fid"
          let (found, wanted) = (
            try await rows(store, "SELECT fid FROM \(tail)"),
            try await rows(store, "SELECT fid FROM main.\(tail)")
          )
          #expect(found == wanted, "\(condition)")
        }
      }
    }
    await store.close()
  }

  @Test func `what is no geometry is named`() async throws {
    let store = try await store()
    try package.run(
      "UPDATE points SET geom = (SELECT substr(geom, 1, 25) FROM points WHERE fid = 1) "
        + "WHERE fid = 9")
    let cases: [(argument: String, words: String)] = [
      ("'POINT (1 1)'", "argument 2 is a text, not a geometry. Try: ST_GeomFromText(…)"),
      ("5", "argument 2 is a number, not a geometry"),
      ("ST_AsBinary(geom)", "no GeoPackage geometry"),
      ("x'4750'", "less than a GeoPackage header"),
      ("?", "the statement has 1 parameter, and 0 values are given"),
    ]
    for (argument, words) in cases {
      let sql = "SELECT fid FROM points WHERE ST_Intersects(geom, \(argument))"
      let error = await #expect(throws: FieldpackError.self) { _ = try await rows(store, sql) }
      #expect(error?.code == .invalidArgument)
      #expect(error?.message.contains(words) == true, "\(String(describing: error))")
    }
    #expect(try await rows(store, "SELECT 1 FROM points WHERE ST_Intersects(geom, NULL)") == [])
    // The connection is free again, and its tables mean themselves.
    #expect(try await store.count(Query("points")) == 1602)
    #expect(try await rows(store, "SELECT count(*) FROM temp.sqlite_schema") == [[0]])
    await store.close()
  }

  @Test func `forms that cannot use the index say so`() async throws {
    let store = try await store()
    let sql = "SELECT count(*) FROM points WHERE ST_Intersects(geom, ?) = 1"
    let explanation = try await store.explain(
      sql: sql, parameters: [.geometry(Self.square(0, 0, 1))])
    #expect(explanation.plan == ["SCAN points"])
    #expect(explanation.notes.count == 1)
    #expect(explanation.notes[0].hasPrefix("no spatial index is used"))
    #expect(try await rows(store, sql, [.geometry(Self.square(0, 0, 1))]) == [[4]])
    await store.close()
  }

  @Test func `a statement without such a function reads the tables themselves`() async throws {
    let store = try await store()
    let plan = try await store.explain(sql: "SELECT max(fid) FROM points -- ST_Intersects").plan
    #expect(plan == ["SEARCH points"])
    await store.close()
  }
}
