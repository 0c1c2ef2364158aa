#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// What this program itself does to files: SQLite has calls of its own.
///
/// Every write, sync, new name and removal goes through here, so that a test can record them all and
/// play a power cut between any two.
package enum FileSystem {
  /// One thing done to a file or to a folder; paths are as they were given, or absolute.
  package enum Action: Sendable, Hashable {
    case create(String)
    /// The bytes were written behind all others.
    case append(String, [UInt8])
    case cut(String, length: Int)
    case sync(String)
    case rename(String, String)
    case link(String, String)
    case remove(String)
    case syncFolder(String)
  }

  /// Told of each action after it is done, where a test asks for it.
  package static let recorder = Locked<(@Sendable (Action) -> Void)?>(nil)

  private static func record(_ action: @autoclosure () -> Action) {
    guard let record = recorder.withLock({ $0 }) else { return }
    record(action())
  }

  /// The path of an open file, for the record.
  private static func path(of descriptor: Int32) -> String {
    var target = [UInt8](repeating: 0, count: 4096)
    let count = target.withUnsafeMutableBytes {
      readlink("/proc/self/fd/\(descriptor)", $0.baseAddress!, $0.count)
    }
    return String(decoding: target.prefix(max(count, 0)), as: UTF8.self)
  }

  private static func path(of name: String, in folder: Int32) -> String {
    folder == AT_FDCWD || name.hasPrefix("/") ? name : path(of: folder) + "/" + name
  }

  /// In bytes, of a link itself; `nil` where there is no such file.
  package static func size(_ path: String) -> Int? {
    var status = stat()
    return lstat(path, &status) == 0 ? Int(status.st_size) : nil
  }

  /// The names in a folder, without `.` and `..`, in the order that the system gives; `nil`, with
  /// `errno` set, where it cannot be read.
  package static func names(in folder: String) -> [String]? {
    let descriptor = open(folder.isEmpty ? "." : folder, O_RDONLY | O_CLOEXEC | O_DIRECTORY)
    guard descriptor >= 0 else { return nil }
    return names(takenFrom: descriptor)
  }

  /// The names in the folder that `descriptor` opens, which is closed.
  package static func names(takenFrom descriptor: Int32) -> [String]? {
    guard let stream = fdopendir(descriptor) else {
      let number = errno
      close(descriptor)
      errno = number
      return nil
    }
    defer { closedir(stream) }
    // An entry is only as long as its name: a copy of its 256 bytes for a name can leave the buffer.
    let start = MemoryLayout<dirent>.offset(of: \.d_name)!
    var names: [String] = []
    while let entry = readdir(stream) {
      let bytes = UnsafeRawPointer(entry).advanced(by: start)
      let name = String(cString: bytes.assumingMemoryBound(to: CChar.self))
      if name != ".", name != ".." { names.append(name) }
    }
    return names
  }

  // MARK: Contents

  /// Creates a file, which must not be there, nor a link of that name.
  ///
  /// - Parameter folder: the descriptor of the folder that `name` is in; by default the working folder.
  /// - Returns: its descriptor, for reading and writing; `nil` with `errno` set.
  package static func create(
    _ name: String, in folder: Int32 = AT_FDCWD, mode: UInt32
  ) -> Int32? {
    let flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
    let descriptor = openat(folder, name, flags, mode_t(mode))
    guard descriptor >= 0 else { return nil }
    record(.create(path(of: name, in: folder)))
    return descriptor
  }

  /// Writes all of `bytes`, however often the system stops in between.
  ///
  /// - Parameter path: what to call the file in errors.
  package static func write(
    _ bytes: UnsafeRawBufferPointer, to descriptor: Int32, path: String
  ) throws(FieldpackError) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = writeBytes(descriptor, UnsafeRawBufferPointer(rebasing: rest))
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw .system(count < 0 ? errno : EIO, "write", path) }
      record(.append(Self.path(of: descriptor), Array(rest.prefix(count))))
      rest = rest.dropFirst(count)
    }
  }

  /// Writes all of `bytes`.
  package static func write(
    _ bytes: RawSpan, to descriptor: Int32, path: String
  ) throws(FieldpackError) {
    try bytes.withUnsafeBytes { (bytes) throws(FieldpackError) in
      try write(bytes, to: descriptor, path: path)
    }
  }

  /// Takes away what is beyond `length`; the next bytes go there.
  package static func cut(
    _ descriptor: Int32, to length: Int, path: String
  ) throws(FieldpackError) {
    guard ftruncate(descriptor, off_t(length)) == 0,
      lseek(descriptor, off_t(length), SEEK_SET) >= 0
    else { throw .system(errno, "write", path) }
    record(.cut(Self.path(of: descriptor), length: length))
  }

  /// Puts what was written on the disk; of a folder, the names in it.
  package static func sync(_ descriptor: Int32, path: String) throws(FieldpackError) {
    while fsync(descriptor) != 0 {
      guard errno == EINTR else { throw .system(errno, "write", path) }
    }
    record(.sync(Self.path(of: descriptor)))
  }

  // MARK: Names

  /// Gives a file or a folder another name, in place of what has that name.
  ///
  /// - Parameter folder: the descriptor of the folder that both names are in.
  package static func rename(
    _ name: String, _ newName: String, in folder: Int32 = AT_FDCWD
  ) -> Bool {
    guard renameat(folder, name, folder, newName) == 0 else { return false }
    record(.rename(path(of: name, in: folder), path(of: newName, in: folder)))
    return true
  }

  /// Gives a file a name that nothing has; the old name goes.
  ///
  /// - Returns: `false`, with `errno` set, where something has that name or the system fails.
  package static func place(_ path: String, at newPath: String) -> Bool {
    if NewName.give(newPath, to: path) {
      record(.rename(path, newPath))
      return true
    }
    guard [EINVAL, ENOSYS, ENOTSUP].contains(errno) else { return false }
    // A link refuses to replace what appeared meanwhile; a rename would not.
    guard linkFile(path, newPath) == 0 else {
      let hasNoLinks = [EPERM, ENOTSUP, EOPNOTSUPP, ENOSYS].contains(errno)
      return hasNoLinks && !exists(newPath) && rename(path, newPath)
    }
    record(.link(path, newPath))
    remove(path)
    return true
  }

  /// Whether something has that name, a link to nothing included; `errno` is `EEXIST` then.
  private static func exists(_ path: String) -> Bool {
    var status = stat()
    guard lstat(path, &status) == 0 else { return false }
    errno = EEXIST
    return true
  }

  /// Removes a file's name.
  @discardableResult
  package static func remove(_ name: String, in folder: Int32 = AT_FDCWD) -> Bool {
    guard unlinkat(folder, name, 0) == 0 else { return false }
    record(.remove(path(of: name, in: folder)))
    return true
  }

  /// Puts the names in a folder on the disk; where that cannot be done, what they name is there
  /// all the same.
  package static func syncFolder(_ path: String) {
    let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { return }
    if fsync(descriptor) == 0 { record(.syncFolder(path)) }
    close(descriptor)
  }

  /// The folder of a path, with its slash, and the name in it; the folder is empty for a plain name.
  package static func split(_ path: String) -> (folder: String, name: String) {
    guard let slash = path.lastIndex(of: "/") else { return ("", path) }
    return (String(path[...slash]), String(path[path.index(after: slash)...]))
  }
}

/// A rename that replaces nothing, in one step.
private enum NewName {
  private typealias Function =
    @convention(c) (
      Int32, UnsafePointer<CChar>, Int32, UnsafePointer<CChar>, UInt32
    ) -> Int32

  // Linux's; the headers hide it behind _GNU_SOURCE.
  private static let function: Function? = dlsym(nil, "renameat2").map {
    unsafeBitCast($0, to: Function.self)
  }
  /// RENAME_NOREPLACE.
  private static let replacesNothing: UInt32 = 1

  /// - Returns: `false`, with `errno` set: `ENOSYS` or `EINVAL` where the system has no such rename.
  static func give(_ newPath: String, to path: String) -> Bool {
    guard let function else {
      errno = ENOSYS
      return false
    }
    return function(AT_FDCWD, path, AT_FDCWD, newPath, replacesNothing) == 0
  }
}

/// `write(2)` and `link(2)`, out of the way of the methods of these names.
private func writeBytes(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
  write(descriptor, bytes.baseAddress, bytes.count)
}

private func linkFile(_ path: String, _ newPath: String) -> Int32 { link(path, newPath) }
