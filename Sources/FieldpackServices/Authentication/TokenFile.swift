import Fieldpack
import FieldpackCore
import FieldpackField

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The file that keeps who is signed in to one backend, in a folder that only its user reads.
struct TokenFile: Sendable {
  let folder: String
  let path: String

  /// - Parameter folder: by default `tokens` in the state folder of this user.
  init(
    of address: BackendAddress, _ method: RemoteConfig.Authentication, in folder: String?
  ) throws(FieldpackError) {
    let name: String
    switch method {
    case .server: name = "server"
    case .exchange(let client): name = "exchange \(client)"
    case .none: name = "none"
    }
    let parent = if let folder { folder } else { try StateFolder.path(for: "tokens") + "/tokens" }
    self.folder = parent
    path = parent + "/" + SHA256.hex(Array("\(address.origin) \(name)".utf8))
  }

  /// - Returns: `nil` where nobody is signed in.
  /// - Throws: `.permission` for a file that somebody else may have read or written, `.invalidData`
  ///   for one that holds something else.
  func load() throws(FieldpackError) -> KeptSignIn? {
    let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    guard descriptor >= 0 else {
      if errno == ENOENT { return nil }
      if errno == ELOOP { throw refusal("\(path) is a link") }
      throw .system(errno, "read", path)
    }
    defer { close(descriptor) }
    try check(descriptor)
    var bytes = [UInt8](repeating: 0, count: Self.maximumSize + 1)
    var count = 0
    while count < bytes.count {
      let read = bytes.withUnsafeMutableBytes {
        pread(descriptor, $0.baseAddress! + count, $0.count - count, off_t(count))
      }
      if read < 0, errno == EINTR { continue }
      guard read >= 0 else { throw .system(errno, "read", path) }
      if read == 0 { break }
      count += read
    }
    guard count <= Self.maximumSize,
      let document = try? JSONValueReader.read(String(decoding: bytes[..<count], as: UTF8.self)),
      let kept = KeptSignIn(document)
    else {
      throw FieldpackError(
        .invalidData, "\(path) does not hold who is signed in. Try: remove it",
        position: FilePosition(file: path))
    }
    return kept
  }

  private static let maximumSize = 1 << 16

  /// Refuses what somebody else may have read or written.
  private func check(_ descriptor: Int32) throws(FieldpackError) {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw .system(errno, "read", path) }
    guard status.st_mode & S_IFMT == S_IFREG else { throw refusal("\(path) is no regular file") }
    guard status.st_uid == geteuid() else { throw refusal("\(path) belongs to another user") }
    guard status.st_mode & 0o077 == 0 else { throw refusal("others may read \(path)") }
    guard lstat(folder, &status) == 0 else { throw .system(errno, "read", folder) }
    guard isOwn(status), status.st_mode & 0o022 == 0 else {
      throw refusal("others may change what is in \(folder)")
    }
  }

  private func isOwn(_ folder: stat) -> Bool {
    folder.st_mode & S_IFMT == S_IFDIR && folder.st_uid == geteuid()
  }

  private func refusal(_ reason: String) -> FieldpackError {
    FieldpackError(
      .permission, "\(reason), so the token in it is not used. Try: remove it, and sign in again",
      position: FilePosition(file: path))
  }

  func save(_ kept: KeptSignIn) throws(FieldpackError) {
    try StateFolder.make(folder)
    var status = stat()
    guard lstat(folder, &status) == 0 else { throw .system(errno, "write to", folder) }
    guard isOwn(status) else {
      throw FieldpackError(
        .permission, "\(folder) is no folder of this user, so no token is kept in it",
        position: FilePosition(file: folder))
    }
    // A folder that is there already may be open to others.
    guard chmod(folder, 0o700) == 0 else { throw .system(errno, "write to", folder) }
    try JSONFile.write(kept.document, to: path)
  }

  /// Removes the file, and what a killed process left of one.
  func remove() throws(FieldpackError) {
    guard FileSystem.remove(path) || errno == ENOENT || errno == ENOTDIR else {
      throw .system(errno, "remove", path)
    }
    guard access(folder, W_OK) == 0 else { return }
    // A pending file removes those of killed processes when it is made, and itself when it goes.
    _ = try PendingFile(target: path, overwrite: true)
  }
}
