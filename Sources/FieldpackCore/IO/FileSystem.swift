#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The changes that this program itself makes to files; SQLite makes its own.
///
/// Every write, sync, new name and removal goes through here, so that a test can record all of them
/// and simulate a power cut between any two.
package enum FileSystem {
  /// One change of a file or a folder. Paths are as the caller gave them, or absolute.
  package enum Action: Sendable, Hashable {
    case create(String)
    /// The bytes were written to the end of the file.
    case append(String, [UInt8])
    case cut(String, length: Int)
    case sync(String)
    case rename(String, String)
    case link(String, String)
    case remove(String)
    case syncFolder(String)
  }

  /// Called after each action, where a test sets it.
  package static let recorder = Locked<(@Sendable (Action) -> Void)?>(nil)

  private static func record(_ action: @autoclosure () -> Action) {
    guard let record = recorder.withLock({ $0 }) else { return }
    record(action())
  }

  /// The path of an open file, for the recorder.
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

  /// The size in bytes, of a link that of the link itself; `nil` where there is no such file.
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

  /// The names in the folder that `descriptor` has open; closes the descriptor.
  package static func names(takenFrom descriptor: Int32) -> [String]? {
    guard let stream = fdopendir(descriptor) else {
      let number = errno
      close(descriptor)
      errno = number
      return nil
    }
    defer { closedir(stream) }
    // The name is read in place: an entry ends with its name, so copying a whole `dirent`, whose
    // name field has 256 bytes, could read beyond the buffer.
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

  /// Creates a file; fails where the name exists, also as a link.
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

  /// Cuts the file at `length`; the next bytes are written there.
  package static func cut(
    _ descriptor: Int32, to length: Int, path: String
  ) throws(FieldpackError) {
    guard ftruncate(descriptor, off_t(length)) == 0,
      lseek(descriptor, off_t(length), SEEK_SET) >= 0
    else { throw .system(errno, "write", path) }
    record(.cut(Self.path(of: descriptor), length: length))
  }

  /// Writes a file's contents, or a folder's names, to the disk.
  package static func sync(_ descriptor: Int32, path: String) throws(FieldpackError) {
    while fsync(descriptor) != 0 {
      guard errno == EINTR else { throw .system(errno, "write", path) }
    }
    record(.sync(Self.path(of: descriptor)))
  }

  // MARK: Names

  /// Renames a file or a folder, replacing what has the new name.
  ///
  /// - Parameter folder: the descriptor of the folder that both names are in.
  package static func rename(
    _ name: String, _ newName: String, in folder: Int32 = AT_FDCWD
  ) -> Bool {
    guard renameat(folder, name, folder, newName) == 0 else { return false }
    record(.rename(path(of: name, in: folder), path(of: newName, in: folder)))
    return true
  }

  /// Renames a file unless the new name exists.
  ///
  /// - Returns: `false`, with `errno` set, where the new name exists or the system fails.
  package static func renameIfFree(_ path: String, to newPath: String) -> Bool {
    if NewName.give(newPath, to: path) {
      record(.rename(path, newPath))
      return true
    }
    guard [EINVAL, ENOSYS, ENOTSUP].contains(errno) else { return false }
    // Without `renameat2`, a link is used: it fails where the new name exists meanwhile; `rename`
    // would replace it.
    guard linkFile(path, newPath) == 0 else {
      let hasNoLinks = [EPERM, ENOTSUP, EOPNOTSUPP, ENOSYS].contains(errno)
      return hasNoLinks && !isTaken(newPath) && rename(path, newPath)
    }
    record(.link(path, newPath))
    remove(path)
    return true
  }

  /// Whether the name exists, also as a link to nothing; `errno` is `EEXIST` then.
  private static func isTaken(_ path: String) -> Bool {
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

  /// Writes a folder's names to the disk. A failure is ignored, because the files have their names
  /// nevertheless.
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

/// A rename that fails where the new name exists, in one step.
private enum NewName {
  private typealias Function =
    @convention(c) (
      Int32, UnsafePointer<CChar>, Int32, UnsafePointer<CChar>, UInt32
    ) -> Int32

  // A function of Linux, which the headers declare only under _GNU_SOURCE.
  private static let function: Function? = dlsym(nil, "renameat2").map {
    unsafeBitCast($0, to: Function.self)
  }
  /// RENAME_NOREPLACE of Linux.
  private static let replacesNothing: UInt32 = 1

  /// - Returns: `false`, with `errno` set: `ENOSYS` or `EINVAL` where the system lacks such a
  ///   rename.
  static func give(_ newPath: String, to path: String) -> Bool {
    guard let function else {
      errno = ENOSYS
      return false
    }
    return function(AT_FDCWD, path, AT_FDCWD, newPath, replacesNothing) == 0
  }
}

/// Calls `write(2)`, whose name a method of `FileSystem` hides.
private func writeBytes(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
  write(descriptor, bytes.baseAddress, bytes.count)
}

private func linkFile(_ path: String, _ newPath: String) -> Int32 { link(path, newPath) }
