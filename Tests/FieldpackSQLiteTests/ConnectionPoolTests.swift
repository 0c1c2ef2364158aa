import FieldpackSQLite
import FieldpackTestSupport
import FieldpackThreads
import Foundation
import Testing

@Suite struct ConnectionPoolTests {
  private let folder: TemporaryFolder
  private let path: String

  init() throws {
    folder = try TemporaryFolder()
    path = folder.file("a.db").path
    let database = try Connection(path: path, mode: .create, profile: .own)
    try database.executeScript("CREATE TABLE t (a); INSERT INTO t VALUES (1)")
  }

  private func names() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder.url.path).sorted()
  }

  private func journalMode() throws -> JournalMode {
    try Connection(path: path, mode: .readOnly).journalMode
  }

  private func setJournalMode(_ mode: JournalMode) throws {
    try Connection(path: path, mode: .readWrite).setJournalMode(mode)
  }

  private func count(_ pool: ConnectionPool<Connection>) async throws(SQLiteError) -> SQLiteValue? {
    try await pool.read { (connection) throws(SQLiteError) in
      try connection.scalar("SELECT count(*) FROM t")
    }
  }

  private func insert(_ pool: ConnectionPool<Connection>) async throws(SQLiteError) {
    try await pool.write { (connection) throws(SQLiteError) in
      try connection.execute("INSERT INTO t VALUES (2)")
    }
  }

  @Test(arguments: [JournalMode.delete, .wal], [true, false])
  func `a file leaves in the journal mode it came with`(original: JournalMode, usesWAL: Bool)
    async throws
  {
    try setJournalMode(original)
    let pool = try await ConnectionPool(path: path, access: .readWrite(usesWAL: usesWAL))
    try await insert(pool)
    #expect(try await count(pool) == 2)
    let inUse = try await pool.read { (connection) throws(SQLiteError) in
      try connection.journalMode
    }
    #expect(inUse == (usesWAL ? .wal : original))
    try await pool.close()
    #expect(try names() == ["a.db"])
    #expect(try journalMode() == original)
    await #expect(throws: SQLiteError.self) { try await count(pool) }
    await #expect(throws: SQLiteError.self) { try await insert(pool) }
  }

  @Test(arguments: [JournalMode.delete, .wal])
  func `readers read long values that another program has written since`(
    mode: JournalMode
  ) async throws {
    try setJournalMode(mode)
    let pool = try await ConnectionPool(path: path, access: .readOnly)
    #expect(try await count(pool) == 1)
    let other = try Connection(path: path, mode: .readWrite, profile: .own)
    for size in [20, 40] {
      try other.execute("INSERT INTO t VALUES (randomblob(?))", .integer(Int64(size) << 20))
      let found = try await pool.read { (connection) throws(SQLiteError) in
        let statement = try connection.prepare("SELECT a FROM t ORDER BY rowid DESC")
        _ = try statement.step()
        return statement.withBytes(0) { $0.byteCount }
      }
      #expect(found == size << 20)
    }
    try await pool.close()
  }

  @Test func `a forgotten pool is closed in the background`() async throws {
    do {
      let pool = try await ConnectionPool(path: path, access: .readWrite(usesWAL: true))
      try await insert(pool)
      #expect(try await count(pool) == 2)
    }
    while try names() != ["a.db"] { try await Task.sleep(for: .milliseconds(10)) }
    #expect(try journalMode() == .delete)
  }

  @Test func `a pool for reading does not write`() async throws {
    let pool = try await ConnectionPool(path: path, access: .readOnly)
    #expect(try await count(pool) == 1)
    let error = await #expect(throws: SQLiteError.self) { try await insert(pool) }
    #expect(error?.isReadOnly == true)
    try await pool.close()
    #expect(try names() == ["a.db"])
  }

  @Test func `a bad file fails when the pool is made`() async throws {
    let text = try folder.write(String(repeating: "text ", count: 200), to: "text")
    for access in [PoolAccess.readOnly, .readWrite(usesWAL: true)] {
      let error = await #expect(throws: SQLiteError.self) {
        try await ConnectionPool(path: text.path, access: access)
      }
      #expect(error?.isNotADatabase == true)
    }
  }

  @Test func `every connection is configured`() async throws {
    let pool = try await ConnectionPool(
      path: path, access: .readWrite(usesWAL: true),
      configure: { (connection) throws(SQLiteError) in
        try connection.register(function: "answer", arguments: 0) { $0.set(Int64(42)) }
      })
    let sql = "SELECT answer()"
    let read = try await pool.read { (connection) throws(SQLiteError) in
      try connection.scalar(sql)
    }
    let written = try await pool.write { (connection) throws(SQLiteError) in
      try connection.scalar(sql)
    }
    #expect([read, written] == [42, 42])
    try await pool.close()
  }

  @Test func `what a visitor leaves open is rolled back`() async throws {
    let pool = try await ConnectionPool(path: path, access: .readWrite(usesWAL: true))
    try await pool.write { (connection) throws(SQLiteError) in
      try connection.executeScript("BEGIN; DELETE FROM t")
    }
    #expect(try await count(pool) == 1)
    let isOpen = try await pool.write { (connection) throws(SQLiteError) in
      connection.isInTransaction
    }
    #expect(!isOpen)
    try await pool.close()
  }

  @Test func `a leased reader keeps its cursor and its snapshot`() async throws {
    let pool = try await ConnectionPool(
      path: path, access: .readWrite(usesWAL: true), maximumReaders: 1)
    try await insert(pool)
    let lease = try await pool.lease()
    let cursor = LeasedValue<Statement>()
    try await lease.run(keeping: cursor) { (connection, statement) throws(SQLiteError) in
      statement = try connection.prepare("SELECT a FROM t ORDER BY a")
      _ = try statement?.step()
    }
    try await insert(pool)
    let seen = try await lease.run(keeping: cursor) {
      (_, statement) throws(SQLiteError) -> [Int64] in
      guard let statement else { return [] }
      var seen = [statement.integer(0)]
      while try statement.step() { seen.append(statement.integer(0)) }
      return seen
    }
    #expect(seen == [1, 2])
    await lease.release()
    #expect(try await count(pool) == 3)
    await #expect(throws: SQLiteError.self) {
      try await lease.run { (_) throws(SQLiteError) in }
    }
    try await pool.close()
  }

  @Test func `who waits for a reader can be cancelled`() async throws {
    let pool = try await ConnectionPool(path: path, access: .readOnly, maximumReaders: 1)
    let lease = try await pool.lease()
    let waiting = Task { try await count(pool) }
    try await Task.sleep(for: .milliseconds(20))
    waiting.cancel()
    let error = await #expect(throws: SQLiteError.self) { try await waiting.value }
    #expect(error?.isInterrupted == true)
    await lease.release()
    #expect(try await count(pool) == 1)
    try await pool.close()
  }

  @Test(arguments: [true, false])
  func `readers and a writer work side by side`(usesWAL: Bool) async throws {
    let pool = try await ConnectionPool(
      path: path, access: .readWrite(usesWAL: usesWAL), maximumReaders: 8,
      busyTimeout: .seconds(3600))
    let isWritten = Locked(false)
    let (reads, torn) = try await withThrowingTaskGroup(of: (Int, Int).self) { group in
      for _ in 0..<8 { group.addTask { try await readPairs(pool, until: isWritten) } }
      group.addTask {
        defer { isWritten.withLock { $0 = true } }
        for _ in 0..<200 { try await insert(pool) }
        return (0, 0)
      }
      var (reads, torn) = (0, 0)
      for try await result in group {
        reads += result.0
        torn += result.1
      }
      #expect(try await count(pool) == 201)
      return (reads, torn)
    }
    #expect(reads >= 8)
    #expect(torn == 0)
    try await pool.close()
    #expect(try names() == ["a.db"])
  }

  /// Counts twice in one transaction, again and again; how often, and how often the counts differed.
  private func readPairs(_ pool: ConnectionPool<Connection>, until isWritten: Locked<Bool>)
    async throws(SQLiteError) -> (Int, Int)
  {
    var (reads, torn) = (0, 0)
    repeat {
      let isSame = try await pool.read { (connection) throws(SQLiteError) in
        try connection.transaction { () throws(SQLiteError) in
          let sql = "SELECT count(*) FROM t"
          return try connection.scalar(sql) == connection.scalar(sql)
        }
      }
      reads += 1
      if !isSame { torn += 1 }
    } while !isWritten.withLock { $0 }
    return (reads, torn)
  }

  @Test func `another program may keep the file in WAL mode`() async throws {
    let pool = try await ConnectionPool(path: path, access: .readWrite(usesWAL: true))
    try await insert(pool)
    let other = try Connection(path: path, mode: .readWrite)
    #expect(try other.scalar("SELECT count(*) FROM t") == 2)
    let error = await #expect(throws: SQLiteError.self) { try await pool.close() }
    #expect(error?.isBusy == true)
    #expect(try other.scalar("SELECT count(*) FROM t") == 2)
  }

  #if os(Linux)
    @Test func `readers that nobody used are closed`() async throws {
      let pool = try await ConnectionPool(path: path, access: .readWrite(usesWAL: true))
      var leases = [try await pool.lease(), try await pool.lease(), try await pool.lease()]
      for lease in leases { await lease.release() }
      let open = { try Self.openCount(of: path + "-wal") }
      let atFirst = try open()
      // All were used until now.
      await pool.closeUnusedReaders(keeping: 1)
      #expect(try open() == atFirst)
      // Two at a time are used until the next call.
      leases = [try await pool.lease(), try await pool.lease()]
      for lease in leases { await lease.release() }
      await pool.closeUnusedReaders(keeping: 0)
      #expect(try open() == atFirst - 1)
      await pool.closeUnusedReaders(keeping: 1)
      #expect(try open() == atFirst - 2)
      #expect(try await count(pool) == 1)
      // As many readers as before can be opened, and the pool closes.
      leases = []
      for _ in 0..<4 { leases.append(try await pool.lease()) }
      for lease in leases { await lease.release() }
      try await pool.close()
      #expect(try journalMode() == .delete)
    }

    /// How many descriptors of this program are of a file. SQLite keeps those of the database itself for its next
    /// connection.
    private static func openCount(of path: String) throws -> Int {
      let descriptors = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
      return descriptors.count {
        (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/" + $0)) == path
      }
    }
  #endif

  @Test func `a short visit runs on the thread that asks, where a reader is idle`() async throws {
    let pool = try await ConnectionPool(path: path, access: .readOnly)
    func here() throws -> SQLiteValue?? {
      try pool.readIfIdle { (connection) throws(SQLiteError) in
        // Left open on purpose: the visit rolls it back.
        try connection.execute("BEGIN")
        return try connection.scalar("SELECT a FROM t")
      }
    }
    #expect(try here() == .integer(1))
    #expect(try here() == .integer(1))
    let lease = try await pool.lease()
    #expect(try here() == nil)
    await lease.release()
    #expect(try here() == .integer(1))
    try await pool.close()
    #expect(try here() == nil)
  }
}
