import FieldpackSQLite
import FieldpackTestSupport
import Foundation
import Testing

@Suite struct InterruptTests {
  static let endless = """
    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n
    """

  @Test func `cancelling the task ends a long query`() async throws {
    let actor = try ConnectionActor<Connection>()
    try await actor.open { () throws(SQLiteError) in try Connection(inMemory: .own) }
    let task = Task {
      try await actor.run { (connection) throws(SQLiteError) in
        try connection.scalar(InterruptTests.endless)
      }
    }
    try await Task.sleep(for: .milliseconds(50))
    task.cancel()
    let error = await #expect(throws: SQLiteError.self) { try await task.value }
    #expect(error?.isInterrupted == true)
    let next = try await actor.run { (connection) throws(SQLiteError) in
      try connection.scalar("SELECT 1")
    }
    #expect(next == 1)
  }

  @Test func `visits run on the one thread of the actor`() async throws {
    let (first, second) = (try ConnectionActor<Connection>(), try ConnectionActor<Connection>())
    for actor in [first, second] {
      try await actor.open { () throws(SQLiteError) in try Connection(inMemory: .own) }
    }
    var threads: [[String]] = []
    for actor in [first, second] {
      var names: Set<String> = []
      for _ in 0..<20 {
        names.insert(await actor.threadName())
        await Task.yield()
      }
      threads.append(Array(names))
    }
    #expect(threads.map(\.count) == [1, 1])
    #expect(threads[0] != threads[1])
  }

  @Test func `work of a cancelled task does not begin, nor go on`() async throws {
    let actor = try ConnectionActor<Connection>()
    try await actor.open { () throws(SQLiteError) in try Connection(inMemory: .own) }
    let task = Task {
      // Ends when the task is cancelled.
      try? await Task.sleep(for: .seconds(3600))
      return try await actor.run { (connection) throws(SQLiteError) in
        try connection.execute("CREATE TABLE t (a)")
      }
    }
    task.cancel()
    let error = await #expect(throws: SQLiteError.self) { try await task.value }
    #expect(error?.isInterrupted == true)
    let tables = try await actor.run { (connection) throws(SQLiteError) in
      try connection.scalar("SELECT count(*) FROM sqlite_master")
    }
    #expect(tables == 0)
  }

  @Test func `a deadline ends a long query`() throws {
    let database = try Connection(inMemory: .own)
    database.deadline = .now + .milliseconds(50)
    let error = #expect(throws: SQLiteError.self) { try database.scalar(Self.endless) }
    #expect(error?.isInterrupted == true)
    #expect(error?.message == "the deadline has passed")
    database.deadline = nil
    #expect(try database.scalar("SELECT 1") == 1)
  }

  @Test func `by the clock of a thread a sleep brings no deadline nearer`() throws {
    let database = try Connection(inMemory: .own)
    database.clock = .thread
    let start = database.clock.now
    database.deadline = start + .milliseconds(50)
    usleep(60_000)
    #expect(!database.isDeadlinePassed && database.clock.now - start < .milliseconds(50))
    let error = #expect(throws: SQLiteError.self) { try database.scalar(Self.endless) }
    #expect(error?.message == "the deadline has passed")
  }

  @Test func `a handle may be used after its connection`() throws {
    let handle = try Connection(inMemory: .own).interruptHandle
    handle.interrupt()
  }

  @Test func `a stopped connection steps no more`() throws {
    let connection = try Connection(inMemory: .own)
    let statement = try connection.prepare("SELECT 1")
    connection.interruptHandle.stop()
    for _ in 1...2 {
      let error = #expect(throws: SQLiteError.self) { try statement.step() }
      #expect(error?.isInterrupted == true)
    }
  }

  @Test func `what is temporary goes while the work is stopped, too`() throws {
    let connection = try Connection(inMemory: .own)
    try connection.execute("CREATE TEMP TABLE t (a)")
    connection.interruptHandle.stop()
    #expect(connection.endTemporary("DROP TABLE temp.t"))
    #expect(!connection.endTemporary("DROP TABLE temp.t"))
  }

  @Test func `a handle stops its connection from another thread`() async throws {
    let actor = try ConnectionActor<Connection>()
    try await actor.open { () throws(SQLiteError) in try Connection(inMemory: .own) }
    let handle = try await actor.run { (connection) throws(SQLiteError) in
      connection.interruptHandle
    }
    let task = Task {
      try await actor.run { (connection) throws(SQLiteError) in
        try connection.scalar(InterruptTests.endless)
      }
    }
    let stopper = Task {
      while !Task.isCancelled {
        handle.interrupt()
        try? await Task.sleep(for: .milliseconds(5))
      }
    }
    let error = await #expect(throws: SQLiteError.self) { try await task.value }
    stopper.cancel()
    #expect(error?.isInterrupted == true)
  }

  @Test func `waiting for a lock ends with the timeout or the deadline`() throws {
    let folder = try TemporaryFolder()
    let path = folder.file("a.db").path
    let holder = try Connection(path: path, mode: .create, profile: .own)
    try holder.execute("CREATE TABLE t (a)")
    let other = try Connection(path: path, mode: .readWrite)
    try holder.execute("BEGIN EXCLUSIVE")
    other.busyTimeout = .milliseconds(50)
    let first = #expect(throws: SQLiteError.self) { try other.execute("DELETE FROM t") }
    other.busyTimeout = .seconds(3600)
    other.deadline = .now + .milliseconds(50)
    let second = #expect(throws: SQLiteError.self) { try other.execute("DELETE FROM t") }
    #expect(first?.isBusy == true && second?.isBusy == true)
  }
}

extension ConnectionActor {
  fileprivate nonisolated func threadName() async -> String {
    let name = try? await run { (_) throws(SQLiteError) in "\(pthread_self())" }
    return name ?? "none"
  }
}

extension InterruptTests {
  private static let rows =
    "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n"

  @Test func `a statement that gives no row ends at its limit of steps`() throws {
    let database = try Connection(inMemory: .foreign)
    for sql in [Self.rows + " WHERE i < 0", "SELECT max(i) FROM (\(Self.rows))"] {
      let statement = try database.prepare(sql)
      statement.mostStepsToRow = 100_000
      for _ in 0..<2 {
        let error = #expect(throws: SQLiteError.self) { try statement.step() }
        #expect(error?.isEndless == true)
        #expect(error?.isInterrupted == false)
        statement.reset()
      }
    }
    #expect(try database.scalar("SELECT 1") == 1)
  }

  @Test func `rows that come may come for ever`() throws {
    let statement = try Connection(inMemory: .foreign).prepare(Self.rows)
    statement.mostStepsToRow = 10_000
    for row in 1...50_000 {
      #expect(try statement.step())
      if row == 50_000 { #expect(statement.integer(0) == 50_000) }
    }
  }
}
