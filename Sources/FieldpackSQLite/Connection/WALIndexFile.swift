import CSQLite

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The `-shm` files that readers of this process made beside logs that somebody else left.
///
/// A reader that leaves the log as it is leaves SQLite's index of it, too. Where there was none before
/// the reader came, there is to be none afterwards.
enum WALIndexFile {
  // Guarded by `lock`.
  nonisolated(unsafe) private static var made: Set<String> = []
  private static let lock = PlatformLock()

  /// To be called before a reader opens the log.
  static func note(_ files: DatabaseFiles) {
    guard access(files.main + "-shm", F_OK) != 0 else { return }
    lock.withLock { _ = made.insert(files.main) }
  }

  /// To be called when a reader is closed: removes the file, where nobody else has the database open.
  static func remove(beside database: String) {
    guard lock.withLock({ made.contains(database) }) else { return }
    var opened: OpaquePointer?
    defer { sqlite3_close_v2(opened) }
    // Its own index is in memory, because it locks the database before it looks at the log.
    guard sqlite3_open_v2(database, &opened, SQLITE_OPEN_READWRITE, nil) == SQLITE_OK,
      let opened,
      fieldpack_sqlite_config_flag(opened, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1) == SQLITE_OK,
      sqlite3_exec(opened, "PRAGMA locking_mode=EXCLUSIVE; BEGIN EXCLUSIVE", nil, nil, nil)
        == SQLITE_OK
    else { return }
    unlink(database + "-shm")
    lock.withLock { _ = made.remove(database) }
  }
}
