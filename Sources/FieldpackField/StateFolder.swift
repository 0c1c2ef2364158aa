package import FieldpackCore
import FoundationEssentials

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The folder of what this program keeps of one user, and nobody else reads.
package enum StateFolder {
  /// `$XDG_STATE_HOME/fieldpack`, by default `~/.local/state/fieldpack`.
  ///
  /// - Parameter what: what is to be kept there, for the error.
  /// - Throws: `.configuration` where neither that variable nor `HOME` is set.
  package static func path(
    for what: String, _ environment: [String: String] = ProcessInfo.processInfo.environment
  ) throws(FieldpackError) -> String {
    func folder(_ name: String) -> String? {
      environment[name].flatMap { $0.hasPrefix("/") ? $0 : nil }
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
    let folder = path.last == "/" ? String(path.dropLast()) : path
    guard !folder.isEmpty, access(folder, F_OK) != 0 else { return }
    try make(FileSystem.split(folder).folder)
    guard mkdir(folder, 0o700) == 0 || errno == EEXIST else {
      throw .system(errno, "create", folder)
    }
  }
}
