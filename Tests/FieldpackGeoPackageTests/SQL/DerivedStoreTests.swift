import FieldpackCore
import FieldpackGeometry
import FieldpackSQLite
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackGeoPackage
@testable import FieldpackSQL

/// Stores whose one layer is made of others.
@Suite struct DerivedStoreTests {
  private let package: TestPackage
  private static let hostile = #"a"b; DROP TABLE points -- "#

  init() async throws { package = try TestPackage(copying: await Self.original.value.file) }

  private func store() async throws -> GeoPackageStore {
    try await package.store(as: "a", usesWAL: false)
  }

  /// 3,000 points on a grid of 60 columns, and squares around some of them: made once, since each test
  /// only needs a copy.
  private static let original = Task {
    let package = try TestPackage(
      named: "a.gpkg",
      [
        Schema(
          layer: "points", geometry: GeometryColumn(type: .point, srs: .wgs84),
          columns: [ColumnDefinition("n", .integer), ColumnDefinition("name", .text())]),
        Schema(
          layer: LayerID(hostile), geometry: GeometryColumn(type: .polygon, srs: .wgs84),
          columns: [ColumnDefinition("n; --", .integer), ColumnDefinition("name", .text())]),
      ])
    let store = try await package.store(as: "a", usesWAL: false)
    try await store.write { (writer) throws(FieldpackError) in
      for n in 0..<3000 {
        let feature = Feature(
          geometry: .point(x: Double(n % 60), y: Double(n / 60)),
          attributes: ["n": .integer(Int64(n)), "name": .text("p\(n)")])
        try writer.create(feature, in: "points")
      }
      for n in 0..<6 {
        let ring = [(0.0, 0.0), (2.5, 0), (2.5, 2.5), (0, 2.5), (0, 0)].map {
          Position(x: Double(n) * 10 + $0.0, y: $0.1)
        }
        let square = Geometry.polygon([CoordinateSequence(ring, dimensions: .xy)], .xy)
        try writer.create(
          Feature(
            geometry: square, attributes: ["n; --": .integer(Int64(n)), "name": .text("s\(n)")]),
          in: LayerID(hostile))
      }
    }
    await store.close()
    return package
  }

  private func features(
    _ store: GeoPackageStore, _ query: Query = Query()
  ) async throws -> [Feature] {
    var features: [Feature] = []
    for try await batch in try await store.query(query) {
      for row in 0..<batch.count { features.append(try batch.feature(at: row)) }
    }
    return features
  }

  private func derived(_ sql: String, of store: GeoPackageStore) async throws -> GeoPackageStore {
    try await store.deriving(DerivedLayer("made", of: .sql(sql)))
  }

  @Test func `what comes after the first rows decides the types as well`() async throws {
    let store = try await store()
    let made = try await derived(
      """
      SELECT n, CASE WHEN n < 2500 THEN n ELSE 'word' END AS late, \
      CASE WHEN n < 2500 THEN n ELSE n / 2.0 END AS half, \
      CASE WHEN n > 2998 THEN geom END AS place, CASE WHEN n > 2900 THEN x'0102' END AS bytes \
      FROM points ORDER BY fid
      """, of: store)
    let schema = try #require(try await made.schemas().first)
    #expect(schema.columns.map(\.name) == ["n", "late", "half", "bytes"])
    #expect(schema.columns.map(\.type) == [.integer, .text(), .double, .blob()])
    #expect(schema.geometry?.name == "place" && schema.geometry?.srs == .wgs84)
    let all = try await features(made)
    #expect(all.count == 3000)
    #expect(all.last?.attributes["late"] == .text("word"))
    #expect(all.last?.attributes["half"] == .real(1499.5))
    #expect(all.last?.attributes["bytes"] == .blob([1, 2]))
    #expect(all.last?.geometry == .point(x: 59, y: 49))
    await made.close()
    await store.close()
  }

  @Test func `geometries of another system than the first are refused`() async throws {
    let store = try await store()
    let made = try await derived(
      "SELECT fid, CASE WHEN n < 2000 THEN geom ELSE ST_Point(1, 1, 3857) END AS geom FROM points",
      of: store)
    let error = await #expect(throws: FieldpackError.self) { _ = try await features(made) }
    #expect(error?.code == .invalidData)
    #expect(error?.message.contains("in the reference system 3857") == true, "\(error!)")
    #expect(error?.location.feature == .integer(2001))
    #expect(try await features(made, Query().skippingErrors()).count == 2000)
    await made.close()
    await store.close()
  }

  @Test func `conditions do not test geometries of another system than the first`() async throws {
    let store = try await store()
    let sql =
      "SELECT name, geom FROM points WHERE n < 5 UNION ALL "
      + "SELECT 'far', ST_Point(400000, 5800000, 25832)"
    let box = Envelope(minX: -1, minY: -1, maxX: 2.5, maxY: 2.5)
    let filters: [Filter] = [
      .envelope(.intersects, box, srs: .wgs84), .envelope(.disjoint, box, srs: .wgs84),
      .relation(.intersects, .point(x: 1, y: 0), srs: .wgs84, column: nil),
      try Filter(cql2: "name = 'p1' OR S_WITHIN(geom, BBOX(-1,-1,3,3))"),
    ]
    for filter in filters {
      var layer = DerivedLayer("groups", of: .sql(sql))
      layer.filter = filter
      layer.grouping = Grouping(by: ["name"], [Aggregate(.count)])
      let error = await thrown { _ = try await features(try await store.deriving(layer)) }
      #expect(error?.code == .invalidData)
      #expect(error?.message.contains("in the reference system 25832") == true, "\(error!)")
      let made = try await derived(sql, of: store)
      let query = Query("made", where: filter)
      let other = await thrown { _ = try await features(made, query) }
      #expect(other?.code == .invalidData)
      #expect(other?.message.contains("in the reference system 25832") == true, "\(other!)")
      #expect(other?.location.feature == .integer(6))
      let found = try await features(made, query.skippingErrors())
      #expect(found.allSatisfy { $0.attributes["name"] != "far" })
      await made.close()
    }
    let made = try await derived(sql, of: store)
    #expect(try await features(made, Query("made", where: filters[0]).skippingErrors()).count == 3)
    #expect(try await made.count(try Query("made", where: Filter(cql2: "geom IS NULL"))) == 0)
    await made.close()
    await store.close()
  }

  @Test func `parameters are named as what is wrong, with a condition as well`() async throws {
    let store = try await store()
    for filter in [.all, Column<Int64>("n") > 5] as [Filter] {
      var layer = DerivedLayer("made", of: .sql("SELECT * FROM points WHERE n = ?"))
      layer.filter = filter
      layer.grouping = Grouping(by: ["n"])
      let error = await thrown { _ = try await store.deriving(layer) }
      #expect(error?.message == "SQL: a layer's statement takes no parameters")
      #expect(error?.code == .invalidArgument)
    }
    await store.close()
  }

  @Test func `only the id of a layer itself gives ids`() async throws {
    let store = try await store()
    let cases: [(sql: String, id: String?)] = [
      ("SELECT fid, geom FROM points", "fid"), ("SELECT fid AS key, n FROM points", "key"),
      ("SELECT n AS fid, geom FROM points", nil), ("SELECT min(fid) AS fid FROM points", nil),
      ("SELECT p.fid, q.n FROM points p JOIN points q ON q.n = p.n % 7", nil),
      ("SELECT fid FROM points UNION ALL SELECT fid FROM points", nil),
      ("SELECT fid FROM points WHERE ST_Intersects(geom, ST_Point(3, 3))", "fid"),
      ("/* FROM a, b */ select \"fid\" from [main].points AS \"join\" order by n limit 9", "fid"),
      ("SELECT * FROM (SELECT fid, n FROM points WHERE n IN (1, 2)) WHERE n = 2", "fid"),
      ("SELECT a.fid FROM points AS a, points AS b WHERE a.n = b.n % 7", nil),
      ("SELECT * FROM (SELECT a.fid FROM points AS a CROSS JOIN points AS b) LIMIT 9", nil),
      ("SELECT fid, (SELECT max(n) FROM points) AS most FROM points", nil),
      ("SELECT fid FROM points WHERE n IN (SELECT n + 1 FROM points)", nil),
    ]
    for (sql, id) in cases {
      let made = try await derived(sql, of: store)
      #expect(try await made.schemas().first?.idColumn == id, "\(sql)")
      let ids = try await features(made).map(\.id)
      #expect(Set(ids).count == ids.count && !ids.contains(nil), "\(sql)")
      await made.close()
    }
    await store.close()
  }

  @Test func `users' SQL runs beside the layer, with the indexes that it has up`() async throws {
    let store = try await store()
    let near = "ST_Intersects(geom, ST_MakeEnvelope(2.5, 2.5, 5.5, 4.5))"
    let made = try await derived("SELECT fid, n, geom FROM points WHERE \(near)", of: store)
    for _ in 0..<2 {
      for sql in [
        "SELECT count(*) FROM points WHERE \(near)",
        "SELECT count(*) FROM main.points WHERE \(near)",
        "SELECT count(*) FROM points AS a JOIN \(quoted(Self.hostile)) AS b "
          + "ON ST_Intersects(a.geom, ST_MakeEnvelope(2.5, 2.5, 5.5, 4.5)) AND b.\"n; --\" = 1",
      ] {
        let explanation = try await made.explain(sql: sql)
        #expect(explanation.rows == 1)
        let usesIndex = explanation.plan.contains { $0.contains("USING R-TREE") }
        #expect(usesIndex != sql.contains("main."), "\(explanation.plan)")
        var rows: [[Value]] = []
        for try await batch in made.rows(sql: sql) { rows += batch.rows }
        #expect(rows == [[6]], "\(sql)")
      }
      #expect(
        try await features(made).compactMap { $0.attributes["n"] } == [
          183, 184, 185, 243, 244, 245,
        ])
    }
    await made.close()
    await store.close()
  }

  @Test func `hostile names are names`() async throws {
    let store = try await store()
    var layer = DerivedLayer("pairs", of: .layer(LayerID(Self.hostile)))
    layer.join = SpatialJoin("points", relation: .contains)
    let pairs = try await store.deriving(layer)
    #expect(try await pairs.count(Query()) == 6 * 4)
    await pairs.close()
    layer = DerivedLayer("pairs", of: .layer("points"))
    layer.join = SpatialJoin(LayerID(Self.hostile), relation: .coveredBy)
    layer.grouping = Grouping(by: ["n; --"], [Aggregate(.count), Aggregate(.max, of: "n; --")])
    let groups = try await store.deriving(layer)
    let found = try await features(groups)
    #expect(found.map { $0.attributes["count"] } == .init(repeating: .integer(9), count: 5) + [9])
    #expect(found.map { $0.attributes["max_n; --"] } == (0..<6).map { .integer($0) })
    await groups.close()
    #expect(try await store.count(Query("points")) == 3000)
    await store.close()
  }

  @Test(arguments: [
    ("SELECT fid FROM points; -- all", 3000), ("/* ; */ SELECT fid FROM points /* ) -- */", 3000),
    ("SELECT fid FROM points -- ) ;", 3000), ("VALUES (1), (2);;  ", 2),
    ("WITH x(a) AS (SELECT ';--') SELECT a FROM x", 1),
  ])
  func `comments and semicolons end no statement early`(sql: String, count: Int) async throws {
    let store = try await store()
    let plain = try await derived(sql, of: store)
    #expect(try await plain.count(Query()) == count)
    await plain.close()
    var layer = DerivedLayer("made", of: .sql(sql))
    layer.grouping = Grouping(by: [], [Aggregate(.count)])
    let grouped = try await store.deriving(layer)
    #expect(try await features(grouped).map { $0.attributes["count"] } == [.integer(Int64(count))])
    await grouped.close()
    await store.close()
  }

  @Test(arguments: [
    ("ATTACH 'x.db' AS x", FieldpackError.Code.readOnly), ("PRAGMA user_version = 5", .readOnly),
    ("PRAGMA query_only = OFF", .readOnly), ("DELETE FROM points", .readOnly),
    ("WITH x AS (SELECT 1) INSERT INTO points (n) SELECT 1", .readOnly),
    ("SELECT 1; SELECT 2", .invalidArgument), ("SELECT fid FROM points) --", .invalidArgument),
    ("SELECT 1 AS a) UNION SELECT sql FROM (SELECT sql FROM sqlite_schema", .invalidArgument),
    ("CREATE TABLE x (a)", .readOnly), ("EXPLAIN SELECT 1", .invalidArgument),
    ("PRAGMA table_info(points)", .invalidArgument), ("", .invalidArgument),
    ("SELECT load_extension('x')", .invalidArgument), ("VACUUM INTO 'x.db'", .readOnly),
  ])
  func `what is more than one reading statement is refused`(
    sql: String, code: FieldpackError.Code
  ) async throws {
    let store = try await store()
    for grouping in [nil, Grouping(by: [])] {
      var layer = DerivedLayer("made", of: .sql(sql))
      layer.grouping = grouping
      let error = await #expect(throws: FieldpackError.self) { _ = try await store.deriving(layer) }
      #expect(error?.code == code, "\(String(describing: error))")
    }
    #expect(try await store.count(Query("points")) == 3000)
    await store.close()
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: package.folder.url.path) == ["a.gpkg"])
  }
}
