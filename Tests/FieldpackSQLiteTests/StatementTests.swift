import FieldpackSQLite
import Testing

@Suite struct StatementTests {
  private func connection() throws -> Connection { try Connection(inMemory: .own) }

  @Test func `values come back as they were bound`() throws {
    let values: [SQLiteValue] = [
      nil, 42, 1.5, "naïve\u{0}🗺", "", .blob([0, 255]), .blob([]), .integer(.min),
    ]
    let database = try connection()
    let statement = try database.prepare("SELECT ?, ?, ?, ?, ?, ?, ?, ?")
    try statement.bind(values)
    #expect(try statement.step())
    #expect((0..<8).map { statement.value($0) } == values)
    #expect(try statement.step() == false)
  }

  @Test func `statements that differ in the spelling of a character are not confused`() throws {
    let database = try connection()
    let spellings = ["\u{e9}", "e\u{301}"]
    for name in spellings { try database.execute("CREATE TABLE \"\(name)\" (a)") }
    for (index, name) in spellings.enumerated() {
      let insert = try database.prepare("INSERT INTO \"\(name)\" VALUES (?)")
      try insert.bind(index, at: 1)
      try insert.run()
    }
    for (index, name) in spellings.enumerated() {
      let value = try database.scalar("SELECT a FROM \"\(name)\"")
      #expect(value == .integer(Int64(index)))
    }
  }

  @Test func `done is latched until reset`() throws {
    let statement = try connection().prepare("SELECT 1")
    #expect(try statement.step())
    #expect(try statement.step() == false)
    #expect(try statement.step() == false)
    statement.reset()
    #expect(try statement.step())
  }

  @Test func `a failed statement does not begin again`() throws {
    let database = try connection()
    try database.execute("CREATE TABLE t (a UNIQUE)")
    let statement = try database.prepare("INSERT INTO t VALUES (1), (1)")
    #expect(throws: SQLiteError.self) { try statement.step() }
    #expect(try statement.step() == false)
    #expect(try database.scalar("SELECT count(*) FROM t") == 0)
  }

  @Test func `bytes are lent where they lie`() throws {
    let statement = try connection().prepare("SELECT 'abc', x'0102', '', x'', NULL, 12")
    #expect(try statement.step())
    let lent = (0..<6).map { column in
      statement.withBytes(column) { span in span.withUnsafeBytes { [UInt8]($0) } }
    }
    #expect(lent == [[97, 98, 99], [1, 2], [], [], [], [49, 50]])
  }

  @Test func `columns tell name and storage class`() throws {
    let database = try connection()
    try database.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, \"a\"\"b\" VARCHAR(3), c)")
    try database.execute("INSERT INTO t VALUES (1, 'x', 2.5)")
    let statement = try database.prepare("SELECT *, 1 + 1 AS sum FROM t")
    #expect(try statement.step())
    #expect(statement.columnNames == ["id", "a\"b", "c", "sum"])
    #expect((0..<4).map(statement.kind) == [.integer, .text, .real, .integer])
    #expect(statement.string(2) == "2.5")
    #expect(statement.kind(99) == .null)
    #expect(statement.columnName(-1) == "")
  }

  @Test func `parameters have a range`() throws {
    let statement = try connection().prepare("SELECT :a, ?, @b")
    #expect(statement.parameterCount == 3)
    #expect(statement.isReadOnly)
    for index in [-1, 0, 4, Int.max] {
      let error = #expect(throws: SQLiteError.self) { try statement.bind(1, at: index) }
      #expect(error?.code == 25)
    }
  }

  @Test(arguments: ["SELECT 1; SELECT 2", "SELECT 1;;x", "SELECT 1; /* a */ DROP TABLE t"])
  func `text after the first statement is an error`(sql: String) throws {
    #expect(throws: SQLiteError.self) { try connection().prepare(sql) }
  }

  @Test(arguments: ["SELECT 1;", "SELECT 1 ; -- done", " SELECT 1; /* a */ ; \n"])
  func `comments may follow a statement`(sql: String) throws {
    #expect(try connection().scalar(sql) == 1)
  }

  @Test(arguments: ["", " ; ", "-- nothing", "SELECT 1\u{0}; DROP TABLE t"])
  func `no statement is an error`(sql: String) throws {
    #expect(throws: SQLiteError.self) { try connection().prepare(sql) }
  }

  @Test func `a syntax error tells its place`() throws {
    let error = #expect(throws: SQLiteError.self) { try connection().prepare("SELECT * FORM t") }
    #expect(error?.offset == 9)
    #expect(error?.sql == "SELECT * FORM t")
    #expect(error?.description == "near \"FORM\": syntax error in: SELECT * FORM t")
  }

  @Test func `unowned bytes are read where they lie`() throws {
    let database = try connection()
    let statement = try database.prepare("SELECT length(?), hex(?)")
    try [UInt8]("abcd".utf8).withUnsafeBytes { bytes in
      try statement.bindUnowned(utf8: bytes, at: 1)
      try statement.bindUnowned(bytes, at: 2)
      #expect(try statement.step())
      #expect(statement.integer(0) == 4)
      #expect(statement.string(1) == "61626364")
      statement.reset()
      statement.clearBindings()
    }
  }

  @Test func `statements are reused, unbound`() throws {
    let database = try connection()
    let sql = "SELECT ?1"
    #expect(try database.scalar(sql, 5) == 5)
    let count = database.cachedStatementCount
    #expect(try database.scalar(sql) == .null)
    #expect(database.cachedStatementCount == count)
    let first = try database.prepare(sql)
    let second = try database.prepare(sql)
    #expect(try first.step() && second.step())
  }

  @Test func `the cache is bounded`() throws {
    let database = try connection()
    for number in 0..<200 { _ = try database.scalar("SELECT \(number)") }
    #expect(database.cachedStatementCount == 64)
    database.clearStatementCache()
    #expect(database.cachedStatementCount == 0)
  }
}
