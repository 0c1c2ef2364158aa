#if PostGIS
  import FieldpackCore
  import FieldpackGeometry
  import FieldpackTestSupport
  import Testing

  @testable import FieldpackPostGIS

  @Suite(.programs, .enabled(if: TestCluster.isInstalled, "\(TestCluster.missing)"))
  struct PreparedStatementsTests {
    private static let prepared = "SELECT statement FROM pg_prepared_statements ORDER BY statement"

    private func prepared(_ connection: PostgresConnection) throws -> [String] {
      let rows = try connection.execute(Self.prepared)
      return (0..<rows.count).compactMap { rows.text($0, 0) }
    }

    @Test func `a statement is prepared when it comes again`() async throws {
      let connection = try await TestCluster.shared.value.connection()
      let sql = "SELECT $1 + 1"
      #expect(try connection.execute(kept: sql, [.integer(1)]).integer(0, 0) == 2)
      #expect(try prepared(connection) == [])
      #expect(try connection.execute(kept: sql, [.integer(2)]).integer(0, 0) == 3)
      #expect(try connection.execute(kept: sql, [.integer(3)]).integer(0, 0) == 4)
      #expect(try prepared(connection) == [sql])
      // With values of other types it is another statement.
      #expect(try connection.execute(kept: sql, [.real(0.5)]).real(0, 0) == 1.5)
      #expect(try connection.execute(kept: sql, [.real(1.5)]).real(0, 0) == 2.5)
      #expect(try prepared(connection) == [sql, sql])
    }

    @Test func `the server keeps no more statements than it should`() async throws {
      let connection = try await TestCluster.shared.value.connection()
      for number in 0..<100 {
        for _ in 0..<2 {
          let rows = try connection.execute(kept: "SELECT \(number) + $1", [.integer(1)])
          #expect(rows.integer(0, 0) == Int64(number) + 1)
        }
        #expect(try prepared(connection).count <= PreparedStatements.most)
      }
    }

    @Test func `long statements and those of many values are not kept`() async throws {
      let connection = try await TestCluster.shared.value.connection()
      let many = (1...65).map { "$\($0)" }.joined(separator: " + ")
      for (sql, count) in [
        ("SELECT \(many)", 65), ("SELECT $1 /*\(String(repeating: " ", count: 20_000))*/", 1),
      ] {
        for _ in 0..<3 {
          let values = Array(repeating: PostgresValue.integer(1), count: count)
          #expect(try connection.execute(kept: sql, values).integer(0, 0) == Int64(count))
        }
      }
      #expect(try prepared(connection) == [])
    }

    @Test func `a statement that somebody dropped runs all the same`() async throws {
      let connection = try await TestCluster.shared.value.connection()
      for _ in 0..<3 {
        for _ in 0..<2 {
          #expect(try connection.execute(kept: "SELECT $1", [.text("x")]).text(0, 0) == "x")
        }
        try connection.run(script: "DEALLOCATE ALL")
      }
      // An error ends a transaction, and after it the statement runs again.
      for _ in 0..<2 { _ = try connection.execute(kept: "SELECT $1", [.text("x")]) }
      try connection.run(script: "DEALLOCATE ALL")
      let error = #expect(throws: FieldpackError.self) {
        try connection.transaction { () throws(FieldpackError) in
          _ = try connection.execute(kept: "SELECT $1", [.text("x")])
        }
      }
      #expect(error?.sqlState?.text == "26000")
      for _ in 0..<3 {
        #expect(try connection.execute(kept: "SELECT $1", [.text("x")]).text(0, 0) == "x")
      }
      #expect(try prepared(connection) == ["SELECT $1"])
    }

    @Test func `a column that changes is read on all connections`() async throws {
      let schema = try await TestSchema.make()
      try schema.run("CREATE TABLE t (id int PRIMARY KEY, n text); INSERT INTO t VALUES (1, '12')")
      // The catalogue is read anew only where an answer does not fit it.
      let store = PostGISStore(
        id: "survey", address: schema.cluster.address(), scope: schema.scope,
        trusted: .seconds(1_000))
      let types = ["text COLLATE \"C\"", "text", "int USING n::int", "text COLLATE \"C\""]
      for round in 0..<12 {
        try await withThrowingTaskGroup(of: Void.self) { group in
          for _ in 0..<6 {
            group.addTask {
              for _ in 0..<3 { _ = try await store.feature(1, in: "t") }
            }
          }
          try await group.waitForAll()
        }
        let feature = try await store.feature(1, in: "t")
        #expect(feature?.attributes["n"] == (round % 4 == 3 ? .integer(12) : .text("12")))
        try schema.run("ALTER TABLE t ALTER n TYPE \(types[round % 4])")
      }
      await store.close()
    }

    /// The first try may have been on another connection.
    @Test func `a second try does not meet the plans of before`() async throws {
      let schema = try await TestSchema.make()
      try schema.run("CREATE TABLE t (id int PRIMARY KEY, n text); INSERT INTO t VALUES (1, '12')")
      var limits = PostgresLimits()
      limits.connections = 1
      let store = schema.store(limits: limits)
      for _ in 0..<3 { _ = try await store.feature(1, in: "t") }
      try schema.run("ALTER TABLE t ALTER n TYPE text COLLATE \"C\"")
      let tries = Locked(0)
      let feature = try await store.snapshot { (snapshot) throws(FieldpackError) in
        let number = tries.withLock { tries in
          tries += 1
          return tries
        }
        guard number > 1 else {
          throw FieldpackError(.unsupported, "changed", underlying: SQLState("0A000"))
        }
        return try snapshot.feature(1, in: "t")
      }
      #expect(feature?.attributes["n"] == "12")
      await store.close()
    }

    @Test(arguments: [
      ("varchar(12)", Value.text("12")), ("text", .text("12")), ("bigint", .integer(12)),
      ("text COLLATE \"C\"", .text("12")),
    ])
    func `a column gets another type between two queries`(type: String, value: Value) async throws {
      let schema = try await TestSchema.make()
      try schema.run("CREATE TABLE t (id int PRIMARY KEY, n int); INSERT INTO t VALUES (1, 12)")
      let store = schema.store()
      let query = Query("t", where: .compare(.column("id"), .equal, .literal(.integer(1))))
      func found() async throws -> [Value?] {
        var values: [Value?] = []
        for _ in 0..<3 {
          for try await feature in try await store.query(query).features {
            values.append(feature.attributes["n"])
          }
          values.append(try await store.feature(1, in: "t")?.attributes["n"])
        }
        return values
      }
      #expect(try await found() == Array(repeating: .integer(12), count: 6))
      try schema.run("ALTER TABLE t ALTER n TYPE \(type) USING n::text::\(type)")
      #expect(try await found() == Array(repeating: value, count: 6))
      try schema.run("ALTER TABLE t ALTER n TYPE int USING n::text::int, ADD m int")
      #expect(try await found() == Array(repeating: .integer(12), count: 6))
      await store.close()
    }
  }
#endif
