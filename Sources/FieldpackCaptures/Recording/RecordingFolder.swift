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

  let root: String
  let name: String
  private let rootDescriptor: Int32
  private let descriptor: Int32

  var path: String { "\(root)/\(name)" }

  private init(_ root: String, _ name: String, rootDescriptor: Int32, descriptor: Int32) {
    self.root = root
    self.name = name
    self.rootDescriptor = rootDescriptor
    self.descriptor = descriptor
  }

  deinit {
    close(descriptor)
    close(rootDescriptor)
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
    let rootDescriptor = openFolder(AT_FDCWD, root, 0)
    guard rootDescriptor >= 0 else { throw .system(errno, "open", root) }
    let descriptor = openFolder(rootDescriptor, name, O_NOFOLLOW)
    guard descriptor >= 0 else {
      let number = errno
      close(rootDescriptor)
      if number == ENOENT { return nil }
      guard number == ELOOP || number == ENOTDIR else {
        throw .system(number, "open", "\(root)/\(name)")
      }
      throw FieldpackError(.invalidData, "\(root)/\(name) is no folder, or a link, and is let be")
    }
    let folder = RecordingFolder(
      root, name, rootDescriptor: rootDescriptor, descriptor: descriptor)
    return try folder.isTaken() ? folder : nil
  }

  /// Whether this folder has its name still.
  var isThere: Bool {
    var own = stat()
    var named = stat()
    return fstat(descriptor, &own) == 0
      && fstatat(rootDescriptor, name, &named, AT_SYMLINK_NOFOLLOW) == 0
      && own.st_ino == named.st_ino && own.st_dev == named.st_dev
  }

  private func isTaken() throws(FieldpackError) -> Bool {
    while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
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
    let descriptor = openFolder(AT_FDCWD, root, 0)
    guard descriptor >= 0 else {
      if errno == ENOENT { return [] }
      throw .system(errno, "open", root)
    }
    defer { close(descriptor) }
    return try FolderNames.all(of: descriptor, root).filter { $0.hasPrefix(prefix) }
  }

  // MARK: Files

  func names() throws(FieldpackError) -> [String] { try FolderNames.all(of: descriptor, path) }

  /// How long a regular file is; `nil` where there is none of that name.
  func size(of name: String) throws(FieldpackError) -> Int? {
    var status = stat()
    guard fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else {
      if errno == ENOENT { return nil }
      throw .system(errno, "read", "\(path)/\(name)")
    }
    return status.st_mode & S_IFMT == S_IFREG ? Int(status.st_size) : nil
  }

  func bytes(of name: String, limit: Int) throws(FieldpackError) -> [UInt8]? {
    try SafeFolder(path: root).folder(self.name).bytes(of: name, limit: limit)
  }

  /// Opens a file to append to, which is made where it is missing.
  ///
  /// - Parameter length: what follows is cut; `nil` keeps all.
  func appending(
    to name: String, keeping length: Int? = nil
  ) throws(FieldpackError) -> AppendedFile {
    let place = "\(path)/\(name)"
    let flags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK
    let file = openat(descriptor, name, flags, 0o644)
    guard file >= 0 else { throw .system(errno, "create", place) }
    let appended = AppendedFile(file, place)
    if let length { try appended.cut(to: length) }
    return appended
  }

  /// Copies a file to here; it has its name when it is on the disk.
  func copy(_ source: FileToCopy, as name: String) throws(FieldpackError) {
    let part = ".\(name).part"
    unlinkat(descriptor, part, 0)
    do throws(FieldpackError) {
      let target = try appending(to: part)
      try source.copy(to: target)
      guard renameat(descriptor, part, descriptor, name) == 0 else {
        throw .system(errno, "create", "\(path)/\(name)")
      }
    } catch {
      unlinkat(descriptor, part, 0)
      throw error
    }
    try sync()
  }

  /// Puts the names on the disk, and this folder's.
  func sync() throws(FieldpackError) {
    try OpenFile.sync(descriptor, path: path)
    try OpenFile.sync(rootDescriptor, path: path)
  }

  // MARK: End

  func remove(_ name: String) throws(FieldpackError) {
    guard unlinkat(descriptor, name, 0) == 0 || errno == ENOENT else {
      throw .system(errno, "remove", "\(path)/\(name)")
    }
  }

  /// Removes all files, `recording.json` as the last, and the folder.
  func removeAll() throws(FieldpackError) {
    // First: without it nobody takes the rest for a whole capture.
    try remove(CaptureReading.infoFile)
    let last = [RecordingNotes.points, RecordingNotes.file]
    for name in try names() where !last.contains(name) { try remove(name) }
    for name in last { try remove(name) }
    guard unlinkat(rootDescriptor, name, AT_REMOVEDIR) == 0 || errno == ENOENT else {
      throw .system(errno, "remove", path)
    }
    fsync(rootDescriptor)
  }

  /// Gives the folder its name, with one step.
  ///
  /// - Throws: `.cannotCreate` where the name is taken.
  func commit(as newName: String) throws(FieldpackError) {
    let target = "\(root)/\(newName)"
    guard FileName.isSound(newName) else {
      throw FieldpackError(
        .invalidData, "'\(newName.prefix(80))' cannot be the name of a folder")
    }
    try sync()
    guard renameat(rootDescriptor, name, rootDescriptor, newName) == 0 else {
      let number = errno
      guard number == ENOTEMPTY || number == EEXIST || number == ENOTDIR else {
        throw .system(number, "create", target)
      }
      throw FieldpackError(
        .cannotCreate, "\(target) exists already", position: FilePosition(file: target))
    }
    fsync(rootDescriptor)
  }
}

private func openFolder(_ parent: Int32, _ name: String, _ flags: Int32) -> Int32 {
  openat(parent, name, O_RDONLY | O_CLOEXEC | O_DIRECTORY | flags)
}

/// The names in a folder, hidden ones, too.
private enum FolderNames {
  static func all(of descriptor: Int32, _ path: String) throws(FieldpackError) -> [String] {
    let copy = openFolder(descriptor, ".", 0)
    guard copy >= 0 else { throw .system(errno, "read", path) }
    guard let stream = fdopendir(copy) else {
      let number = errno
      close(copy)
      throw .system(number, "read", path)
    }
    defer { closedir(stream) }
    var names: [String] = []
    while let entry = readdir(stream) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
        pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if name != ".", name != ".." { names.append(name) }
    }
    return names.sorted()
  }
}
