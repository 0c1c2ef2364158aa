package import FieldpackCore
package import FieldpackGeoPackage

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Reads a folder of tiles, `zoom/x/y.png`, `.jpg`, `.jpeg` or `.webp`.
///
/// Symbolic links and other names are passed over. Where `tilemapresource.xml` lies in the folder, as
/// the Tile Map Service has it, rows count from the bottom.
package final class TileFolderReader: TileArchive {
  private let path: String
  private let tiles: [(address: TileAddress, file: String)]
  package let title: String? = nil
  package let description: String? = nil
  package let extents: [Int: TileExtent]
  package let notes: [Note]
  package var count: Int { tiles.count }
  package let interrupt: (@Sendable () -> Void)? = nil

  private static let suffixes = ["png", "jpg", "jpeg", "webp"]
  private static let service = "tilemapresource.xml"
  /// In bytes, of one tile.
  private static let byteLimit = 64 << 20

  /// Whether the folder has folders named by zooms that have folders named by columns.
  package static func isFolder(_ path: String) -> Bool {
    let zooms = (FileSystem.names(in: path) ?? []).filter {
      number($0).map(WebMercator.zooms.contains) ?? false
    }
    return zooms.contains { zoom in
      (FileSystem.names(in: "\(path)/\(zoom)") ?? []).contains {
        number($0) != nil && kind("\(path)/\(zoom)/\($0)") == S_IFDIR
      }
    }
  }

  /// - Parameter check: throws to stop.
  package init(
    _ path: String, check: () throws(FieldpackError) -> Void = {}
  ) throws(FieldpackError) {
    self.path = path
    var walk = Walk(path: path, isFromBottom: try Self.isService(path))
    for name in try Self.names(path) where name != Self.service {
      guard let zoom = Self.number(name), WebMercator.zooms.contains(zoom),
        Self.kind("\(path)/\(name)") == S_IFDIR
      else {
        walk.passOver(name)
        continue
      }
      for column in try Self.names("\(path)/\(name)") {
        try check()
        try walk.addColumn("\(name)/\(column)", zoom: zoom, column: Self.number(column))
      }
    }
    (tiles, extents, notes) = (walk.tiles, walk.extents, walk.notes)
  }

  /// What is found in the folder.
  private struct Walk {
    let path: String
    let isFromBottom: Bool
    var tiles: [(address: TileAddress, file: String)] = []
    var extents: [Int: TileExtent] = [:]
    private var passedOver: [String] = []
    private var passedCount = 0

    init(path: String, isFromBottom: Bool) {
      self.path = path
      self.isFromBottom = isFromBottom
    }

    mutating func passOver(_ name: String) {
      passedCount += 1
      if passedOver.count < 3 { passedOver.append(name) }
    }

    mutating func addColumn(
      _ folder: String, zoom: Int, column: Int?
    ) throws(FieldpackError) {
      guard let column, TileFolderReader.kind("\(path)/\(folder)") == S_IFDIR else {
        return passOver(folder)
      }
      var known: Set<Int> = []
      for name in try TileFolderReader.names("\(path)/\(folder)") {
        let file = "\(folder)/\(name)"
        guard let named = TileFolderReader.row(name), named < 1 << zoom,
          TileFolderReader.kind("\(path)/\(file)") == S_IFREG, known.insert(named).inserted
        else {
          passOver(file)
          continue
        }
        let row = isFromBottom ? (1 << zoom) - 1 - named : named
        let address = TileAddress(zoom: zoom, column: column, row: row)
        guard address.isOfWebMaps else {
          passOver(file)
          continue
        }
        tiles.append((address, file))
        extents[zoom, default: TileExtent(address)].extend(address)
      }
    }

    var notes: [Note] {
      var notes: [Note] = []
      if isFromBottom {
        notes.append(
          Note("\(path) has \(TileFolderReader.service), so its rows count from the bottom"))
      }
      if passedCount > 0 {
        let more = passedCount > passedOver.count ? ", …" : ""
        notes.append(
          Note(
            "\(passedCount.counting("name")) in \(path) passed over, no tile: "
              + passedOver.joined(separator: ", ") + more))
      }
      return notes
    }
  }

  /// Whether the folder is of a Tile Map Service on the grid of web maps.
  private static func isService(_ path: String) throws(FieldpackError) -> Bool {
    let file = "\(path)/\(service)"
    guard kind(file) == S_IFREG else { return false }
    let text = String(decoding: try ByteInput(path: file).head(1 << 16), as: UTF8.self)
    guard text.lowercased().contains("mercator") else {
      throw FieldpackError(
        .unsupported, "\(file) tells of another grid than that of web maps, which is not imported",
        position: FilePosition(file: file))
    }
    return true
  }

  /// Sorted, so that what is imported first does not depend on the file system.
  private static func names(_ folder: String) throws(FieldpackError) -> [String] {
    guard let names = FileSystem.names(in: folder) else { throw .system(errno, "read", folder) }
    return names.sorted()
  }

  /// A number as it is written in names of tiles: no sign, and no zero before other digits.
  private static func number(_ name: some StringProtocol) -> Int? {
    guard let number = Int(name), number >= 0, String(number) == name else { return nil }
    return number
  }

  private static func row(_ name: String) -> Int? {
    let parts = name.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 2, suffixes.contains(parts[1].lowercased()) else { return nil }
    return number(parts[0])
  }

  /// What it is; a link is a link.
  private static func kind(_ path: String) -> mode_t? {
    var status = stat()
    return lstat(path, &status) == 0 ? status.st_mode & S_IFMT : nil
  }

  package func readAll(
    _ body: (TileAddress, RawSpan) throws(FieldpackError) -> Void
  ) throws(FieldpackError) {
    for (address, file) in tiles {
      let bytes = try Self.bytes("\(path)/\(file)")
      try body(address, bytes.span.bytes)
    }
  }

  private static func bytes(_ path: String) throws(FieldpackError) -> [UInt8] {
    let opened = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    guard opened >= 0 else { throw .system(errno, "open", path) }
    defer { close(opened) }
    var status = stat()
    guard fstat(opened, &status) == 0 else { throw .system(errno, "read", path) }
    guard status.st_mode & S_IFMT == S_IFREG, Int(status.st_size) <= byteLimit else {
      throw FieldpackError(
        .unsupported,
        "\(path) has \(status.st_size) bytes, and tiles of \(byteLimit) are read at most",
        position: FilePosition(file: path))
    }
    var bytes = [UInt8](repeating: 0, count: Int(status.st_size))
    var got = 0
    while got < bytes.count {
      let count = bytes.count - got
      let more = bytes.withUnsafeMutableBytes { read(opened, $0.baseAddress! + got, count) }
      if more < 0, errno == EINTR { continue }
      guard more > 0 else { throw .system(more < 0 ? errno : EIO, "read", path) }
      got += more
    }
    return bytes
  }
}
