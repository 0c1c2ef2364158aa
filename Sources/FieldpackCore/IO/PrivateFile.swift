#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A file that no other user may read: of tokens, or the key of a certificate.
package enum PrivateFile {
  /// Who has written the file, which tells what is allowed of it.
  package enum Writer {
    /// This program: the file belongs to this user, and its path is no link.
    case program
    /// The administrator, who may link to the file, and who gives a service the key of a certificate as a
    /// file of root that the service's group may read.
    case administrator
  }

  /// - Parameter consequence: the end of the error of a refused file: what is not used, and what to do.
  /// - Returns: all bytes of the file; `nil` for one of more than `limit` bytes.
  /// - Throws: `.notFound`, `.permission` for a file that another user may read or write.
  package static func read(
    _ path: String, of writer: Writer, upTo limit: Int, orElse consequence: String
  ) throws(FieldpackError) -> [UInt8]? {
    func refusal(_ reason: String) -> FieldpackError {
      FieldpackError(
        .permission, "\(reason), so \(consequence)", position: FilePosition(file: path))
    }
    let links = writer == .program ? O_NOFOLLOW : 0
    let descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | links)
    guard descriptor >= 0 else {
      if errno == ELOOP, writer == .program { throw refusal("\(path) is a link") }
      throw .system(errno, "read", path)
    }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw .system(errno, "read", path) }
    if let reason = problem(of: status, writer, path) { throw refusal(reason) }
    return try bytes(of: descriptor, size: Int(status.st_size), upTo: limit, path)
  }

  /// Why a file is not private; `nil` where it is.
  private static func problem(of status: stat, _ writer: Writer, _ path: String) -> String? {
    guard status.st_mode & S_IFMT == S_IFREG else { return "\(path) is no regular file" }
    let isOwn = status.st_uid == geteuid()
    guard isOwn || writer == .administrator && status.st_uid == 0 else {
      return "\(path) belongs to another user"
    }
    let forbidden: mode_t = isOwn ? 0o077 : 0o037
    return status.st_mode & forbidden == 0 ? nil : "others may read \(path)"
  }

  private static func bytes(
    of descriptor: Int32, size: Int, upTo limit: Int, _ path: String
  ) throws(FieldpackError) -> [UInt8]? {
    // One byte more shows whether the file is longer.
    var bytes = [UInt8](repeating: 0, count: min(limit, size) + 1)
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
    return count <= limit ? Array(bytes[..<count]) : nil
  }
}
