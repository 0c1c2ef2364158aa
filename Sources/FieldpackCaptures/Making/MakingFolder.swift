import FieldpackCore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The folder of a capture that is being made: a file in it is whole under its name, or not there.
final class MakingFolder {
  let path: String
  private let descriptor: Int32
  private let reading: SafeFolder

  init(path: String) throws(FieldpackError) {
    reading = try SafeFolder(path: path)
    descriptor = open(path, O_RDONLY | O_CLOEXEC | O_DIRECTORY)
    guard descriptor >= 0 else { throw .system(errno, "open", path) }
    self.path = path
  }

  deinit { close(descriptor) }

  func has(_ name: String) -> Bool { reading.has(name) }

  /// Opens a regular file for reading; the caller closes it.
  ///
  /// - Throws: `.notFound`; `.invalidData` for links and what is no regular file.
  func opened(_ name: String) throws(FieldpackError) -> (descriptor: Int32, size: Int) {
    let place = "\(path)/\(name)"
    let file = openat(descriptor, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard file >= 0 else {
      if errno == ELOOP {
        throw FieldpackError(.invalidData, "\(place) is a link, which is not followed")
      }
      throw .system(errno, "open", place)
    }
    var status = stat()
    guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      close(file)
      throw FieldpackError(.invalidData, "\(place) is no regular file")
    }
    return (file, Int(status.st_size))
  }

  /// Writes a file that is on the disk when this returns, in place of another of its name.
  func write(_ name: String, _ bytes: [UInt8]) throws(FieldpackError) {
    let place = "\(path)/\(name)"
    let part = Self.part(of: name)
    unlinkat(descriptor, part, 0)
    let file = openat(descriptor, part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o644)
    guard file >= 0 else { throw .system(errno, "create", place) }
    do throws(FieldpackError) {
      defer { close(file) }
      try OpenFile.write(bytes.span.bytes, to: file, path: place)
      try OpenFile.sync(file, path: place)
    } catch {
      unlinkat(descriptor, part, 0)
      throw error
    }
    try rename(part, name)
  }

  /// Puts the bytes of a file on the disk that another wrote.
  func sync(_ name: String) throws(FieldpackError) {
    let file = try opened(name)
    defer { close(file.descriptor) }
    try OpenFile.sync(file.descriptor, path: "\(path)/\(name)")
  }

  /// Gives a file that another wrote its name, once it is on the disk.
  func place(_ name: String, as newName: String) throws(FieldpackError) {
    guard name != newName else { return }
    try sync(name)
    try rename(name, newName)
  }

  func rename(_ name: String, _ newName: String) throws(FieldpackError) {
    guard renameat(descriptor, name, descriptor, newName) == 0 else {
      throw .system(errno, "create", "\(path)/\(newName)")
    }
  }

  /// Removes a file, and what was left of the writing of it; it may be missing.
  func remove(_ name: String) {
    unlinkat(descriptor, name, 0)
    unlinkat(descriptor, Self.part(of: name), 0)
  }

  /// Removes what was left of the writing of files by a process that was killed.
  func removeParts(of names: [String]) {
    for name in names { unlinkat(descriptor, Self.part(of: name), 0) }
  }

  /// Puts the names of the files on the disk.
  func sync() throws(FieldpackError) { try OpenFile.sync(descriptor, path: path) }

  private static func part(of name: String) -> String { ".\(name).part" }
}
