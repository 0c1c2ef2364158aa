import FieldpackCore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A file that grows: what was appended is on the disk, or not in the file.
final class AppendedFile {
  private let descriptor: Int32
  private let path: String
  private(set) var length: Int

  /// - Parameter descriptor: open for appending; closed with this.
  init(_ descriptor: Int32, _ path: String) {
    self.descriptor = descriptor
    self.path = path
    length = Int(max(lseek(descriptor, 0, SEEK_END), 0))
  }

  deinit { close(descriptor) }

  func append(_ bytes: [UInt8]) throws(FieldpackError) {
    do throws(FieldpackError) {
      try bytes.withUnsafeBytes { (bytes) -> Result<Void, FieldpackError> in
        Result { () throws(FieldpackError) in try write(bytes) }
      }.get()
      try sync()
      length += bytes.count
    } catch {
      // A part of a line would end the reading of the file there.
      try? cut(to: length)
      throw error
    }
  }

  /// Writes without asking that it be on the disk.
  func write(_ bytes: UnsafeRawBufferPointer) throws(FieldpackError) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = writeBytes(descriptor, UnsafeRawBufferPointer(rebasing: rest))
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw .system(count < 0 ? errno : EIO, "write", path) }
      rest = rest.dropFirst(count)
    }
  }

  func sync() throws(FieldpackError) {
    guard fsync(descriptor) == 0 else { throw .system(errno, "write", path) }
  }

  func cut(to newLength: Int) throws(FieldpackError) {
    guard ftruncate(descriptor, off_t(newLength)) == 0 else { throw .system(errno, "write", path) }
    length = newLength
  }
}

/// `write(2)`, out of the way of the methods of that name.
private func writeBytes(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
  write(descriptor, bytes.baseAddress, bytes.count)
}
