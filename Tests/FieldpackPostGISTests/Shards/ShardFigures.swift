#if PostGIS
  import FieldpackCore
  import FieldpackGeometry
  import FieldpackTestSupport
  import Foundation
  import Testing

  @testable import FieldpackPostGIS

  /// The number of points to measure with.
  private let shardRows = ProcessInfo.processInfo.environment["FIELDPACK_SHARD_ROWS"].flatMap {
    Int($0)
  }

  /// What queries on divided layers cost, for the article; run with `FIELDPACK_SHARD_ROWS`, the number of
  /// points, such as 1000000. Nothing is asserted of times.
  @Suite(
    .programs, .serialized,
    .enabled(
      if: TestCluster.isInstalled && shardRows != nil,
      "FIELDPACK_SHARD_ROWS is not set, or there is no PostgreSQL"))
  struct ShardFigures {
    static let rows = ProcessInfo.processInfo.environment["FIELDPACK_SHARD_ROWS"].flatMap {
      Int($0)
    }

    @Test(arguments: [1, 2, 4])
    func `times of queries`(count: Int) async throws {
      let rows = try #require(shardRows)
      var clusters: [TestCluster] = []
      for _ in 0..<count {
        clusters.append(
          try TestCluster(settings: ["fsync=off", "full_page_writes=off", "max_wal_size=4GB"]))
      }
      let schema = try TestSchema(clusters[0])
      let servers = ShardServers(schema: schema, others: Array(clusters.dropFirst()))
      try schema.fill(ShardServers.points, [])
      try schema.run(
        """
        SELECT setseed(0.5);
        INSERT INTO points (fid, geom, name, depth)
        SELECT i, ST_SetSRID(ST_MakePoint(5 + random() * 10, 45 + random() * 10), 4326), 'n' || i, i % 13
        FROM generate_series(1, \(rows)) AS i; ANALYZE points
        """)
      let store = servers.store(servers: count - 1, trusted: .seconds(3_600))
      let whole = try await measured(store, rows)
      let clock = ContinuousClock()
      let begun = clock.now
      _ = try await Sharding(of: store).apply("points")
      let apply = Self.seconds(clock.now - begun)
      let divided = try await measured(store, rows)
      #expect(divided.found == whole.found)
      let parts = try #require(try await store.catalogue().layer("points")?.shards?.parts.count)
      print(
        "FIGURES rows \(rows) servers \(count) parts \(parts): apply \(apply) s;",
        "whole \(whole.text); divided \(divided.text)")
      await store.close()
    }

    private struct Times {
      var found: [Int] = []
      var text = ""
    }

    private static func seconds(_ duration: Duration) -> Double {
      Double(duration.wholeMilliseconds) / 1_000
    }

    private func measured(_ store: PostGISStore, _ rows: Int) async throws -> Times {
      var times = Times()
      var random = FilterGenerator.SplitMix(state: 3)
      // About 100 features in a box.
      let side = 10 * (100 / Double(rows)).squareRoot()
      var boxes: [Query] = []
      for _ in 0..<300 {
        let x = Double.random(in: 5...(15 - side), using: &random)
        let y = Double.random(in: 45...(55 - side), using: &random)
        boxes.append(
          Query(
            "points",
            where: .intersects(Envelope(minX: x, minY: y, maxX: x + side, maxY: y + side))))
      }
      let tenth = Envelope(minX: 6, minY: 46, maxX: 9.162, maxY: 49.162)
      for (name, queries) in [
        ("box", boxes), ("box of a tenth", [Query("points", where: .intersects(tenth))]),
        ("all", [Query("points")]),
        ("condition", [Query("points", where: Column<Int64>("depth") > 6)]),
      ] {
        var spans: [Double] = []
        for query in queries.count > 1 ? queries : Array(repeating: queries[0], count: 5) {
          let clock = ContinuousClock()
          let begun = clock.now
          times.found.append(try await store.count(query))
          let span = clock.now - begun
          spans.append(
            Double(span.components.attoseconds) / 1e15 + Double(span.components.seconds) * 1e3)
        }
        let median = spans.sorted()[spans.count / 2]
        times.text += "\(name) \(Double(Int(median * 100)) / 100) ms, "
      }
      var spans: [Double] = []
      for query in boxes {
        let clock = ContinuousClock()
        let begun = clock.now
        var count = 0
        for try await batch in try await store.query(query) { count += batch.count }
        times.found.append(count)
        let span = clock.now - begun
        spans.append(Double(span.components.attoseconds) / 1e15)
      }
      times.text += "rows of a box \(Double(Int(spans.sorted()[spans.count / 2] * 100)) / 100) ms"
      return times
    }
  }
#endif
