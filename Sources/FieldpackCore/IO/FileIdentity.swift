#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The file that a path leads to, independent of its name.
package struct FileIdentity: Hashable, Sendable, CustomStringConvertible {
  private let device: UInt64
  private let node: UInt64

  /// - Returns: `nil` where the path leads to no file.
  package init?(_ path: String) {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    device = UInt64(truncatingIfNeeded: status.st_dev)
    node = UInt64(truncatingIfNeeded: status.st_ino)
  }

  /// Two numbers, which no copy of the file on this machine has.
  package var description: String { "\(device) \(node)" }
}
