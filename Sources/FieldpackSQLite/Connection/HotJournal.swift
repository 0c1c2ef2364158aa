import CSQLite

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The journal that is left beside a file when a transaction could not be rolled back.
enum HotJournal {
  /// Rolls back what a closed connection of this process could not. After a failed write, as on a
  /// full disk, SQLite leaves the rollback to whoever opens the file next.
  static func rollBack(_ path: String, journal: String) {
    guard access(journal, F_OK) == 0,
      let opened = try? OpenedFile.file(path, mode: .readWrite)
    else { return }
    // The first read rolls back; SQLite leaves the journal of a live transaction alone.
    sqlite3_exec(opened.handle, "SELECT 1 FROM sqlite_master", nil, nil, nil)
    sqlite3_close_v2(opened.handle)
  }
}
