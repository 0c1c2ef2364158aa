/// How a pool opens its file.
public enum PoolAccess: Sendable, Hashable {
  case readOnly
  /// With `usesWAL` the file is in WAL mode until the pool is closed, where its file system and
  /// other programs allow it.
  case readWrite(usesWAL: Bool)
}

/// The connections to one file: one writer, and readers that are opened as they are needed.
///
/// Writers wait for each other; readers run beside the writer under WAL, and take turns with it by
/// the busy timeout under a rollback journal. Close a pool before the program ends: only then is
/// the file surely left in the journal mode it came with.
///
/// Visitors work with a `Session`, which is made once for each connection and lives as long. It must
/// not hold the connection strongly.
public final class ConnectionPool<Session>: Sendable {
  public let path: String
  public let access: PoolAccess
  private let connections: PooledConnections<Session>

  /// Opens the writer, or for reading only the first reader, so that a bad file fails here.
  /// - Parameters:
  ///   - busyTimeout: how long each connection waits for the lock of another, from its opening on.
  ///   - session: makes the session of every new connection, for example registers functions.
  ///   - willWrite: called before the writer changes anything, the journal mode included; commits of
  ///     others from then on are what its ``Connection/findsForeignCommits()`` finds.
  public init(
    path: String, access: PoolAccess, profile: Connection.Profile = .foreign,
    maximumReaders: Int = 4,
    busyTimeout: Duration = .seconds(5),
    session: @escaping @Sendable (Connection) throws(SQLiteError) -> Session,
    willWrite: @escaping @Sendable () async -> Void = {}
  ) async throws(SQLiteError) {
    self.path = path
    self.access = access
    let factory = ConnectionFactory(
      path: path, access: access, profile: profile, busyTimeout: busyTimeout,
      session: session, willWrite: willWrite)
    let writer = try await factory.makeWriter()
    connections = PooledConnections(
      writer: writer, readers: ReaderQueue(maximum: max(1, maximumReaders)), factory: factory)
    if writer == nil { try await connections.openFirstReader() }
  }

  deinit {
    let connections = connections
    Task { try? await connections.close() }
  }

  /// Runs `body` on a reader. What it leaves open of a transaction is rolled back.
  public func read<R: Sendable, E: SQLiteErrorConvertible>(
    _ body: @Sendable (Session) throws(E) -> R
  ) async throws(E) -> R {
    let reader: ConnectionActor<Session>
    do throws(SQLiteError) { reader = try await connections.acquire() } catch {
      throw E(sqlite: error)
    }
    defer { connections.readers.release(reader) }
    return try await reader.runAlone(body)
  }

  /// Runs `body` on the writer, after those that came before. What it leaves open of a
  /// transaction is rolled back.
  /// - Throws: an error that `isReadOnly` in a pool for reading.
  public func write<R: Sendable, E: SQLiteErrorConvertible>(
    _ body: @Sendable (Session) throws(E) -> R
  ) async throws(E) -> R {
    guard let writer = connections.writer else { throw E(sqlite: .readOnly(path)) }
    return try await writer.runAlone(body)
  }

  /// Keeps a reader for several visits, for example for a cursor; it counts as one of the readers
  /// until it is released.
  public func lease() async throws(SQLiteError) -> ReaderLease<Session> {
    ReaderLease(reader: try await connections.acquire(), queue: connections.readers)
  }

  /// A reader beside one that is held already, for work that can be divided; `nil` when half of the
  /// readers are out or somebody waits, so that others never wait for want of it.
  public func spareLease() async throws(SQLiteError) -> ReaderLease<Session>? {
    guard let reader = try await connections.acquireSpare() else { return nil }
    return ReaderLease(reader: reader, queue: connections.readers)
  }

  /// Waits for the work that runs, closes every connection and leaves the file in the journal
  /// mode it came with and nothing beside it. Later visits fail.
  /// - Throws: an error that `isBusy` when another program kept the journal mode from going back.
  public func close() async throws(SQLiteError) {
    try await connections.close()
  }
}

extension ConnectionPool where Session == Connection {
  /// A pool whose visitors work with the connections themselves.
  ///
  /// - Parameter configure: prepares every new connection.
  public convenience init(
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

extension SQLiteError {
  static func readOnly(_ path: String) -> SQLiteError {
    SQLiteError(extendedCode: 8, message: "the file was opened for reading only: \(path)")
  }
}
