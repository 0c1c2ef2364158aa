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
      try FileSystem.write(bytes.span.bytes, to: descriptor, path: path)
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
    try FileSystem.write(bytes, to: descriptor, path: path)
  }

  func sync() throws(FieldpackError) { try FileSystem.sync(descriptor, path: path) }

  func cut(to newLength: Int) throws(FieldpackError) {
    try FileSystem.cut(descriptor, to: newLength, path: path)
    length = newLength
  }
}
