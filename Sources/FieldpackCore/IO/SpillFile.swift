#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// An unnamed temporary file of bytes that are read again later, in any order.
///
/// The file is made when the first bytes are appended, and ends with this object. Not `Sendable`.
package final class SpillFile {
  private let folder: String?
  private var descriptor: Int32 = -1
  /// The offset at which the next bytes are appended.
  package private(set) var end = 0

  /// - Parameter folder: where the file lies, by default `TMPDIR`, else `/tmp`.
  package init(folder: String? = nil) { self.folder = folder }

  /// Shares a file that is open for reading and writing, by a descriptor of its own. A file without a
  /// name ends when both descriptors are closed.
  package init(sharing descriptor: Int32) throws(FieldpackError) {
    folder = nil
    self.descriptor = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
    var status = stat()
    guard self.descriptor >= 0, fstat(self.descriptor, &status) == 0 else {
      throw .system(errno, "read", Self.nameInErrors)
    }
    end = Int(status.st_size)
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  /// Appends `bytes`.
  ///
  /// - Throws: `.full` where there is no room, `.io`.
  package func append(_ bytes: UnsafeRawBufferPointer) throws(FieldpackError) {
    if descriptor < 0 { descriptor = try UnnamedFile.open(in: folder) }
    try write(bytes, at: end)
    end += bytes.count
  }

  /// Overwrites bytes from `offset` on.
  package func write(
    _ bytes: UnsafeRawBufferPointer, at offset: Int
  ) throws(FieldpackError) {
    var done = 0
    while done < bytes.count {
      let rest = UnsafeRawBufferPointer(rebasing: bytes[done...])
      let count = pwrite(descriptor, rest.baseAddress, rest.count, off_t(offset + done))
      if count > 0 {
        done += count
      } else if errno != EINTR {
        throw .system(errno, "write", Self.nameInErrors)
      }
    }
  }

  /// Fills `buffer` with the bytes from `offset` on, which the file must have.
  package func read(
    into buffer: UnsafeMutableRawBufferPointer, at offset: Int
  ) throws(FieldpackError) {
    var done = 0
    while done < buffer.count {
      let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[done...])
      let count = pread(descriptor, rest.baseAddress, rest.count, off_t(offset + done))
      if count > 0 {
        done += count
      } else if count == 0 || errno != EINTR {
        throw .system(count == 0 ? EIO : errno, "read", Self.nameInErrors)
      }
    }
  }

  /// Lends all bytes, mapped into memory.
  package func withBytes<R>(
    _ body: (UnsafeRawBufferPointer) throws(FieldpackError) -> R
  ) throws(FieldpackError) -> R {
    guard end > 0 else { return try body(UnsafeRawBufferPointer(start: nil, count: 0)) }
    let mapped = mmap(nil, end, PROT_READ, MAP_SHARED, descriptor, 0)
    guard let mapped, mapped != MAP_FAILED else { throw .system(errno, "read", Self.nameInErrors) }
    defer { munmap(mapped, end) }
    return try body(UnsafeRawBufferPointer(start: mapped, count: end))
  }

  private static let nameInErrors = "a temporary file"
}
