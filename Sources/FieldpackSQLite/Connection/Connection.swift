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
    /// Reads and writes a file that exists and that nobody else opens, without taking locks.
    case unshared
  }

  /// How far the file is trusted.
  public enum Profile: Sendable, Hashable {
    /// A file somebody else made: defensive, with lower limits on values, statements and triggers.
    /// For readers its schema is not trusted, either: a view may call SQLite's own functions and
    /// those that are `innocuous`, and use no virtual table.
    case foreign
    /// A file this program made: defensive. Readers map it into memory, which spares a copy of each
    /// page; when the file is then cut short by anybody, the process ends with `SIGBUS`.
    case own
    /// The bulk writer's: not defensive, so that shadow tables can be written and
    /// `journal_mode=OFF` is obeyed.
    case bulk
  }

  /// The path as it was given; empty for a database in memory.
  public let path: String
  public let mode: Mode
  public let profile: Profile
  /// Stops the work of this connection from any thread.
  public let interruptHandle: InterruptHandle
  /// What the owner keeps between two visits, for example a cursor that is stepped in several.
  ///
  /// Statements hold their connection, so set it to `nil` when done; a pool does that when its
  /// reader is released.
  public var attachment: AnyObject?
  /// A value that stays with this connection until it closes, for example a catalogue. It must not
  /// hold the connection strongly.
  public var companion: AnyObject?

  let handle: OpaquePointer
  let waiting: Waiting
  var cache: StatementCache
  /// In the order of their registration; of two with one name and count the last is in force.
  var functions: [Function] = []
  var spatiaLite: SpatiaLite?
  var lender: SpatiaLiteSandbox?
  /// After so many instructions of SQLite's machine on the way to its next row, or to its end, a
  /// statement throws an error that `isEndless`; those of the triggers that it fires count. `nil` for no
  /// limit.
  public var stepLimit: Int?
  var rowFunction: RowFunction?
  var authorizer: AuthorizerBox?
  var tracer: Tracer?
  private var longestValue: Int32 = 0
  /// Whether there is room for few pages only.
  var hasFewPages = false
  /// The journal mode to go back to when the connection closes.
  var keptJournalMode: KeptJournalMode?
  /// Whether the file is back in the mode it came with.
  var isRestored = false
  /// What ``dataVersion`` was when it was last asked for what others committed.
  var knownVersion: Int64?
  /// Whether text is stored as UTF-8, so that its bytes can be lent where they lie.
  package private(set) var storesUTF8 = true

  /// Opens the file at `path`.
  ///
  /// Sets a busy timeout, extended result codes, no double-quoted strings, no functions that take
  /// addresses or load libraries and, for writers, `foreign_keys`. Readers of an own file map it; all
  /// others map nothing and have `cell_size_check`. Reads the schema, so a file that is not a database fails here.
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
    attachment = nil
    // Who wants to wait for others does so before.
    busyTimeout = .zero
    try? restoreJournalMode()
    cache.removeAll()
    let files = DatabaseFiles(of: handle, schema: "main")
    // Collations and functions go with the connection; SpatiaLite's own cache must go after it.
    sqlite3_close_v2(handle)
    spatiaLite?.cleanUp()
    if let files, mode == .readOnly {
      WALIndexFile.remove(beside: files.main)
    } else if let files {
      HotJournal.rollBack(path, journal: files.journal)
    }
    if isRestored { keptJournalMode?.discard() }
  }

  /// Whether nothing can be written through this connection.
  public var isReadOnly: Bool { mode == .readOnly }

  private func configure(isQueryOnly: Bool) throws(SQLiteError) {
    sqlite3_extended_result_codes(handle, 1)
    waiting.install(on: handle)
    try check(fieldpack_sqlite_config_flag(handle, SQLITE_DBCONFIG_DQS_DML, 0))
    try check(fieldpack_sqlite_config_flag(handle, SQLITE_DBCONFIG_DQS_DDL, 0))
    // With them SQL could name an address of this process, or a library, whose code is then run.
    try check(fieldpack_sqlite_config_flag(handle, SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, 0))
    try check(fieldpack_sqlite_config_flag(handle, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0))
    let isDefensive: Int32 = profile == .bulk ? 0 : 1
    try check(fieldpack_sqlite_config_flag(handle, SQLITE_DBCONFIG_DEFENSIVE, isDefensive))
    if profile == .foreign { try distrust() }
    // A page that is mapped is not kept, so that each visit would check all of its cells anew.
    try executeScript(
      mappedBytes == 0 ? "PRAGMA cell_size_check=ON" : "PRAGMA mmap_size=\(mappedBytes)")
    if mode != .readOnly {
      // A commit is told when it would survive a power cut: with EXTRA the removal of its journal
      // does, too (https://www.sqlite.org/pragma.html#pragma_synchronous).
      try executeScript("PRAGMA foreign_keys=ON; PRAGMA synchronous=EXTRA")
    }
    // The first statement that reads the file, which so is known to be a database.
    storesUTF8 = try scalar("PRAGMA encoding") == .text("UTF-8")
    if isQueryOnly { try executeScript("PRAGMA query_only=ON") }
  }

  /// As much as SQLite was built to map, for readers of an own file.
  private var mappedBytes: Int64 { profile == .own && mode == .readOnly ? 1 << 40 : 0 }

  /// Lets values be as long as the files, those attached included, and their logs by now, which what
  /// is read of them cannot exceed, but for what a view or a generated column makes up; what is
  /// written may be longer.
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

  /// Sets the limits for files of others. A writer has to be told, where it is none of `foreign`
  /// files, because it writes shadow tables; it is to keep triggers off then.
  package func distrust() throws(SQLiteError) {
    fitLongestValue()
    limit(.sqlLength, to: 16 << 20)
    limit(.expressionDepth, to: 500)
    limit(.triggerDepth, to: 10)
    limit(.likePatternLength, to: 1_000)
    limit(.attached, to: 0)
    limit(.workerThreads, to: 0)
    // A writer has to run the R-tree's triggers, which SQLite 3.40 refuses in a schema that is not
    // trusted; an authorizer watches them instead.
    guard mode == .readOnly || profile != .foreign else { return }
    try check(fieldpack_sqlite_config_flag(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0))
  }

  func check(_ code: Int32, sql: String? = nil) throws(SQLiteError) {
    guard code == SQLITE_OK else { throw SQLiteError(handle: handle, code: code, sql: sql) }
  }
}
