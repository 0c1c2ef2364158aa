import FieldpackCore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Names of single files.
enum FileName {
  /// Whether `name` is one step of a path and leads to no hidden file.
  static func isSound(_ name: String) -> Bool {
    !name.isEmpty && name.utf8.count <= 200 && name.utf8.first != UInt8(ascii: ".")
      && name.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F && $0 != UInt8(ascii: "/") }
  }
}

/// A folder whose files go by their names alone: no link is followed out of it.
final class SafeFolder {
  let path: String
  let descriptor: Int32

  /// The folder that the user named.
  init(path: String) throws(FieldpackError) {
    let opened = open(path, O_RDONLY | O_CLOEXEC | O_DIRECTORY)
    guard opened >= 0 else { throw .system(errno, "open", path) }
    descriptor = opened
    self.path = path
  }

  private init(_ descriptor: Int32, path: String) {
    self.descriptor = descriptor
    self.path = path
  }

  deinit { close(descriptor) }

  /// A folder in this one.
  ///
  /// - Throws: `.invalidData` for a link.
  func folder(_ name: String) throws(FieldpackError) -> SafeFolder {
    let folderPath = "\(path)/\(name)"
    let opened = openat(
      descriptor, name, O_RDONLY | O_CLOEXEC | O_DIRECTORY | O_NOFOLLOW)
    guard opened >= 0 else { throw Self.failure(errno, folderPath) }
    return SafeFolder(opened, path: folderPath)
  }

  /// What is in the folder, by name, without hidden files.
  func names() throws(FieldpackError) -> [String] {
    try allNames().filter(FileName.isSound)
  }

  /// What is in the folder, by name, hidden files, too.
  func allNames() throws(FieldpackError) -> [String] {
    let copy = openat(descriptor, ".", O_RDONLY | O_CLOEXEC | O_DIRECTORY)
    guard copy >= 0 else { throw .system(errno, "read", path) }
    guard let names = FileSystem.names(takenFrom: copy) else { throw .system(errno, "read", path) }
    return names.sorted()
  }

  /// Whether there is a folder, or a link, of that name.
  func isFolder(_ name: String) -> Bool {
    var status = stat()
    guard fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return false }
    let kind = status.st_mode & S_IFMT
    guard kind == S_IFLNK else { return kind == S_IFDIR }
    return fstatat(descriptor, name, &status, 0) == 0 && status.st_mode & S_IFMT == S_IFDIR
  }

  /// Whether there is anything of that name.
  func has(_ name: String) -> Bool {
    var status = stat()
    return fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0
  }

  /// The bytes of a regular file; `nil` where there is none of that name.
  ///
  /// - Throws: `.invalidData` for a link, for what is no regular file, and for one that is longer
  ///   than `limit`.
  func bytes(of name: String, limit: Int) throws(FieldpackError) -> [UInt8]? {
    let filePath = "\(path)/\(name)"
    let opened = openat(descriptor, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard opened >= 0 else {
      if errno == ENOENT { return nil }
      throw Self.failure(errno, filePath)
    }
    defer { close(opened) }
    var status = stat()
    guard fstat(opened, &status) == 0 else { throw .system(errno, "read", filePath) }
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw FieldpackError(.invalidData, "\(name) is no regular file")
    }
    guard Int(status.st_size) <= limit else {
      throw FieldpackError(
        .invalidData, "\(name) has \(status.st_size) bytes, more than the \(limit) that are read")
    }
    return try Self.read(opened, Int(status.st_size), filePath)
  }

  private static func read(
    _ descriptor: Int32, _ size: Int, _ filePath: String
  ) throws(FieldpackError) -> [UInt8] {
    var number: Int32 = 0
    let bytes = [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
      while count < size {
        let got = readBytes(descriptor, buffer.baseAddress?.advanced(by: count), size - count)
        if got < 0, errno == EINTR { continue }
        if got < 0 { number = errno }
        guard got > 0 else { return }
        count += got
      }
    }
    guard number == 0 else { throw .system(number, "read", filePath) }
    return bytes
  }

  private static func failure(_ number: Int32, _ filePath: String) -> FieldpackError {
    if number == ELOOP || number == ENOTDIR {
      return FieldpackError(
        .invalidData, "\(filePath) is a link, which may lead out of the folder, and is not followed"
      )
    }
    return .system(number, "open", filePath)
  }
}

extension SafeFolder {
  /// Whether there is anything at a path.
  static func exists(_ path: String) -> Bool {
    var status = stat()
    return stat(path, &status) == 0
  }
}

/// `read(2)`, out of the way of the methods of that name.
private func readBytes(_ descriptor: Int32, _ target: UnsafeMutablePointer<UInt8>?, _ count: Int)
  -> Int
{
  read(descriptor, target, count)
}
