package import FieldpackCore
package import FieldpackSQLite

/// The connections of a store: read-only ones until the first write.
package actor StorePools {
  package typealias Pool = ConnectionPool<GeoPackageSession>

  private let path: String
  private let id: StoreID
  private let usesWAL: Bool
  private let usesFileIDs: Bool
  private let profile: OpeningProfile
  private let busyTimeout: Duration
  private let style: LayerStyle?
  private let logger: Logger
  private let watch: CommitWatch
  private let derivation: (any Derivation)?
  private let opened = Locked(Opened.never)
  /// What is found of the file's R-trees; `nil` where they are believed.
  private let verdicts: IndexVerdicts?
  /// What lives as long as the file is read.
  private var kept: (any Sendable)?
  private var readingPool: Pool? { didSet { show() } }
  private var writingPool: Pool? { didSet { show() } }
  private var isClosed = false { didSet { show() } }
  private var opening = false
  /// Whether the file is about to change its journal mode; nobody may read meanwhile.
  private var isSwitching = false { didSet { show() } }
  /// The pool to read from, for threads that do not wait for this actor.
  private nonisolated let shown = Locked<Pool?>(nil)
  private var waiters: [CheckedContinuation<Void, Never>] = []
  /// The cursors that hold a reader.
  private var cursors: [WeakCursor] = []

  /// The outcome of reading the catalogue, which the first reader does. With a `Result` the runtime
  /// looks up a conformance, which the benchmark of a condition with an index shows.
  private enum Opened {
    case never, readable
    case failed(FieldpackError)
  }

  private struct WeakCursor {
    weak var cursor: (any OpenCursor)?
  }

  init(
    path: String, id: StoreID, profile: OpeningProfile, usesWAL: Bool, usesFileIDs: Bool,
    busyTimeout: Duration, style: LayerStyle?, logger: Logger, watch: CommitWatch
  ) {
    self.watch = watch
    self.profile = profile
    verdicts = profile.doubtsIndexes ? IndexVerdicts() : nil
    derivation = nil
    self.usesFileIDs = usesFileIDs
    self.style = style
    self.logger = logger
    self.path = path
    self.id = id
    self.usesWAL = usesWAL
    self.busyTimeout = busyTimeout
  }

  /// The connections of a derived layer: their own, to the same file as those of `base`.
  init(_ base: StorePools, _ derivation: any Derivation, watch: CommitWatch) {
    self.watch = watch
    path = base.path
    id = base.id
    usesWAL = base.usesWAL
    usesFileIDs = base.usesFileIDs
    // The profile of the other file is not known here, so that the careful one is taken.
    profile = derivation.readsOtherFile ? .foreign : base.profile
    verdicts = base.verdicts
    busyTimeout = base.busyTimeout
    style = base.style
    logger = base.logger
    self.derivation = derivation
  }

  /// Opens the file for reading and reads the catalogue in the same visit of the reader; a second
  /// visit would double the time.
  func open() async throws(FieldpackError) {
    _ = try await reader()
    if case .failed(let error) = opened.withLock({ $0 }) { throw error }
  }

  /// The pool to read from.
  package func reader() async throws(FieldpackError) -> Pool {
    if let pool = writingPool ?? readingPool, !isClosed, !isSwitching { return pool }
    await takeTurn()
    defer { endTurn() }
    if let pool = writingPool ?? readingPool, !isClosed { return pool }
    let pool = try await open(.readOnly)
    readingPool = pool
    return pool
  }

  /// The pool to read from, where there is one now.
  nonisolated var current: Pool? { shown.withLock { $0 } }

  private func show() {
    let pool = isClosed || isSwitching ? nil : writingPool ?? readingPool
    shown.withLock { $0 = pool }
  }

  /// The pool to write with, opened at the first call.
  package func writer() async throws(FieldpackError) -> Pool {
    guard derivation == nil else {
      throw FieldpackError(
        .readOnly, "a derived layer cannot be changed", location: .init(store: id))
    }
    if let writingPool, !isClosed {
      if watch.awaitsWriter { try await lookForForeignCommits() }
      return writingPool
    }
    await takeTurn()
    defer { endTurn() }
    if let writingPool, !isClosed { return writingPool }
    try await waitForCursors()
    isSwitching = true
    defer { isSwitching = false }
    do throws(FieldpackError) {
      let pool = try await open(.readWrite(usesWAL: usesWAL))
      writingPool = pool
      return pool
    } catch {
      watch.takeBack()
      throw error
    }
  }

  /// Lets the writer, where there is one, look for commits of others.
  func lookForForeignCommits() async throws(FieldpackError) {
    guard !isClosed else { throw closed }
    guard let writingPool else { return }
    let watch = watch
    try await writingPool.write { (session) throws(FieldpackError) in watch.note(session.connection)
    }
  }

  private var closed: FieldpackError {
    FieldpackError(.unavailable, "store '\(id)' is closed", location: .init(store: id))
  }

  /// Waits until no query is being read: until the file is in WAL mode, a reader blocks the writer.
  private func waitForCursors() async throws(FieldpackError) {
    let end = ContinuousClock.now + busyTimeout
    while !isClosed, !liveCursors.isEmpty {
      guard ContinuousClock.now < end, !Task.isCancelled else {
        throw FieldpackError(
          .busy,
          "store '\(id)' is being read by a query that has not come to its end. Finish it, or drop "
            + "it, before the first change", location: .init(store: id))
      }
      try? await Task.sleep(for: .milliseconds(5))
    }
  }

  // MARK: Cursors

  private var liveCursors: [any OpenCursor] { cursors.compactMap(\.cursor) }

  func add(_ cursor: any OpenCursor) {
    cursors.removeAll { $0.cursor == nil || $0.cursor === cursor }
    cursors.append(WeakCursor(cursor: cursor))
  }

  func keep(_ value: any Sendable) { kept = value }

  func remove(_ cursor: any OpenCursor) {
    cursors.removeAll { $0.cursor == nil || $0.cursor === cursor }
  }

  private func open(
    _ access: PoolAccess
  ) async throws(FieldpackError) -> Pool {
    guard !isClosed else { throw closed }
    let watch = watch
    let (id, usesFileIDs, profile, logger) = (id, usesFileIDs, profile, logger)
    let (derivation, style, opened, verdicts) = (derivation, style, opened, verdicts)
    do throws(SQLiteError) {
      // Every query that is being read holds a reader, so that the number of readers limits no
      // threads.
      return try await Pool(
        path: path, access: access, profile: profile.connections, maximumReaders: 64,
        busyTimeout: busyTimeout
      ) { (connection) throws(SQLiteError) in
        // The writer has changed the journal mode by now, which is no commit of others.
        if !connection.isReadOnly { watch.note(connection) }
        if profile.mapsReads { connection.mapReads() }
        let file = try GeoPackageSession(
          connection, store: id, usesFileIDs: usesFileIDs, profile: profile)
        file.style = style
        file.logger = logger
        file.indexes.verdicts = verdicts
        file.derivation = derivation
        StatementLog.attach(to: connection, logger)
        guard access == .readOnly, derivation == nil, case .never = opened.withLock({ $0 }) else {
          return file
        }
        do throws(FieldpackError) {
          try file.readCatalogue()
          opened.withLock { $0 = .readable }
        } catch {
          opened.withLock { $0 = .failed(error) }
        }
        return file
      } willWrite: {
        watch.handOver()
      }
    } catch {
      throw FieldpackError(
        error, path: profile.shownPath ?? path, location: .init(store: id))
    }
  }

  /// Closes the readers that nobody has used since the last call. Nobody asks the pool for reading only any
  /// more once there is one for writing.
  func closeUnusedReaders() async {
    // Whoever closes the store waits for this.
    await takeTurn()
    defer { endTurn() }
    guard !isClosed else { return }
    await readingPool?.closeUnusedReaders(keeping: writingPool == nil ? 1 : 0)
    await writingPool?.closeUnusedReaders(keeping: 1)
  }

  func close() async {
    await takeTurn()
    defer { endTurn() }
    isClosed = true
    watch.close()
    // An idle cursor holds its reader, and so the file, for as long as the cursor lives.
    for cursor in liveCursors { await cursor.stop() }
    cursors = []
    try? await readingPool?.close()
    try? await writingPool?.close()
    (readingPool, writingPool) = (nil, nil)
    // A writer that was stopped while it opened could not restore the journal mode: readers kept it
    // from that.
    if let real = FileSystem.real(path) { KeptJournalMode.restore(real) }
  }

  // Opening and closing take turns: the actor by itself lets other calls in at each await.
  private func takeTurn() async {
    while opening { await waitForTurn() }
    opening = true
  }

  // A function of its own: making the metadata of continuations takes long and is seldom needed.
  @inline(never)
  private func waitForTurn() async {
    await withCheckedContinuation { waiters.append($0) }
  }

  private func endTurn() {
    opening = false
    if !waiters.isEmpty { resumeWaiters() }
  }

  @inline(never)
  private func resumeWaiters() {
    let resumed = waiters
    waiters = []
    for waiter in resumed { waiter.resume() }
  }
}
