import FieldpackCore
import FieldpackGeometry

extension StoreConformance {
  public static let writing: [StoreConformance] = features + transactions + schemas

  private static let features = [
    StoreConformance(writing: "gives new features free ids, or those they ask for") { store in
      let ids = try await store.write { (writer) throws(FieldpackError) in
        [
          try writer.create(Feature(), in: "wells"),
          try writer.create(Feature(id: 20), in: "wells"),
          try writer.create(Feature(), in: "wells"),
          try writer.create(Feature(id: -3), in: "wells"),
        ]
      }
      try same(ids, [10, 20, 21, -3])
      try same(
        try await errorCode {
          try await store.write { (writer) throws(FieldpackError) in
            _ = try writer.create(Feature(id: 7), in: "wells")
          }
        }, .constraint)
    },
    StoreConformance(writing: "changes what is named and clears what is NULL") { store in
      try await store.write { (writer) throws(FieldpackError) in
        try writer.update(1, in: "wells", set: ["depth": .null, "NAME": "Ost"])
        try writer.update(7, in: "wells", geometry: .set(nil))
        try writer.update(9, in: "wells", geometry: .set(.point(x: 20, y: 60)))
        try writer.update(2, in: "wells")
      }
      var expected = stored("wells", in: store)
      expected[0].attributes["depth"] = .null
      expected[0].attributes["name"] = "Ost"
      expected[3].geometry = nil
      expected[4].geometry = .point(x: 20, y: 60)
      try same(try await store.all(Query("wells")), expected)
      let extent = try await store.layers().first?.envelope
      try same(extent, Envelope(minX: 13, minY: 52, maxX: 20, maxY: 60))
    },
    StoreConformance(writing: "creates or replaces by id") { store in
      _ = try await store.write { (writer) throws(FieldpackError) in
        try writer.upsert(Feature(id: 1, attributes: ["visits": 8]), in: "wells")
        try writer.upsert(Feature(id: 30, attributes: ["name": "neu"]), in: "wells")
      }
      var first = stored("wells", in: store)[0]
      first.attributes["visits"] = 8
      try same(try await store.feature(1, in: "wells"), first)
      try same(
        try await store.feature(30, in: "wells")?.attributes,
        ["name": "neu", "depth": .null, "visits": .null, "seen": .null])
    },
    StoreConformance(writing: "deletes, and says what is not there to change") { store in
      try await store.write { (writer) throws(FieldpackError) in
        try writer.delete(4, in: "wells")
        try writer.delete(7, in: "wells")
      }
      try same(try await store.keys(Query("wells")), ["wells/1", "wells/2", "wells/9"])
      let box = Envelope(minX: 13, minY: 52, maxX: 14, maxY: 53)
      try same(try await store.layers().first?.envelope, box)
      for id: FeatureID in [4, "four"] {
        let deleting = try await errorCode {
          try await store.write { (writer) throws(FieldpackError) in
            try writer.delete(id, in: "wells")
          }
        }
        let updating = try await errorCode {
          try await store.write { (writer) throws(FieldpackError) in
            try writer.update(id, in: "wells", set: ["name": "x"])
          }
        }
        try same([deleting, updating], [.notFound, .notFound])
      }
    },
    StoreConformance(writing: "refuses values, columns and geometries that do not fit") { store in
      let bad: [(Feature, FieldpackError.Code)] = [
        (Feature(attributes: ["visits": "many"]), .invalidData),
        (Feature(attributes: ["visits": 1.5]), .invalidData),
        (Feature(attributes: ["height": 1]), .notFound),
        (Feature(geometry: .lineString(CoordinateSequence())), .invalidData),
        (Feature(id: "text"), .notFound),
      ]
      for (feature, expected) in bad {
        let found = try await errorCode {
          try await store.write { (writer) throws(FieldpackError) in
            _ = try writer.create(feature, in: "wells")
          }
        }
        try same(found, expected, "\(feature)")
      }
    },
  ]

  private static let stop = FieldpackError(.interrupted, "enough")

  private static let transactions = [
    StoreConformance(writing: "changes all or nothing") { store in
      let before = try await store.all(Query())
      let layers = try await store.layers()
      let found = try await errorCode {
        try await store.write { (writer) throws(FieldpackError) in
          try writer.delete(1, in: "wells")
          try writer.createLayer(Schema(layer: "more", columns: [ColumnDefinition("a", .text())]))
          _ = try writer.create(Feature(attributes: ["a": "b"]), in: "more")
          try writer.renameLayer("springs", to: "sources")
          try writer.removeLayer("remarks")
          throw stop
        }
      }
      try same(found, .interrupted)
      try same(try await store.all(Query()), before)
      try same(try await store.layers(), layers)
    },
    StoreConformance(writing: "goes on after an error that the caller has dealt with") { store in
      let layers = try await store.layers().map(\.id)
      try await store.write { (writer) throws(FieldpackError) in
        try writer.delete(1, in: "wells")
        do { try writer.create(Feature(id: 2), in: "wells") } catch {}
        do { try writer.addColumns([ColumnDefinition("name", .text())], to: "wells") } catch {}
        let twice = [ColumnDefinition("a", .text()), ColumnDefinition("A", .text())]
        do { try writer.createLayer(Schema(layer: "b", columns: twice)) } catch {}
        try writer.create(Feature(id: 3), in: "springs")
      }
      try same(
        try await store.keys(Query("wells", "springs")),
        ["wells/2", "wells/4", "wells/7", "wells/9", "springs/1", "springs/2", "springs/3"])
      try same(try await store.layers().map(\.id), layers)
    },
    StoreConformance(writing: "lets a query end on the state it began with") { store in
      try await store.write { (writer) throws(FieldpackError) in
        try writer.update(1, in: "wells", set: ["visits": 3])
      }
      let batches = try await store.query(Query("wells", "springs"))
      var iterator = batches.makeAsyncIterator()
      var seen = try await iterator.next()?.count ?? 0
      try await store.write { (writer) throws(FieldpackError) in
        for id: FeatureID in [1, 2] { try writer.delete(id, in: "springs") }
      }
      while let batch = try await iterator.next() { seen += batch.count }
      try same(seen, 7)
      try same(try await store.count(Query("wells", "springs")), 5)
    },
    StoreConformance(writing: "sees its own changes while it writes") { store in
      let found = try await store.write { (writer) throws(FieldpackError) in
        let id = try writer.create(Feature(attributes: ["name": "neu"]), in: "springs")
        return try writer.feature(id, in: "springs")?.attributes["name"]
      }
      try same(found, "neu")
    },
  ]

  private static let schemas = [
    StoreConformance(writing: "creates layers as they are described") { store in
      let schema = Schema(
        layer: "paths", idColumn: "id",
        geometry: GeometryColumn(
          "way", type: .multiLineString, srs: SRS("EPSG", 25833), z: .mandatory),
        columns: [
          ColumnDefinition("name", .text(maximumLength: 20), isNullable: false, defaultSQL: "'-'"),
          ColumnDefinition("tags", .json), ColumnDefinition("ref", .integer, isUnique: true),
        ])
      try await store.write { (writer) throws(FieldpackError) in try writer.createLayer(schema) }
      let found = try await store.layers().last?.schema
      try same(found?.layer, schema.layer)
      try same(found?.idColumn, schema.idColumn)
      try same(found?.geometry, schema.geometry)
      try same(found?.columns.map(\.type), schema.columns.map(\.type))
      try same(found?.columns.map(\.isNullable), [false, true, true])
      try same(found?.columns.map(\.isUnique), [false, false, true])
      let again = try await errorCode {
        try await store.write { (writer) throws(FieldpackError) in try writer.createLayer(schema) }
      }
      try same(again, .cannotCreate)
    },
    StoreConformance(writing: "adds columns, renames and removes layers") { store in
      try await store.write { (writer) throws(FieldpackError) in
        try writer.addColumns([ColumnDefinition("owner", .text())], to: "wells")
        try writer.update(1, in: "wells", set: ["owner": "me"])
        try writer.renameLayer("wells", to: "Brunnen")
        try writer.removeLayer("remarks")
      }
      try same(try await store.layers().map(\.id), ["Brunnen", "springs"])
      try same(try await store.feature(1, in: "Brunnen")?.attributes["owner"], "me")
      let box = Envelope(minX: 12, minY: 51, maxX: 14, maxY: 53)
      try same(
        try await store.keys(Query("Brunnen", where: .intersects(box))),
        ["Brunnen/1", "Brunnen/2"])
      _ = try await store.write { (writer) throws(FieldpackError) in
        try writer.create(Feature(geometry: .point(x: 13.5, y: 52.5)), in: "Brunnen")
      }
      try same(try await store.count(Query("Brunnen", where: .intersects(box))), 3)
    },
  ]
}
