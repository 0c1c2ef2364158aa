public import Foundation

/// A fresh folder that is removed when the value goes.
public final class TemporaryFolder: Sendable {
  public let url: URL

  public init() throws {
    url = FileManager.default.temporaryDirectory
      .appendingPathComponent("fieldpack-test-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: url) }

  #if os(Linux)
    /// Whether a server maps files of such folders; it does not on disks of other machines, nor on the
    /// overlay of a container.
    public static let areFilesMapped: Bool = {
      let folder = FileManager.default.temporaryDirectory.resolvingSymlinksInPath().path + "/"
      let mounts = try? FileHandle(forReadingFrom: URL(filePath: "/proc/self/mounts")).readToEnd()
      let lines = String(decoding: mounts ?? Data(), as: UTF8.self).split(separator: "\n")
      let fields = lines.map { $0.split(separator: " ") }.filter { $0.count > 2 }
      let around = fields.filter { folder.hasPrefix($0[1].hasSuffix("/") ? $0[1] : $0[1] + "/") }
      // Of two mounts of one folder the later one counts.
      let mount = around.reversed().max { $0[1].count < $1[1].count }
      let others = ["overlay", "nfs", "nfs4", "cifs", "smb3", "9p", "virtiofs"]
      return mount.map { !others.contains(String($0[2])) && !$0[2].hasPrefix("fuse") } ?? false
    }()
  #endif

  public func file(_ name: String) -> URL { url.appendingPathComponent(name) }

  /// Writes `text` to a file of this folder and returns its URL.
  public func write(_ text: String, to name: String) throws -> URL {
    try Data(text.utf8).write(to: file(name))
    return file(name)
  }
}
