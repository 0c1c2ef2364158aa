import FieldpackSQLite
import FieldpackTestSupport
import Foundation
import Testing

@Suite struct ConnectionTests {
  @Test(arguments: [
    "a'b\".db", "file:x?vfs=none&mode=memory", "a?immutable=1", "100%41#x", "two\nlines", "🗺 .gpkg",
    ":memory:", "-x", "file:",
  ])
  func `names are taken literally`(name: String) throws {
    let folder = try TemporaryFolder()
    let path = folder.url.path + "/" + name
    do {
      let writer = try Connection(path: path, mode: .create, profile: .own)
      try writer.execute("CREATE TABLE t (a)")
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == [name])
    let reader = try Connection(path: path, mode: .readOnly)
    #expect(try reader.scalar("SELECT count(*) FROM t") == 0)
  }

  @Test(arguments: ["file:odd?mode=memory", "plain"])
  func `a relative name is taken literally`(name: String) throws {
    let unique = name + UUID().uuidString
    defer { try? FileManager.default.removeItem(atPath: unique) }
    _ = try Connection(path: unique, mode: .create, profile: .own).execute("CREATE TABLE t (a)")
    #expect(FileManager.default.fileExists(atPath: unique))
  }

  @Test func `what is not a database says so`() throws {
    let folder = try TemporaryFolder()
    let text = try folder.write(String(repeating: "not a database ", count: 100), to: "text")
    let missing = folder.file("missing").path
    #expect(throws: SQLiteError.self) { try Connection(path: "", mode: .create) }
    #expect(throws: SQLiteError.self) { try Connection(path: "/dev/null", mode: .readOnly) }
    let wrong = #expect(throws: SQLiteError.self) {
      try Connection(path: text.path, mode: .readOnly)
    }
    #expect(wrong?.isNotADatabase == true)
    for mode in [Connection.Mode.readOnly, .readWrite] {
      let error = #expect(throws: SQLiteError.self) { try Connection(path: missing, mode: mode) }
      #expect(error?.isCannotOpen == true)
      #expect(error?.message == "unable to open database file: \(missing)")
    }
  }

  @Test func `a FIFO and a folder are refused without blocking`() throws {
    let folder = try TemporaryFolder()
    mkfifo(folder.file("fifo").path, 0o600)
    for path in [folder.file("fifo").path, folder.url.path] {
      let error = #expect(throws: SQLiteError.self) { try Connection(path: path, mode: .readOnly) }
      #expect(error?.message == "not a regular file: \(path)")
    }
  }

  @Test func `a double-quoted name is never a string`() throws {
    let database = try Connection(inMemory: .own)
    let error = #expect(throws: SQLiteError.self) { try database.scalar("SELECT \"nosuch\"") }
    #expect(error?.message == "no such column: nosuch")
  }

  @Test func `constraints surface with their extended code`() throws {
    let database = try Connection(inMemory: .own)
    try database.executeScript(
      """
      CREATE TABLE p (id INTEGER PRIMARY KEY, a UNIQUE, b NOT NULL, c CHECK (c > 0));
      CREATE TABLE q (p REFERENCES p);
      INSERT INTO p VALUES (1, 1, 1, 1);
      """)
    let cases: [(String, Int32)] = [
      ("INSERT INTO p VALUES (1, 2, 1, 1)", 1555), ("INSERT INTO p VALUES (2, 1, 1, 1)", 2067),
      ("INSERT INTO p VALUES (2, 2, NULL, 1)", 1299), ("INSERT INTO p VALUES (2, 2, 1, 0)", 275),
      ("INSERT INTO q VALUES (9)", 787),
    ]
    for (sql, code) in cases {
      let error = #expect(throws: SQLiteError.self) { try database.execute(sql) }
      #expect(error?.isConstraint == true)
      #expect(error?.extendedCode == code)
    }
  }

  @Test func `a transaction commits or goes back`() throws {
    let database = try Connection(inMemory: .own)
    try database.execute("CREATE TABLE t (a)")
    try database.transaction(.immediate) { () throws(SQLiteError) in
      try database.execute("INSERT INTO t VALUES (1)")
      #expect(database.isInTransaction)
    }
    #expect(database.changes == 1)
    #expect(database.lastInsertRowID == 1)
    let error = #expect(throws: SQLiteError.self) {
      try database.transaction { () throws(SQLiteError) in
        try database.execute("INSERT INTO t VALUES (2)")
        try database.execute("INSERT INTO missing VALUES (2)")
      }
    }
    #expect(error?.message == "no such table: missing")
    #expect(!database.isInTransaction)
    #expect(try database.scalar("SELECT count(*) FROM t") == 1)
  }

  @Test func `savepoints nest`() throws {
    let database = try Connection(inMemory: .own)
    try database.execute("CREATE TABLE t (a)")
    try database.transaction { () throws(SQLiteError) in
      try database.savepoint { () throws(SQLiteError) in
        try database.execute("INSERT INTO t VALUES (1)")
      }
      try? database.savepoint { () throws(SQLiteError) in
        try database.execute("INSERT INTO t VALUES (2)")
        try database.savepoint { () throws(SQLiteError) in
          try database.execute("INSERT INTO missing VALUES (2)")
        }
      }
    }
    #expect(try database.scalar("SELECT group_concat(a) FROM t") == "1")
  }

  private enum OwnError: SQLiteErrorConvertible, Equatable {
    case wrapped(SQLiteError)
    case stopped
    init(sqlite error: SQLiteError) { self = .wrapped(error) }
  }

  @Test func `a transaction throws the error of its body`() throws {
    let database = try Connection(inMemory: .own)
    try database.execute("CREATE TABLE t (a)")
    #expect(throws: OwnError.stopped) {
      try database.transaction { () throws(OwnError) in throw OwnError.stopped }
    }
    #expect(!database.isInTransaction)
  }

  @Test func `a page cache is small for as long as it is to be`() throws {
    let folder = try TemporaryFolder()
    let path = folder.url.path + "/pages.db"
    try Connection(path: path, mode: .create).execute("CREATE TABLE t (a)")
    let reader = try Connection(path: path, mode: .readOnly)
    for _ in 0..<2 {
      let size = try reader.withFewPages { () throws(SQLiteError) in
        try reader.scalar("PRAGMA cache_size")
      }
      #expect(size == 32)
      #expect(try reader.scalar("PRAGMA cache_size") == -2_000)
    }
    #expect(throws: SQLiteError.self) {
      try reader.withFewPages { () throws(SQLiteError) in try reader.execute("SELECT missing") }
    }
    #expect(try reader.scalar("PRAGMA cache_size") == -2_000)
  }
}
