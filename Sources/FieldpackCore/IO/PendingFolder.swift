#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Files in the making that get their names together: they lie in a hidden folder inside of the
/// folder that they are for, each in a folder of its own, so that many files cost no more time each
/// than few.
///
/// The hidden folder is `.fieldpack-X`, where X is 16 random hexadecimal digits, and this process
/// holds `flock` on it. A killed process leaves its hidden folder unlocked; the next one for the same
/// folder removes it. Without ``commit()`` nothing is left.
package final class PendingFolder: Sendable {
  /// The folder that the files are for, as the caller names it, with a slash at the end.
  private let target: String
  /// The hidden folder, with a slash at the end.
  private let hidden: String
  private let overwrite: Bool
  /// Whether the folder was made for the files.
  private let isNew: Bool
  private let descriptor: Int32
  /// The folders in the hidden one, which are named by numbers from 0 on.
  private let placeCount = Locked(0)

  /// - Throws: `.cannotCreate` where the target is a file, or the folder around it is missing.
  package init(target: String, overwrite: Bool) throws(FieldpackError) {
    let folder = target.hasSuffix("/") ? target : target + "/"
    isNew = try Self.make(folder)
    Self.removeLeftovers(in: folder)
    do throws(FieldpackError) {
      (hidden, descriptor) = try Self.makeHidden(in: folder)
    } catch {
      if isNew { rmdir(folder) }
      throw error
    }
    (self.target, self.overwrite) = (folder, overwrite)
    let hidden = hidden
    Self.pending.withLock { _ = $0.insert(hidden) }
  }

  /// Makes the folder; `false` where it is there.
  private static func make(_ folder: String) throws(FieldpackError) -> Bool {
    if mkdir(folder, 0o777) == 0 { return true }
    let number = errno
    var status = stat()
    if number == EEXIST, stat(folder, &status) == 0, status.st_mode & S_IFMT == S_IFDIR {
      return false
    }
    let position = FilePosition(file: String(folder.dropLast()))
    switch number {
    case EEXIST, ENOTDIR:
      throw FieldpackError(
        .cannotCreate, "\(folder.dropLast()) is a file, and not a folder", position: position)
    case ENOENT:
      throw FieldpackError(
        .cannotCreate, "cannot create \(folder): the folder around it does not exist",
        position: position)
    default: throw .system(number, "create", folder)
    }
  }

  private static func makeHidden(
    in folder: String
  ) throws(FieldpackError) -> (path: String, descriptor: Int32) {
    for _ in 0..<100 {
      let path = folder + prefix + PendingFile.randomDigits()
      guard mkdir(path, 0o700) == 0 else {
        if errno == EEXIST { continue }
        throw .system(errno, "create a file in", folder)
      }
      guard let descriptor = opened(path) else { continue }
      if PendingFile.isHeld(descriptor) { return (path + "/", descriptor) }
      close(descriptor)
    }
    throw FieldpackError(
      .busy, "cannot create files in \(folder): another program removes them",
      position: FilePosition(file: folder))
  }

  private static let prefix = ".fieldpack-"

  /// A descriptor of a hidden folder; `nil` where it is gone.
  private static func opened(_ path: String) -> Int32? {
    let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    return descriptor >= 0 ? descriptor : nil
  }

  // MARK: Files

  /// Where the file of that name is to be written.
  ///
  /// - Throws: `.cannotCreate` where the file exists and may not be overwritten, or is no file;
  ///   `.busy` where a database of that name has journals.
  package func place(for name: String) throws(FieldpackError) -> String {
    try check(name)
    let place = placeCount.withLock { count in
      defer { count += 1 }
      return "\(hidden)\(count)/"
    }
    guard mkdir(place, 0o700) == 0 else { throw .system(errno, "create", target + name) }
    return place + name
  }

  /// Whether a file is replaced. Who gives a file its name by other means than ``commit()`` asks directly
  /// before.
  ///
  /// - Throws: as ``place(for:)``.
  @discardableResult
  package func check(_ name: String) throws(FieldpackError) -> Bool {
    let path = target + name
    let position = FilePosition(file: path)
    for suffix in ["-wal", "-journal"] where FileSystem.size(path + suffix) != nil {
      // SQLite would play the journal into the new file.
      throw FieldpackError(
        .busy, "\(path)\(suffix) exists: a database of that name is open or was not closed",
        position: position)
    }
    var status = stat()
    guard lstat(path, &status) == 0 else { return false }
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw FieldpackError(
        .cannotCreate, "\(path) is not a regular file and cannot be replaced", position: position)
    }
    guard overwrite else {
      throw FieldpackError(.cannotCreate, "\(path) exists", advice: .overwrite, position: position)
    }
    return true
  }

  /// Gives all files their names, or none where one cannot get its own.
  package func commit() throws(FieldpackError) {
    var moves: [Move] = []
    do throws(FieldpackError) {
      for number in 0..<placeCount.withLock({ $0 }) {
        let place = "\(hidden)\(number)/"
        for name in (FileSystem.names(in: place) ?? []).sorted() {
          let isThere = try check(name)
          moves.append(Move(made: place + name, target: target + name, old: place + ".old-" + name))
          try moves[moves.count - 1].run(replacing: isThere)
        }
      }
    } catch {
      for move in moves.reversed() { move.undo() }
      throw error
    }
    FileSystem.syncFolder(target)
  }

  /// One file that gets its name, and what had the name before.
  private struct Move {
    let made: String
    let target: String
    let old: String
    var hasOld = false
    var isDone = false

    init(made: String, target: String, old: String) {
      (self.made, self.target, self.old) = (made, target, old)
    }

    mutating func run(replacing: Bool) throws(FieldpackError) {
      if replacing {
        guard FileSystem.rename(target, old) else { throw .system(errno, "replace", target) }
        hasOld = true
      }
      guard FileSystem.renameIfFree(made, to: target) else {
        throw .system(errno, "create", target)
      }
      isDone = true
    }

    func undo() {
      if isDone { _ = FileSystem.rename(target, made) }
      if hasOld { _ = FileSystem.rename(old, target) }
    }
  }

  // MARK: End

  private static let pending = Locked<Set<String>>([])

  /// Removes the hidden folders of this process; may be called from any thread.
  package static func removeAll() {
    pending.withLock { for path in $0 { remove(path) } }
  }

  private static func remove(_ folder: String) {
    for number in FileSystem.names(in: folder) ?? [] {
      let place = "\(folder)\(number)/"
      for name in FileSystem.names(in: place) ?? [] { FileSystem.remove(place + name) }
      rmdir(place)
    }
    rmdir(folder)
  }

  private static func removeLeftovers(in folder: String) {
    for name in FileSystem.names(in: folder) ?? [] {
      guard PendingFile.isLeftover(name, prefix), let descriptor = opened(folder + name) else {
        continue
      }
      if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { remove(folder + name + "/") }
      close(descriptor)
    }
  }

  deinit {
    let hidden = hidden
    Self.remove(hidden)
    Self.pending.withLock { _ = $0.remove(hidden) }
    close(descriptor)
    // A folder that has files stays.
    if isNew { rmdir(target) }
  }
}
