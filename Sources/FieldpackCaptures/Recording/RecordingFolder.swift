import FieldpackCore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The hidden folder that a capture is recorded in. As long as this object lives nobody else takes
/// it: it is locked, and the system gives the lock back when the process ends, however it does.
final class RecordingFolder {
  static let prefix = ".recording-"

  let name: String
  private let parent: SafeFolder
  private let folder: SafeFolder

  var root: String { parent.path }
  var path: String { folder.path }

  private init(_ name: String, _ folder: SafeFolder, in parent: SafeFolder) {
    self.name = name
    self.folder = folder
    self.parent = parent
  }

  // MARK: Making and finding

  /// Makes a new one, and the folder around it where that is missing.
  ///
  /// - Parameter prefix: what the names of its kind begin with.
  static func make(
    in root: String, prefix: String = RecordingFolder.prefix
  ) throws(FieldpackError) -> RecordingFolder {
    for _ in 0..<100 {
      // Anew each time: whoever ends in an empty folder takes it away.
      guard mkdir(root, 0o755) == 0 || errno == EEXIST else {
        throw .system(errno, "create", root)
      }
      let name = "\(prefix)\(getpid())-\(String(UInt32.random(in: .min ... .max), radix: 16))"
      guard mkdir("\(root)/\(name)", 0o755) == 0 else {
        if errno == EEXIST || errno == ENOENT { continue }
        throw .system(errno, "create", "\(root)/\(name)")
      }
      do throws(FieldpackError) {
        // Another start may have found it empty and removed it already.
        if let made = try open(name, in: root) { return made }
      } catch {
        guard error.code == .notFound else { throw error }
      }
    }
    throw FieldpackError(.busy, "\(root): what is made here is removed at once by another program")
  }

  /// Takes one that is there.
  ///
  /// - Returns: `nil` where it has just gone, or is being recorded in.
  /// - Throws: `.invalidData` for what is no folder of ours, as a link.
  static func open(_ name: String, in root: String) throws(FieldpackError) -> RecordingFolder? {
    let parent = try SafeFolder(path: root)
    let folder: RecordingFolder
    do throws(FieldpackError) {
      folder = RecordingFolder(name, try parent.folder(name), in: parent)
    } catch {
      if error.isMissing { return nil }
      guard error.code == .invalidData else { throw error }
      throw FieldpackError(.invalidData, "\(root)/\(name) is no folder, or a link, and is let be")
    }
    return try folder.isTaken() ? folder : nil
  }

  /// Whether this folder has its name still.
  var isThere: Bool {
    var own = stat()
    var named = stat()
    return fstat(folder.descriptor, &own) == 0
      && fstatat(parent.descriptor, name, &named, AT_SYMLINK_NOFOLLOW) == 0
      && own.st_ino == named.st_ino && own.st_dev == named.st_dev
  }

  private func isTaken() throws(FieldpackError) -> Bool {
    while flock(folder.descriptor, LOCK_EX | LOCK_NB) != 0 {
      if errno == EWOULDBLOCK { return false }
      guard errno == EINTR else { throw .system(errno, "lock", path) }
    }
    // It may have been completed or removed before it was locked.
    return isThere
  }

  /// The names of those in a folder; none where that is missing.
  static func names(
    in root: String, prefix: String = RecordingFolder.prefix
  ) throws(FieldpackError) -> [String] {
    let folder: SafeFolder
    do throws(FieldpackError) {
      folder = try SafeFolder(path: root)
    } catch {
      guard error.isMissing else { throw error }
      return []
    }
    return try folder.allNames().filter { $0.hasPrefix(prefix) }
  }

  // MARK: Files

  func names() throws(FieldpackError) -> [String] { try folder.allNames() }

  /// How long a regular file is; `nil` where there is none of that name.
  func size(of name: String) throws(FieldpackError) -> Int? {
    var status = stat()
    guard fstatat(folder.descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else {
      if errno == ENOENT { return nil }
      throw .system(errno, "read", "\(path)/\(name)")
    }
    return status.st_mode & S_IFMT == S_IFREG ? Int(status.st_size) : nil
  }

  func bytes(of name: String, limit: Int) throws(FieldpackError) -> [UInt8]? {
    try folder.bytes(of: name, limit: limit)
  }

  /// Opens a file to append to, which is made where it is missing.
  ///
  /// - Parameter length: what follows is cut; `nil` keeps all.
  func appending(
    to name: String, keeping length: Int? = nil
  ) throws(FieldpackError) -> AppendedFile {
    let filePath = "\(path)/\(name)"
    let flags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK
    let file = openat(folder.descriptor, name, flags, 0o644)
    guard file >= 0 else { throw .system(errno, "create", filePath) }
    let appended = AppendedFile(file, filePath)
    if let length { try appended.cut(to: length) }
    return appended
  }

  /// Copies a file to here; it has its name when it is on the disk.
  func copy(_ source: FileToCopy, as name: String) throws(FieldpackError) {
    let part = SafeFolder.part(of: name)
    try? folder.remove(part)
    do throws(FieldpackError) {
      let target = try appending(to: part)
      try source.copy(to: target)
      try folder.rename(part, name)
    } catch {
      try? folder.remove(part)
      throw error
    }
    try sync()
  }

  /// Puts the names on the disk, and this folder's.
  func sync() throws(FieldpackError) {
    try folder.sync()
    try parent.sync()
  }

  // MARK: End

  func remove(_ name: String) throws(FieldpackError) { try folder.remove(name) }

  /// Removes all files, `recording.json` as the last, and the folder.
  func removeAll() throws(FieldpackError) {
    // First: without it nobody takes the rest for a whole capture.
    try remove(CaptureReading.infoFile)
    let last = [RecordingNotes.points, RecordingNotes.file]
    for name in try names() where !last.contains(name) { try remove(name) }
    for name in last { try remove(name) }
    try parent.removeFolder(name)
  }

  /// Gives the folder its name, with one step.
  ///
  /// - Throws: `.cannotCreate` where the name is taken.
  func commit(as newName: String) throws(FieldpackError) {
    try sync()
    try parent.complete(name, as: newName)
  }
}

extension FieldpackError {
  /// Whether there is nothing of that name.
  fileprivate var isMissing: Bool {
    (underlying as? SystemErrorNumber)?.rawValue == ENOENT
  }
}
