#if PostGIS
  import FieldpackCore
  import FieldpackTestSupport
  import Testing

  @testable import FieldpackPostGIS

  private typealias Fake = FakeMessages

  /// What a server is asked for rows.
  @Suite(.programs) struct FewRowsTests {
    private static let deep = Query("wells", where: Column<Int64>("depth") > 5)
    private static let few = """
      SELECT "fid", ST_AsBinary("geom", 'NDR'), "depth", "name" FROM (SELECT "fid", "geom", "depth", \
      "name" FROM "public"."wells" WHERE "depth" > $1 LIMIT 257) AS fieldpack_few ORDER BY "fid"
      """
    private static let begin = PostgresConnection.Transaction.snapshot.rawValue

    /// The ids in the answer, and the statements for it.
    private func asked(
      _ query: Query, fewRows: Int = 2, times: Int = 1
    ) async throws -> (ids: [FeatureID], statements: [String]) {
      let statements = Locked<[String]>([])
      let words = ["BEGIN", "DECLARE", "FETCH", "CLOSE", "COMMIT", "ROLLBACK"]
      let server = try FakePostgres(answer: { statement in
        let isFew = statement.contains("fieldpack_few") || statement.hasSuffix("LIMIT $1")
        guard isFew || words.contains(where: statement.hasPrefix) else { return nil }
        statements.withLock { $0.append(statement) }
        guard isFew else { return nil }
        let rows = (0..<fewRows).map { Fake.well(Int64($0 + 1)) }
        return .messages(Fake.rows(Fake.wellTypes, rows) + Fake.ready(false))
      })
      let store = server.store()
      var ids: [FeatureID] = []
      for _ in 0..<times {
        for try await feature in try await store.query(query).features {
          if let id = feature.id { ids.append(id) }
        }
      }
      await store.close()
      return (ids, statements.withLock { $0 })
    }

    @Test func `few rows take one statement`() async throws {
      let (ids, statements) = try await asked(Self.deep)
      #expect(ids == [1, 2])
      #expect(statements == [Self.few])
      let most = try await asked(Self.deep, fewRows: 256)
      #expect(most.ids.count == 256)
      #expect(most.statements == [Self.few])
    }

    @Test func `rows that are not few are asked for anew, a part at a time`() async throws {
      let (ids, statements) = try await asked(Self.deep, fewRows: 257)
      #expect(ids == [1, 2])
      #expect(
        statements == [
          Self.few, Self.begin,
          """
          DECLARE fieldpack_1 NO SCROLL CURSOR FOR SELECT "fid", ST_AsBinary("geom", 'NDR'), "depth", \
          "name" FROM "public"."wells" WHERE "depth" > $1 ORDER BY "fid"
          """,
          "FETCH FORWARD 256 FROM fieldpack_1", "CLOSE fieldpack_1", "ROLLBACK",
        ])
    }

    @Test(.enabled(if: TestCluster.isInstalled, "\(TestCluster.missing)"))
    func `an explanation shows what is asked, in its order`() async throws {
      let schema = try await TestSchema.make()
      try schema.run(
        """
        CREATE TABLE wells (fid int PRIMARY KEY, geom geometry(Point, 4326), depth bigint, name text);
        INSERT INTO wells (fid, depth) SELECT n, n FROM generate_series(1, 1000) AS n; ANALYZE wells;
        """)
      let store = schema.store()
      let explained = try await store.explain(Self.deep)[0]
      let few = Self.few.replacing("\"public\"", with: "\"\(schema.name)\"")
      #expect(explained.sql == few && explained.parameters == [.integer(5)])
      let more = try #require(explained.plan.firstIndex { $0.hasPrefix("where there are more") })
      #expect(
        explained.plan[more] == """
          where there are more than 256 rows: SELECT "fid", ST_AsBinary("geom", 'NDR'), "depth", "name" \
          FROM "\(schema.name)"."wells" WHERE "depth" > $1 ORDER BY "fid"
          """)
      #expect(explained.plan[..<more].contains { $0.contains("Limit") })
      let cursor = explained.plan[(more + 1)...]
      #expect(cursor.contains { $0.contains("wells") } && !cursor.contains { $0.contains("Limit") })
      let limited = try await store.explain(Query("wells").limit(2))[0]
      #expect(limited.sql.hasSuffix("LIMIT $1") && limited.plan[0].hasPrefix("Limit"))
      #expect(!limited.plan.contains { $0.hasPrefix("where there are more") })
      let whole = try await store.explain(Query("wells"))[0]
      #expect(whole.sql.hasSuffix("\"wells\" ORDER BY \"fid\""))
      #expect(!whole.plan.contains { $0.hasPrefix("where there are more") })
      await store.close()
    }

    @Test func `a prepared statement is asked as before`() async throws {
      let (ids, statements) = try await asked(Self.deep, times: 3)
      #expect(ids == [1, 2, 1, 2, 1, 2])
      #expect(statements == [Self.few, Self.few, Self.few])
    }

    @Test func `a small limit takes one statement, and a layer without a condition a cursor`()
      async throws
    {
      let limited = try await asked(Query("wells").limit(2))
      #expect(limited.ids == [1, 2])
      #expect(limited.statements.count == 1)
      let whole = try await asked(Query("wells"))
      #expect(whole.ids == [1, 2])
      #expect(
        whole.statements.map { $0.prefix { $0 != " " } }
          == ["BEGIN", "DECLARE", "FETCH", "CLOSE", "ROLLBACK"])
    }
  }
#endif
