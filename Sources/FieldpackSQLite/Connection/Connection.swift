import CMappedReads
import CSQLite

/// One connection to one SQLite file; closed when the last reference goes.
///
/// Not `Sendable`: it belongs to one thread or actor at a time. Statements keep their connection
/// open. Paths are taken literally: a file named `file:x?mode=ro` or `:memory:` is just that file.
public final class Connection {
  /// What the connection may do with its file.
  public enum Mode: Sendable, Hashable {
    /// Reads only, and leaves nothing beside the file; works on read-only media.
    case readOnly
    /// Reads and writes a file that exists.
    case readWrite
    /// Reads and writes; makes an empty file where there is none.
    case create
    /// Reads and writes a file that exists and that nobody else opens; takes no locks.
    case unshared
  }

  /// How far the connection trusts the file.
  public enum Profile: Sendable, Hashable {
    /// A file that somebody else made: the connection is defensive, and values, statements and
    /// triggers have lower limits. A reader also does not trust the schema: a view may only call
    /// SQLite's own functions and `innocuous` ones, and use no virtual table.
    case foreign
    /// A file that this program made: the connection is defensive. Readers map the file into
    /// memory, which saves copying each page. If anybody then cuts the file short, the process ends
    /// with `SIGBUS`.
    case own
    /// A file that the bulk writer makes: the connection is not defensive, so that shadow tables
    /// can be written and `journal_mode=OFF` takes effect.
    case bulk
  }

  /// The path as given; empty for a database in memory.
  public let path: String
  public let mode: Mode
  public let profile: Profile
  /// Stops the work of this connection from any thread.
  public let interruptHandle: InterruptHandle

  let handle: OpaquePointer
  let waiting: Waiting
  var cache: StatementCache
  var fixed = FixedStatement.Kept()
  /// The registered functions in order; of two with the same name and argument count the last is in
  /// force.
  package internal(set) var functions: [Function] = []
  var spatiaLite: SpatiaLite?
  /// The number of virtual machine instructions that a statement may run before its next row or its
  /// end; beyond it the statement throws an error that `isEndless`. Instructions of triggers count
  /// too. `nil` for no limit.
  public var stepLimit: Int?
  var rowFunction: RowFunction?
  var authorizer: AuthorizerBox?
  var tracer: Tracer?
  private var longestValue: Int32 = 0
  /// Whether the cache currently has room for few pages only.
  var hasFewPages = false
  /// The journal mode to restore when the connection closes.
  var keptJournalMode: KeptJournalMode?
  /// Whether the file has its original journal mode again.
  var isRestored = false
  /// Whether commits wait for the disk.
  var isSyncing = true
  /// The last ``dataVersion`` that ``findsForeignCommits()`` has read.
  var knownVersion: Int64?
  /// How many statements so far may have changed the schema or the transaction. While a transaction is open
  /// and this number stays the same, the schema is the same.
  ///
  /// A statement counts when its text is compiled or taken from the cache. So nobody may keep a statement
  /// prepared, and run it again, that changes the schema.
  package internal(set) var possibleSchemaChanges = 0
  /// Whether text is stored as UTF-8, so that its bytes can be lent without a copy.
  package private(set) var storesUTF8 = true

  /// Opens the file at `path`.
  ///
  /// Sets a busy timeout and extended result codes; turns off double-quoted strings and functions
  /// that take addresses or load libraries; turns on `foreign_keys` for writers. A reader of an own
  /// file uses the pages of a mapping; all other connections have copies of pages, and
  /// `cell_size_check`. Reads the schema, so a file that is not a database fails here.
  /// - Throws: an error that `isCannotOpen`, `isPermission`, `isReadOnly` (a writer's file or
  ///   medium cannot be written), `isNotADatabase` or `isCorrupt`.
  public convenience init(
    path: String, mode: Mode, profile: Profile = .foreign, busyTimeout: Duration = .seconds(5)
  ) throws(SQLiteError) {
    let opened = try OpenedFile.file(path, mode: mode)
    try self.init(
      opened: opened, path: path, mode: mode, profile: profile, busyTimeout: busyTimeout)
  }

  /// Opens a new, empty database in memory.
  public convenience init(inMemory profile: Profile) throws(SQLiteError) {
    let opened = try OpenedFile.inMemory()
    try self.init(opened: opened, path: "", mode: .create, profile: profile)
  }

  init(
    opened: OpenedFile, path: String, mode: Mode, profile: Profile,
    busyTimeout: Duration = .seconds(5)
  ) throws(SQLiteError) {
    self.path = path
    self.mode = mode
    self.profile = profile
    handle = opened.handle
    interruptHandle = InterruptHandle(handle: handle)
    waiting = Waiting(interruptHandle: interruptHandle, busyTimeout: busyTimeout)
    cache = StatementCache(capacity: 64)
    try configure(isQueryOnly: opened.isQueryOnly)
  }

  deinit {
    interruptHandle.invalidate()
    // Closing does not wait for other connections: an owner who wants to wait has done so before.
    busyTimeout = .zero
    try? restoreJournalMode()
    cache.removeAll()
    fixed.removeAll()
    let files = DatabaseFiles(of: handle, schema: "main")
    // Closing the connection frees its collations and functions; SpatiaLite's manual asks for its
    // cache to be freed after that.
    sqlite3_close_v2(handle)
    spatiaLite?.cleanUp()
    if let files, mode == .readOnly {
      WALIndexFile.remove(beside: files.main)
    } else if let files {
      HotJournal.rollBack(path, journal: files.journal)
    }
    if isRestored { keptJournalMode?.discard() }
  }

  /// Whether this connection cannot write.
  public var isReadOnly: Bool { mode == .readOnly }

  private func configure(isQueryOnly: Bool) throws(SQLiteError) {
    sqlite3_extended_result_codes(handle, 1)
    waiting.install(on: handle)
    try check(fieldpack_sqlite_config_flag(handle, SQLITE_DBCONFIG_DQS_DML, 0))
    try check(fieldpack_sqlite_config_flag(handle, SQLITE_DBCONFIG_DQS_DDL, 0))
    // Both could make SQL run code at an address of this process or in a library.
    try check(fieldpack_sqlite_config_flag(handle, SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, 0))
    try check(fieldpack_sqlite_config_flag(handle, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0))
    let isDefensive: Int32 = profile == .bulk ? 0 : 1
    try check(fieldpack_sqlite_config_flag(handle, SQLITE_DBCONFIG_DEFENSIVE, isDefensive))
    if profile == .foreign { try distrust() }
    // `cell_size_check` is left off for mapped pages: SQLite does not cache them, so it would check
    // a page's cells at each visit.
    try executeScript(
      mappedBytes == 0
        ? "PRAGMA mmap_size=0; PRAGMA cell_size_check=ON" : "PRAGMA mmap_size=\(mappedBytes)")
    if mode != .readOnly {
      // A commit is reported once it would survive a power cut. Only EXTRA makes the removal of the
      // journal survive one, too (https://www.sqlite.org/pragma.html#pragma_synchronous).
      try executeScript("PRAGMA foreign_keys=ON; PRAGMA synchronous=EXTRA")
    }
    // This first statement reads the file and fails where it is not a database.
    storesUTF8 = try scalar("PRAGMA encoding") == .text("UTF-8")
    if isQueryOnly { try executeScript("PRAGMA query_only=ON") }
  }

  /// The number of bytes to map: for readers of an own file as many as SQLite was built to map,
  /// else 0.
  private var mappedBytes: Int64 { profile == .own && mode == .readOnly ? 1 << 40 : 0 }

  /// Makes a reader of a `foreign` file copy pages from a mapping of the file, where that is possible.
  package func mapReads() {
    if profile == .foreign, mode == .readOnly { fieldpack_map_reads(handle) }
  }

  /// Limits the values of a `foreign` file, to 256 MiB for a writer. A reader's limit is the current
  /// size of all open files and their logs, within 16 and 256 MiB: no stored value can be longer,
  /// and a longer one that a view or a generated column computes is refused.
  func fitLongestValue() {
    let (least, most): (Int32, Int32) = (16 << 20, 256 << 20)
    guard profile == .foreign, longestValue < most else { return }
    if mode == .readOnly {
      let fitting = min(most, max(least, Int32(clamping: OpenedFile.size(of: handle))))
      guard fitting > longestValue else { return }
      longestValue = fitting
    } else {
      longestValue = most
    }
    limit(.length, to: longestValue)
  }

  /// Sets the limits for files that somebody else made. A writer of another profile than `foreign`
  /// calls it itself, because it writes shadow tables; it must keep triggers off then.
  package func distrust() throws(SQLiteError) {
    fitLongestValue()
    limit(.sqlLength, to: 16 << 20)
    limit(.expressionDepth, to: 500)
    limit(.triggerDepth, to: 10)
    limit(.likePatternLength, to: 1_000)
    limit(.attached, to: 0)
    limit(.workerThreads, to: 0)
    // A writer of a foreign file has to run the R-tree's triggers, which SQLite 3.40 refuses where
    // the schema is not trusted; an authorizer watches the triggers instead.
    guard mode == .readOnly || profile != .foreign else { return }
    try check(fieldpack_sqlite_config_flag(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0))
  }

  func check(_ code: Int32, sql: String? = nil) throws(SQLiteError) {
    guard code == SQLITE_OK else { throw SQLiteError(handle: handle, code: code, sql: sql) }
  }
}
