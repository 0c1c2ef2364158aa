import CSQLite

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A SQLite handle between `sqlite3_open_v2` and the connection that will own it.
struct OpenedFile {
  let handle: OpaquePointer
  /// Whether the file was opened for writing although the caller only wants to read.
  var isQueryOnly = false

  static func inMemory() throws(SQLiteError) -> OpenedFile {
    OpenedFile(
      handle: try open(":memory:", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, path: ":memory:"))
  }

  static func file(_ path: String, mode: Connection.Mode) throws(SQLiteError) -> OpenedFile {
    try refuseOddFiles(path)
    switch mode {
    case .readOnly: return try reading(path)
    case .readWrite: return try writing(path, SQLITE_OPEN_READWRITE)
    case .unshared: return try unshared(path)
    case .create: return try writing(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE)
    }
  }

  /// Opens a reader for a file that this process writes.
  static func reader(of path: String) throws(SQLiteError) -> OpenedFile {
    try refuseOddFiles(path)
    return OpenedFile(
      handle: try open(literal(path), SQLITE_OPEN_READWRITE, path: path), isQueryOnly: true)
  }

  private static func writing(_ path: String, _ flags: Int32) throws(SQLiteError) -> OpenedFile {
    let handle = try open(literal(path), flags, path: path)
    try recover(handle, path)
    // SQLite opens a file that cannot be written for reading, without an error.
    guard sqlite3_db_readonly(handle, "main") == 0 else {
      sqlite3_close_v2(handle)
      throw SQLiteError(
        extendedCode: SQLITE_READONLY, message: "the file cannot be written: \(path)")
    }
    return OpenedFile(handle: handle)
  }

  /// Opens a file without locking it: on a network file system SQLite's locks would conflict with
  /// the `flock` that the file's maker holds. Writes are gathered, because nobody else reads.
  private static func unshared(_ path: String) throws(SQLiteError) -> OpenedFile {
    let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_URI
    return OpenedFile(
      handle: try open(uri(path, "nolock=1"), flags, path: path, vfs: GatheredWrites.vfs))
  }

  /// Opens for reading; read-only where that leaves no files behind and the file needs no repair.
  private static func reading(_ path: String) throws(SQLiteError) -> OpenedFile {
    let plain = try open(literal(path), SQLITE_OPEN_READONLY, path: path)
    guard let files = DatabaseFiles(of: plain, schema: "main") else {
      return OpenedFile(handle: plain)
    }
    try recover(plain, path)
    let isWAL = isInWALMode(plain)
    // The journal of a killed writer has to be rolled back before anything is read.
    guard isWAL || hasContent(files.journal) else { return OpenedFile(handle: plain) }
    let hasLiveWAL = isWAL && hasContent(files.log)
    if isWritable(files.main) {
      sqlite3_close_v2(plain)
      if hasLiveWAL { WALIndexFile.note(files) }
      return try repairing(path, keepsWAL: hasLiveWAL)
    }
    guard isWAL, !hasLiveWAL else { return OpenedFile(handle: plain) }
    sqlite3_close_v2(plain)
    let flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_URI
    return OpenedFile(handle: try open(uri(path, "immutable=1"), flags, path: path))
  }

  /// Restores the journal mode of a file that a killed process of ours left.
  ///
  /// - Throws: an error that `isCorrupt` for an empty file whose journal is not empty: SQLite would
  ///   delete the journal unread.
  private static func recover(_ handle: OpaquePointer, _ path: String) throws(SQLiteError) {
    guard let files = DatabaseFiles(of: handle, schema: "main") else { return }
    if size(of: files.main) == 0,
      let journal = [files.log, files.journal].first(where: hasContent)
    {
      sqlite3_close_v2(handle)
      throw SQLiteError(
        extendedCode: SQLITE_CORRUPT,
        message:
          "\(path) is empty, and \(journal) is of a file that was not. Put that file back, or "
          + "give its journal another name")
    }
    KeptJournalMode.restore(files.main)
  }

  /// Opens a reader for a file in WAL mode. A read-only connection would make `-wal` and `-shm` and
  /// could not remove them. A connection that may write removes both when it closes, and
  /// `query_only` keeps it from writing.
  private static func repairing(_ path: String, keepsWAL: Bool) throws(SQLiteError) -> OpenedFile {
    let opened = try reader(of: path)
    // A log that somebody else left must stay as it is, so closing must not checkpoint it.
    if keepsWAL {
      _ = fieldpack_sqlite_config_flag(opened.handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
    }
    return opened
  }

  private static func open(
    _ name: String, _ flags: Int32, path: String, vfs: String? = nil
  ) throws(SQLiteError) -> OpaquePointer {
    var opened: OpaquePointer?
    let code = sqlite3_open_v2(
      name, &opened, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, vfs)
    guard code == SQLITE_OK, let opened else {
      let failure = SQLiteError(handle: opened, code: code)
      sqlite3_close_v2(opened)
      throw SQLiteError(
        extendedCode: failure.extendedCode, message: "\(failure.message): \(path)",
        systemError: failure.systemError)
    }
    return opened
  }

  /// The path so that SQLite takes it as a file. Some builds take every name that begins with
  /// `file:` as a URI, and `:memory:` or an empty name as a database without a file.
  private static func literal(_ path: String) -> String {
    path.hasPrefix("/") ? path : "./" + path
  }

  static func uri(_ path: String, _ parameter: String) -> String {
    let hex = Array("0123456789ABCDEF".utf8)
    var escaped: [UInt8] = []
    for byte in literal(path).utf8 {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "/"), UInt8(ascii: "."),
        UInt8(ascii: "-"), UInt8(ascii: "_"):
        escaped.append(byte)
      default:
        escaped += [UInt8(ascii: "%"), hex[Int(byte >> 4)], hex[Int(byte & 15)]]
      }
    }
    let name = String(decoding: escaped, as: UTF8.self)
    return (path.hasPrefix("/") ? "file://" : "file:") + name + "?" + parameter
  }

  /// Refuses what is not a regular file: opening a FIFO would block, and a device has no end.
  private static func refuseOddFiles(_ path: String) throws(SQLiteError) {
    var information = stat()
    let isOdd =
      path.isEmpty || path.utf8.contains(0)
      || (stat(path, &information) == 0 && information.st_mode & S_IFMT != S_IFREG)
    guard isOdd else { return }
    throw SQLiteError(extendedCode: SQLITE_CANTOPEN, message: "not a regular file: \(path)")
  }

  private static func isInWALMode(_ handle: OpaquePointer) -> Bool {
    var header = [UInt8](repeating: 0, count: 20)
    guard fieldpack_sqlite_read_header(handle, &header, 20) == SQLITE_OK else { return false }
    return header[18] == 2 || header[19] == 2
  }

  private static func hasContent(_ path: String) -> Bool {
    size(of: path) > 0
  }

  /// The size in bytes of all open files and their logs.
  static func size(of handle: OpaquePointer) -> Int64 {
    var size: Int64 = 0
    var index: Int32 = 0
    while let schema = sqlite3_db_name(handle, index) {
      let files = DatabaseFiles(of: handle, schema: schema)
      if let files { size += self.size(of: files.main) + self.size(of: files.log) }
      index += 1
    }
    return size
  }

  /// The size in bytes; 0 where there is no such file.
  static func size(of path: String) -> Int64 {
    var information = stat()
    return stat(path, &information) == 0 ? Int64(information.st_size) : 0
  }

  static func isWritable(_ path: String) -> Bool {
    let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
    return access(path, W_OK) == 0 && access(folder, W_OK) == 0
  }
}
