import FieldpackCore
import FieldpackGeometry
import Testing

@Suite struct FilterTests {
  static let a = Column<Int64>("a")
  static let b = Column<String>("b")
  static func compare(_ comparison: Comparison) -> Filter {
    .compare(.column("a"), comparison, .literal(1))
  }

  @Test(arguments: [
    (a == 1, compare(.equal)), (a != 1, compare(.notEqual)), (a < 1, compare(.less)),
    (a <= 1, compare(.lessOrEqual)), (a > 1, compare(.greater)), (a >= 1, compare(.greaterOrEqual)),
    (a.between(1, 2), .between(.column("a"), .literal(1), .literal(2))),
    (a.isIn([1, 2]), .isIn(.column("a"), [.literal(1), .literal(2)])),
    (a.isNull, .isNull(.column("a"))),
    (b.like("x%"), .like(.column("b"), pattern: "x%")),
    (Column<Bool>("f") == true, .compare(.column("f"), .equal, .literal(true))),
    (
      Column<Instant>("t") > Instant(milliseconds: 0),
      .compare(.column("t"), .greater, .literal(.dateTime(Instant(milliseconds: 0))))
    ),
    (
      Column<CalendarDate>("d") == CalendarDate(dayNumber: 0),
      .compare(.column("d"), .equal, .literal(.date(CalendarDate(dayNumber: 0))))
    ),
  ])
  func `a typed column makes a condition`(made: Filter, expected: Filter) {
    #expect(made == expected)
  }

  @Test func `operators flatten and leave out what says nothing`() {
    let (x, y, z) = (Self.a == 1, Self.a == 2, Self.a == 3)
    #expect((x && y && z) == .and([x, y, z]))
    #expect((x && (y && z)) == .and([x, y, z]))
    #expect((x || y || z) == .or([x, y, z]))
    #expect((x || (y || z)) == .or([x, y, z]))
    #expect((x && y || z) == .or([.and([x, y]), z]))
    #expect((Filter.all && x) == x)
    #expect((x && .all) == x)
    #expect(!x == .not(x))
  }

  @Test func `columns are named once, in order of appearance`() {
    let filter =
      !(Column<Int64>("c") > 1 || Self.b.isNull)
      && .between(.column("a"), .column("c"), .literal(1))
      && .isIn(.literal(1), [.column("d"), .column("b")])
      && .intersects(.point(x: 0, y: 0))
      && .intersects(Envelope(minX: 0, minY: 0, maxX: 1, maxY: 1))
    #expect(filter.columns == ["c", "b", "a", "d"])
    #expect(Filter.all.columns == [])
  }

  @Test(
    arguments: [
      ("name", Schema.ColumnRole.attribute(0)), ("NAME", .attribute(1)), ("Name", .attribute(0)),
      ("fid", .id), ("FID", .id), ("geom", .geometry), ("Geom", .geometry),
      ("geometry", .geometry), ("Geometry", .geometry), ("é", .attribute(2)),
      ("É", nil), ("e\u{301}", nil), ("other", nil), ("", nil),
    ] as [(String, Schema.ColumnRole?)])
  func `a column is found by exact name, else ignoring ASCII case`(
    name: String, role: Schema.ColumnRole?
  ) {
    let schema = Schema(
      layer: "l", geometry: GeometryColumn(),
      columns: [.init("name", .text()), .init("NAME", .text()), .init("\u{e9}", .text())])
    #expect(schema.role(of: name) == role)
    if role == .geometry {
      let own = Schema(layer: "l", geometry: GeometryColumn(), columns: [.init(name, .text())])
      #expect(own.role(of: name) == .attribute(0))
      #expect(Schema(layer: "l").role(of: name) == nil)
    }
  }

  @Test func `a query changes by copies`() {
    let query = Query("a", "b", where: .not(.all)).select("x", "y").limit(5, offset: 2)
      .order(by: [Order("x", descending: true)]).transformed(to: .wgs84).in(stores: ["s"])
      .withoutGeometry()
    #expect(query.layers == ["a", "b"])
    #expect(query.columns == ["x", "y"])
    #expect(query.limit == 5 && query.offset == 2)
    #expect(query.order == [Order("x", descending: true)])
    #expect(query.srs == .wgs84)
    #expect(query.stores == ["s"])
    #expect(!query.readsGeometry)
    #expect(query.where(.all).in(layers: []).filter == .all)
    #expect(query.offset(9).limit == 5)
  }

  @Test(arguments: [
    ("nmae", ["name"]), ("NAMES", ["name"]), ("n", []), ("xyzzy", []), ("vists", ["visits"]),
    ("visit_count", ["visits_count"]), ("", []),
  ])
  func `near names are found`(name: String, near: [String]) {
    let names = ["name", "visits", "visits_count", "geom", String(repeating: "n", count: 1000)]
    #expect(NearNames.of(name, in: names) == near)
  }
}

@Suite struct FeatureBatchesTests {
  @Test func `every iteration starts anew and gives batches or features`() async throws {
    let batches = FeatureBatches { FeatureBatchesTests.two() }
    for _ in 0..<2 {
      var counts: [Int] = []
      for try await batch in batches { counts.append(batch.count) }
      #expect(counts == [2, 0, 1])
      var ids: [FeatureID?] = []
      for try await feature in batches.features { ids.append(feature.id) }
      #expect(ids == [1, 2, 3])
    }
  }

  static func two() -> FeatureBatches.Next {
    let left = Locked([[FeatureID.integer(1), 2], [], [3]])
    return { () async throws(FieldpackError) in
      let ids = left.withLock { $0.isEmpty ? nil : $0.removeFirst() }
      guard let ids else { return nil }
      var batch = FeatureBatch(store: "s", schema: Schema(layer: "l"))
      for id in ids { batch.append(ValueRow(id: id)) }
      return batch
    }
  }

  @Test func `a skipped list counts all and lists the first`() {
    func skip(_ reason: String) -> SkippedFeature {
      SkippedFeature(location: .init(), reason: reason)
    }
    var known = SkippedFeatures(limit: 2)
    known.add(skip("a"))
    var skipped = known
    skipped.add(SkippedFeatures([skip("b"), skip("c"), skip("d")]))
    skipped.add(skip("e"))
    #expect(skipped.count == 5)
    #expect(skipped.listed.map(\.reason) == ["a", "b"])
    skipped.remove(known: known)
    #expect(skipped.count == 4)
    #expect(skipped.listed.map(\.reason) == ["b"])
  }

  @Test func `a report gathers from many tasks and notes once`() async {
    let report = QueryReport()
    await withTaskGroup { group in
      for index in 0..<50 {
        group.addTask {
          report.add(note: "same")
          report.add(skipped: SkippedFeature(location: .init(), reason: "\(index)"))
        }
      }
    }
    report.add(failure: StoreFailure(store: "s", error: FieldpackError(.io, "gone")))
    #expect(report.current.notes == ["same"])
    #expect(report.current.skipped.listed.count == 50)
    #expect(
      report.current.failures == [StoreFailure(store: "s", error: FieldpackError(.io, "gone"))])
  }
}
