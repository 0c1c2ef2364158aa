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
    let found: [UInt8]?
    do throws(FieldpackError) {
      found = try PrivateFile.read(
        path, of: .program, upTo: Self.maximumSize, orElse: Self.consequence)
    } catch {
      if (error.underlying as? SystemErrorNumber)?.rawValue == ENOENT { return nil }
      throw error
    }
    try checkFolder()
    guard let bytes = found,
      let document = try? JSONValueReader.read(String(decoding: bytes, as: UTF8.self)),
      let kept = KeptSignIn(document)
    else {
      throw FieldpackError(
        .invalidData, "\(path) does not hold who is signed in. Try: remove it",
        position: FilePosition(file: path))
    }
    return kept
  }

  private static let maximumSize = 1 << 16
  private static let consequence =
    "the token in it is not used. Try: remove it, and sign in again"

  /// Refuses a folder in which somebody else may have replaced the file.
  private func checkFolder() throws(FieldpackError) {
    var status = stat()
    guard lstat(folder, &status) == 0 else { throw .system(errno, "read", folder) }
    guard isOwn(status), status.st_mode & 0o022 == 0 else {
      throw FieldpackError(
        .permission, "others may change what is in \(folder), so \(Self.consequence)",
        position: FilePosition(file: path))
    }
  }

  private func isOwn(_ folder: stat) -> Bool {
    folder.st_mode & S_IFMT == S_IFDIR && folder.st_uid == geteuid()
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
