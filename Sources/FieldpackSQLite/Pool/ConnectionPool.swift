/// How a pool opens its file.
public enum PoolAccess: Sendable, Hashable {
  case readOnly
  /// With `usesWAL` the file is in WAL mode until the pool is closed, where its file system and
  /// other programs allow it.
  case readWrite(usesWAL: Bool)
}

/// The connections to one file: one writer, and readers that are opened when they are needed.
///
/// Visits of the writer wait for each other. Under WAL, readers run beside the writer; under a
/// rollback journal they wait for its lock, at most for the busy timeout. Close a pool before the
/// program ends: only then is the file certain to be in the journal mode it came with.
///
/// Visitors work with a `Session`. It is made once for each connection, lives as long as the
/// connection and must not hold the connection strongly.
public final class ConnectionPool<Session>: Sendable {
  public let path: String
  public let access: PoolAccess
  private let connections: PooledConnections<Session>

  /// Opens the writer, or for reading only the first reader, so that a bad file fails here.
  /// - Parameters:
  ///   - busyTimeout: how long each connection, while it opens and later, waits for a lock of
  ///     another.
  ///   - session: makes the session of every new connection; may, for example, register functions.
  ///   - willWrite: called before the writer changes anything, the journal mode included. The
  ///     writer's
  ///     ``Connection/findsForeignCommits()`` finds the commits of others from then on.
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

  /// Runs `body` on a reader. A transaction that `body` leaves open is rolled back.
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

  /// Runs `body` on an idle reader, on the thread of the caller; `nil` where no reader is idle.
  ///
  /// For short visits: they take less time than the way to the reader's own thread and back.
  package func readIfIdle<R, E: SQLiteErrorConvertible>(
    _ body: (Session) throws(E) -> R
  ) throws(E) -> R? {
    guard let reader = connections.readers.claimIdle() else { return nil }
    defer { connections.readers.release(reader) }
    return try connections.own(reader).runHere(body)
  }

  /// Runs `body` on the writer, after the visits that were asked for earlier. A transaction that
  /// `body` leaves open is rolled back.
  /// - Throws: an error that `isReadOnly` in a pool for reading.
  public func write<R: Sendable, E: SQLiteErrorConvertible>(
    _ body: @Sendable (Session) throws(E) -> R
  ) async throws(E) -> R {
    guard let writer = connections.writer else { throw E(sqlite: .readOnly(path)) }
    return try await writer.runAlone(body)
  }

  /// Takes a reader for several visits, for example for a cursor. Until its release the reader
  /// counts as one of the pool's readers in use.
  public func lease() async throws(SQLiteError) -> ReaderLease<Session> {
    ReaderLease(reader: try await connections.acquire(), queue: connections.readers)
  }

  /// One more reader for work that can be divided; `nil` when half of the readers are in use or
  /// somebody waits for one, so that divided work keeps nobody waiting.
  public func spareLease() async throws(SQLiteError) -> ReaderLease<Session>? {
    guard let reader = try await connections.acquireSpare() else { return nil }
    return ReaderLease(reader: reader, queue: connections.readers)
  }

  /// Closes the readers that have been idle since the last call, all but `count` of them. One that is needed
  /// again is opened again.
  package func closeUnusedReaders(keeping count: Int) async {
    for reader in connections.readers.takeUnused(keeping: count) {
      try? await connections.own(reader).close()
    }
  }

  /// Waits for the running visits and closes every connection. The file is then in the journal mode
  /// it came with, without `-wal` and `-shm` beside it. Later visits fail.
  /// - Throws: an error that `isBusy` when another program kept the journal mode from going back.
  public func close() async throws(SQLiteError) {
    try await connections.close()
  }
}

extension SQLiteError {
  static func readOnly(_ path: String) -> SQLiteError {
    SQLiteError(extendedCode: 8, message: "the file was opened for reading only: \(path)")
  }
}
