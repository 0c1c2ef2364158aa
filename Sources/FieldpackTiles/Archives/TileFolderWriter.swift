package import FieldpackCore
package import FieldpackGeoPackage

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Writes a folder of tiles, `zoom/x/y.png`, `.jpg` or `.webp`, which appears under its name when it
/// is whole.
package final class TileFolderWriter: TileArchiveWriter {
  private let tree: PendingTree
  private let target: String
  /// The folder that the last tile went to.
  private var folder = ""

  /// - Throws: `.cannotCreate` where something of that name is there, unless it is an empty folder.
  package init(_ path: String) throws(FieldpackError) {
    target = path
    tree = try PendingTree(target: path)
  }

  private static func make(_ folder: String, for target: String) throws(FieldpackError) {
    guard mkdir(folder, 0o777) == 0 || errno == EEXIST else {
      throw .system(errno, "create", target)
    }
  }

  package func put(_ tile: RawSpan, at address: TileAddress) throws(FieldpackError) {
    let level = "\(tree.path)/\(address.zoom)"
    let folder = "\(level)/\(address.column)"
    if folder != self.folder {
      try Self.make(level, for: target)
      try Self.make(folder, for: target)
      self.folder = folder
    }
    let suffix: String =
      switch tile.withUnsafeBytes({ MediaType($0) }) {
      case .jpeg: "jpg"
      case .webp: "webp"
      default: "png"
      }
    let file = "\(address.row).\(suffix)"
    guard let descriptor = FileSystem.create("\(folder)/\(file)", mode: 0o666) else {
      throw .system(errno, "create", "\(target)\(address.zoom)/\(address.column)/\(file)")
    }
    defer { close(descriptor) }
    try FileSystem.write(tile, to: descriptor, path: "\(target)\(address)")
  }

  package func commit(_ pyramid: TilePyramid) throws(FieldpackError) -> [Note] {
    try tree.commit()
    return []
  }
}
