import FieldpackCore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A folder that is filled under a hidden name and gets its own when it is whole; else it goes.
final class FolderInMaking {
  private let root: SafeFolder
  private let folder: SafeFolder
  private let name: String
  private var names: [String] = []
  private var isDone = false

  /// - Parameter name: hidden, and not taken.
  init(in root: String, name: String) throws(FieldpackError) {
    self.root = try SafeFolder(path: root)
    self.name = name
    guard mkdirat(self.root.descriptor, name, 0o755) == 0 else {
      throw .system(errno, "create", "\(root)/\(name)")
    }
    do throws(FieldpackError) {
      folder = try self.root.folder(name)
    } catch {
      try? self.root.removeFolder(name)
      throw error
    }
  }

  deinit {
    guard !isDone else { return }
    for name in names { try? folder.remove(name) }
    try? root.removeFolder(name)
  }

  /// Writes a file that is on the disk when this returns.
  func write(_ name: String, _ bytes: RawSpan) throws(FieldpackError) {
    guard FileName.isSound(name) else {
      throw FieldpackError(.invalidData, "'\(name.prefix(80))' cannot be the name of a file")
    }
    names.append(name)
    try folder.create(name, bytes)
  }

  func write(_ name: String, _ bytes: [UInt8]) throws(FieldpackError) {
    try write(name, bytes.span.bytes)
  }

  /// Gives the folder its name with one step.
  ///
  /// - Throws: `.cannotCreate` where the name is taken.
  func commit(as name: String) throws(FieldpackError) {
    try? folder.sync()
    try root.complete(self.name, as: name)
    isDone = true
  }
}
