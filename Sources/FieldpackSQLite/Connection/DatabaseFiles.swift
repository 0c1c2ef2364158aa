import CSQLite

/// The files of a database: its path with every symbolic link resolved, and the paths of its
/// companions.
struct DatabaseFiles {
  let main: String
  let journal: String
  let log: String

  /// The files of a schema; `nil` for a database in memory or a temporary one.
  /// - Parameter schema: `main` or the name of an attached file.
  init?(of handle: OpaquePointer, schema: UnsafePointer<CChar>) {
    guard let name = sqlite3_db_filename(handle, schema), name.pointee != 0,
      let journal = sqlite3_filename_journal(name), let log = sqlite3_filename_wal(name)
    else { return nil }
    main = String(cString: name)
    self.journal = String(cString: journal)
    self.log = String(cString: log)
  }
}
