import CSQLite

/// How SQLite can undo a transaction.
public enum JournalMode: String, Sendable, Hashable {
  case delete, truncate, persist, memory, wal, off
}

/// An upper bound of a connection, one of SQLite's `SQLITE_LIMIT_…`.
public enum ConnectionLimit: Int32, Sendable {
  case length = 0
  case sqlLength, columns, expressionDepth, compoundSelect, instructions, functionArguments
  case attached, likePatternLength, parameters, triggerDepth, workerThreads
}

extension Connection {
  public var journalMode: JournalMode {
    get throws(SQLiteError) { try journalMode(after: "PRAGMA journal_mode") }
  }

  /// Asks for a journal mode and returns the mode in force. It is the old one where SQLite refuses,
  /// as on a file system without shared memory, or for `.off` on a defensive connection.
  @discardableResult
  public func setJournalMode(_ mode: JournalMode) throws(SQLiteError) -> JournalMode {
    try journalMode(after: "PRAGMA journal_mode=\(mode.rawValue)")
  }

  /// Turns the file's triggers off or on for this connection.
  public func setTriggers(areEnabled: Bool) throws(SQLiteError) {
    let flag: Int32 = areEnabled ? 1 : 0
    try check(fieldpack_sqlite_config_flag(handle, SQLITE_DBCONFIG_ENABLE_TRIGGER, flag))
  }

  /// Runs `body`, which rewrites declarations in `sqlite_master`. SQLite takes that on a connection
  /// that is not defensive, in writable-schema mode
  /// (https://www.sqlite.org/pragma.html#pragma_writable_schema).
  package func rewritingDeclarations<Failure>(
    _ body: () throws(Failure) -> Void, failure: (SQLiteError) -> Failure
  ) throws(Failure) {
    func set(_ isOpen: Bool) throws(Failure) {
      do throws(SQLiteError) {
        let isDefensive: Int32 = isOpen || profile == .bulk ? 0 : 1
        try check(fieldpack_sqlite_config_flag(handle, SQLITE_DBCONFIG_DEFENSIVE, isDefensive))
        try execute("PRAGMA writable_schema = \(isOpen ? "ON" : "OFF")")
      } catch { throw failure(error) }
    }
    try set(true)
    do throws(Failure) { try body() } catch {
      try set(false)
      throw error
    }
    try set(false)
  }

  /// A number that changes when another connection has changed the file.
  public var dataVersion: Int64 {
    get throws(SQLiteError) {
      guard case .integer(let version) = try scalar("PRAGMA data_version") else { return 0 }
      return version
    }
  }

  /// Whether other connections have committed since the last call; `false` at the first call.
  ///
  /// A checkpoint or a change of the journal mode by others also counts; commits of this connection
  /// never do.
  public func findsForeignCommits() throws(SQLiteError) -> Bool {
    let version = try dataVersion
    defer { knownVersion = version }
    return version != knownVersion ?? version
  }

  /// A number that changes when any connection, including this one, has changed the file.
  ///
  /// It belongs to the state that the open transaction reads, after the transaction's first read.
  /// Unlike ``dataVersion`` it is not read from the file.
  public var snapshotVersion: UInt32 { snapshotVersion(of: "main") }

  /// The ``snapshotVersion`` of an attached file.
  public func snapshotVersion(of schema: String) -> UInt32 {
    var version: UInt32 = 0
    sqlite3_file_control(handle, schema, SQLITE_FCNTL_DATA_VERSION, &version)
    return version
  }

  /// A number that changes when the schema has changed; reading it begins the transaction.
  public var schemaVersion: Int64 {
    get throws(SQLiteError) { try run(.schemaVersion) }
  }

  /// The size of the database and of its log, in bytes.
  package var byteCount: Int64 { OpenedFile.size(of: handle) }

  /// Sets a limit and returns the limit before; a negative value changes nothing.
  @discardableResult
  public func limit(_ limit: ConnectionLimit, to value: Int32 = -1) -> Int32 {
    sqlite3_limit(handle, limit.rawValue, value)
  }

  /// How long a statement waits for another connection's lock; 5 s by default.
  public var busyTimeout: Duration {
    get { waiting.busyTimeout }
    set { waiting.busyTimeout = newValue }
  }

  /// The moment after which statements throw an error that `isInterrupted`; `nil` for none.
  public var deadline: ContinuousClock.Instant? {
    get { waiting.deadline }
    set {
      waiting.deadline = newValue
      waiting.watchDeadline(on: handle)
    }
  }

  /// How long statements may work, from the first 4,000 steps of one of them on; `nil` for no limit. Work
  /// that is shorter does not look at the clock.
  package var patience: Duration? {
    get { waiting.patience }
    set {
      (waiting.patience, waiting.deadline) = (newValue, nil)
      waiting.watchDeadline(on: handle)
    }
  }

  /// Whether a deadline or a ``patience`` limits the work.
  package var hasTimeLimit: Bool { waiting.deadline != nil || waiting.patience != nil }

  /// What tells the time for the deadline.
  package var clock: DeadlineClock {
    get { waiting.clock }
    set { waiting.clock = newValue }
  }

  public var isDeadlinePassed: Bool { waiting.isDeadlinePassed }

  /// Runs `body`, which reads most pages only once, with a cache of 32 pages.
  ///
  /// Reading a page again is cheaper than faulting in fresh memory under SQLite's allocator lock. A
  /// cache that already holds many pages is kept.
  package func withFewPages<R, E: Error>(_ body: () throws(E) -> R) throws(E) -> R {
    guard isReadOnly, keptPageBytes <= Self.fewBytes else { return try body() }
    if setPageCache("32") { hasFewPages = true }
    defer { leaveFewPages() }
    return try body()
  }

  /// Restores the cache's normal size. After an interrupt SQLite refuses this while a statement is
  /// still running, so it is tried again before each visit.
  func leaveFewPages() {
    if hasFewPages, setPageCache("-2000") { hasFewPages = false }
  }

  /// Sets the cache's size, which SQLite does while it compiles the PRAGMA. A failure only affects
  /// speed, so nothing is thrown.
  private func setPageCache(_ size: String) -> Bool {
    (try? prepare("PRAGMA cache_size = \(size)", caching: false)) != nil
  }

  private static let fewBytes = 256 << 10

  /// Runs `body`, whose commits do not wait for the disk where the file is in WAL mode.
  ///
  /// Such a commit survives the end of this program at once, however that comes. It survives a power cut
  /// from the next commit on that waits, because the log is written in order; what a power cut takes,
  /// it takes from the end, and whole transactions.
  package func withoutSyncing<R, E: Error>(_ body: () throws(E) -> R) throws(E) -> R {
    guard (try? journalMode) == .wal, setSyncing("NORMAL") else { return try body() }
    isSyncing = false
    defer { syncAgain() }
    return try body()
  }

  /// Lets commits wait for the disk again. After an interrupt SQLite may refuse it, as it does for
  /// ``leaveFewPages()``, so it is tried again before each visit.
  func syncAgain() {
    if !isSyncing, setSyncing("EXTRA") { isSyncing = true }
  }

  /// SQLite does this while it compiles the PRAGMA.
  private func setSyncing(_ level: String) -> Bool {
    (try? prepare("PRAGMA synchronous = \(level)", caching: false)) != nil
  }

  private var keptPageBytes: Int {
    var (current, highest): (Int32, Int32) = (0, 0)
    sqlite3_db_status(handle, SQLITE_DBSTATUS_CACHE_USED, &current, &highest, 0)
    return Int(current)
  }

  /// Whether the running work was cancelled or is past its deadline, so that its next step throws.
  public var isStopping: Bool { interruptHandle.isRequested || isDeadlinePassed }

  private func journalMode(after sql: String) throws(SQLiteError) -> JournalMode {
    let statement = try prepare(sql, caching: false)
    guard try statement.step(), let mode = JournalMode(rawValue: statement.string(0) ?? "") else {
      throw .misuse("SQLite names no journal mode", sql: sql)
    }
    return mode
  }

  /// Uses WAL until the connection is closed; where WAL is not available, the file keeps its mode.
  func useWAL() throws(SQLiteError) {
    guard let files = DatabaseFiles(of: handle, schema: "main") else { return }
    let kept = try KeptJournalMode.keep(of: files.main) { () throws(SQLiteError) in
      try journalMode
    }
    guard let kept else { return try limitLog() }
    do throws(SQLiteError) {
      if try switchToWAL() { keptJournalMode = kept } else { kept.discard() }
    } catch {
      kept.discard()
      throw error
    }
    kept.share()
    try limitLog()
  }

  /// - Returns: whether the file is in WAL mode.
  private func switchToWAL() throws(SQLiteError) -> Bool {
    guard try journalMode != .wal else { return true }
    do throws(SQLiteError) {
      let before = try knownVersion.map { _ throws(SQLiteError) in try dataVersion }
      guard try setJournalMode(.wal) == .wal else { return false }
      try forgetOwnSwitch(since: before)
      return true
    } catch {
      // Another program has locked the file, so its journal mode stays.
      guard error.isBusy else { throw error }
      return false
    }
  }

  /// Limits the log to 64 MiB: readers hold up checkpoints while it grows, and SQLite cuts it back
  /// after them.
  private func limitLog() throws(SQLiteError) {
    try executeScript("PRAGMA journal_size_limit=67108864")
  }

  /// Keeps up to 32 MiB of changed pages in memory until the transaction is committed, and a cache
  /// of 8 MiB for other pages.
  ///
  /// By default SQLite keeps 2 MB, and writes further changed pages to the log each time they
  /// change. Rows in random spatial order change most pages of an R-tree many times in each
  /// transaction.
  func keepManyPages() throws(SQLiteError) {
    try executeScript("PRAGMA cache_spill=-32768; PRAGMA cache_size=-8192")
  }

  /// Keeps ``findsForeignCommits()`` from counting this connection's own change of the journal
  /// mode.
  private func forgetOwnSwitch(since before: Int64?) throws(SQLiteError) {
    guard let before, let known = knownVersion else { return }
    if try dataVersion == before + 1 { knownVersion = known + 1 }
  }

  /// Restores the journal mode that the file came with; best done before the last connection
  /// closes.
  ///
  /// - Throws: an error that `isBusy` where another connection prevents it, and an error that
  ///   `isFull` where the file has no room for the rows of the log. The log then stays, and whoever
  ///   opens the file next continues with it.
  func restoreJournalMode() throws(SQLiteError) {
    guard let kept = keptJournalMode, !isRestored else { return }
    cache.removeAll()
    _ = try scalar("PRAGMA wal_checkpoint(TRUNCATE)")
    if kept.mode != .wal { try setJournalMode(kept.mode) }
    isRestored = true
  }
}
