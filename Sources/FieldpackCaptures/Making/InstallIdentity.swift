public import FieldpackCore
import FoundationEssentials

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Which installation makes captures: a UUID that is made once and kept in a file.
public struct InstallIdentity: Hashable, Sendable {
  /// In capital letters.
  public let uuid: String

  /// `nil` where the text is no UUID.
  public init?(_ text: String) {
    guard text.utf8.count == 36, let uuid = UUID(uuidString: text) else { return nil }
    self.uuid = uuid.uuidString
  }

  private init() { uuid = UUID().uuidString }

  /// The one that ``standardFile()`` holds; where it is missing it is made, for this user alone.
  ///
  /// Processes that make it at once agree on one.
  /// - Throws: `.invalidData` where the file holds something else, `.permission`, `.full`.
  public static func stored() throws(FieldpackError) -> InstallIdentity {
    try stored(in: standardFile())
  }

  /// The same of another file.
  public static func stored(in path: String) throws(FieldpackError) -> InstallIdentity {
    if let known = try read(path) { return known }
    let made = InstallIdentity()
    do throws(FieldpackError) {
      try made.write(path)
      return made
    } catch {
      // Another process was faster.
      guard error.code == .cannotCreate, let known = try read(path) else { throw error }
      return known
    }
  }

  /// `$XDG_STATE_HOME/fieldpack/install`, by default `~/.local/state/fieldpack/install`.
  ///
  /// - Throws: `.configuration` where neither that variable nor `HOME` is set.
  public static func standardFile() throws(FieldpackError) -> String {
    try standardFile(ProcessInfo.processInfo.environment)
  }

  static func standardFile(_ environment: [String: String]) throws(FieldpackError) -> String {
    if let state = environment["XDG_STATE_HOME"], state.hasPrefix("/") {
      return state + "/fieldpack/install"
    }
    guard let home = environment["HOME"], home.hasPrefix("/") else {
      throw FieldpackError(
        .configuration,
        "there is no place to keep this installation's identity. Try: set HOME or XDG_STATE_HOME")
    }
    return home + "/.local/state/fieldpack/install"
  }

  private static func read(_ path: String) throws(FieldpackError) -> InstallIdentity? {
    let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard file >= 0 else {
      if errno == ENOENT { return nil }
      throw .system(errno, "open", path)
    }
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: 64)
    let count = pread(file, &bytes, bytes.count, 0)
    guard count >= 0 else { throw .system(errno, "read", path) }
    let text = String(decoding: bytes[..<count], as: UTF8.self)
    guard let known = InstallIdentity(text.hasSuffix("\n") ? String(text.dropLast()) : text) else {
      throw FieldpackError(
        .invalidData, "\(path) does not hold the identity of this installation. Try: remove it",
        position: FilePosition(file: path))
    }
    return known
  }

  private func write(_ path: String) throws(FieldpackError) {
    try Self.makeFolder(of: path)
    let pending = try PendingFile(target: path, overwrite: false)
    let file = open(pending.path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw .system(errno, "create", path) }
    defer { close(file) }
    try OpenFile.write((uuid + "\n").utf8Span.span.bytes, to: file, path: path)
    try pending.commit()
  }

  /// Makes the folders that are missing, the last for this user alone.
  private static func makeFolder(of path: String) throws(FieldpackError) {
    let folder = path.split(separator: "/", omittingEmptySubsequences: false).dropLast()
      .joined(separator: "/")
    guard !folder.isEmpty, access(folder, F_OK) != 0 else { return }
    try makeFolder(of: folder)
    guard mkdir(folder, 0o700) == 0 || errno == EEXIST else {
      throw .system(errno, "create", folder)
    }
  }
}
