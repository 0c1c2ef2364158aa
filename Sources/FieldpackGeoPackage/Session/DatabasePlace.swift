package import FieldpackCore
import FieldpackSQLite

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The name that a new database is to take, and the files that an earlier database left beside it.
///
/// SQLite plays a `-journal` or `-wal` back into whatever database has the name before the suffix
/// (https://www.sqlite.org/howtocorrupt.html, section 1.4). So no journal of an earlier database
/// may remain when the new database takes the name.
package struct DatabasePlace {
  let path: String
  /// What was renamed, in words for the user.
  private(set) var notes: [String] = []
  /// Holds the lock of the database that is to be replaced, which keeps everybody else out.
  private var held: Connection?
  /// Whether the earlier database was in WAL mode.
  private var wasInWALMode = false

  /// - Parameter path: the file itself, no link: journals lie beside the file that a link points
  ///   to.
  init(_ path: String) { self.path = path }

  /// Checks early that no other program has the earlier database open.
  ///
  /// - Throws: `.busy` where one has.
  mutating func refuseBusy() throws(FieldpackError) {
    try hold()
    giveBack()
  }

  /// Renames a finished GeoPackage to a free name on the same disk.
  ///
  /// - Returns: notes for the user; `nil` where the name is taken or lies on another disk.
  package static func give(
    _ path: String, to made: String
  ) throws(FieldpackError) -> [String]? {
    var place = DatabasePlace(path)
    guard FileSystem.size(path) == nil else { return nil }
    try place.take()
    guard FileSystem.renameIfFree(made, to: path) else { return nil }
    let folder = FileSystem.split(path).folder
    FileSystem.syncFolder(folder.isEmpty ? "." : folder)
    return place.notes
  }

  // MARK: Taking

  /// Readies the name for a new file. An earlier database plays its journals back, so that they are
  /// gone, and stays locked until ``end()``. Journals without a database are renamed.
  ///
  /// - Throws: `.busy` where another program has the database open.
  mutating func take() throws(FieldpackError) {
    try hold()
    // The journals that remain belong to no database: SQLite removes only those it has opened.
    try putAside()
  }

  /// Locks the earlier database, where there is one.
  private mutating func hold() throws(FieldpackError) {
    guard let connection = try opened() else { return }
    held = connection
    do throws(SQLiteError) {
      wasInWALMode = try connection.journalMode == .wal
      if wasInWALMode, try connection.setJournalMode(.delete) != .delete {
        throw SQLiteError(extendedCode: 5, message: "database is locked")
      }
      try connection.execute("BEGIN EXCLUSIVE")
    } catch {
      giveBack()
      guard error.isBusy else { throw FieldpackError(error, path: path) }
      throw FieldpackError(
        .busy, "\(path) is open in another program. Try again when it is closed",
        position: FilePosition(file: path), underlying: error)
    }
  }

  /// Unlocks the earlier database after the new one has taken the name.
  mutating func end() { held = nil }

  /// Unlocks the earlier database, which keeps its name.
  mutating func giveBack() {
    try? held?.execute("ROLLBACK")
    if wasInWALMode { _ = try? held?.setJournalMode(.wal) }
    held = nil
  }

  /// The earlier database with its journals played back; `nil` where there is none that can be
  /// opened.
  private func opened() throws(FieldpackError) -> Connection? {
    guard FileSystem.size(path) ?? 0 > 0 else { return nil }
    do throws(SQLiteError) {
      return try Connection(path: path, mode: .readWrite)
    } catch {
      if error.isNotADatabase || error.isCorrupt || error.isReadOnly || error.isPermission {
        return nil
      }
      throw FieldpackError(error, path: path)
    }
  }

  // MARK: Orphans

  /// Renames journals that belong to no database. They may be the only copy of somebody's last
  /// changes, so they are never deleted.
  private mutating func putAside() throws(FieldpackError) {
    for suffix in ["-wal", "-journal"] {
      guard let size = FileSystem.size(path + suffix) else { continue }
      guard size > 0 else {
        FileSystem.remove(path + suffix)
        continue
      }
      let name = try renamed(path + suffix)
      notes.append(
        "\(path + suffix) was left of a database that is gone. It is \(name) now, because SQLite "
          + "would have played it into the new file")
    }
    // A `-shm` holds no rows: SQLite makes it again from the log.
    FileSystem.remove(path + "-shm")
    KeptJournalMode.forget(path)
  }

  private func renamed(_ orphan: String) throws(FieldpackError) -> String {
    for number in 1...10_000 {
      let name = "\(orphan).orphan-\(number)"
      if FileSystem.renameIfFree(orphan, to: name) { return name }
      guard errno == EEXIST else { break }
    }
    throw .system(errno, "put aside", orphan)
  }
}
