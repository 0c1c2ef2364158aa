#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

extension FileSystem {
  /// What a path leads to.
  package enum Kind: Sendable {
    case file, folder
    /// A pipe, a device and the like.
    case other
  }

  /// What a path leads to, links followed; `nil` where that is nothing.
  package static func kind(_ path: String) -> Kind? {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    return switch status.st_mode & S_IFMT {
    case S_IFREG: .file
    case S_IFDIR: .folder
    default: .other
    }
  }

  /// Whether a path leads to something, links followed.
  package static func exists(_ path: String) -> Bool { kind(path) != nil }

  /// Whether a path leads to a folder, links followed.
  package static func isFolder(_ path: String) -> Bool { kind(path) == .folder }

  /// Makes a folder where it is missing, and those around it.
  ///
  /// - Parameter mode: that of all folders that are made.
  package static func makeFolder(
    _ path: String, mode: UInt32 = 0o777
  ) throws(FieldpackError) {
    // An empty path is the working folder.
    guard !path.isEmpty, !isFolder(path), mkdir(path, mode_t(mode)) != 0 else { return }
    if errno == ENOENT {
      try makeFolder(folder(of: path), mode: mode)
      if mkdir(path, mode_t(mode)) == 0 { return }
    }
    let number = errno
    // Another program may have made it meanwhile.
    guard isFolder(path) else { throw .system(number, "create the folder", path) }
  }

  /// Makes a folder that only this user reads, in `TMPDIR`, else `/tmp`. The caller removes it.
  package static func makeTemporaryFolder() throws(FieldpackError) -> String {
    let parent = UnnamedFile.usualFolder
    // mkdtemp replaces each X.
    var template = Array((parent + "/fieldpack-XXXXXX").utf8CString)
    guard mkdtemp(&template) != nil else {
      let cause = FieldpackError.system(errno, "create a folder in", parent)
      throw FieldpackError(
        .cannotCreate, "cannot create a temporary folder in \(parent)", underlying: cause)
    }
    return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  /// Removes a file, or a folder with all in it. Links are removed, and not followed.
  package static func removeTree(_ path: String) {
    var status = stat()
    guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
      remove(path)
      return
    }
    for name in names(in: path) ?? [] { removeTree("\(path)/\(name)") }
    rmdir(path)
  }
}
