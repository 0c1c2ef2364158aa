import FieldpackSQLite
import Testing

@Suite struct FunctionTests {
  @Test func `arguments and results of every kind pass through`() throws {
    let database = try Connection(inMemory: .own)
    try database.register(function: "echo", arguments: 1) { context in
      switch context.kind(0) {
      case .null: context.setNull()
      case .integer: context.set(context.integer(0))
      case .real: context.set(context.real(0))
      case .text: context.withBytes(0) { context.set(utf8: $0) }
      case .blob: context.withBytes(0) { context.set($0) }
      }
    }
    let values: [SQLiteValue] = [
      nil, .integer(.min), 0.1, "a\u{0}ö", "", .blob([0, 1]), .blob([]),
    ]
    for value in values { #expect(try database.scalar("SELECT echo(?)", value) == value) }
  }

  @Test func `a missing argument is NULL`() throws {
    let database = try Connection(inMemory: .own)
    try database.register(function: "probe", arguments: -1) { context in
      context.set(
        "\(context.argumentCount) \(context.kind(1)) \(context.integer(9)) \(context.real(-1)) "
          + "\(context.string(7) ?? "none") \(context.blob(8)?.count ?? -1)")
    }
    #expect(try database.scalar("SELECT probe()") == "0 null 0 0.0 none -1")
    #expect(try database.scalar("SELECT probe(1, x'')") == "2 blob 0 0.0 none -1")
  }

  @Test func `a function may fail with its own words`() throws {
    let database = try Connection(inMemory: .own)
    try database.register(function: "fails", arguments: 0) { $0.setError("not today") }
    let error = #expect(throws: SQLiteError.self) { try database.scalar("SELECT fails()") }
    #expect(error?.message == "not today")
  }

  @Test func `text reaches a function as UTF-8 from a UTF-16 file`() throws {
    let database = try Connection(inMemory: .own)
    try database.execute("PRAGMA encoding = 'UTF-16le'")
    try database.execute("CREATE TABLE t (a TEXT)")
    try database.execute("INSERT INTO t VALUES ('wörld')")
    try database.register(function: "bytes", arguments: 1) { context in
      context.set(context.blob(0) ?? [])
    }
    #expect(try database.scalar("SELECT bytes(a) FROM t") == .blob([UInt8]("wörld".utf8)))
  }

  private final class Counted {
    let counter: Counter
    init(_ counter: Counter) {
      self.counter = counter
      counter.made += 1
    }
    deinit { counter.released += 1 }
  }

  private final class Counter {
    var made = 0
    var released = 0
  }

  @Test func `auxiliary data live as long as the statement's run`() throws {
    let database = try Connection(inMemory: .own)
    let counter = Counter()
    try database.register(function: "cached", arguments: 2) { context in
      if context.auxiliary(0) == nil { context.setAuxiliary(Counted(counter), 0) }
      context.set(context.auxiliary(0) is Counted)
    }
    try database.execute("CREATE TABLE t (a)")
    try database.execute("INSERT INTO t VALUES (1), (2), (3)")
    do {
      let constant = try database.prepare("SELECT cached(?, a) FROM t")
      try constant.bind("geometry", at: 1)
      while try constant.step() { #expect(constant.integer(0) == 1) }
      #expect((counter.made, counter.released) == (1, 0) || counter.released == 1)
      constant.reset()
      #expect(counter.made == 1 && counter.released == 1)
    }
    let varying = try database.prepare("SELECT cached(a, 1) FROM t")
    while try varying.step() {}
    #expect(counter.made == 4)
    varying.reset()
    #expect(counter.released == 4)
  }

  @Test func `a function goes with its connection`() throws {
    let counter = Counter()
    do {
      let database = try Connection(inMemory: .own)
      let held = Counted(counter)
      try database.register(function: "held", arguments: 0) { _ in withExtendedLifetime(held) {} }
      #expect(counter.released == 0)
    }
    #expect(counter.released == 1)
  }

  @Test func `flags decide where a function may be used`() throws {
    let database = try Connection(inMemory: .own)
    try database.register(function: "direct", arguments: 0, flags: .directOnly) { $0.set(1.0) }
    try database.register(
      function: "pure", arguments: 1, flags: [.deterministic, .innocuous]
    ) { $0.setArgument(0) }
    try database.executeScript(
      """
      CREATE TABLE t (a);
      CREATE INDEX i ON t (pure(a));
      CREATE VIEW v AS SELECT direct();
      """)
    let error = #expect(throws: SQLiteError.self) { try database.scalar("SELECT * FROM v") }
    #expect(error?.message == "unsafe use of direct()")
    #expect(throws: SQLiteError.self) {
      try database.register(function: "many", arguments: 5_000) { _ in }
    }
  }

  @Test func `a collation orders texts`() throws {
    let database = try Connection(inMemory: .own)
    try database.register(collation: "by_length") { $0.count - $1.count }
    let sql = "SELECT group_concat(a) FROM (SELECT * FROM t ORDER BY a COLLATE by_length)"
    try database.execute("CREATE TABLE t (a)")
    try database.execute("INSERT INTO t VALUES ('ccc'), ('a'), ('bb')")
    #expect(try database.scalar(sql) == "a,bb,ccc")
  }
}
