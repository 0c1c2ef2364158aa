import FieldpackCore
import FieldpackGeometry
import FieldpackRTree
import FieldpackSQLite
import FieldpackTestSupport
import Testing

@testable import FieldpackGeoPackage

/// What our own reader finds in R-trees that SQLite and the packer made, and in damaged ones.
@Suite struct RTreeReaderTests {
  /// Numbers that are the same in every run.
  private struct Sequence64: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return state ^ state >> 29
    }
  }

  private static let layer = Schema(
    layer: "boxes", geometry: GeometryColumn(srs: .undefinedCartesian),
    columns: [ColumnDefinition("n", .integer)])

  private static func geometry(_ random: inout Sequence64) -> Geometry {
    let (x, y) = (
      Double.random(in: 0...100, using: &random), Double.random(in: 0...50, using: &random)
    )
    if Bool.random(using: &random) { return .point(x: x, y: y) }
    let size = Double.random(in: 0...3, using: &random)
    return line(x, y, x + size, y + size)
  }

  /// So many points and lines, one in ten without geometry; ids have holes.
  private static func features(_ count: Int) -> [Feature] {
    var random = Sequence64(state: 42)
    var features: [Feature] = []
    for index in 1...Int64(count) {
      let shape = geometry(&random)
      features.append(
        Feature(
          id: .integer(index * 3 - index % 2), geometry: index % 10 == 0 ? nil : shape,
          attributes: ["n": .integer(index % 7)]))
    }
    return features
  }

  private static func package(_ count: Int) async throws -> TestPackage {
    let package = try TestPackage()
    try await package.withStore { store in
      try await store.write { (writer) throws(FieldpackError) in
        try writer.createLayer(layer)
        for feature in features(count) { try writer.create(feature, in: "boxes") }
      }
    }
    return package
  }

  private static func boxes(_ count: Int) -> [Envelope] {
    var random = Sequence64(state: 7)
    let all = Envelope(minX: -10, minY: -10, maxX: 200, maxY: 200)
    return [all]
      + (0..<count).map { _ in
        let (x, y) = (
          Double.random(in: -5...100, using: &random), Double.random(in: -5...50, using: &random)
        )
        let size = Double.random(in: 0...30, using: &random)
        return Envelope(minX: x, minY: y, maxX: x + size, maxY: y + size)
      }
  }

  @Test(arguments: [0, 1, 40, 3_000])
  func `finds and counts what is in a box, as by hand`(count: Int) async throws {
    let package = count == 0 ? try await Self.package(1) : try await Self.package(count)
    if count == 0 { try package.run("DELETE FROM boxes") }
    try await package.withStore { store in
      for box in Self.boxes(25) {
        for relation in [EnvelopeRelation.intersects, .within, .contains] {
          let filter = Filter.envelope(relation, box)
          let expected = try await store.evaluatedIDs("boxes", filter)
          let query = Query("boxes", where: filter)
          #expect(try await store.ids(query) == expected)
          #expect(try await store.ids(query.select([]).withoutGeometry()) == expected)
          #expect(try await store.count(query) == expected.count)
          let narrower = filter && Column<Int64>("n") == 3
          #expect(
            try await store.ids(Query("boxes", where: narrower))
              == store.evaluatedIDs("boxes", narrower))
        }
      }
    }
  }

  @Test func `counts the leaves of a box without reading them`() async throws {
    let package = try await Self.package(3_000)
    let all = Envelope(minX: -10, minY: -10, maxX: 200, maxY: 200)
    let leaves = try package.rows("SELECT count(DISTINCT nodeno) FROM rtree_boxes_geom_rowid")
    let found = try package.withSession { session in
      let reader = session.indexes.reader("rtree_boxes_geom")
      let window = RTreeWindow(.intersects, all)
      return [
        try reader.leafCount(window, upTo: 1_000), try reader.leafCount(window, upTo: 64),
        try reader.leafCount(RTreeWindow(.intersects, Self.corner), upTo: 64),
      ]
    }
    #expect(found == [leaves.first.flatMap { Int($0) }, nil, 0])
  }

  @Test func `tells whether a box is found soon`() async throws {
    let package = try await Self.package(3_000)
    func areFound(_ boxes: [Envelope]) async throws -> [Bool] {
      try await package.withStore { store in
        try await store.read { (snapshot: GeoPackageSnapshot) throws(FieldpackError) in
          var found: [Bool] = []
          for box in boxes { found.append(try snapshot.isFoundSoon(in: "boxes", touching: box)) }
          return found
        }
      }
    }
    let near = Envelope(minX: 40, minY: 20, maxX: 41, maxY: 21)
    let all = Envelope(minX: -10, minY: -10, maxX: 200, maxY: 200)
    #expect(try await areFound([all, near]) == [false, true])
    try package.dropIndex("boxes")
    #expect(try await areFound([near]) == [false])
  }

  @Test func `finds what is related to a geometry, as by hand`() async throws {
    let package = try await Self.package(2_000)
    let shape = polygon(10, 5, 90, 10, 60, 25, 95, 45, 5, 40, 30, 20, 10, 5)
    try await package.withStore { store in
      for relation in SpatialRelation.allCases {
        for filter in [Filter.relation(relation, shape), .not(.relation(relation, shape))] {
          let expected = try await store.evaluatedIDs("boxes", filter)
          #expect(try await store.ids(Query("boxes", where: filter)) == expected, "\(relation)")
          #expect(try await store.count(Query("boxes", where: filter)) == expected.count)
        }
      }
    }
  }

  @Test func `orders, limits and goes on behind a box`() async throws {
    let package = try await Self.package(500)
    let box = Filter.intersects(Envelope(minX: 20, minY: 10, maxX: 70, maxY: 40))
    try await package.withStore { store in
      let all = try await store.ids(Query("boxes", where: box))
      #expect(all.count > 50)
      #expect(
        try await store.ids(Query("boxes", where: box).limit(5, offset: 7)) == Array(all[7..<12]))
      let ordered = Query("boxes", where: box).order(by: [Order("n", descending: true)])
      // A feature's rank among those of the same number is that of its id.
      let byHand = try await store.features(Query("boxes", where: box))
      let numbers = (0..<7).reversed().map { Value.integer($0) }
      #expect(
        try await store.features(ordered).map(\.id)
          == numbers.flatMap { number in
            byHand.filter { $0.attributes["n"] == number }.map(\.id)
          })
    }
  }

  private static let everywhere = Envelope(minX: 0, minY: 0, maxX: 400, maxY: 400)
  private static let corner = Envelope(minX: 300, minY: 300, maxX: 301, maxY: 301)
  /// POINT(300.5 300.5).
  private static let cornerBlob =
    "X'475000010000000001010000000000000000C872400000000000C87240'"

  @Test func `sees what others have changed`() async throws {
    let package = try await Self.package(800)
    let query = Query("boxes", where: .intersects(Self.corner))
    let everything = Query("boxes", where: .intersects(Self.everywhere))
    try await package.withStore { store in
      #expect(try await store.count(query) == 0)
      let before = try await store.count(everything)
      try package.run("INSERT INTO boxes(fid, geom) VALUES (9000, \(Self.cornerBlob))")
      #expect(try await store.ids(query) == [9000])
      #expect(try await store.count(everything) == before + 1)
      try await store.write { (writer) throws(FieldpackError) in
        try writer.update(
          .integer(9000), in: "boxes", geometry: .set(.point(x: 0, y: 0)))
      }
      #expect(try await store.count(query) == 0)
      #expect(try await store.count(everything) == before + 1)
    }
    try await package.withStore { store in
      #expect(try await store.count(everything) > 0)
      try package.run("DELETE FROM boxes")
      #expect(try await store.count(everything) == 0)
      #expect(try await store.ids(everything) == [])
    }
  }

  @Test func `sees what its own transaction has changed, and undone`() async throws {
    let package = try await Self.package(800)
    try package.withSession { session in
      let connection = session.connection
      let reading = GeoPackageSnapshot(session)
      let query = Query("boxes", where: .intersects(Self.corner))
      let everything = Query("boxes", where: .intersects(Self.everywhere))
      let before = try reading.count(everything)
      try connection.execute("BEGIN")
      try connection.execute("INSERT INTO boxes(fid, geom) VALUES (9000, \(Self.cornerBlob))")
      #expect(try reading.count(query) == 1)
      try connection.execute("SAVEPOINT s")
      try connection.execute("DELETE FROM boxes WHERE fid > 100")
      #expect(try reading.count(everything) < 50)
      try connection.execute("ROLLBACK TO s")
      #expect(try reading.count(everything) == before + 1)
      #expect(try reading.count(query) == 1)
      try connection.execute("ROLLBACK")
      #expect(try reading.count(everything) == before)
      #expect(try reading.count(query) == 0)
    }
  }

  // MARK: Damage

  static let damages = [
    "UPDATE rtree_boxes_geom_node SET data = X'0001' WHERE nodeno = 1",
    "UPDATE rtree_boxes_geom_node SET data = X'0000FFFF' || substr(data, 5) WHERE nodeno = 2",
    "DELETE FROM rtree_boxes_geom_node WHERE nodeno = 1",
    "DELETE FROM rtree_boxes_geom_node WHERE nodeno = 2",
    // 41 nodes deep.
    "UPDATE rtree_boxes_geom_node SET data = CAST(X'0029' || substr(data, 3) AS BLOB) "
      + "WHERE nodeno = 1",
    // Every child of the root is the root.
    "UPDATE rtree_boxes_geom_node SET data = CAST(X'00020001' || X'0000000000000001' || "
      + "substr(data, 13) AS BLOB) WHERE nodeno = 1",
    // A root whose first cell states no bounds but those of a point far away.
    "UPDATE rtree_boxes_geom_node SET data = CAST(substr(data, 1, 12) || "
      + "X'43960000439600004396000043960000' || substr(data, 29) AS BLOB) WHERE nodeno = 1",
    "DROP TABLE rtree_boxes_geom_node",
  ]

  private static let note = Note(
    "the R-tree of layer 'boxes' is damaged or lacks features, so all features are read",
    advice: .rebuildIndex)

  @Test(arguments: damages)
  func `reads all features where the R-tree is damaged, and says so`(
    script: String
  ) async throws {
    let package = try await Self.package(800)
    try package.run(script)
    let everything = Filter.intersects(Self.everywhere)
    try await package.withStore { store in
      let near = Filter.intersects(polygon(0, 0, 400, 0, 0, 400, 0, 0))
      for filter in [everything, everything && Column<Int64>("n") == 3, near] {
        let query = Query("boxes", where: filter)
        let expected = try await store.evaluatedIDs("boxes", filter)
        #expect(try await store.ids(query) == expected, "\(script)")
        #expect(try await store.count(query) == expected.count, "\(script)")
        let batches = try await store.query(query)
        for try await _ in batches {}
        #expect(batches.report.current.notes == [Self.note])
      }
      let nearest = Query("boxes").nearest(to: .point(x: 50, y: 25), count: 3, metric: .planar)
      #expect(try await store.ids(nearest).count == 3)
    }
  }

  /// Rows whose entries are gone, or that have entries without a geometry.
  private static let shortages = [
    // All of 40 rows, whose only node is made empty.
    "UPDATE rtree_boxes_geom_node SET data = zeroblob(length(data)) WHERE nodeno = 1",
    "DELETE FROM rtree_boxes_geom WHERE id > 50",
    // The trial has an `x` of its own.
    "ALTER TABLE boxes ADD COLUMN x INTEGER; DELETE FROM rtree_boxes_geom WHERE id > 25",
    "INSERT INTO rtree_boxes_geom SELECT fid, 1, 2, 1, 2 FROM boxes WHERE geom IS NULL",
  ]

  @Test(arguments: shortages)
  func `an R-tree that is short or has too much gives no wrong answer`(
    script: String
  ) async throws {
    let package = try await Self.package(40)
    try package.run(script)
    try await package.withStore { store in
      for box in Self.boxes(8) {
        for relation in [EnvelopeRelation.intersects, .within, .contains] {
          let filter = Filter.envelope(relation, box)
          let expected = try await store.evaluatedIDs("boxes", filter)
          #expect(try await store.ids(Query("boxes", where: filter)) == expected)
          #expect(try await store.count(Query("boxes", where: filter)) == expected.count)
          let idsOnly = Query("boxes", where: filter).select([]).withoutGeometry()
          #expect(try await store.ids(idsOnly) == expected)
        }
      }
    }
  }

  @Test func `an R-tree is tried once an opening`() async throws {
    let package = try await Self.package(40)
    let everything = Query("boxes", where: .intersects(Self.everywhere))
    try await package.withStore { store in
      #expect(try await store.count(everything) == 36)
      try package.run("DELETE FROM rtree_boxes_geom")
      #expect(try await store.count(everything) == 0)
    }
    #expect(try await package.withStore { try await $0.count(everything) } == 36)
    #expect(
      try await package.withStore(.own) { try await $0.count(everything) } == 0)
  }

  @Test(arguments: [
    ("CREATE VIRTUAL TABLE \"rtree_a_g\" USING rtree(id, minx, maxx, miny, maxy)", true),
    ("create virtual table r using RTREE (id,minx,maxx,miny,maxy)", true),
    ("CREATE VIRTUAL TABLE r USING rtree_i32(id, minx, maxx, miny, maxy)", false),
    ("CREATE VIRTUAL TABLE r USING rtree(id, minx, maxx, miny, maxy, minz, maxz)", false),
    ("CREATE VIRTUAL TABLE r USING rtree(id, minx, maxx, +note, +more)", false),
    ("CREATE VIRTUAL TABLE r USING rtree", false), ("", false),
  ])
  func `reads R-trees of floats in two dimensions only`(sql: String, isPlain: Bool) {
    #expect(CatalogueReader.isPlainRTree(sql) == isPlain)
  }

  @Test func `goes without an R-tree of another kind`() async throws {
    let package = try await Self.package(60)
    let query = Query(
      "boxes", where: .intersects(Envelope(minX: 0, minY: 0, maxX: 50, maxY: 50)))
    let expected = try await package.withStore { try await $0.ids(query) }
    try package.run(
      """
      DROP TABLE rtree_boxes_geom;
      CREATE VIRTUAL TABLE rtree_boxes_geom USING rtree_i32(id, minx, maxx, miny, maxy);
      """)
    let (found, notes) = try await package.withStore { store in
      (try await store.ids(query), try await store.layers()[0].notes)
    }
    #expect(found == expected)
    #expect(
      notes == ["the registered R-tree rtree_boxes_geom is not one of floats in two dimensions"])
  }
}
