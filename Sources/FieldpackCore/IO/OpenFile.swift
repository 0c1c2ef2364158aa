#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// What is done with a file that is open, by its descriptor.
package enum OpenFile {
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

  /// Puts what was written on the disk; of a folder, the names in it.
  package static func sync(_ descriptor: Int32, path: String) throws(FieldpackError) {
    while fsync(descriptor) != 0 {
      guard errno == EINTR else { throw .system(errno, "write", path) }
    }
  }

  /// Puts the names in a folder on the disk; where that cannot be done, what they name is there
  /// all the same.
  package static func syncFolder(_ path: String) {
    let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { return }
    fsync(descriptor)
    close(descriptor)
  }
}

/// `write(2)`, out of the way of the methods of that name.
private func writeBytes(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
  write(descriptor, bytes.baseAddress, bytes.count)
}
