package import FieldpackCore
package import FieldpackHTTP

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Where a downloaded file came from: a small hidden file beside it, `.NAME.origin`.
///
/// It holds a digest of the address, because the address may hold a secret.
package struct DownloadOrigin: Hashable, Sendable {
  private let address: String
  package let version: FileVersion

  package init(_ address: String, version: FileVersion) {
    self.address = SHA256.hex(Array(address.utf8))
    self.version = version
  }

  /// The path of the hidden file for the file at `path`.
  package static func path(of path: String) -> String {
    let (folder, name) = FileSystem.split(path)
    return "\(folder)\(name.hasPrefix(".") ? "" : ".")\(name).origin"
  }

  /// Whether the file at `path` may be of that address: nothing is known, or it is so.
  package static func mayBe(_ address: String, of path: String) -> Bool {
    guard let known = JSONFile.read(Self.path(of: path))?["address"]?.string else { return true }
    return known == SHA256.hex(Array(address.utf8))
  }

  /// What is known of the file at `path`.
  ///
  /// - Returns: `nil` where it has changed since, came from another address, or nothing is known.
  package init?(_ address: String, of path: String) {
    guard let document = JSONFile.read(Self.path(of: path)), Self.mayBe(address, of: path),
      let stamp = Self.stamp(of: path), document["file"] == .text(stamp)
    else { return nil }
    var version = FileVersion()
    version.entityTag = document["etag"]?.string
    version.lastModified = document["last_modified"]?.string
    self.init(address, version: version)
  }

  /// Whether the file at `path` is another one than was downloaded.
  package static func isChanged(_ path: String) -> Bool {
    guard let known = JSONFile.read(Self.path(of: path))?["file"]?.string else { return false }
    return stamp(of: path) != known
  }

  /// Keeps this as what is known of the file that has, or had, that stamp at `path`.
  package func write(of path: String, stamp: String?) throws(FieldpackError) {
    var members = [JSONValue.Member(name: "address", value: .text(address))]
    for (name, value) in [
      ("file", stamp), ("etag", version.entityTag), ("last_modified", version.lastModified),
    ] {
      if let value { members.append(.init(name: name, value: .text(value))) }
    }
    try JSONFile.write(.object(members), to: Self.path(of: path))
  }

  /// Makes the file at `path` one of no address, until it has another origin.
  ///
  /// Before a file of another address takes its name: a process that is killed in between then leaves a
  /// file that is downloaded again, and not one of the wrong address.
  package static func forget(of path: String) throws(FieldpackError) {
    let nothing = JSONValue.Member(name: "address", value: .text(""))
    try JSONFile.write(.object([nothing]), to: Self.path(of: path))
  }

  /// Changes with the file, and not with its name.
  package static func stamp(of path: String) -> String? {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    #if canImport(Glibc)
      let time = status.st_mtim
    #else
      let time = status.st_mtimespec
    #endif
    return "\(status.st_size) \(status.st_ino) \(time.tv_sec) \(time.tv_nsec)"
  }
}
