#if PostGIS
  import CPQ
  package import FieldpackCore

  extension PostgresConnection {
    /// How a transaction begins.
    package enum Transaction: String, Sendable {
      /// One state of the database for all statements.
      case snapshot = "BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY"
      case writing = "BEGIN TRANSACTION ISOLATION LEVEL READ COMMITTED READ WRITE"
    }

    /// Runs `body` in a transaction: all of its changes are committed, or none when it throws.
    ///
    /// - Throws: `.unavailable` when the connection is lost in the commit, too; then nobody knows
    ///   whether the changes were made.
    package func transaction<R>(
      _ kind: Transaction = .writing, _ body: () throws(FieldpackError) -> R
    ) throws(FieldpackError) -> R {
      try execute(kind.rawValue)
      let value: R
      do throws(FieldpackError) {
        value = try body()
      } catch {
        rollBackLeftovers()
        throw error
      }
      // What was read stays right, whatever became of the last statement.
      if kind == .snapshot, PQtransactionStatus(handle) == PQTRANS_INERROR {
        rollBackLeftovers()
      } else {
        try commit("the changes were made")
      }
      return value
    }

    /// Ends a transaction with all of its changes.
    ///
    /// - Parameter deed: named where nobody knows whether it was done, because the connection was lost in
    ///   the commit, or given up.
    /// - Throws: also where a statement of the transaction failed. The server would answer such a COMMIT
    ///   with a ROLLBACK, and not with an error.
    func commit(_ deed: String) throws(FieldpackError) {
      do throws(FieldpackError) { try check() } catch {
        rollBackLeftovers()
        throw error
      }
      guard PQtransactionStatus(handle) != PQTRANS_INERROR else {
        rollBackLeftovers()
        throw FieldpackError(
          .invalidArgument, "a statement of the transaction failed, so that nothing was changed")
      }
      do throws(FieldpackError) {
        try execute("COMMIT")
      } catch {
        rollBackLeftovers()
        guard error.code == .unavailable || isGivenUp else { throw error }
        throw FieldpackError(
          .unavailable, "it is not known whether \(deed): \(error.message)",
          underlying: error.underlying)
      }
    }

    /// Runs `body` so that its error takes back its own changes alone, and the transaction goes on.
    func savepoint<R>(_ body: () throws(FieldpackError) -> R) throws(FieldpackError) -> R {
      try run(script: "SAVEPOINT fieldpack_step")
      let value: R
      do throws(FieldpackError) { value = try body() } catch {
        try? run(script: "ROLLBACK TO SAVEPOINT fieldpack_step; RELEASE SAVEPOINT fieldpack_step")
        throw error
      }
      try run(script: "RELEASE SAVEPOINT fieldpack_step")
      return value
    }

    /// Ends what a visitor left open. A connection that cannot be brought to rest is given up.
    package func rollBackLeftovers() {
      guard !isGivenUp, PQstatus(handle) == CONNECTION_OK else { return }
      if PQtransactionStatus(handle) == PQTRANS_ACTIVE {
        cancelStatement()
        // Does nothing but where a COPY waits for data.
        try? send { PQputCopyEnd($0, "given up") }
        drain()
      }
      guard isInTransaction, !isGivenUp else { return }
      guard PQsendQuery(handle, "ROLLBACK") == 1 else { return giveUp() }
      drain()
      if PQtransactionStatus(handle) != PQTRANS_IDLE { giveUp() }
    }
  }
#endif
