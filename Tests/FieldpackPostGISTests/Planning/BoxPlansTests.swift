#if PostGIS
  import FieldpackCore
  import FieldpackGeometry
  import FieldpackTestSupport
  import Testing

  @testable import FieldpackPostGIS

  @Suite(.programs, .enabled(if: TestCluster.isInstalled, "\(TestCluster.missing)"))
  struct BoxPlansTests {
    private static let boxes = [
      Envelope(minX: 0, minY: 0, maxX: 0.5, maxY: 0.25),
      Envelope(minX: 2, minY: 3, maxX: 4, maxY: 4),
      Envelope(minX: 170, minY: -10, maxX: -170, maxY: 10),
      Envelope(minX: -9, minY: 1, maxX: .infinity, maxY: 2),
    ]

    private static let relations: [(EnvelopeRelation, SRS?)] = [
      (.intersects, nil), (.within, nil), (.contains, .wgs84), (.disjoint, nil),
      (.intersects, SRS("EPSG", 3857)),
    ]

    private static func described(
      _ plan: () throws(FieldpackError) -> PostGISPlan
    ) -> [String] {
      do throws(FieldpackError) { return described(try plan()) } catch { return [error.message] }
    }

    private static func described(_ plan: PostGISPlan) -> [String] {
      plan.layers.map { layer in
        let whole = layer.statement()
        let few = layer.few(limit: nil, offset: 0)
        return "\(plan.query) \(layer.name) \(layer.isExact) \(whole) \(few?.sql ?? "-") "
          + "\(few?.values ?? [])"
      }
    }

    @Test func `a plan for another box is the plan for this one`() async throws {
      let schema = try await TestSchema.make()
      try schema.run(
        """
        CREATE TABLE a (id int PRIMARY KEY, n int, g geometry(Point, 4326));
        CREATE TABLE b (id int PRIMARY KEY, n int, g geometry(Polygon, 3857));
        CREATE TABLE c (id int PRIMARY KEY, g geometry);
        CREATE TABLE d (id int PRIMARY KEY, g geography(Point, 4326));
        """)
      let store = schema.store()
      let catalogue = try await store.catalogue()
      for layers: [LayerID] in [["a"], ["b"], ["c"], ["d"], ["a", "b"]] {
        for (relation, srs) in Self.relations {
          for box in Self.boxes + Self.boxes {
            let query = Query(layers: layers, where: .envelope(relation, box, srs: srs))
            let planner = PostGISPlanner(catalogue: catalogue)
            let fresh = PostGISPlanner(
              catalogue: PostGISCatalogue(store: catalogue.store, layers: catalogue.layers))
            let expected = Self.described { () throws(FieldpackError) in try fresh.newPlan(query) }
            #expect(
              Self.described { () throws(FieldpackError) in try planner.plan(query) } == expected)
          }
        }
      }
      await store.close()
    }

    @Test func `boxes of any number of points find just these`() async throws {
      let schema = try await TestSchema.make()
      try schema.run(
        """
        CREATE TABLE a (id int PRIMARY KEY, g geometry(Point, 4326));
        CREATE INDEX ON a USING gist (g);
        INSERT INTO a SELECT i, ST_SetSRID(ST_Point(i / 100.0, 1), 4326)
          FROM generate_series(1, 1000) i;
        """)
      let store = schema.store()
      for count in [0, 1, 255, 256, 257, 258, 600, 256, 0] {
        let last = 0.105 + Double(count) / 100
        let box = Envelope(minX: 0.105, minY: 0, maxX: last, maxY: 2)
        let expected = (0..<count).map { FeatureID.integer(Int64(11 + $0)) }
        let query = Query("a", where: .intersects(box))
        var found: [FeatureID] = []
        for try await feature in try await store.query(query).features {
          if let id = feature.id { found.append(id) }
        }
        #expect(found == expected)
        let ids = try await store.read { (snapshot) throws(FieldpackError) in
          var sink = Gathering()
          try snapshot.scan(query, into: &sink)
          try snapshot.scan(query.order(by: [Order("id", descending: true)]), into: &sink)
          return sink.ids
        }
        #expect(ids == expected + expected.reversed())
      }
      await store.close()
    }

    private struct Gathering: FeatureSink, Sendable {
      var ids: [FeatureID] = []
      mutating func begin(_ schema: Schema) {}
      mutating func feature(_ row: borrowing some FeatureRow & ~Copyable) { ids.append(row.id) }
    }
  }
#endif
