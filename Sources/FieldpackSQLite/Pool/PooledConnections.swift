/// Makes the connections of a pool, each on an actor of its own.
struct ConnectionFactory<Session>: Sendable {
  let path: String
  let access: PoolAccess
  let profile: Connection.Profile
  let busyTimeout: Duration
  let session: @Sendable (Connection) throws(SQLiteError) -> Session
  /// Called when the writer knows the last commit and has changed nothing yet.
  let willWrite: @Sendable () async -> Void

  /// `nil` for a pool that only reads.
  func makeWriter() async throws(SQLiteError) -> ConnectionActor<Session>? {
    guard case .readWrite(let usesWAL) = access else { return nil }
    let actor = try ConnectionActor<Session>()
    try await actor.connect { () throws(SQLiteError) in
      let connection = try Connection(
        path: path, mode: .readWrite, profile: profile, busyTimeout: busyTimeout)
      _ = try connection.findsForeignCommits()
      return connection
    }
    await willWrite()
    try await actor.begin { (connection) throws(SQLiteError) in
      if usesWAL { try connection.useWAL() }
      try connection.keepManyPages()
      return try session(connection)
    }
    return actor
  }

  func makeReader() async throws(SQLiteError) -> ConnectionActor<Session> {
    try await make { () throws(SQLiteError) in
      guard access != .readOnly else {
        return try Connection(
          path: path, mode: .readOnly, profile: profile, busyTimeout: busyTimeout)
      }
      let opened = try OpenedFile.reader(of: path)
      return try Connection(
        opened: opened, path: path, mode: .readOnly, profile: profile, busyTimeout: busyTimeout)
    }
  }

  private func make(_ open: @Sendable () throws(SQLiteError) -> Connection)
    async throws(SQLiteError) -> ConnectionActor<Session>
  {
    let actor = try ConnectionActor<Session>()
    try await actor.connect(open)
    try await actor.begin(session)
    return actor
  }
}

/// The connections that a pool owns. They outlive a pool that nobody closed, until the background
/// has closed them.
struct PooledConnections<Session>: Sendable {
  let writer: ConnectionActor<Session>?
  let readers: ReaderQueue
  let factory: ConnectionFactory<Session>

  /// An idle reader, a new one, or the next one that is released.
  func acquire() async throws(SQLiteError) -> ConnectionActor<Session> {
    try await reader(by: await readers.claim())
  }

  /// An idle reader or a new one, where fewer than half of the readers are in use.
  func acquireSpare() async throws(SQLiteError) -> ConnectionActor<Session>? {
    guard let claim = readers.claimSpare() else { return nil }
    return try await reader(by: claim)
  }

  private func reader(by claim: ReaderQueue.Claim) async throws(SQLiteError)
    -> ConnectionActor<Session>
  {
    switch claim {
    case .reader(let reader): return own(reader)
    case .cancelled: throw .interrupted()
    case .closed: throw .misuse("the pool is closed: \(factory.path)")
    case .opening:
      do throws(SQLiteError) { return try await factory.makeReader() } catch {
        readers.giveUpOpening()
        throw error
      }
    }
  }

  /// A reader of the queue as what it is: the queue has this pool's readers only.
  func own(_ reader: any QueuedReader) -> ConnectionActor<Session> {
    unsafeDowncast(reader, to: ConnectionActor<Session>.self)
  }

  func openFirstReader() async throws(SQLiteError) {
    readers.release(try await acquire())
  }

  func close() async throws(SQLiteError) {
    for reader in await readers.close() { try? await own(reader).close() }
    try await writer?.close()
  }
}
