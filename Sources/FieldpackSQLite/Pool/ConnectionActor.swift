/// Owns one connection on a thread of its own.
package actor ConnectionActor {
  private let executor: ThreadExecutor
  private var connection: Connection?

  package init() throws(SQLiteError) {
    executor = try ThreadExecutor()
  }

  package nonisolated var unownedExecutor: UnownedSerialExecutor {
    executor.asUnownedSerialExecutor()
  }

  /// Opens the connection on the actor's thread and makes it ready, which cancellation interrupts.
  package func open(
    _ make: @Sendable () throws(SQLiteError) -> Connection,
    configure: @Sendable (Connection) throws(SQLiteError) -> Void = { _ in }
  ) async throws(SQLiteError) {
    let made = try make()
    try await visit(made, configure)
    connection = made
  }

  /// Runs `body` with the connection. Cancelling the task interrupts the statement that runs and
  /// fails every further one of this visit.
  package func run<R: Sendable, E: SQLiteErrorConvertible>(
    _ body: @Sendable (Connection) throws(E) -> R
  ) async throws(E) -> R {
    guard let connection else { throw E(sqlite: .misuse("the connection is closed")) }
    connection.leaveFewPages()
    // Others may have written since, and an open transaction does not see it.
    if !connection.isInTransaction { connection.fitLongestValue() }
    return try await visit(connection, body)
  }

  private func visit<R: Sendable, E: SQLiteErrorConvertible>(
    _ connection: Connection, _ body: @Sendable (Connection) throws(E) -> R
  ) async throws(E) -> R {
    let handle = connection.interruptHandle
    let (run, outer) = handle.beginRun()
    defer { handle.endRun(outer: outer) }
    // The closure runs on this actor's thread only because it captures `self`.
    let result = await withTaskCancellationHandler {
      self.result(of: body, with: connection)
    } onCancel: {
      handle.interrupt(run: run)
    }
    return try result.get()
  }

  private func result<R, E: SQLiteErrorConvertible>(
    of body: (Connection) throws(E) -> R, with connection: Connection
  ) -> Result<R, E> {
    Result { () throws(E) in try body(connection) }
  }

  /// Ends what a visitor may have left open: its attachment and its transaction.
  package func rest() {
    connection?.attachment = nil
    connection?.rollBackLeftovers()
  }

  /// Goes back to the journal mode the file came with and closes the connection.
  /// - Throws: an error when another connection prevents the former; it is closed all the same.
  package func close() throws(SQLiteError) {
    guard let closing = connection else { return }
    connection = nil
    closing.attachment = nil
    closing.rollBackLeftovers()
    try closing.restoreJournalMode()
  }
}
