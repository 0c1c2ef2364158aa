package import FieldpackCore
import FieldpackSQLite

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The name that a new database is to take, with what an earlier database left beside it.
///
/// SQLite takes a `-journal` or `-wal` beside a database for the database's own and plays it back into
/// whatever file has the name (https://www.sqlite.org/howtocorrupt.html, section 1.4). So nothing of an
/// earlier database may be there when the new one comes.
package struct DatabasePlace {
  let path: String
  /// What was put aside, in words for the user.
  private(set) var notes: [String] = []
  /// Keeps everybody else out of the database that is to be replaced.
  private var held: Connection?
  /// Whether that database was in WAL mode.
  private var wasInWALMode = false

  /// - Parameter path: the file itself; a link would have its journals elsewhere.
  init(_ path: String) { self.path = path }

  /// Fails early where another program has the database open that is to be replaced.
  ///
  /// - Throws: `.busy`.
  mutating func refuseBusy() throws(FieldpackError) {
    try hold()
    giveBack()
  }

  /// Gives a GeoPackage that is whole, and on no other disk, a name that nothing has.
  ///
  /// - Returns: notes for the user; `nil` where something has the name, or it is on another disk.
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

  /// Readies the name for a new file: an earlier database takes in its journals, so that they go, and
  /// is held until ``end()``. Journals without a database get other names.
  ///
  /// - Throws: `.busy` where another program has the database open.
  mutating func take() throws(FieldpackError) {
    try hold()
    // Nobody reads them any more, and SQLite leaves those that it never opened.
    try putAside()
  }

  /// Keeps everybody out of the earlier database, where there is one.
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

  /// Lets go of the earlier database, whose name another file has now.
  mutating func end() { held = nil }

  /// Lets go of the earlier database, which stays.
  mutating func giveBack() {
    try? held?.execute("ROLLBACK")
    if wasInWALMode { _ = try? held?.setJournalMode(.wal) }
    held = nil
  }

  /// The earlier database, its journals taken in; `nil` where there is none that can be opened.
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

  /// Gives journals that belong to no database other names. They may be someone's only copy of what
  /// was written last, so they are never deleted.
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
    // It holds no rows: SQLite makes it anew of the log.
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
