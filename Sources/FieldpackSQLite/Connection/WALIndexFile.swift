import CSQLite
import FieldpackThreads

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Removes the `-shm` files that readers of this process made beside other programs' logs.
///
/// A reader that keeps such a log also keeps SQLite's index of the log, the `-shm` file. Where
/// there was none before the reader came, there must be none afterwards.
enum WALIndexFile {
  /// Paths of databases.
  private static let made = Locked<Set<String>>([])

  /// Call before a reader opens the log.
  static func note(_ files: DatabaseFiles) {
    guard access(files.main + "-shm", F_OK) != 0 else { return }
    made.withLock { _ = $0.insert(files.main) }
  }

  /// Call when a reader is closed: removes the `-shm` file, unless somebody else has the database
  /// open.
  static func remove(beside database: String) {
    guard made.withLock({ $0.contains(database) }) else { return }
    var opened: OpaquePointer?
    defer { sqlite3_close_v2(opened) }
    // This connection makes no `-shm` file: in exclusive locking mode it keeps its index of the log
    // in memory.
    guard sqlite3_open_v2(database, &opened, SQLITE_OPEN_READWRITE, nil) == SQLITE_OK,
      let opened,
      fieldpack_sqlite_config_flag(opened, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1) == SQLITE_OK,
      sqlite3_exec(opened, "PRAGMA locking_mode=EXCLUSIVE; BEGIN EXCLUSIVE", nil, nil, nil)
        == SQLITE_OK
    else { return }
    unlink(database + "-shm")
    made.withLock { _ = $0.remove(database) }
  }
}
