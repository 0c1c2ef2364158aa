import FieldpackThreads

/// Owns one connection, on a thread of its own, and the session that visitors of the connection
/// use.
package actor ConnectionActor<Session>: QueuedReader {
  private let executor: ThreadExecutor
  // Changed on the actor alone. Whoever has claimed the reader may use them on another thread, because
  // the actor has no visitors then; the queue's lock stands between one user and the next.
  private nonisolated(unsafe) var connection: Connection?
  private nonisolated(unsafe) var session: Session?
  /// The value that a lease keeps between its visits.
  private var kept: (any Clearable)?

  package init() throws(SQLiteError) {
    guard let executor = ThreadExecutor() else { throw .outOfThreads }
    self.executor = executor
  }

  package nonisolated var unownedExecutor: UnownedSerialExecutor {
    executor.asUnownedSerialExecutor()
  }

  /// Opens the connection on the actor's thread.
  package func connect(
    _ make: @Sendable () throws(SQLiteError) -> Connection
  ) throws(SQLiteError) {
    connection = try make()
  }

  /// Makes the session of the open connection; cancelling the task interrupts this.
  package func begin(
    _ make: @Sendable (Connection) throws(SQLiteError) -> Session
  ) async throws(SQLiteError) {
    guard let connection else { throw .misuse("the connection is closed") }
    do throws(SQLiteError) {
      session = try await visit(connection) { () throws(SQLiteError) in try make(connection) }
    } catch {
      self.connection = nil
      throw error
    }
  }

  /// Runs `body` with the session. Cancelling the task interrupts the running statement and fails
  /// every later statement of this visit.
  package func run<R: Sendable, E: SQLiteErrorConvertible>(
    _ body: @Sendable (Session) throws(E) -> R
  ) async throws(E) -> R {
    guard let connection, let session else {
      throw E(sqlite: .misuse("the connection is closed"))
    }
    connection.leaveFewPages()
    connection.syncAgain()
    // Another connection may have written since the last visit; an open transaction does not see
    // it.
    if !connection.isInTransaction { connection.fitLongestValue() }
    return try await visit(connection) { () throws(E) in try body(session) }
  }

  /// Runs `body` on the thread of the caller, who has claimed the reader. Afterwards a transaction that
  /// `body` left open is rolled back.
  nonisolated func runHere<R, E: SQLiteErrorConvertible>(
    _ body: (Session) throws(E) -> R
  ) throws(E) -> R {
    guard let connection, let session else {
      throw E(sqlite: .misuse("the connection is closed"))
    }
    defer { connection.rollBackLeftovers() }
    connection.leaveFewPages()
    connection.fitLongestValue()
    return try body(session)
  }

  /// As ``run(_:)``; afterwards a transaction that `body` left open is rolled back.
  func runAlone<R: Sendable, E: SQLiteErrorConvertible>(
    _ body: @Sendable (Session) throws(E) -> R
  ) async throws(E) -> R {
    defer { rest() }
    return try await run(body)
  }

  /// As ``run(_:)``, with a value that is kept until ``rest()``.
  func run<R: Sendable, Value, E: SQLiteErrorConvertible>(
    keeping value: LeasedValue<Value>, _ body: @Sendable (Session, inout Value?) throws(E) -> R
  ) async throws(E) -> R {
    kept = value
    return try await run { (session) throws(E) in try body(session, &value.value) }
  }

  private func visit<R, E: SQLiteErrorConvertible>(
    _ connection: Connection, _ body: () throws(E) -> R
  ) async throws(E) -> R {
    let handle = connection.interruptHandle
    let (run, outer) = handle.beginRun()
    defer { handle.endRun(outer: outer) }
    // The closure runs on this actor's thread only because it captures `self`.
    let result = await withTaskCancellationHandler {
      self.result(of: body)
    } onCancel: {
      handle.interrupt(run: run)
    }
    return try result.get()
  }

  private func result<R, E: SQLiteErrorConvertible>(
    of body: () throws(E) -> R
  ) -> Result<R, E> {
    Result { () throws(E) in try body() }
  }

  /// Drops the kept value and rolls back an open transaction.
  package func rest() {
    forgetKept()
    connection?.rollBackLeftovers()
  }

  private func forgetKept() {
    kept?.clear()
    kept = nil
  }

  /// Restores the journal mode that the file came with, and closes the connection.
  /// - Throws: an error when another connection keeps the journal mode from going back; the
  ///   connection is closed all the same.
  package func close() throws(SQLiteError) {
    guard let closing = connection else { return }
    forgetKept()
    (connection, session) = (nil, nil)
    closing.rollBackLeftovers()
    try closing.restoreJournalMode()
  }
}

/// Holds a value that can be dropped.
protocol Clearable: AnyObject, Sendable {
  func clear()
}

/// A value that stays with a leased reader between two visits, such as a cursor that is stepped in
/// several visits.
///
/// The reader's thread uses the value and drops it before the reader goes back to its pool.
public final class LeasedValue<Value>: Clearable, @unchecked Sendable {
  fileprivate var value: Value?

  public init() {}

  func clear() { value = nil }
}
