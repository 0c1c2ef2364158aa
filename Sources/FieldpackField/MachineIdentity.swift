public import FieldpackCore

/// Which machine or installation field data is of: a UUID that is made once and kept in a file, for one
/// user.
public struct MachineIdentity: Hashable, Sendable {
  /// What is identified. Each has a file of its own, so that nobody can tell from what one is used for
  /// that the other is of the same machine.
  public enum Kind: String, Sendable {
    /// The installation that makes captures, whose tokens are digests of it.
    case install
    /// The device whose motion is posted or recorded.
    case device

    fileprivate var name: String {
      switch self {
      case .install: "the identity of this installation"
      case .device: "the identifier of this device"
      }
    }
  }

  /// The UUID as its file has it.
  public let text: String
  /// The UUID in capital letters.
  public let uuid: String

  /// `nil` where the text is no UUID.
  public init?(_ text: String) {
    let groups = text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
    guard groups.map(\.count) == [8, 4, 4, 4, 12],
      groups.joined().allSatisfy({ Character(UnicodeScalar($0)).isHexDigit })
    else { return nil }
    self.text = text
    uuid = text.uppercased()
  }

  private init() {
    text = RandomID.make()
    uuid = text
  }

  /// The identity that ``standardFile(_:)`` holds; where the file is missing it is made, for this user
  /// alone, and so are the folders around it.
  ///
  /// Processes that do so at the same time get the same identity.
  /// - Throws: `.invalidData` where the file holds something else, `.permission`, `.full`.
  public static func stored(_ kind: Kind = .install) throws(FieldpackError) -> MachineIdentity {
    try stored(kind, in: standardFile(kind))
  }

  /// The same of another file, whose first line holds the UUID.
  public static func stored(
    _ kind: Kind = .install, in path: String
  ) throws(FieldpackError) -> MachineIdentity {
    if let known = try read(path, kind) { return known }
    do throws(FieldpackError) {
      let made = MachineIdentity()
      try made.write(to: path)
      return made
    } catch {
      // Another process has made the file meanwhile.
      guard error.code == .cannotCreate, let known = try read(path, kind) else { throw error }
      return known
    }
  }

  /// `$XDG_STATE_HOME/fieldpack/install` or `…/device`, by default in `~/.local/state/fieldpack`.
  ///
  /// - Throws: `.configuration` where neither that variable nor `HOME` is set.
  public static func standardFile(_ kind: Kind = .install) throws(FieldpackError) -> String {
    try standardFile(kind, Environment.value)
  }

  static func standardFile(
    _ kind: Kind, _ variable: (String) -> String?
  ) throws(FieldpackError) -> String {
    "\(try StateFolder.path(for: kind.name, variable))/\(kind.rawValue)"
  }

  private static func read(
    _ path: String, _ kind: Kind
  ) throws(FieldpackError) -> MachineIdentity? {
    let head: [UInt8]
    do throws(FieldpackError) {
      head = try ByteInput(path: path).head(64)
    } catch {
      guard error.code == .notFound else { throw error }
      return nil
    }
    let lines = String(decoding: head, as: UTF8.self).split(whereSeparator: \.isNewline)
    guard let known = lines.first.flatMap({ MachineIdentity(String($0)) }) else {
      throw FieldpackError(
        .invalidData, "\(path) does not hold \(kind.name). Try: remove it",
        position: FilePosition(file: path))
    }
    return known
  }

  private func write(to path: String) throws(FieldpackError) {
    try StateFolder.make(FileSystem.split(path).folder)
    let pending = try PendingFile(target: path, overwrite: false)
    let line = text + "\n"
    try FileSystem.write(line.utf8Span.span.bytes, to: pending.descriptor, path: path)
    try pending.commit(mode: 0o600)
  }
}
