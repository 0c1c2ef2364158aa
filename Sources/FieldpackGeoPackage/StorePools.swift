import FieldpackCore
import FieldpackSQLite

/// The connections of a store: read-only ones until the first write.
actor StorePools {
  private let path: String
  private let id: StoreID
  private let usesWAL: Bool
  private let usesFileIDs: Bool
  private var readingPool: ConnectionPool?
  private var writingPool: ConnectionPool?
  private var isClosed = false
  private var opening = false
  private var waiters: [CheckedContinuation<Void, Never>] = []

  init(path: String, id: StoreID, usesWAL: Bool, usesFileIDs: Bool) {
    self.usesFileIDs = usesFileIDs
    self.path = path
    self.id = id
    self.usesWAL = usesWAL
  }

  /// The pool to read from.
  func reader() async throws(FieldpackError) -> ConnectionPool {
    if let pool = writingPool ?? readingPool, !isClosed { return pool }
    await takeTurn()
    defer { endTurn() }
    if let pool = writingPool ?? readingPool, !isClosed { return pool }
    let pool = try await open(.readOnly)
    readingPool = pool
    return pool
  }

  /// The pool to write with, opened at the first call.
  func writer() async throws(FieldpackError) -> ConnectionPool {
    if let writingPool, !isClosed { return writingPool }
    await takeTurn()
    defer { endTurn() }
    if let writingPool, !isClosed { return writingPool }
    let pool = try await open(.readWrite(usesWAL: usesWAL))
    writingPool = pool
    return pool
  }

  private func open(
    _ access: ConnectionPool.Access
  ) async throws(FieldpackError) -> ConnectionPool {
    guard !isClosed else {
      throw FieldpackError(
        .unavailable, "store '\(id)' is closed", location: .init(store: id))
    }
    let (id, usesFileIDs) = (id, usesFileIDs)
    do throws(SQLiteError) {
      // Each query that is being read holds a reader, so the number is no bound on threads in use.
      return try await ConnectionPool(
        path: path, access: access, profile: .foreign, maximumReaders: 64
      ) { (connection) throws(SQLiteError) in
        connection.companion = try GeoPackageFile(
          connection, store: id, usesFileIDs: usesFileIDs)
      }
    } catch {
      throw FieldpackError(error, path: path, location: .init(store: id))
    }
  }

  func close() async {
    await takeTurn()
    defer { endTurn() }
    isClosed = true
    try? await readingPool?.close()
    try? await writingPool?.close()
    (readingPool, writingPool) = (nil, nil)
  }

  // One opens or closes at a time; an actor alone would let others in at each await.
  private func takeTurn() async {
    while opening {
      await withCheckedContinuation { waiters.append($0) }
    }
    opening = true
  }

  private func endTurn() {
    opening = false
    let resumed = waiters
    waiters = []
    for waiter in resumed { waiter.resume() }
  }
}
