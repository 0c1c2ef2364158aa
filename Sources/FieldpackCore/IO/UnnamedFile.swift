#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A temporary file without a name; it ends when its descriptor is closed.
package enum UnnamedFile {
  /// `TMPDIR`, else `/tmp`.
  package static var usualFolder: String {
    Environment.value("TMPDIR").flatMap { $0.isEmpty ? nil : $0 } ?? "/tmp"
  }

  /// Opens such a file for reading and writing; the caller closes the descriptor.
  ///
  /// - Parameter folder: where the file lies, by default `TMPDIR`, else `/tmp`.
  package static func open(in folder: String? = nil) throws(FieldpackError) -> Int32 {
    let parent = folder ?? usualFolder
    // mkstemp replaces each X.
    var template = Array((parent + "/fieldpack-XXXXXX").utf8CString)
    let opened = mkstemp(&template)
    guard opened >= 0 else { throw .system(errno, "create a temporary file in", parent) }
    unlink(template)
    return opened
  }
}
