#if PostGIS
  import Fieldpack
  import FieldpackCore
  import FieldpackTestSupport
  import Testing

  @testable import FieldpackPostGIS

  /// Rows that come to a divided layer with one id, and with places on several servers.
  @Suite(.programs, .enabled(if: TestCluster.isInstalled, "\(TestCluster.missing)"))
  struct ShardRepeatedIDTests {
    /// A view whose rows make several pieces.
    private struct Source {
      let pair: ShardLoadTests.Pair
      private let schema: TestSchema
      private let store: PostGISStore

      /// - Parameters:
      ///   - rows: how many rows have the same id, with the depths 1, 2 and so on.
      ///   - isPlaced: whether they have places on all servers, and not all in the store's own part for rows
      ///     without one.
      init(_ ids: ClosedRange<Int>, rows: Int, isPlaced: Bool = true) async throws {
        pair = try await ShardLoadTests.Pair()
        schema = try await TestSchema.make()
        try schema.run(
          """
          CREATE VIEW drawn AS SELECT id, nr AS depth, md5(nr || 'of' || id) || repeat('x', 2000) AS name,
            CASE WHEN \(isPlaced) THEN ST_SetSRID(ST_MakePoint((id * 10 + nr) % 36 * 10 - 175,
              (id * 10 + nr) % 17 * 10 - 80), 4326) END::geometry(Point, 4326) AS geom
          FROM generate_series(\(ids.lowerBound), \(ids.upperBound)) AS id,
            generate_series(1, \(rows)) AS nr ORDER BY id, nr
          """)
        store = schema.store(tables: [.init("drawn", id: "id")])
      }

      func load(
        into target: PostGISStore, _ mode: ImportMode, by order: [Order] = []
      ) async throws(FieldpackError) -> LoadedLayer? {
        let hooked = HookedStore(
          store: store, hook: { () async throws(FieldpackError) in }, order: order)
        var options = LayerLoadOptions()
        options.mode = mode
        let part = LayerPart(from: hooked, "drawn", as: "points", keepsIDs: true)
        return try await target.load([part], options).layers.first
      }

      /// Loads into both layers, and compares them.
      func loadBoth(by order: [Order] = []) async throws {
        let divided = try await load(into: pair.divided, .upsert, by: order)
        let plain = try await load(into: pair.plain, .upsert, by: order)
        #expect(divided?.count == plain?.count)
        #expect(divided?.updatedCount == plain?.updatedCount)
        #expect(try await pair.features(pair.divided) == pair.features(pair.plain))
      }

      /// What the divided layer refuses, without a change.
      func refusal(_ mode: ImportMode, by order: [Order] = []) async throws -> FieldpackError? {
        let before = try await pair.features(pair.divided)
        let error = await #expect(throws: FieldpackError.self) {
          try await load(into: pair.divided, mode, by: order)
        }
        #expect(try await pair.features(pair.divided) == before)
        return error
      }

      func close() async {
        await store.close()
        await pair.close()
      }
    }

    @Test func `an upsert takes the last row of an id, as in a layer that is not divided`()
      async throws
    {
      // The layer has the first half of the ids.
      let source = try await Source(300...500, rows: 10)
      try await source.pair.watch()
      for _ in 0..<2 {
        try await source.loadBoth()
        let ids = Filter.compare(.column("fid"), .greaterOrEqual, .literal(.integer(300)))
        let last = Query("points", where: ids && Column<Int64>("depth") == 10)
        #expect(try await source.pair.divided.count(last) == 201)
      }
      #expect(try source.pair.seen().contains("COPY"))
      await source.close()
    }

    @Test func `rows may come in another order than that of their ids`() async throws {
      let source = try await Source(300...1_300, rows: 1)
      for _ in 0..<2 { try await source.loadBoth(by: [Order("name")]) }
      await source.close()
    }

    @Test(arguments: [ImportMode.append, .upsert], [true, false])
    func `rows of one id far apart are refused, with the id`(
      _ mode: ImportMode, isPlaced: Bool
    ) async throws {
      // No piece of the rows has an id twice.
      let source = try await Source(402...1_000, rows: 2, isPlaced: isPlaced)
      let error = try await source.refusal(mode, by: [Order("depth")])
      #expect(error?.code == .constraint)
      let words = try #require(
        error?.message.firstMatch(of: #/gets two rows with the id (\d+),/#))
      #expect((402...1_000).contains(Int(words.1) ?? 0))
      await source.close()
    }

    @Test(arguments: [true, false])
    func `rows that are added need ids of their own`(isDirect: Bool) async throws {
      let source = try await Source(402...500, rows: 10)
      if !isDirect {
        let schema = quotedUnchecked(source.pair.servers.schema.name)
        try source.pair.servers.schema.run(
          "ALTER TABLE \(schema).points ENABLE ROW LEVEL SECURITY")
      }
      let error = try await source.refusal(.append)
      #expect(error?.code == .constraint)
      #expect(error?.message.contains("gets two rows with the id 4") == true)
      #expect(error?.location.layer == "points")
      let (pair, load) = (source.pair, source.load)
      let plain = await #expect(throws: FieldpackError.self) {
        try await load(pair.plain, .append, [])
      }
      #expect(plain?.code == .constraint)
      await source.close()
    }
  }
#endif
