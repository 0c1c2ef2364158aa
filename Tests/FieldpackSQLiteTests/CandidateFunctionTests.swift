import FieldpackSQLite
import Testing

/// Table-valued functions whose rows are ids.
@Suite struct CandidateFunctionTests {
  /// `numbers(count, step)`: so many multiples of `step`, in descending order; even ones are marked.
  private func connection() throws -> Connection {
    let connection = try Connection(inMemory: .own)
    try connection.register(
      idTable: "numbers", idColumn: "number", unmarkedColumn: "odd", argumentCount: 2
    ) { (values) throws(SQLiteError) in
      guard case .integer(let count) = values[0], case .integer(let step) = values[1] else {
        throw SQLiteError(extendedCode: 267, message: "numbers() wants numbers")
      }
      let all = (0..<count).map { (count - $0) * step }
      return IDList(all + all.prefix(3), marked: all.filter { $0 % 2 == 0 })
    }
    return connection
  }

  private func rows(_ sql: String, _ connection: Connection) throws -> [[Int64]] {
    let statement = try connection.prepare(sql)
    var rows: [[Int64]] = []
    while try statement.step() { rows.append((0..<statement.columnCount).map(statement.integer)) }
    return rows
  }

  @Test(arguments: [1, 3, 500, 70_000])
  func `gives each id once, ascending, and tells the marked ones`(count: Int64) throws {
    for step: Int64 in [1, 7, 1_000_003, -5] {
      let found = try rows("SELECT number, odd FROM numbers(\(count), \(step))", connection())
      let expected = (1...count).map { $0 * step }.sorted()
      #expect(found == expected.map { [$0, $0 % 2 == 0 ? 0 : 1] })
    }
  }

  @Test func `takes ids from end to end of their range`() throws {
    let ends = IDList([.max, .min, 0, .max] + (1...300).map { Int64($0) * 3 })
    #expect(ends.ids == [.min, 0] + (1...300).map { Int64($0) * 3 } + [.max])
    #expect(IDList([]).ids == [])
  }

  @Test func `a range of ids begins and ends the walk, and marks stay true`() throws {
    let connection = try connection()
    for (condition, wanted) in [
      ("number BETWEEN 3 AND 6", [[3, 1], [4, 0], [5, 1], [6, 0]]),
      ("number >= 9", [[9, 1], [10, 0]]),
      ("number <= 1.5", [[1, 1]]), ("number BETWEEN 6 AND 5", []), ("number >= 11", []),
    ] as [(String, [[Int64]])] {
      let sql = "SELECT number, odd FROM numbers(10, 1) WHERE \(condition)"
      #expect(try rows(sql, connection) == wanted, "\(condition)")
    }
    try connection.register(
      idTable: "ends", idColumn: "id", unmarkedColumn: "sure", argumentCount: 0
    ) { (_) throws(SQLiteError) in IDList([.min, .max], marked: [.min]) }
    #expect(try rows("SELECT id, sure FROM ends()", connection) == [[.min, 0], [.max, 1]])
  }

  @Test func `is read in its order, without sorting`() throws {
    let connection = try connection()
    try connection.executeScript(
      "CREATE TABLE t(id INTEGER PRIMARY KEY, v); INSERT INTO t VALUES (1, 10), (2, 20), (4, 40)")
    let sql =
      "SELECT id, v FROM numbers(5, 1) CROSS JOIN t ON id = number WHERE odd OR v > 20 "
      + "ORDER BY number"
    #expect(try rows(sql, connection) == [[1, 10], [4, 40]])
    let statement = try connection.prepare("EXPLAIN QUERY PLAN " + sql)
    var plan: [String] = []
    while try statement.step() { plan.append(statement.string(3) ?? "") }
    #expect(
      plan == [
        "SCAN numbers VIRTUAL TABLE INDEX 0:",
        "SEARCH t USING INTEGER PRIMARY KEY (rowid=?)",
      ])
    #expect(
      try rows("SELECT number FROM numbers(3, 1) ORDER BY number DESC", connection)
        == [[3], [2], [1]])
  }

  @Test func `refuses calls with too few arguments, and passes on what goes wrong`() throws {
    let connection = try connection()
    #expect {
      _ = try rows("SELECT * FROM numbers(1)", connection)
    } throws: {
      ($0 as? SQLiteError)?.message == "numbers() takes 2 arguments"
    }
    #expect {
      _ = try rows("SELECT * FROM numbers('x', 1)", connection)
    } throws: {
      let error = $0 as? SQLiteError
      return error?.extendedCode == 267 && error?.message == "numbers() wants numbers"
    }
    #expect(try rows("SELECT count(*) FROM numbers(3, 1)", connection) == [[3]])
  }

  @Test func `cannot be used by a view of the file`() throws {
    let connection = try connection()
    try connection.executeScript("CREATE VIEW w AS SELECT * FROM numbers(3, 1)")
    #expect(throws: SQLiteError.self) { _ = try rows("SELECT * FROM w", connection) }
  }
}
