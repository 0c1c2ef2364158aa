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
    let file = openat(descriptor, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o644)
    guard file >= 0 else { throw .system(errno, "create", "\(path)/\(name)") }
    names.append(name)
    let number = bytes.withUnsafeBytes { Self.write($0, to: file) }
    let isSynced = fsync(file) == 0
    let last = number == 0 && !isSynced ? errno : number
    close(file)
    guard last == 0 else { throw .system(last, "write", "\(path)/\(name)") }
  }

  func write(_ name: String, _ bytes: [UInt8]) throws(FieldpackError) {
    try write(name, bytes.span.bytes)
  }

  /// - Returns: 0, or what went wrong.
  private static func write(_ bytes: UnsafeRawBufferPointer, to file: Int32) -> Int32 {
    var rest = bytes[...]
    while !rest.isEmpty {
      let part = UnsafeRawBufferPointer(rebasing: rest)
      let count = writeBytes(file, part)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return count < 0 ? errno : EIO }
      rest = rest.dropFirst(count)
    }
    return 0
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
    let parent = open(root, O_RDONLY | O_CLOEXEC | O_DIRECTORY)
    guard parent >= 0 else { return }
    fsync(parent)
    close(parent)
  }
}

/// `write(2)`, out of the way of the methods of that name.
private func writeBytes(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
  write(descriptor, bytes.baseAddress, bytes.count)
}
