#if PostGIS
  import FieldpackCore

  /// The connections of one division: to the server of the store, which waits with a lock on the table
  /// until the end, and to all others.
  ///
  /// A server that does not answer is named in the error. Cancelling the visit of the store's connection
  /// cancels what all others do.
  final class ShardConnections {
    /// To the store's server. Its transaction holds the lock, and ends with the switch.
    let own: PostgresConnection
    let servers: [ShardServer]
    let limits: PostgresLimits
    private var writers: [String: PostgresConnection] = [:]
    private var readers: [String?: PostgresConnection] = [:]
    private var plainReader: PostgresConnection?

    init(_ own: PostgresConnection, _ servers: [ShardServer], _ limits: PostgresLimits) {
      self.own = own
      self.servers = servers
      self.limits = limits
    }

    /// Copying takes as long as it takes, and nobody needs to be told that a server is known already.
    static let patience = """
      SET LOCAL lock_timeout = '30s'; SET LOCAL statement_timeout = 0;
      SET LOCAL idle_in_transaction_session_timeout = 0; SET LOCAL client_min_messages = warning
      """

    /// The connection that makes the parts of a server, in a transaction.
    func writer(_ server: String?) throws(FieldpackError) -> PostgresConnection {
      guard let server else { return own }
      if let known = writers[server] { return known }
      let made = try begun(server)
      writers[server] = made
      return made
    }

    /// Ends the connection that makes the parts of a server, and what it did.
    func forgetWriter(_ server: String) { writers[server] = nil }

    /// The connection that reads the parts of a server, in a transaction of its own.
    func reader(_ server: String?) throws(FieldpackError) -> PostgresConnection {
      if let known = readers[server] { return known }
      let made = try begun(server)
      readers[server] = made
      return made
    }

    /// A new connection, in a transaction.
    private func begun(_ server: String?) throws(FieldpackError) -> PostgresConnection {
      let made = try connection(server)
      try made.execute(PostgresConnection.Transaction.writing.rawValue)
      try made.run(script: Self.patience)
      return made
    }

    /// A second connection to the store's server, without a transaction: a lock of it would keep the
    /// switch waiting.
    func ownReader() throws(FieldpackError) -> PostgresConnection {
      if let plainReader { return plainReader }
      let made = try connection(nil)
      plainReader = made
      return made
    }

    /// A new connection.
    func connection(_ server: String?) throws(FieldpackError) -> PostgresConnection {
      guard let server else {
        return try PostgresConnection(own.address, limits: limits, following: own)
      }
      guard let known = servers.first(where: { $0.name == server }) else {
        throw FieldpackError(
          .configuration,
          "the server '\(server)' has parts of the layer, but it is not in the option 'servers' of the store"
        )
      }
      do throws(FieldpackError) {
        return try PostgresConnection(known.address, limits: limits, following: own)
      } catch { throw error.of(server: server) }
    }

    /// The servers that have committed, in order.
    private(set) var committed: [String] = []

    /// Commits what the writers made; the own connection stays as it is.
    func commitWriters() throws(FieldpackError) {
      for (server, connection) in writers.sorted(by: { $0.key < $1.key }) {
        do throws(FieldpackError) {
          try connection.commit("its part of the changes was made")
        } catch { throw error.of(server: server) }
        committed.append(server)
      }
      writers = [:]
    }

    /// Ends the readers and their locks.
    func endReaders() throws(FieldpackError) {
      let ended = readers
      readers = [:]
      for (server, connection) in ended {
        do throws(FieldpackError) { try connection.execute("COMMIT") } catch {
          throw error.of(server: server)
        }
      }
    }
  }

  extension FieldpackError {
    /// The error with the server that it came from.
    func of(server: String?) -> FieldpackError {
      guard let server, code != .interrupted, !message.hasPrefix("server '\(server)': ") else {
        return self
      }
      return FieldpackError(
        code, "server '\(server)': \(message)", location: location, underlying: underlying)
    }
  }

  extension PostgresConnection {
    func executeAll(_ statements: [String]) throws(FieldpackError) {
      for statement in statements { try execute(statement) }
    }
  }
#endif
