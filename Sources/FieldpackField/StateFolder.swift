package import FieldpackCore

/// The folder of what this program keeps of one user, and nobody else reads.
package enum StateFolder {
  /// `$XDG_STATE_HOME/fieldpack`, by default `~/.local/state/fieldpack`.
  ///
  /// - Parameter what: what is to be kept there, for the error.
  /// - Throws: `.configuration` where neither that variable nor `HOME` is set.
  package static func path(
    for what: String, _ variable: (String) -> String? = Environment.value
  ) throws(FieldpackError) -> String {
    func folder(_ name: String) -> String? {
      variable(name).flatMap { $0.hasPrefix("/") ? $0 : nil }
    }
    guard let state = folder("XDG_STATE_HOME") ?? folder("HOME").map({ $0 + "/.local/state" })
    else {
      throw FieldpackError(
        .configuration, "there is no place to keep \(what). Try: set HOME or XDG_STATE_HOME")
    }
    return "\(state)/fieldpack"
  }

  /// Makes a folder where it is missing, and those around it, for this user only.
  package static func make(_ path: String) throws(FieldpackError) {
    guard !path.isEmpty, !FileSystem.exists(path) else { return }
    try FileSystem.makeFolder(path, mode: 0o700)
  }
}
