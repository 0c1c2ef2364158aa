#if PostGIS
  import FieldpackCore
  import FieldpackGeoPackage
  import FieldpackGeometry
  import FieldpackTestSupport
  import Testing

  @testable import FieldpackPostGIS

  /// What a reader leaves behind at the server.
  @Suite(.programs, .enabled(if: TestCluster.isInstalled, "\(TestCluster.missing)"))
  struct PostGISReadingTests {
    private struct Counting: FeatureSink {
      var count = 0
      mutating func begin(_ schema: Schema) {}
      mutating func feature(_ row: borrowing some FeatureRow & ~Copyable) { count += 1 }
    }

    private struct Piece: PieceSink {
      var isFull: Bool { true }
      mutating func begin(_ schema: Schema) {}
      mutating func feature(_ row: borrowing some FeatureRow & ~Copyable) {}
    }

    @Test(arguments: [
      Query("a").limit(1).skippingErrors(),
      Query("a", "b").order(by: [Order("n")]).limit(3).skippingErrors(),
      Query("a").nearest(to: .point(x: 0, y: 0), count: 2, metric: .planar),
    ])
    func `a table can be changed after the last row that is wanted`(query: Query) async throws {
      let schema = try await TestSchema.make()
      try schema.run(
        """
        CREATE TABLE a (id int PRIMARY KEY, n int, g geometry(Point, 4326));
        CREATE INDEX ON a USING gist (g);
        INSERT INTO a SELECT i, i, ST_SetSRID(ST_Point(i / 100.0, 1), 4326)
          FROM generate_series(1, 1000) i;
        CREATE TABLE b AS SELECT * FROM a;
        ALTER TABLE b ADD PRIMARY KEY (id);
        """)
      let connection = try schema.cluster.connection()
      var sink = Counting()
      try connection.transaction { () throws(FieldpackError) in
        let snapshot = try PostGISSnapshot(connection, scope: schema.scope, store: "survey")
        try snapshot.scan(query, into: &sink)
        let name = quotedUnchecked(schema.name)
        try connection.execute("ALTER TABLE \(name).a ADD COLUMN more int")
        try connection.execute("ALTER TABLE \(name).b ADD COLUMN more int")
      }
      #expect(sink.count == query.limit ?? 2)
    }

    private func failure(_ read: () async throws -> Void) async -> FieldpackError? {
      do { try await read() } catch { return error as? FieldpackError }
      return nil
    }

    /// On a Unix socket not all that comes is counted while it comes.
    @Test(arguments: [(900_000, true), (1_100_000, false)])
    func `a row is as long as the limit says, however it comes`(length: Int, isRead: Bool)
      async throws
    {
      let schema = try await TestSchema.make()
      try schema.run(
        "CREATE TABLE t (id int PRIMARY KEY, n int, v text); "
          + "INSERT INTO t VALUES (1, 5, repeat('x', \(length)))")
      var limits = PostgresLimits()
      limits.answerBytes = 1 << 20
      let store = schema.store(limits: limits)
      let sorted = Query("t").order(by: [Order("n")])
      let first = Query("t", where: .compare(.column("id"), .equal, .literal(.integer(1))))
      let reads: [@Sendable () async throws -> Void] = [
        { for try await _ in try await store.query(first) {} },
        { for try await _ in try await store.pieces(of: Query("t"), into: { Piece() }) {} },
        { for try await _ in try await store.query(sorted) {} },
      ]
      for read in reads {
        let error = await failure(read)
        #expect(error?.code == (isRead ? nil : .unsupported))
        #expect(isRead || error?.message.contains("more than 1 MiB at a time") == true)
      }
      await store.close()
    }

    @Test func `the policies of a table cannot write when it is read`() async throws {
      let schema = try await TestSchema.make()
      let (name, user) = (quotedUnchecked(schema.name), "role_" + schema.name)
      let role = quotedUnchecked(user)
      try schema.run(
        """
        CREATE TABLE seen (id int);
        CREATE FUNCTION see(id int) RETURNS boolean LANGUAGE plpgsql AS
          'BEGIN INSERT INTO \(name).seen VALUES (id); RETURN true; END';
        CREATE TABLE t (id int PRIMARY KEY, g geometry);
        INSERT INTO t SELECT i, ST_SetSRID(ST_Point(i, 1), 4326) FROM generate_series(1, 9) AS i;
        ALTER TABLE t ENABLE ROW LEVEL SECURITY;
        CREATE POLICY p ON t USING (\(name).see(id));
        CREATE ROLE \(role) LOGIN;
        GRANT USAGE ON SCHEMA \(name) TO \(role);
        GRANT SELECT ON t TO \(role);
        GRANT INSERT, SELECT ON seen TO \(role);
        """)
      var address = schema.cluster.address()
      address.keywords = address.keywords.map { $0.name == "user" ? ($0.name, user) : $0 }
      let store = PostGISStore(id: "survey", address: address, scope: schema.scope, trusted: .zero)
      let second = Filter.compare(.column("id"), .equal, .literal(.integer(2)))
      for query in [Query("t"), Query("t").limit(1), Query("t", where: second)] {
        let error = await #expect(throws: FieldpackError.self) {
          for try await _ in try await store.query(query) {}
        }
        #expect(error?.code == .readOnly)
      }
      #expect(try await store.count(Query("seen")) == 0)
      await store.close()
      try schema.run("DROP OWNED BY \(role); DROP ROLE \(role)")
    }

    @Test func `a cancelled reader of pieces ends its statement at the server`() async throws {
      let schema = try await TestSchema.make()
      try schema.run(
        "CREATE VIEW slow AS SELECT 1 AS id, pg_sleep(1000)::text AS n, 'the slow one'::text AS t")
      let store = schema.store(tables: [.init("slow", id: "id")])
      let task = Task {
        let pieces = try await store.pieces(of: Query("slow")) { Piece() }
        for try await _ in pieces {}
      }
      let watching = try schema.cluster.connection()
      let running =
        "SELECT FROM pg_stat_activity WHERE query LIKE 'COPY%\(schema.name)%slow%' "
        + "AND state = 'active' AND pid <> pg_backend_pid()"
      while try watching.execute(running).count == 0 { await Task.yield() }
      task.cancel()
      await #expect(throws: FieldpackError.self) { try await task.value }
      while try watching.execute(running).count > 0 { await Task.yield() }
      await store.close()
    }
  }
#endif
