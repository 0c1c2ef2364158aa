import CSQLite

/// When a transaction takes its locks.
public enum TransactionKind: Sendable, Hashable {
  /// At the first read or write. All reads see one state of the file.
  case deferred
  /// At once, for writing, so that no later statement fails because it cannot get the lock.
  case immediate
}

extension Connection {
  /// Runs `body` in a transaction: committed when it returns, rolled back when it throws.
  ///
  /// A closure that throws must name the type of its error: `{ () throws(SQLiteError) in … }`.
  public func transaction<R, E: SQLiteErrorConvertible>(
    _ kind: TransactionKind = .deferred, _ body: () throws(E) -> R
  ) throws(E) -> R {
    let begin = kind == .deferred ? "BEGIN" : "BEGIN IMMEDIATE"
    return try bracket(begin, commit: "COMMIT", rollback: ["ROLLBACK"], body)
  }

  /// Runs `body` in a savepoint, which may be inside a transaction or another savepoint.
  public func savepoint<R, E: SQLiteErrorConvertible>(_ body: () throws(E) -> R) throws(E) -> R {
    try bracket(
      "SAVEPOINT fieldpack", commit: "RELEASE fieldpack",
      rollback: ["ROLLBACK TO fieldpack", "RELEASE fieldpack"], body)
  }

  /// Begins a transaction of which all reads see one state of the file.
  package func begin() throws(SQLiteError) { try run(.begin) }

  /// Ends a transaction without its changes.
  package func rollBack() throws(SQLiteError) { try run(.rollback) }

  /// Whether a transaction is open.
  public var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

  /// The number of rows that the last finished statement changed, without those that triggers
  /// changed.
  public var changes: Int { Int(sqlite3_changes64(handle)) }

  /// The number of rows changed since the connection was opened, including those that triggers
  /// changed.
  public var totalChanges: Int { Int(sqlite3_total_changes64(handle)) }

  /// The row id of the last row inserted by this connection.
  public var lastInsertRowID: Int64 { sqlite3_last_insert_rowid(handle) }

  /// Rolls back a transaction that the connection's owner has left open.
  package func rollBackLeftovers() {
    undo(["ROLLBACK"])
  }

  private func bracket<R, E: SQLiteErrorConvertible>(
    _ begin: String, commit: String, rollback: [String], _ body: () throws(E) -> R
  ) throws(E) -> R {
    try control(begin, E.self)
    do throws(E) {
      let result = try body()
      try control(commit, E.self)
      return result
    } catch {
      undo(rollback)
      throw error
    }
  }

  private func control<E: SQLiteErrorConvertible>(_ sql: String, _: E.Type) throws(E) {
    do throws(SQLiteError) {
      let statement = try prepare(sql)
      while try statement.step() {}
    } catch {
      throw E(sqlite: error)
    }
  }

  /// Rolls back, even where the work was cancelled. A full disk and some other failures have
  /// already ended the transaction.
  private func undo(_ statements: [String]) {
    possibleSchemaChanges += 1
    for sql in statements where isInTransaction {
      sqlite3_exec(handle, sql, nil, nil, nil)
    }
  }
}
