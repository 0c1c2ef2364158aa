import FieldpackCore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

extension SafeFolder {
  // MARK: Files

  /// Opens a regular file for reading; the caller closes it.
  ///
  /// - Throws: `.notFound`; `.invalidData` for links and what is no regular file.
  func opened(_ name: String) throws(FieldpackError) -> (descriptor: Int32, size: Int) {
    let filePath = "\(path)/\(name)"
    let file = openat(descriptor, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard file >= 0 else {
      if errno == ELOOP {
        throw FieldpackError(.invalidData, "\(filePath) is a link, which is not followed")
      }
      throw .system(errno, "open", filePath)
    }
    var status = stat()
    guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      close(file)
      throw FieldpackError(.invalidData, "\(filePath) is no regular file")
    }
    return (file, Int(status.st_size))
  }

  /// Makes a file that is on the disk when this returns.
  ///
  /// - Parameter filePath: what to call it in errors where its name does not say it.
  func create(
    _ name: String, _ bytes: RawSpan, filePath: String? = nil
  ) throws(FieldpackError) {
    let filePath = filePath ?? "\(path)/\(name)"
    guard let file = FileSystem.create(name, in: descriptor, mode: 0o644) else {
      throw .system(errno, "create", filePath)
    }
    defer { close(file) }
    try FileSystem.write(bytes, to: file, path: filePath)
    try FileSystem.sync(file, path: filePath)
  }

  /// Writes a file that is whole and on the disk under its name, in place of another, or not there.
  func replace(_ name: String, _ bytes: [UInt8]) throws(FieldpackError) {
    let part = Self.part(of: name)
    FileSystem.remove(part, in: descriptor)
    do throws(FieldpackError) {
      try create(part, bytes.span.bytes, filePath: "\(path)/\(name)")
    } catch {
      FileSystem.remove(part, in: descriptor)
      throw error
    }
    try rename(part, name)
  }

  /// Gives a file that another program wrote its name, once it is on the disk.
  func finish(_ name: String, as newName: String) throws(FieldpackError) {
    guard name != newName else { return }
    let file = try opened(name)
    defer { close(file.descriptor) }
    try FileSystem.sync(file.descriptor, path: "\(path)/\(name)")
    try rename(name, newName)
  }

  func rename(_ name: String, _ newName: String) throws(FieldpackError) {
    guard FileSystem.rename(name, newName, in: descriptor) else {
      throw .system(errno, "create", "\(path)/\(newName)")
    }
  }

  /// Removes a file; it may be missing.
  func remove(_ name: String) throws(FieldpackError) {
    guard FileSystem.remove(name, in: descriptor) || errno == ENOENT else {
      throw .system(errno, "remove", "\(path)/\(name)")
    }
  }

  /// Removes a file, and what was left of the writing of it, as far as that can be done.
  func discard(_ name: String) {
    FileSystem.remove(name, in: descriptor)
    FileSystem.remove(Self.part(of: name), in: descriptor)
  }

  /// What a file is called until it is whole.
  static func part(of name: String) -> String { ".\(name).part" }

  /// Puts the names of the files on the disk.
  func sync() throws(FieldpackError) { try FileSystem.sync(descriptor, path: path) }

  // MARK: Folders

  /// Gives a folder in this one, which was filled under a hidden name, its own with one step.
  ///
  /// - Throws: `.cannotCreate` where the name is taken.
  func complete(_ name: String, as newName: String) throws(FieldpackError) {
    let target = "\(path)/\(newName)"
    guard FileName.isSound(newName) else {
      throw FieldpackError(
        .invalidData, "'\(newName.prefix(80))' cannot be the name of a folder")
    }
    guard FileSystem.rename(name, newName, in: descriptor) else {
      let number = errno
      guard number == ENOTEMPTY || number == EEXIST || number == ENOTDIR else {
        throw .system(number, "create", target)
      }
      throw FieldpackError(
        .cannotCreate, "\(target) exists already", position: FilePosition(file: target))
    }
    try? sync()
  }

  /// Removes a folder in this one, which is empty or missing.
  func removeFolder(_ name: String) throws(FieldpackError) {
    guard unlinkat(descriptor, name, AT_REMOVEDIR) == 0 || errno == ENOENT else {
      throw .system(errno, "remove", "\(path)/\(name)")
    }
    try? sync()
  }
}
