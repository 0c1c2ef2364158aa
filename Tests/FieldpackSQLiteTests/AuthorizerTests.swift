import FieldpackSQLite
import Testing

@Suite struct AuthorizerTests {
  private func database() throws -> Connection {
    let database = try Connection(inMemory: .own)
    try database.executeScript(
      """
      CREATE TABLE t (a);
      CREATE INDEX i ON t (a);
      CREATE TABLE plain_node (a);
      CREATE VIRTUAL TABLE r USING rtree (id, x0, x1);
      INSERT INTO t VALUES (1);
      INSERT INTO r VALUES (1, 0, 1);
      """)
    return database
  }

  @Test(arguments: [
    "SELECT a FROM t", "SELECT count(*) FROM r WHERE x0 <= 1", "PRAGMA user_version",
    "SELECT count(*) > 0 FROM pragma_table_info('t')", "PRAGMA table_info(t)", "EXPLAIN SELECT 1",
    "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 3) SELECT max(i) FROM n",
    "BEGIN", "PRAGMA integrity_check", "SELECT value FROM json_each('[1]')",
    "SELECT * FROM pragma_user_version",
  ])
  func `queries are allowed`(sql: String) throws {
    let database = try database()
    database.setAuthorizer(.readOnlySQL)
    #expect(throws: Never.self) { try database.execute(sql) }
  }

  @Test(arguments: [
    "INSERT INTO t VALUES (2)", "DELETE FROM t", "UPDATE t SET a = 2", "CREATE TABLE u (a)",
    "CREATE TEMP TABLE u (a)", "DROP TABLE t", "ALTER TABLE t RENAME TO u", "ANALYZE", "REINDEX",
    "ATTACH ':memory:' AS other", "DETACH main", "VACUUM", "VACUUM INTO '/tmp/never'",
    "PRAGMA user_version = 3", "PRAGMA journal_mode = OFF", "PRAGMA writable_schema = 1",
    "PRAGMA wal_checkpoint", "PRAGMA temp_store_directory = '/'",
    "INSERT INTO plain_node VALUES (1)",
    "INSERT INTO r VALUES (2, 0, 1)", "DELETE FROM r_node", "UPDATE sqlite_master SET sql = ''",
    "SELECT 1 FROM pragma_optimize",
  ])
  func `whatever writes is refused`(sql: String) throws {
    let database = try database()
    database.setAuthorizer(.readOnlySQL)
    #expect(throws: SQLiteError.self) { try database.execute(sql) }
    #expect(throws: SQLiteError.self) { try database.executeScript("SELECT 1; " + sql) }
    database.setAuthorizer(nil)
    #expect(try database.scalar("SELECT count(*) FROM t, plain_node") == 0)
    #expect(try database.scalar("SELECT count(*) FROM r") == 1)
    #expect(try database.scalar("PRAGMA user_version") == 0)
  }

  @Test func `refusal says so`() throws {
    let database = try database()
    database.setAuthorizer(.readOnlySQL)
    let error = #expect(throws: SQLiteError.self) { try database.execute("DROP TABLE t") }
    #expect(error?.isPermission == true)
    #expect(error?.message == "not authorized")
  }

  @Test func `a statement prepared before is asked again`() throws {
    let database = try database()
    let insert = try database.prepare("INSERT INTO t VALUES (2)")
    try insert.run()
    database.setAuthorizer(.readOnlySQL)
    #expect(throws: SQLiteError.self) { try insert.run() }
  }

  @Test func `a custom authorizer sees each action`() throws {
    let database = try database()
    database.setAuthorizer(.custom { ($0.kind, $0.first, $0.second) != (.read, "t", "a") })
    #expect(try database.scalar("SELECT count(*) FROM t") == 1)
    let error = #expect(throws: SQLiteError.self) { try database.scalar("SELECT a FROM t") }
    #expect(error?.message == "access to t.a is prohibited")
  }

  // They run code at an address, or of a library, that the SQL names.
  @Test(arguments: [
    "SELECT fts3_tokenizer('simple')", "SELECT FTS3_Tokenizer('simple', x'4141414141414141')",
    "SELECT load_extension('x')",
  ])
  func `functions that run foreign code are off in every mode`(sql: String) throws {
    let modes: [Authorizer] = [
      .readOnlySQL, .custom { _ in true }, .changesAndTriggers { _ in true },
    ]
    for profile in [Connection.Profile.foreign, .own, .bulk] {
      let database = try Connection(inMemory: profile)
      // Without an authorizer the switch makes the address NULL.
      #expect((try? database.scalar(sql)) ?? .null == .null)
      for mode in modes {
        database.setAuthorizer(mode)
        #expect(throws: SQLiteError.self, "\(profile) \(mode)") { try database.scalar(sql) }
      }
    }
  }

  @Test func `an address that is bound is refused, too, under an authorizer`() throws {
    let database = try Connection(inMemory: .foreign)
    database.setAuthorizer(.readOnlySQL)
    let error = #expect(throws: SQLiteError.self) {
      try database.prepare("SELECT fts3_tokenizer(?, ?)")
    }
    #expect(error?.message == "not authorized to use function: fts3_tokenizer")
  }
}
