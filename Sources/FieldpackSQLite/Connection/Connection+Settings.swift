import CSQLite

/// How SQLite keeps a transaction undoable.
public enum JournalMode: String, Sendable, Hashable {
  case delete, truncate, persist, memory, wal, off
}

/// An upper bound of a connection, `SQLITE_LIMIT_…`.
public enum ConnectionLimit: Int32, Sendable {
  case length = 0
  case sqlLength, columns, expressionDepth, compoundSelect, instructions, functionArguments
  case attached, likePatternLength, parameters, triggerDepth, workerThreads
}

extension Connection {
  public var journalMode: JournalMode {
    get throws(SQLiteError) { try journalMode(after: "PRAGMA journal_mode") }
  }

  /// Asks for a journal mode and returns the one in force, which is the old one where SQLite
  /// refuses (a file system without shared memory, a defensive connection and `.off`).
  @discardableResult
  public func setJournalMode(_ mode: JournalMode) throws(SQLiteError) -> JournalMode {
    try journalMode(after: "PRAGMA journal_mode=\(mode.rawValue)")
  }

  /// Keeps the triggers of the file from running on this connection, or lets them again.
  public func setTriggers(areEnabled: Bool) throws(SQLiteError) {
    let flag: Int32 = areEnabled ? 1 : 0
    try check(fieldpack_sqlite_config_flag(handle, SQLITE_DBCONFIG_ENABLE_TRIGGER, flag))
  }

  /// A number that differs after another connection has changed the file.
  public var dataVersion: Int64 {
    get throws(SQLiteError) {
      guard case .integer(let version) = try scalar("PRAGMA data_version") else { return 0 }
      return version
    }
  }

  /// Whether other connections have committed since this was asked before; `false` the first time.
  ///
  /// A checkpoint or a change of the journal mode by others counts, too; commits of this connection
  /// never do.
  public func findsForeignCommits() throws(SQLiteError) -> Bool {
    let version = try dataVersion
    defer { knownVersion = version }
    return version != knownVersion ?? version
  }

  /// A number that differs after any connection, this one included, has changed the file.
  ///
  /// It tells of the state that the open transaction reads, once that has read something; unlike
  /// ``dataVersion`` it is not looked for in the file.
  public var snapshotVersion: UInt32 { snapshotVersion(of: "main") }

  /// As ``snapshotVersion``, of an attached file.
  public func snapshotVersion(of schema: String) -> UInt32 {
    var version: UInt32 = 0
    sqlite3_file_control(handle, schema, SQLITE_FCNTL_DATA_VERSION, &version)
    return version
  }

  /// A number that differs after the schema has changed; reading it begins the transaction.
  public var schemaVersion: Int64 {
    get throws(SQLiteError) {
      let statement = try prepare("PRAGMA schema_version")
      return try statement.step() ? statement.integer(0) : 0
    }
  }

  /// The size of the database and of its log, in bytes.
  package var byteCount: Int64 { OpenedFile.size(of: handle) }

  /// Sets a limit and returns the one before; a negative value only asks.
  @discardableResult
  public func limit(_ limit: ConnectionLimit, to value: Int32 = -1) -> Int32 {
    sqlite3_limit(handle, limit.rawValue, value)
  }

  /// How long a statement waits for the lock of another connection; 5 s at first.
  public var busyTimeout: Duration {
    get { waiting.busyTimeout }
    set { waiting.busyTimeout = newValue }
  }

  /// After this moment statements throw an error that `isInterrupted`; `nil` for none.
  public var deadline: ContinuousClock.Instant? {
    get { waiting.deadline }
    set {
      waiting.deadline = newValue
      waiting.watchDeadline(on: handle)
    }
  }

  public var isDeadlinePassed: Bool { waiting.isDeadlinePassed }

  /// Runs `body`, which comes to most pages but once, with room for few pages.
  ///
  /// To read a page again costs less than memory that was never used: it comes from the system page
  /// by page, and SQLite lets one thread at a time ask for it. Where many pages are kept already,
  /// they stay.
  package func withFewPages<R, E: Error>(_ body: () throws(E) -> R) throws(E) -> R {
    guard isReadOnly, keptPageBytes <= Self.fewBytes else { return try body() }
    if setPageCache("32") { hasFewPages = true }
    defer { leaveFewPages() }
    return try body()
  }

  /// Makes room for many pages again; what is interrupted while a statement lives keeps SQLite from
  /// it until the statement is gone, so it is tried before each visit as well.
  func leaveFewPages() {
    if hasFewPages, setPageCache("-2000") { hasFewPages = false }
  }

  /// SQLite sets it while it compiles the statement. With a cache of another size things are slower
  /// or quicker and no more, so nothing is thrown.
  private func setPageCache(_ size: String) -> Bool {
    (try? prepare("PRAGMA cache_size = \(size)", caching: false)) != nil
  }

  private static let fewBytes = 256 << 10

  private var keptPageBytes: Int {
    var (current, highest): (Int32, Int32) = (0, 0)
    sqlite3_db_status(handle, SQLITE_DBSTATUS_CACHE_USED, &current, &highest, 0)
    return Int(current)
  }

  /// Whether the work that runs was cancelled or is past its deadline, so that its next step throws.
  public var isStopping: Bool { interruptHandle.isRequested || isDeadlinePassed }

  private func journalMode(after sql: String) throws(SQLiteError) -> JournalMode {
    let statement = try prepare(sql, caching: false)
    guard try statement.step(), let mode = JournalMode(rawValue: statement.string(0) ?? "") else {
      throw .misuse("SQLite names no journal mode", sql: sql)
    }
    return mode
  }

  /// Uses WAL until the connection is closed; the file keeps its mode where WAL is not to be had.
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
      // Another program holds the file: work goes on in the mode it has.
      guard error.isBusy else { throw error }
      return false
    }
  }

  /// Readers hold up checkpoints; a log that has grown is cut back afterwards.
  private func limitLog() throws(SQLiteError) {
    try executeScript("PRAGMA journal_size_limit=67108864")
  }

  /// Keeps up to 32 MiB of pages that a transaction changes in memory until it is committed, and 8 MiB
  /// of pages beyond it.
  ///
  /// SQLite keeps 2 MB, and writes changed pages beyond those to the log as often as they change again:
  /// rows at places without an order come to most pages of an R-tree over and over, in each transaction.
  func keepManyPages() throws(SQLiteError) {
    try executeScript("PRAGMA cache_spill=-32768; PRAGMA cache_size=-8192")
  }

  /// The change of the mode counts as one of somebody else's.
  private func forgetOwnSwitch(since before: Int64?) throws(SQLiteError) {
    guard let before, let known = knownVersion else { return }
    if try dataVersion == before + 1 { knownVersion = known + 1 }
  }

  /// Goes back to the journal mode the file came with; best done before the last close.
  ///
  /// - Throws: an error that `isBusy` where another connection prevents it, and one that `isFull`
  ///   where the rows of the log have no room in the file. The log stays then, and the next opening
  ///   of the file goes on with it.
  func restoreJournalMode() throws(SQLiteError) {
    guard let kept = keptJournalMode, !isRestored else { return }
    cache.removeAll()
    _ = try scalar("PRAGMA wal_checkpoint(TRUNCATE)")
    if kept.mode != .wal { try setJournalMode(kept.mode) }
    isRestored = true
  }
}
