import FieldpackCore
import FieldpackGeometry

extension StoreConformance {
  public static let reading: [StoreConformance] = order + selection + errors + visits

  private static let order = [
    StoreConformance("lists layers in order with kinds, counts and extents") { store in
      let layers = try await store.layers()
      try same(layers.map(\.id), ["wells", "springs", "remarks"])
      try same(layers.map(\.kind), [.features, .features, .attributes])
      try same(layers.map(\.featureCount), [5, 2, 1])
      try same(
        layers.map(\.envelope),
        [
          Envelope(minX: 13, minY: 52, maxX: 16, maxY: 55),
          Envelope(minX: -61, minY: -31, maxX: -60, maxY: -30), nil,
        ])
    },
    StoreConformance("gives whole features by layer and ascending id") { store in
      let expected = layers.flatMap { stored($0.layer, in: store) }
      try same(try await store.all(Query()), expected)
    },
    StoreConformance("asks the layers in the order they are named") { store in
      try same(
        try await store.keys(Query("remarks", "springs")),
        ["remarks/5", "springs/1", "springs/2"])
    },
    StoreConformance("counts limit and offset across layers") { store in
      let query = Query("wells", "springs")
      try same(
        try await store.keys(query.limit(3, offset: 4)), ["wells/9", "springs/1", "springs/2"])
      try same(try await store.keys(query.limit(2, offset: 5)), ["springs/1", "springs/2"])
      try same(try await store.keys(query.offset(6)), ["springs/2"])
      try same(try await store.keys(query.limit(0)), [])
      try same(try await store.keys(query.offset(100)), [])
      try same(try await store.count(query.limit(3, offset: 4)), 3)
      try same(try await store.count(query.offset(6)), 1)
      try same(try await store.count(query.offset(100)), 0)
    },
    StoreConformance("merges layers by the order, NULL first and ties by layer and id") { store in
      let all = [
        "wells/4", "springs/2", "wells/2", "wells/9", "springs/1", "remarks/5", "wells/7",
        "wells/1",
      ]
      let query = Query().order(by: [Order("visits")])
      try same(try await store.keys(query), all)
      try same(try await store.keys(query.limit(4, offset: 1)), Array(all[1..<5]))
      let falling = Query().order(by: [Order("visits", descending: true)])
      try same(
        try await store.keys(falling),
        [
          "wells/1", "wells/7", "wells/2", "wells/9", "springs/1", "remarks/5", "wells/4",
          "springs/2",
        ])
    },
    StoreConformance("sorts by several columns, texts by code point") { store in
      let query = Query("wells", "springs").order(by: [
        Order("name"), Order("visits", descending: true),
      ])
      try same(
        try await store.keys(query),
        ["wells/9", "springs/2", "wells/1", "springs/1", "wells/4", "wells/2", "wells/7"])
    },
    StoreConformance("sorts by the id, and a layer without the column as NULL") { store in
      try same(
        try await store.keys(Query("wells").order(by: [Order("fid", descending: true)])),
        ["wells/9", "wells/7", "wells/4", "wells/2", "wells/1"])
      try same(
        try await store.keys(Query("springs", "remarks").order(by: [Order("flow")])),
        ["remarks/5", "springs/2", "springs/1"])
    },
  ]

  private static let selection = [
    StoreConformance("gives the columns asked, in their order and in any case") { store in
      let query = Query("wells", "springs").select("VISITS", "name")
      var names: [[String]] = []
      for try await batch in try await store.query(query) {
        names.append(batch.schema.columns.map(\.name))
      }
      try same(names, [["visits", "name"], ["visits", "name"]])
      let first = try await store.all(query.limit(1)).first
      try same(first?.attributes, ["visits": 3, "name": "Mitte"])
    },
    StoreConformance("leaves a selected column out where a layer lacks it") { store in
      let names = try await store.all(Query("wells", "springs").select("flow", "visits"))
        .map { $0.attributes.names.joined(separator: " ") }
      try same(names, Array(repeating: "visits", count: 5) + ["flow visits", "flow visits"])
    },
    StoreConformance("leaves geometry out when told to") { store in
      let features = try await store.all(Query("springs").withoutGeometry())
      try same(features.map(\.geometry), [nil, nil])
    },
    StoreConformance("gives geometries in the SRS asked") { store in
      let query = Query("springs").transformed(to: SRS("EPSG", 3857))
      for try await batch in try await store.query(query) {
        try same(batch.schema.geometry?.srs, SRS("EPSG", 3857))
        let feature = try batch.feature(at: 0)
        guard case .point(let position?, _)? = feature.geometry else {
          throw ConformanceFailure(description: "no point")
        }
        try same((position.x / 100).rounded(), -66792)
        try same((position.y / 100).rounded(), -35035)
      }
    },
    StoreConformance("answers conditions and counts them") { store in
      let box = Envelope(minX: 13.5, minY: 50, maxX: 20, maxY: 54)
      let cases: [(Filter, [String])] = [
        (.intersects(box), ["wells/2", "wells/4"]),
        (.not(.intersects(box)), ["wells/1", "wells/7"]),
        (Column<Int64>("visits") > 1, ["wells/1", "wells/7"]),
        (.intersects(box) && Column<Int64>("visits") == 1, ["wells/2"]),
        (.isNull(.column("name")), ["wells/9"]),
        (.intersects(.point(x: 16, y: 55)), ["wells/7"]),
      ]
      for (filter, expected) in cases {
        try same(try await store.keys(Query("wells", where: filter)), expected, "\(filter)")
        try same(try await store.count(Query("wells", where: filter)), expected.count, "\(filter)")
      }
    },
    StoreConformance("finds a feature by its id") { store in
      let expected = stored("wells", in: store)
      try same(try await store.feature(7, in: "wells"), expected[3])
      try same(try await store.feature(3, in: "wells"), nil)
      try same(try await store.feature("seven", in: "wells"), nil)
    },
    StoreConformance("explains each layer") { store in
      let explanations = try await store.explain(Query("wells", "springs"))
      try same(explanations.map(\.layer), ["wells", "springs"])
    },
  ]

  private static let errors = [
    StoreConformance("says that a layer is missing") { store in
      let code = FieldpackError.Code.notFound
      try same(try await errorCode { _ = try await store.query(Query("wels")) }, code)
      try same(try await errorCode { _ = try await store.count(Query("wels")) }, code)
      try same(try await errorCode { _ = try await store.feature(1, in: "wels") }, code)
    },
    StoreConformance("leaves out layers that lack a filtered column, with a note") { store in
      let deep = Query(where: Column<Double>("depth") > 1)
      let batches = try await store.query(deep)
      var keys: [String] = []
      for try await batch in batches { keys += batch.ids.map { "\($0)" } }
      try same(keys, ["1", "7"])
      try same(batches.report.current.notes.count, 2, "\(batches.report.current.notes)")
      try same(try await store.count(deep), 2)
    },
    StoreConformance("says that a column is missing where its layer was named") { store in
      let code = FieldpackError.Code.notFound
      let named = Query("springs", where: Column<Double>("depth") > 1)
      try same(try await errorCode { _ = try await store.query(named) }, code)
      let none = Query(where: Column<Double>("height") > 1)
      try same(try await errorCode { _ = try await store.query(none) }, code)
      try same(try await errorCode { _ = try await store.query(Query().select("height")) }, code)
      let sorted = Query().order(by: [Order("height")])
      try same(try await errorCode { _ = try await store.query(sorted) }, code)
    },
    StoreConformance("refuses calls after it was closed") { store in
      await store.close()
      let code = FieldpackError.Code.unavailable
      try same(try await errorCode { _ = try await store.layers() }, code)
      try same(try await errorCode { _ = try await store.keys(Query()) }, code)
    },
  ]

  private static let visits = [
    StoreConformance("starts every iteration anew, several at once") { store in
      let batches = try await store.query(Query())
      var first = batches.features.makeAsyncIterator()
      var second = batches.features.makeAsyncIterator()
      var ids: [FeatureID?] = []
      for _ in 0..<3 {
        ids.append(try await first.next(isolation: nil)?.id)
        ids.append(try await second.next(isolation: nil)?.id)
      }
      try same(ids, [1, 1, 2, 2, 4, 4])
    },
    StoreConformance("gives back what a query held when it is dropped or cancelled") { store in
      for _ in 0..<100 {
        var iterator = try await store.query(Query()).makeAsyncIterator()
        _ = try await iterator.next()
      }
      for _ in 0..<100 {
        let task = Task {
          for try await _ in try await store.query(Query()) {
            try await Task.sleep(for: .seconds(9))
          }
        }
        task.cancel()
        _ = await task.result
      }
      try same(try await store.keys(Query()).count, 8)
    },
    StoreConformance("closes while a query is half read") { store in
      var iterator = try await store.query(Query()).makeAsyncIterator()
      _ = try await iterator.next()
      await store.close()
      try same(try await errorCode { _ = try await iterator.next() }, .unavailable)
    },
    StoreConformance("reads one state in one visit") { store in
      let (layers, count, feature) = try await store.read { (snapshot) throws(FieldpackError) in
        (
          try snapshot.layers().count, try snapshot.count(Query()),
          try snapshot.feature(2, in: "springs")
        )
      }
      try same(layers, 3)
      try same(count, 8)
      try same(feature, stored("springs", in: store)[1])
    },
    StoreConformance("announces every layer to a sink, also those without a match") { store in
      let filter = Column<Int64>("visits") > 2
      let sink = try await store.scan(Query(where: filter), into: Announcements())
      try same(Set(sink.layers), ["wells", "springs", "remarks"])
      try same(sink.rows, ["wells/1"])
    },
  ]

  private struct Announcements: FeatureSink, Sendable {
    var layers: [LayerID] = []
    var rows: [String] = []

    mutating func begin(_ schema: Schema) { layers.append(schema.layer) }
    mutating func feature(_ row: borrowing some FeatureRow & ~Copyable) {
      rows.append("\(layers.last?.rawValue ?? "")/\(row.id)")
    }
  }
}
