public import FieldpackCore
import FoundationEssentials

/// Which installation makes captures: a UUID that is made once and kept in a file.
public struct InstallIdentity: Hashable, Sendable {
  /// In capital letters.
  public let uuid: String

  /// `nil` where the text is no UUID.
  public init?(_ text: String) {
    guard text.utf8.count == 36, let uuid = UUID(uuidString: text) else { return nil }
    self.uuid = uuid.uuidString
  }

  private init(in path: String) throws(FieldpackError) {
    let kept = try KeptUUID.stored(
      in: path, else: UUID().uuidString, name: "the identity of this installation")
    uuid = kept.uppercased()
  }

  /// The identity in ``standardFile()``. Where there is no such file, makes one that only this user
  /// can read.
  ///
  /// Processes that do so at the same time get the same identity.
  /// - Throws: `.invalidData` where the file holds something else, `.permission`, `.full`.
  public static func stored() throws(FieldpackError) -> InstallIdentity {
    try stored(in: standardFile())
  }

  /// The identity in another file, which is made where it is missing.
  public static func stored(in path: String) throws(FieldpackError) -> InstallIdentity {
    try InstallIdentity(in: path)
  }

  /// `$XDG_STATE_HOME/fieldpack/install`, by default `~/.local/state/fieldpack/install`.
  ///
  /// - Throws: `.configuration` where neither that variable nor `HOME` is set.
  public static func standardFile() throws(FieldpackError) -> String {
    try standardFile(ProcessInfo.processInfo.environment)
  }

  static func standardFile(_ environment: [String: String]) throws(FieldpackError) -> String {
    guard let folder = KeptUUID.standardFolder(environment) else {
      throw FieldpackError(
        .configuration,
        "there is no place to keep this installation's identity. Try: set HOME or XDG_STATE_HOME")
    }
    return folder + "/install"
  }
}
