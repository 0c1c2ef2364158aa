import FieldpackCore
import FieldpackGeometry
import FieldpackSQLite
import FieldpackTestSupport
import Testing

@testable import FieldpackGeoPackage

/// How conditions on attributes come to their rows: through the table, by one or several readers, or
/// by an index.
@Suite struct RowSearchTests {
  /// Takes what it is told.
  private struct Events: FeatureSink, Sendable, Equatable {
    var layers: [LayerID] = []
    var ids: [Int64] = []
    var numbers: [Int64] = []
    var points: [Int] = []
    /// The id at which it throws.
    var last = Int64.max

    mutating func begin(_ schema: Schema) { layers.append(schema.layer) }

    mutating func feature(
      _ row: borrowing some FeatureRow & ~Copyable
    ) throws(FieldpackError) {
      guard case .integer(let id) = row.id else { return }
      if id >= last { throw FieldpackError(.full, "enough") }
      ids.append(id)
      numbers.append(row.integer(at: 0))
      points.append(row.withGeometry { $0.byteCount } ?? 0)
    }
  }

  /// Layers of so many rows whose ids are 100 apart; `n` is the row's number modulo 1000.
  private func package(_ counts: KeyValuePairs<LayerID, Int>) async throws -> TestPackage {
    let package = try TestPackage()
    try await package.withStore { store in
      try await store.write { (writer) throws(FieldpackError) in
        for (layer, count) in counts {
          try writer.createLayer(
            Schema(
              layer: layer, geometry: GeometryColumn(type: .point),
              columns: [ColumnDefinition("n", .integer)]))
          for number in 0..<Int64(count) {
            let point = Geometry.point(x: Double(number), y: 1)
            try writer.create(
              Feature(
                id: .integer(number * 100), geometry: number % 3 == 0 ? nil : point,
                attributes: ["n": .integer(number * 7919 % 1000)]),
              in: layer)
          }
        }
      }
    }
    return package
  }

  private func search(_ query: Query, _ layer: LayerID, _ store: GeoPackageStore) async throws
    -> RowSearch
  {
    try await store.read { (reading) throws(FieldpackError) in
      let planner = try reading.planner(query)
      return try planner.search(planner.catalogue.layer(layer)!)
    }
  }

  @Test func `the catalogue tells which tables have row ids and indexes`() async throws {
    let package = try await package(["plain": 3, "indexed": 3])
    try package.run(
      """
      CREATE INDEX "by n" ON indexed(n);
      CREATE TABLE keyed (fid INTEGER PRIMARY KEY NOT NULL, n INTEGER) WITHOUT ROWID;
      CREATE TABLE other (fid INTEGER PRIMARY KEY, n INTEGER UNIQUE);
      CREATE VIEW seen AS SELECT fid, n FROM plain;
      INSERT INTO gpkg_contents (table_name, data_type, identifier) VALUES
      ('keyed', 'attributes', 'keyed'), ('other', 'attributes', 'other'),
      ('seen', 'attributes', 'seen');
      """)
    let (n, id) = (Column<Int64>("n"), Column<Int64>("fid"))
    let (byNumber, byID) = (n >= 1 && n < 5, id < 5)
    let expected: [(LayerID, Bool, Int, RowSearch)] = [
      ("plain", true, 0, .throughTable), ("indexed", true, 1, .finding(byNumber)),
      ("keyed", false, 0, .bySQLite), ("other", true, 1, .finding(byNumber)),
      ("seen", false, 0, .bySQLite),
    ]
    try await package.withStore { store in
      let catalogue = try await store.read { (reading) throws(FieldpackError) in
        try reading.file.catalogue()
      }
      for (layer, hasRowIDs, indexes, searchByNumber) in expected {
        let table = try #require(catalogue.layer(layer))
        #expect(table.hasRowIDs == hasRowIDs && table.indexes.count == indexes, "\(layer)")
        let query = Query(layer, where: byNumber)
        #expect(try await search(query, layer, store) == searchByNumber, "\(layer)")
        let other = Query(layer, where: byID)
        #expect(try await search(other, layer, store) == .bySQLite, "\(layer)")
      }
    }
  }

  @Test func `finds nothing of wide tables where nothing can be true`() async throws {
    let package = try TestPackage()
    try await package.withStore { store in
      try await store.write { (writer) throws(FieldpackError) in
        try writer.createLayer(
          Schema(
            layer: "wide", geometry: GeometryColumn(),
            columns: (0..<100).map { ColumnDefinition("n\($0)", .integer) }))
        for id in [1, 300_000] as [Int64] {
          try writer.create(Feature(id: .integer(id), attributes: ["n0": 9]), in: "wide")
        }
      }
      let never = try Query("wide", where: Filter(cql2: "n0 > 5 AND 1 = 2"))
      #expect(try await store.features(never).isEmpty)
      #expect(try await store.scan(never, into: Events()).ids == [])
    }
  }

  @Test func `looks up what an index finds in the order of the ids`() async throws {
    let package = try await package(["wells": 3_000])
    try package.run("CREATE INDEX by_n ON wells(n)")
    let filter = Column<Int64>("n") >= 100 && Column<Int64>("n") < 200
    let query = Query("wells", where: filter)
    try await package.withStore { store in
      let rows = try await store.scan(query, into: Events())
      let ids = try package.rows("SELECT fid FROM wells WHERE n BETWEEN 100 AND 199 ORDER BY fid")
      #expect(rows.ids == ids.compactMap { Int64($0) })
      #expect(rows.ids.count == 300)
      let plan = try #require(try await store.explain(query).first)
      #expect(plan.sql.contains(#"WHERE "fid" IN (SELECT "fid" FROM "wells" WHERE "#))
      #expect(!plan.plan.contains { $0.contains("TEMP B-TREE FOR ORDER BY") })
      let ordered = query.order(by: [Order("n")])
      #expect(try await store.explain(ordered).first?.sql.contains("IN (SELECT") == false)
      #expect(try await store.scan(query.limit(5), into: Events()).ids == Array(rows.ids.prefix(5)))
    }
  }

  @Test(arguments: [false, true])
  func `an open range uses an index where it finds few rows`(hasStatistics: Bool) async throws {
    let package = try await package(["wells": 3_000])
    try package.run("CREATE INDEX by_n ON wells(n)\(hasStatistics ? "; ANALYZE" : "")")
    let n = Column<Int64>("n")
    // Which is faster depends on how many readers go through the table.
    func isFew(_ rows: Int) -> Bool { rows * 20 * PieceReaders.mostReaders <= 3_000 }
    let cases: [(filter: Filter, sql: String, usesIndex: Bool)] = [
      (n < 5, "n < 5", true), (n <= 5 && n != 3, "n <= 5 AND n <> 3", true),
      (n < 20, "n < 20", isFew(60)), (!(n >= 5), "n < 5", true),
      (n < 20 && Column<Int64>("fid") > 500_00, "n < 20 AND fid > 50000", false),
      (n < 0, "n < 0", true), (n < 900, "n < 900", false), (n <= 60, "n <= 60", false),
      (n >= 995, "n >= 995", true), (n > 994 && n != 996, "n > 994 AND n <> 996", true),
      (!(n < 980), "n >= 980", isFew(60)), (n >= 5, "n >= 5", false), (n > 939, "n > 939", false),
    ]
    try await package.withStore { store in
      for (filter, sql, usesIndex) in cases {
        let query = Query("wells", where: filter)
        let wanted = try package.rows("SELECT fid FROM wells WHERE \(sql) ORDER BY fid")
          .compactMap { Int64($0) }
        #expect(try await store.scan(query, into: Events()).ids == wanted, "\(sql)")
        #expect(try await store.ids(query) == wanted, "\(sql)")
        #expect(try await store.ids(query.limit(7)) == Array(wanted.prefix(7)), "\(sql)")
        let plan = try #require(try await store.explain(query).first).plan
        let isUsed = plan.contains { line in
          ["<", ">"].contains { line.contains("USING COVERING INDEX by_n (n\($0)?)") }
        }
        #expect(isUsed == usesIndex, "\(sql): \(plan)")
        #expect(!plan.contains { $0.contains("TEMP B-TREE FOR ORDER BY") }, "\(sql): \(plan)")
      }
    }
  }

  @Test func `what an index finds is counted once for a plan, and anew after a change`()
    async throws
  {
    let package = try await package(["wells": 3_000])
    try package.run("CREATE INDEX by_n ON wells(n)")
    let query = Query("wells", where: Column<Int64>("n") < 5)
    try await package.withStore { store in
      let counts = Locked(0)
      try await store.pools.reader().read { (session) throws(FieldpackError) in
        session.connection.trace { sql, _ in
          if sql.hasPrefix("SELECT count(*) FROM (SELECT 1 FROM") { counts.withLock { $0 += 1 } }
        }
      }
      let prepared = try await store.prepare(query)
      for _ in 0..<2 {
        var count = 0
        for try await batch in try await prepared.batches() { count += batch.count }
        #expect(count == 15)
        #expect(counts.withLock { $0 } == 2)
      }
      try package.run("UPDATE wells SET n = 1")
      #expect(try await prepared.count() == 3_000)
      #expect(try await store.explain(query).first?.plan.contains { $0.contains("by_n") } == false)
    }
  }

  @Test func `several readers give a sink what one reader gives`() async throws {
    let package = try await package(["wells": 1_500, "none": 1_500, "few": 20])
    let n = Column<Int64>("n")
    for filter in [n < 30, n >= 0, n > 5_000, n == 7 || n > 990] {
      for layers in [["wells"], ["none", "few", "wells"]] as [[LayerID]] {
        let query = Query(layers: layers, where: filter)
        try await package.withStore { store in
          let one = try await store.read { (snapshot) throws(FieldpackError) in
            var events = Events()
            try snapshot.scan(query, into: &events)
            return events
          }
          #expect(try await store.scan(query, into: Events()) == one, "\(query)")
          #expect(Set(one.layers) == Set(layers))
        }
      }
    }
  }

  @Test func `a sink's error ends the readers' work`() async throws {
    let package = try await package(["wells": 1_500])
    try await package.withStore { store in
      let query = Query("wells", where: Column<Int64>("n") >= 0)
      let error = await thrown { _ = try await store.scan(query, into: Events(last: 70_000)) }
      #expect(error?.code == .full)
      #expect(try await store.scan(query, into: Events()).ids.count == 1_500)
      try await store.write { (writer) throws(FieldpackError) in
        try writer.update(100, in: "wells", set: ["n": 0])
      }
    }
  }
}
