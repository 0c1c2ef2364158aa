@testable import FieldpackSQLite

extension ConnectionActor where Session == Connection {
  /// Opens a connection that serves as its own session.
  func open(
    _ make: @Sendable () throws(SQLiteError) -> Connection,
    configure: @Sendable (Connection) throws(SQLiteError) -> Void = { _ in }
  ) async throws(SQLiteError) {
    try connect(make)
    try await begin { (connection) throws(SQLiteError) in
      try configure(connection)
      return connection
    }
  }
}

extension ConnectionPool where Session == Connection {
  /// A pool whose visitors use the connections themselves.
  ///
  /// - Parameter configure: prepares every new connection.
  convenience init(
    path: String, access: PoolAccess, profile: Connection.Profile = .foreign,
    maximumReaders: Int = 4, busyTimeout: Duration = .seconds(5),
    configure: @escaping @Sendable (Connection) throws(SQLiteError) -> Void = { _ in },
    willWrite: @escaping @Sendable () async -> Void = {}
  ) async throws(SQLiteError) {
    try await self.init(
      path: path, access: access, profile: profile, maximumReaders: maximumReaders,
      busyTimeout: busyTimeout,
      session: { (connection) throws(SQLiteError) in
        try configure(connection)
        return connection
      }, willWrite: willWrite)
  }
}
