import FieldpackCore
import FieldpackGeometry
import FieldpackSQLite
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackGeoPackage

/// Answers in pieces that several readers fill at once.
@Suite struct PiecesTests {
  /// Takes the ids of a layer and one value of each row, up to so many.
  private struct Rows: PieceSink {
    var capacity = 1000
    private(set) var layers: [LayerID] = []
    private(set) var ids: [Int64] = []
    private(set) var numbers: [Int64] = []

    var isFull: Bool { ids.count >= capacity }

    mutating func begin(_ schema: Schema) { layers.append(schema.layer) }

    mutating func feature(_ row: borrowing some FeatureRow & ~Copyable) {
      if case .integer(let id) = row.id { ids.append(id) }
      numbers.append(row.integer(at: 0))
    }
  }

  private static func wells(_ name: LayerID = "wells") -> Schema {
    Schema(
      layer: name, geometry: GeometryColumn(type: .point),
      columns: [ColumnDefinition("n", .integer)])
  }

  /// A file with layers that hold what `SELECT fid, n` gives for each.
  private func package(_ rows: String..., layers: [LayerID] = ["wells"]) async throws -> TestPackage
  {
    let package = try TestPackage()
    try await package.withStore { store in
      try await store.write { (writer) throws(FieldpackError) in
        for layer in layers { try writer.createLayer(Self.wells(layer)) }
      }
    }
    for (layer, rows) in zip(layers, rows) {
      try package.run("INSERT INTO \(quoted(layer.rawValue))(fid, n) \(rows)")
    }
    return package
  }

  /// `SELECT` of 1 to `count` as `i`, each put through `columns`.
  private static func series(_ count: Int, _ columns: String) -> String {
    "WITH RECURSIVE s(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM s WHERE i < \(count)) "
      + "SELECT \(columns) FROM s"
  }

  private func pieces(
    _ store: any Store, _ query: Query, capacity: Int = 1000
  ) async throws -> [Rows] {
    var all: [Rows] = []
    for try await piece in try await store.pieces(
      of: query, into: { Rows(capacity: capacity) })
    {
      all.append(piece)
    }
    return all
  }

  @Test(
    arguments: [
      "dense": series(50_000, "i, i"),
      "with holes": series(25_000, "i * 7 + (i % 100) * 3000, i"),
      "sparse": series(22_000, "(i - 10000) << 40, i"),
      "in clusters far apart": series(
        40_000,
        "CASE i % 4 WHEN 0 THEN i WHEN 1 THEN (1 << 60) + i WHEN 2 THEN -(1 << 60) - i "
          + "ELSE 1000000 + i END, i"),
      "at both ends": series(
        30_000,
        "CASE i % 2 WHEN 0 THEN 9223372036854775807 - i / 2 + 1 "
          + "ELSE -9223372036854775807 - 1 + i / 2 END, i"),
    ], [1000, 7])
  func `gives every row once, in order`(
    ids: (key: String, value: String), capacity: Int
  ) async throws {
    let package = try await package(ids.value)
    let expected = try package.rows("SELECT fid FROM wells ORDER BY fid").compactMap { Int64($0) }
    try await package.withStore { store in
      let all = try await pieces(store, Query("wells"), capacity: capacity)
      #expect(all.flatMap(\.ids) == expected)
      #expect(all.allSatisfy { $0.layers == ["wells"] && (1...capacity).contains($0.ids.count) })
      let filter = Column<Int64>("n") > 20_000
      let filtered = try await pieces(store, Query("wells", where: filter), capacity: capacity)
      let wanted = try package.rows("SELECT fid FROM wells WHERE n > 20000 ORDER BY fid")
      #expect(filtered.flatMap(\.ids) == wanted.compactMap { Int64($0) })
    }
  }

  @Test func `gives layers in turn, and one piece of rows each at least`() async throws {
    let package = try await package(
      Self.series(30, "i, i"), Self.series(30_000, "i, i"), "SELECT 1, 1 WHERE 0",
      Self.series(25_000, "i, i"), layers: ["few", "many", "none", "last"])
    try await package.withStore { store in
      let all = try await pieces(store, Query())
      #expect(all.allSatisfy { $0.layers.count == 1 && !$0.ids.isEmpty })
      #expect(all.map { $0.layers[0] }.deduplicated == ["few", "many", "last"])
      #expect(all.reduce(0) { $0 + $1.ids.count } == 55_030)
      let last = all.filter { $0.layers == ["last"] }
      #expect(last.flatMap(\.ids) == Array(1...25_000))
    }
  }

  @Test func `keeps to order, limit and offset`() async throws {
    let package = try await package(Self.series(30_000, "i, (i * 7919) % 30000"))
    try await package.withStore { store in
      let query = Query("wells").order(by: [Order("n", descending: true)]).limit(2500, offset: 10)
      let all = try await pieces(store, query)
      #expect(all.map(\.ids.count) == [1000, 1000, 500])
      let numbers: [Int64] = (0..<2500).map { 29_989 - $0 }
      #expect(all.flatMap(\.numbers) == numbers)
    }
  }

  @Test func `leaves what an index finds, and small layers, to one reader`() async throws {
    let package = try await package(
      Self.series(30_000, "i, i"), Self.series(10, "i, i"), layers: ["wells", "few"])
    try package.run("CREATE INDEX by_n ON wells(n)")
    let box = Envelope(minX: 0, minY: 0, maxX: 1, maxY: 1)
    let queries: [(Query, Bool)] = [
      (Query("wells"), true), (Query("few"), false), (Query(), true),
      (Query("wells", where: Column<Int64>("n") == 5), false),
      (Query("wells", where: .intersects(box)), false), (Query("wells").limit(5), false),
      (Query("wells", where: Column<Int64>("n").isNull), false),
    ]
    for readers in [2, 1] {
      try await PieceReaders.$mostReaders.withValue(readers) {
        try await package.withStore { store in
          for (query, isCut) in queries {
            let plan = try await store.read { (reading) throws(FieldpackError) in
              try reading.plan(query, inPieces: true)
            }
            #expect(plan.isCut == (isCut && readers > 1), "\(query)")
          }
        }
      }
    }
  }

  // MARK: One state of the file

  /// Takes readers while somebody writes at each of the first `writes` tries.
  private func readersSeen(
    whileWriting writes: Int, _ most: Int = 2
  ) async throws -> (readers: Int, tries: Int) {
    try await PieceReaders.$mostReaders.withValue(most) { try await readersSeen(writes) }
  }

  private func readersSeen(_ writes: Int) async throws -> (readers: Int, tries: Int) {
    let package = try await package(Self.series(30_000, "i, 0"))
    let store = try await package.store()
    try await store.write { (writer) throws(FieldpackError) in
      try writer.update(1, in: "wells", set: ["n": 0])
    }
    let tries = Locked(0)
    let pool = try await store.pools.reader()
    let plan = try await store.read { (reading) throws(FieldpackError) in
      try reading.plan(Query("wells"), inPieces: true)
    }
    let request = PieceReaders.Request(store: "survey", plan: plan, report: QueryReport()) {
      let isWritten = tries.withLock { tries in
        tries += 1
        return tries <= writes
      }
      if isWritten { try? package.run("UPDATE wells SET n = n + 1") }
    }
    let readers = try await PieceReaders.begin(in: pool, request)
    var seen: Set<Int64?> = []
    for lease in readers.leases {
      seen.insert(
        try await lease.run { (session) throws(FieldpackError) in
          try session.integer("SELECT sum(n) FROM wells")
        })
    }
    #expect(seen == [Int64(min(writes, 3) * 30_000)])
    let count = readers.leases.count
    for lease in readers.leases { await lease.release() }
    await store.close()
    return (count, tries.withLock { $0 })
  }

  @Test(arguments: [0, 1, 2])
  func `begins again where somebody wrote meanwhile`(writes: Int) async throws {
    let (readers, tries) = try await readersSeen(whileWriting: writes)
    #expect(readers == 2 && tries == writes + 1)
  }

  @Test func `reads alone where somebody writes all the time`() async throws {
    let (readers, tries) = try await readersSeen(whileWriting: .max)
    #expect(readers == 1 && tries == 3)
  }

  @Test func `reads alone on one processor`() async throws {
    let (readers, tries) = try await readersSeen(whileWriting: 0, 1)
    #expect(readers == 1 && tries == 0)
  }

  @Test func `sees one state while a writer changes all rows`() async throws {
    let package = try await package(Self.series(25_000, "i, 0"))
    let store = try await package.store()
    try await store.write { (writer) throws(FieldpackError) in
      try writer.update(1, in: "wells", set: ["n": 0])
    }
    let isWritten = Locked(false)
    try await withThrowingTaskGroup { group in
      for _ in 0..<3 {
        group.addTask {
          repeat {
            let all = try await pieces(store, Query("wells"))
            let numbers = all.flatMap(\.numbers)
            #expect(numbers.count == 25_000 && Set(numbers).count == 1)
          } while !isWritten.withLock { $0 }
        }
      }
      group.addTask {
        defer { isWritten.withLock { $0 = true } }
        try await onThread {
          for _ in 0..<20 { try package.run("UPDATE wells SET n = n + 1") }
        }
      }
      try await group.waitForAll()
    }
    await store.close()
    #expect(try package.names() == ["survey.gpkg"])
  }

  // MARK: Ends

  @Test func `gives what comes before a feature that cannot be read, then its error`() async throws
  {
    let package = try await package(Self.series(60_000, "i, i"))
    try package.run(
      """
      DROP TRIGGER rtree_wells_geom_update6;
      DROP TRIGGER rtree_wells_geom_update7;
      DROP TRIGGER rtree_wells_geom_update2;
      DROP TRIGGER rtree_wells_geom_update5;
      DROP TRIGGER rtree_wells_geom_update4;
      UPDATE wells SET geom = x'00' WHERE fid IN (40000, 50000)
      """)
    try await package.withStore { store in
      var ids: [Int64] = []
      let error = await thrown {
        for try await piece in try await store.pieces(of: Query("wells"), into: { Rows() }) {
          ids += piece.ids
        }
      }
      #expect(error?.code == .invalidData && error?.location.feature == 40_000)
      #expect(ids == Array(1...Int64(ids.count)) && (38_000..<40_000).contains(ids.count))
      let skipping = try await store.pieces(
        of: Query("wells").skippingErrors(), into: { Rows() })
      ids = []
      for try await piece in skipping { ids += piece.ids }
      #expect(ids.count == 59_998)
      let skipped = skipping.report.current.skipped.listed.compactMap(\.location.feature)
      #expect(Set(skipped) == [40_000, 50_000])
    }
  }

  @Test func `gives its readers back when it is dropped`() async throws {
    let package = try await package(Self.series(60_000, "i, i"))
    let store = try await package.store()
    for _ in 0..<40 {
      let pieces = try await store.pieces(of: Query("wells"), into: { Rows() })
      #expect(try await pieces.makeAsyncIterator().next()?.ids == Array(1...1000))
    }
    // Nobody reads any more, so the file can change its journal mode.
    try await store.write { (writer) throws(FieldpackError) in try writer.delete(1, in: "wells") }
    #expect(try await pieces(store, Query("wells"))[0].ids.first == 2)
    await store.close()
    #expect(try package.names() == ["survey.gpkg"])
  }

  @Test func `holds a few pieces only while nobody takes them`() async throws {
    let package = try await package(Self.series(100_000, "i, i"))
    try await package.withStore { store in
      let made = Locked(0)
      let pieces = try await store.pieces(of: Query("wells")) {
        made.withLock { $0 += 1 }
        return Rows(capacity: 100)
      }
      let iterator = pieces.makeAsyncIterator()
      var count = try await iterator.next()?.ids.count ?? 0
      try await Task.sleep(for: .milliseconds(200))
      #expect(made.withLock { $0 } < 30)
      while let piece = try await iterator.next() { count += piece.ids.count }
      #expect(count == 100_000)
    }
  }

  @Test func `throws when the store is closed meanwhile`() async throws {
    let package = try await package(Self.series(60_000, "i, i"))
    let store = try await package.store()
    let iterator = try await store.pieces(of: Query("wells"), into: { Rows() }).makeAsyncIterator()
    #expect(try await iterator.next() != nil)
    await store.close()
    for _ in 0..<2 {
      #expect(await thrown { _ = try await iterator.next() }?.code == .unavailable)
    }
    let late = try? await store.pieces(of: Query("wells"), into: { Rows() })
    #expect(late == nil)
  }

  @Test func `stops when its task is cancelled`() async throws {
    let package = try await package(Self.series(60_000, "i, i"))
    try await package.withStore { store in
      let iterator = try await store.pieces(of: Query("wells"), into: { Rows() })
        .makeAsyncIterator()
      let task = Task {
        _ = try await iterator.next()
        withUnsafeCurrentTask { $0?.cancel() }
        while try await iterator.next() != nil {}
      }
      let error = await thrown { try await task.value }
      #expect(error?.code == .interrupted)
      #expect(try await pieces(store, Query("wells")).reduce(0) { $0 + $1.ids.count } == 60_000)
    }
  }
}

extension Sequence where Element: Equatable {
  /// Without those equal to the one before.
  fileprivate var deduplicated: [Element] {
    reduce(into: []) { if $0.last != $1 { $0.append($1) } }
  }
}
