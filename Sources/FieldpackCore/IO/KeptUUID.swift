#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A UUID that is made once and kept in a file for one user.
package enum KeptUUID {
  /// The UUID in the first line of a file, as it is written there. Where the file is missing, it is
  /// made with a new UUID, and so are the folders around it.
  ///
  /// Processes that do so at the same time get the same UUID.
  /// - Parameters:
  ///   - new: makes the UUID for a new file.
  ///   - name: what to call the UUID in errors.
  /// - Throws: `.invalidData` where the file holds something else, `.permission`, `.full`.
  package static func stored(
    in path: String, else new: String, name: String
  ) throws(FieldpackError) -> String {
    if let known = try read(path, name) { return known }
    do throws(FieldpackError) {
      try write(new, to: path)
      return new
    } catch {
      // Another process has made the file meanwhile.
      guard error.code == .cannotCreate, let known = try read(path, name) else { throw error }
      return known
    }
  }

  /// The folder where programs keep a user's state: `$XDG_STATE_HOME/fieldpack`, by default
  /// `~/.local/state/fieldpack`; `nil` where neither that variable nor `HOME` is set.
  package static func standardFolder(_ environment: [String: String]) -> String? {
    func folder(_ name: String) -> String? {
      environment[name].flatMap { $0.hasPrefix("/") ? $0 : nil }
    }
    let state = folder("XDG_STATE_HOME") ?? folder("HOME").map { $0 + "/.local/state" }
    return state.map { $0 + "/fieldpack" }
  }

  private static func read(_ path: String, _ name: String) throws(FieldpackError) -> String? {
    let head: [UInt8]
    do throws(FieldpackError) {
      head = try ByteInput(path: path).head(64)
    } catch {
      guard error.code == .notFound else { throw error }
      return nil
    }
    let lines = String(decoding: head, as: UTF8.self).split(whereSeparator: \.isNewline)
    guard let known = lines.first, isUUID(known) else {
      throw FieldpackError(
        .invalidData, "\(path) does not hold \(name). Try: remove it",
        position: FilePosition(file: path))
    }
    return String(known)
  }

  private static func isUUID(_ text: Substring) -> Bool {
    let groups = text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
    return groups.map(\.count) == [8, 4, 4, 4, 12]
      && groups.joined().allSatisfy { Character(UnicodeScalar($0)).isHexDigit }
  }

  private static func write(_ text: String, to path: String) throws(FieldpackError) {
    try makeFolder(of: path)
    let pending = try PendingFile(target: path, overwrite: false)
    let line = text + "\n"
    try FileSystem.write(line.utf8Span.span.bytes, to: pending.descriptor, path: path)
    try pending.commit(mode: 0o600)
  }

  /// Makes the folders that are missing, for this user only.
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
