#if PostGIS
  package import FieldpackCore

  /// Owns one connection, on a thread of its own, because its calls block.
  package actor PostgresActor {
    private let executor: ThreadExecutor
    private var connection: PostgresConnection?
    private var lastUse = ContinuousClock.now

    package init() throws(FieldpackError) { executor = try ThreadExecutor.started() }

    package nonisolated var unownedExecutor: UnownedSerialExecutor {
      executor.asUnownedSerialExecutor()
    }

    package func connect(
      _ address: PostgresAddress, limits: PostgresLimits
    ) throws(FieldpackError) {
      connection = try PostgresConnection(address, limits: limits)
    }

    /// Runs `body` with the connection. Cancelling the task cancels the statement that runs at the
    /// server, and fails every later statement of this visit.
    package func run<R: Sendable>(
      _ body: @Sendable (PostgresConnection) throws(FieldpackError) -> R
    ) async throws(FieldpackError) -> R {
      guard let connection else { throw PostgresPool.closedError }
      let canceller = connection.canceller
      let (run, outer) = canceller.beginRun()
      defer {
        if !canceller.endRun(outer: outer) { connection.giveUp() }
        lastUse = .now
      }
      // The closure runs on this actor's thread only because it captures `self`.
      let result = await withTaskCancellationHandler {
        self.result(of: { () throws(FieldpackError) in try body(connection) })
      } onCancel: {
        canceller.cancel(run: run)
      }
      return try result.get()
    }

    private func result<R>(
      of body: () throws(FieldpackError) -> R
    ) -> Result<R, FieldpackError> {
      Result { () throws(FieldpackError) in try body() }
    }

    /// Whether the connection can serve another visitor. One that was not used for `trusted`, or has news,
    /// is asked.
    func isHealthy(trusted: Duration) -> Bool {
      guard let connection, connection.isIdle else { return false }
      let isTrusted = ContinuousClock.now - lastUse <= trusted && !connection.hasNews
      if isTrusted { return true }
      return (try? connection.execute("SELECT 1")) != nil
    }

    /// Rolls back what the last visitor left open; `false` where the connection is of no more use.
    package func rest() -> Bool {
      connection?.rollBackLeftovers()
      return connection?.isIdle ?? false
    }

    package func close() { connection = nil }
  }
#endif
