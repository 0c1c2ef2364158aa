import CSQLite

/// A prepared statement and, while it is stepped, its current row.
///
/// Not `Sendable`: it belongs to the owner of its connection, which it keeps open. Columns are
/// numbered from 0, parameters from 1, as in SQLite.
public final class Statement {
  public let sql: String
  public let connection: Connection
  let handle: OpaquePointer
  /// `nil` where it is finalised after its use.
  private let kept: KeptStatement?
  private var isDone = false
  /// The number of virtual machine instructions that a step may take before the next row; beyond it
  /// the step throws an error that `isEndless`. `nil` for the connection's limit. It does not
  /// depend on the machine's speed.
  package var mostStepsToRow: Int?

  /// A statement that is finalised after its use.
  init(handle: OpaquePointer, sql: String, connection: Connection) {
    (self.handle, self.sql, self.connection) = (handle, sql, connection)
    kept = nil
  }

  init(_ kept: KeptStatement, connection: Connection) {
    (handle, sql) = (kept.handle, kept.sql)
    (self.kept, self.connection) = (kept, connection)
  }

  deinit {
    if let kept {
      connection.cache.release(kept)
    } else {
      sqlite3_finalize(handle)
    }
  }

  /// Moves to the next row; `false` when there is none.
  ///
  /// After the last row, and after an error, it stays `false` until `reset()`; SQLite itself would
  /// start again without an error.
  public func step() throws(SQLiteError) -> Bool {
    if isDone { return false }
    guard !connection.interruptHandle.isRequested else { throw .interrupted(sql: sql) }
    let code = limit == nil ? sqlite3_step(handle) : limitedStep()
    if code == SQLITE_ROW { return true }
    isDone = true
    guard code == SQLITE_DONE else { throw failure(code) }
    return false
  }

  private var limit: Int? { mostStepsToRow ?? connection.stepLimit }

  private func limitedStep() -> Int32 {
    connection.waiting.limited(to: limit ?? .max, on: connection.handle) {
      sqlite3_step(handle)
    }
  }

  /// Moves back before the first row; bindings stay.
  public func reset() {
    sqlite3_reset(handle)
    isDone = false
  }

  /// Sets every parameter to NULL.
  public func clearBindings() {
    sqlite3_clear_bindings(handle)
  }

  /// Runs a statement that returns no rows to its end and resets it for the next run.
  public func run() throws(SQLiteError) {
    defer { reset() }
    while try step() {}
  }

  /// As ``run()``, with a blob as one of the parameters. The blob is not copied; all parameters are
  /// NULL afterwards, because a cached statement must not point to the caller's bytes.
  public func run(lending blob: RawSpan, at index: Int) throws(SQLiteError) {
    defer { clearBindings() }
    try blob.withUnsafeBytes { (bytes) throws(SQLiteError) in
      try bindUnowned(bytes, at: index)
      try run()
    }
  }

  /// Whether the statement changes nothing in the file.
  public var isReadOnly: Bool { sqlite3_stmt_readonly(handle) != 0 }

  /// The number of virtual machine instructions since the last call, a measure of work that does
  /// not depend on the machine's speed.
  package func takeSteps() -> Int {
    Int(UInt32(bitPattern: sqlite3_stmt_status(handle, SQLITE_STMTSTATUS_VM_STEP, 1)))
  }

  func failure(_ code: Int32) -> SQLiteError {
    if code & 0xff == SQLITE_INTERRUPT, connection.waiting.isDeadlinePassed {
      return SQLiteError(extendedCode: code, message: "the deadline has passed", sql: sql)
    }
    if code & 0xff == SQLITE_INTERRUPT, limit != nil, connection.waiting.isOutOfSteps {
      return .endless(sql: sql, isChange: !isReadOnly)
    }
    return SQLiteError(handle: connection.handle, code: code, sql: sql)
  }
}
