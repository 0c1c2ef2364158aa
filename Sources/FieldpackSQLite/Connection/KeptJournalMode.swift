import CSQLite

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The journal mode that a database came with, kept in a file beside it while this program writes
/// the database under WAL.
///
/// A process that is killed leaves its database in WAL mode, with the log. The kept mode tells
/// whoever opens the database next that the log is ours, and which mode to restore. The file
/// `.NAME.fieldpack-mode` holds the mode in one line. Every process that writes holds a shared
/// `flock` on the file, so a file that nobody has locked belongs to a process that has ended.
package final class KeptJournalMode {
  /// The database's mode before the first process that keeps it.
  let mode: JournalMode
  private let file: LockedFile

  private init(_ mode: JournalMode, _ file: LockedFile) {
    self.mode = mode
    self.file = file
  }

  private static func path(for database: String) -> String {
    let start = database.lastIndex(of: "/").map { database.index(after: $0) } ?? database.startIndex
    // File systems allow names of 255 bytes.
    let name = String(decoding: database[start...].utf8.prefix(230), as: UTF8.self)
    return "\(database[..<start]).\(name).fieldpack-mode"
  }

  // MARK: Keeping

  /// Keeps the mode, or joins another process that keeps it.
  ///
  /// Nobody else joins or restores the mode until ``share()`` is called.
  /// - Parameter current: reads the mode to keep, where nobody keeps one.
  /// - Returns: `nil` where no file can be made beside the database.
  static func keep(
    of database: String, current: () throws(SQLiteError) -> JournalMode
  ) throws(SQLiteError) -> KeptJournalMode? {
    guard let file = LockedFile(path(for: database), O_CREAT) else { return nil }
    if let mode = file.mode {
      file.share()
      return KeptJournalMode(mode, file)
    }
    let mode = try current()
    guard file.write(mode) else {
      file.remove()
      return nil
    }
    return KeptJournalMode(mode, file)
  }

  /// Lets other processes join, once the database is in WAL mode.
  func share() { file.share() }

  /// Stops keeping the mode: the database has its original mode.
  func discard() {
    // Another process may write by now and still keep the mode.
    if file.isOwnAlone() { file.remove() }
  }

  // MARK: Restoring

  /// Restores the journal mode of a database that a killed process left in WAL mode, and removes
  /// its log.
  ///
  /// Does nothing where a process that keeps the mode is alive, another program has the database open,
  /// or the database cannot be written.
  /// - Parameter database: the database's path, with every link resolved.
  package static func restore(_ database: String) {
    let path = path(for: database)
    guard access(path, F_OK) == 0, OpenedFile.isWritable(database),
      let file = LockedFile(path, 0), file.isOwnAlone()
    else { return }
    guard let mode = file.mode else { return file.remove() }
    if restore(database, to: mode) { file.remove() }
  }

  /// Removes the mode that a killed process kept for a database that no longer exists.
  package static func forget(_ database: String) {
    let path = path(for: database)
    if access(path, F_OK) == 0, let file = LockedFile(path, 0), file.isOwnAlone() { file.remove() }
  }

  private static func restore(_ database: String, to mode: JournalMode) -> Bool {
    var opened: OpaquePointer?
    defer { sqlite3_close_v2(opened) }
    guard sqlite3_open_v2(database, &opened, SQLITE_OPEN_READWRITE, nil) == SQLITE_OK,
      let handle = opened
    else { return false }
    sqlite3_exec(handle, "PRAGMA wal_checkpoint(TRUNCATE)", nil, nil, nil)
    // In WAL mode nothing else is to do: the last connection that closes removes the log.
    guard mode != .wal else { return true }
    return sqlite3_exec(handle, "PRAGMA journal_mode=\(mode.rawValue)", nil, nil, nil) == SQLITE_OK
      && DatabaseFiles(of: handle, schema: "main").map { access($0.log, F_OK) != 0 } ?? true
  }
}

/// A small file by whose lock processes learn of each other.
private final class LockedFile {
  private let path: String
  private let descriptor: Int32

  /// Opens the file and locks it, exclusively or shared.
  ///
  /// - Returns: `nil` where it cannot be opened or locked.
  init?(_ path: String, _ flags: Int32) {
    // A process holds the exclusive lock for a moment only, so it is worth trying again.
    for _ in 0..<2_000 {
      let opened = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC | flags, 0o644)
      guard opened >= 0 else { return nil }
      if flock(opened, LOCK_EX | LOCK_NB) == 0 || flock(opened, LOCK_SH | LOCK_NB) == 0 {
        var status = stat()
        // Another process may have removed the file between opening and locking.
        if fstat(opened, &status) == 0, status.st_nlink > 0 {
          self.path = path
          descriptor = opened
          return
        }
      } else if errno != EWOULDBLOCK {
        close(opened)
        return nil
      }
      close(opened)
      usleep(1_000)
    }
    return nil
  }

  deinit { close(descriptor) }

  func share() { flock(descriptor, LOCK_SH) }
  func isOwnAlone() -> Bool { flock(descriptor, LOCK_EX | LOCK_NB) == 0 }
  func remove() { unlink(path) }

  /// The journal mode in the file's only line; `nil` where the line names no mode that a file can
  /// come with.
  var mode: JournalMode? {
    var bytes = [UInt8](repeating: 0, count: 16)
    let count = pread(descriptor, &bytes, bytes.count, 0)
    guard count > 0, let end = bytes[..<count].firstIndex(of: UInt8(ascii: "\n")) else {
      return nil
    }
    let mode = JournalMode(rawValue: String(decoding: bytes[..<end], as: UTF8.self))
    return [.delete, .truncate, .persist, .wal].contains(mode) ? mode : nil
  }

  func write(_ mode: JournalMode) -> Bool {
    let line = Array((mode.rawValue + "\n").utf8)
    return ftruncate(descriptor, 0) == 0 && pwrite(descriptor, line, line.count, 0) == line.count
      && fsync(descriptor) == 0
  }
}
