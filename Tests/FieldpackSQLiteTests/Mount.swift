import Foundation

#if canImport(Glibc)
  import Glibc
#endif

/// A mount over a folder, taken away when the value goes; only root may make one.
final class Mount {
  private let path: String

  /// A view of the folder that cannot be written, not even by root.
  init?(readOnly path: String) {
    #if canImport(Glibc)
      self.path = path
      let flags = UInt(MS_BIND)
      let again = UInt(MS_BIND | MS_REMOUNT | MS_RDONLY)
      guard mount(path, path, nil, flags, nil) == 0 else { return nil }
      guard mount(path, path, nil, again, nil) == 0 else { return nil }
    #else
      return nil
    #endif
  }

  /// A file system in memory with room for `bytes`.
  init?(small path: String, bytes: Int) {
    #if canImport(Glibc)
      self.path = path
      let mounted = "size=\(bytes)".withCString { mount("tmpfs", path, "tmpfs", 0, $0) }
      guard mounted == 0 else { return nil }
    #else
      return nil
    #endif
  }

  deinit {
    #if canImport(Glibc)
      umount2(path, Int32(MNT_DETACH))
    #endif
  }

  static let isPossible: Bool = {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("fieldpack-mount-\(UUID().uuidString)")
    try? FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let mount = Mount(small: folder.path, bytes: 65_536)
    return withExtendedLifetime(mount) { mount != nil }
  }()

  static let impossible = "mounting needs root"
}
