import FieldpackSQLite
import Testing

@Suite struct AggregateTests {
  /// Joins texts; counts how many states are alive.
  private final class Join: AggregateState {
    private var texts: [String] = []
    private let alive: Counter

    init(_ alive: Counter) {
      self.alive = alive
      alive.count += 1
    }

    deinit { alive.count -= 1 }

    func add(_ row: FunctionContext) {
      if row.string(0) == "bad" { row.setError("a bad row") }
      texts.append(row.string(0) ?? "-")
    }

    func finish(_ result: FunctionContext) { result.set(texts.joined(separator: row)) }
    private let row = "+"
  }

  private final class Counter {
    var count = 0
  }

  private static func database(_ alive: Counter) throws -> Connection {
    let database = try Connection(inMemory: .own)
    try database.register(aggregate: "together", arguments: 1) { Join(alive) }
    return database
  }

  @Test func `each group has a state of its own, and no group one too`() throws {
    let alive = Counter()
    let database = try Self.database(alive)
    let rows = try database.prepare(
      "SELECT column1, together(column2) FROM (VALUES (1, 'a'), (2, 'b'), (1, 'c'), (2, NULL)) "
        + "GROUP BY column1 ORDER BY column1")
    var found: [SQLiteValue] = []
    while try rows.step() { found.append(rows.value(1)) }
    #expect(found == ["a+c", "b+-"])
    #expect(try database.scalar("SELECT together(1) FROM (SELECT 1) WHERE 0") == "")
    #expect(alive.count == 0)
  }

  @Test func `an error ends the statement and leaves nothing behind`() throws {
    let alive = Counter()
    let database = try Self.database(alive)
    let error = #expect(throws: SQLiteError.self) {
      try database.scalar("SELECT together(column1) FROM (VALUES ('a'), ('bad'), ('c'))")
    }
    #expect(error?.message == "a bad row")
    #expect(alive.count == 0)
    try database.loadSpatiaLite()
    #expect(try database.scalar("SELECT together('x')") == "x")
  }
}
