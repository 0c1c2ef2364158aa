import FieldpackCore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A file that others may not read: of tokens, or the key of a certificate.
enum PrivateFile {
  /// Changes with every change of a file, its mode, and the file that a path leads to.
  struct Stamp: Hashable, Sendable {
    fileprivate var numbers: [Int]
  }

  /// - Returns: `nil` where the path leads to no file.
  static func stamp(of path: String) -> Stamp? {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    #if canImport(Darwin)
      let (changed, marked) = (status.st_mtimespec, status.st_ctimespec)
    #else
      let (changed, marked) = (status.st_mtim, status.st_ctim)
    #endif
    return Stamp(numbers: [
      Int(truncatingIfNeeded: status.st_dev), Int(truncatingIfNeeded: status.st_ino),
      Int(status.st_size), changed.tv_sec, changed.tv_nsec, marked.tv_sec, marked.tv_nsec,
    ])
  }

  /// - Parameter what: the content, for errors.
  /// - Throws: `.notFound`, `.permission` for a file that others may read or write, `.invalidData` for
  ///   one that is too long.
  static func read(
    _ path: String, _ what: String, upTo limit: Int
  ) throws(FieldpackError) -> [UInt8] {
    let descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    guard descriptor >= 0 else { throw .system(errno, "read", path) }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw .system(errno, "read", path) }
    let isRegular = status.st_mode & S_IFMT == S_IFREG
    let isOwn = status.st_uid == geteuid()
    // A service gets the key of a certificate as a file of root that its group may read.
    let forbidden: mode_t = isOwn ? 0o077 : 0o037
    guard isRegular, isOwn || status.st_uid == 0, status.st_mode & forbidden == 0 else {
      let reason =
        if !isRegular {
          "\(path) is no regular file"
        } else if isOwn {
          "others may read \(path)"
        } else {
          "\(path) belongs to another user, or others may read it"
        }
      throw FieldpackError(
        .permission, "\(reason), so the \(what) in it are not used. Try: chmod 600 \(path)",
        position: FilePosition(file: path))
    }
    var bytes = [UInt8](repeating: 0, count: min(limit, Int(status.st_size)) + 1)
    var count = 0
    while count < bytes.count {
      let read = bytes.withUnsafeMutableBytes {
        pread(descriptor, $0.baseAddress! + count, $0.count - count, off_t(count))
      }
      if read < 0, errno == EINTR { continue }
      guard read >= 0 else { throw .system(errno, "read", path) }
      if read == 0 { break }
      count += read
    }
    guard count <= limit else {
      throw FieldpackError(
        .invalidData, "\(path) is too long for \(what)", position: FilePosition(file: path))
    }
    return Array(bytes[..<count])
  }
}
