import FieldpackCore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A folder that is filled under a hidden name and gets its own when it is whole; else it goes.
final class FolderInMaking {
  /// Where it lies for now.
  let path: String
  private let root: String
  private let descriptor: Int32
  private var names: [String] = []
  private var isDone = false

  /// - Parameter name: hidden, and not taken.
  init(in root: String, name: String) throws(FieldpackError) {
    self.root = root
    path = "\(root)/\(name)"
    guard mkdir(path, 0o755) == 0 else { throw .system(errno, "create", path) }
    descriptor = open(path, O_RDONLY | O_CLOEXEC | O_DIRECTORY | O_NOFOLLOW)
    guard descriptor >= 0 else {
      let number = errno
      rmdir(path)
      throw .system(number, "open", path)
    }
  }

  deinit {
    if !isDone {
      for name in names { unlinkat(descriptor, name, 0) }
      rmdir(path)
    }
    close(descriptor)
  }

  /// Writes a file that is on the disk when this returns.
  func write(_ name: String, _ bytes: RawSpan) throws(FieldpackError) {
    guard FileName.isSound(name) else {
      throw FieldpackError(.invalidData, "'\(name.prefix(80))' cannot be the name of a file")
    }
    let place = "\(path)/\(name)"
    let file = openat(descriptor, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o644)
    guard file >= 0 else { throw .system(errno, "create", place) }
    names.append(name)
    defer { close(file) }
    try OpenFile.write(bytes, to: file, path: place)
    try OpenFile.sync(file, path: place)
  }

  func write(_ name: String, _ bytes: [UInt8]) throws(FieldpackError) {
    try write(name, bytes.span.bytes)
  }

  /// Gives the folder its name with one step.
  ///
  /// - Throws: `.cannotCreate` where the name is taken.
  func commit(as name: String) throws(FieldpackError) {
    let target = "\(root)/\(name)"
    guard FileName.isSound(name) else {
      throw FieldpackError(.invalidData, "'\(name.prefix(80))' cannot be the name of a folder")
    }
    fsync(descriptor)
    guard rename(path, target) == 0 else {
      let number = errno
      if number == ENOTEMPTY || number == EEXIST || number == ENOTDIR {
        throw FieldpackError(
          .cannotCreate, "\(target) exists already", position: FilePosition(file: target))
      }
      throw .system(number, "create", target)
    }
    isDone = true
    OpenFile.syncFolder(root)
  }
}
