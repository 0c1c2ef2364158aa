import FieldpackArchive
import FieldpackCore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A ZIP archive with the pages of an app.
struct BundleArchive {
  /// Why an archive is not served.
  struct Refusal: Error, Hashable {
    var reason: String
  }

  private static let limits: UnpackingLimits = {
    var limits = UnpackingLimits()
    (limits.byteCount, limits.ratio) = (512 << 20, 100)
    (limits.freeByteCount, limits.entryCount) = (0, 10_000)
    return limits
  }()

  /// The names of the files, and of the folders with a slash at the end.
  private let entries: [ZipReader.Entry]
  /// The folder with the page to begin with; empty for the top.
  let root: String
  private let zip: ZipReader

  init(_ path: String) throws(Refusal) {
    do throws(FieldpackError) {
      let input = try ByteInput(path: path, name: FileSystem.split(path).name)
      zip = try ZipReader(input, limits: Self.limits)
    } catch {
      throw Refusal(reason: error.message)
    }
    entries = zip.entries
    try Self.check(entries, packed: FileSystem.size(path) ?? 0)
    root = try Self.root(of: entries)
  }

  // MARK: Rules

  /// Refuses an archive as a whole where one entry is refused.
  private static func check(_ entries: [ZipReader.Entry], packed: Int) throws(Refusal) {
    var names: Set<String> = []
    var size = 0
    for entry in entries {
      let shown = DisplayText.cut(entry.name, to: 100)
      guard isSafe(entry.name) else {
        throw Refusal(reason: "'\(shown)' leads out of the archive")
      }
      // Bits of Unix: a regular file, a folder, or nothing said.
      guard [0, 0o10, 0o04].contains(entry.mode >> 12) else {
        throw Refusal(reason: "'\(shown)' is a link or a device, and no file")
      }
      guard !entry.isEncrypted else { throw Refusal(reason: "'\(shown)' is encrypted") }
      let plain = entry.isFolder ? String(entry.name.dropLast()) : entry.name
      guard names.insert(plain).inserted else { throw Refusal(reason: "'\(shown)' is there twice") }
      size += min(entry.size, limits.byteCount + 1)
      guard size <= limits.byteCount else {
        throw Refusal(reason: "it unpacks to more than 512 MiB")
      }
    }
    guard size <= packed * limits.ratio else {
      throw Refusal(reason: "it unpacks to more than 100 times its size")
    }
  }

  private static func isSafe(_ name: String) -> Bool {
    guard !name.isEmpty, !name.utf8.contains(0), !name.utf8.contains(UInt8(ascii: "\\")),
      name.utf8.first != UInt8(ascii: "/"), name.utf8.count <= 1024
    else { return false }
    // The name of a drive.
    if name.utf8.dropFirst().first == UInt8(ascii: ":") { return false }
    // A slash before a combining sign is no character of its own, but a byte.
    let slash = UInt8(ascii: "/")
    let parts = Array(name.utf8).split(separator: slash, omittingEmptySubsequences: false)
    return parts.enumerated().allSatisfy { index, part in
      !part.elementsEqual(".".utf8) && !part.elementsEqual("..".utf8) && part.count <= 255
        && (!part.isEmpty || index == parts.count - 1)
    }
  }

  /// The top, where it has an index.html, or the one folder of the top that has.
  private static func root(of entries: [ZipReader.Entry]) throws(Refusal) -> String {
    let names = entries.map(\.name).filter { !$0.hasPrefix("__MACOSX/") }
    if names.contains("index.html") { return "" }
    let folders = names.compactMap { name -> String? in
      let parts = name.split(separator: "/")
      return parts.count == 2 && parts[1] == "index.html" ? parts[0] + "/" : nil
    }
    guard let only = folders.first else {
      throw Refusal(reason: "it has no index.html, neither at its top nor in a folder there")
    }
    guard folders.count == 1 else {
      throw Refusal(reason: "\(folders.count) of its folders have an index.html")
    }
    return only
  }

  // MARK: Unpacking

  /// Writes the files under the root into a new folder; a folder of that name is only there once all are.
  ///
  /// - Returns: the names of the files, from the root on.
  func unpack(to folder: String) throws(Refusal) -> Set<String> {
    let hidden = folder + ".part"
    do {
      try FileSystem.makeFolder(hidden, mode: 0o700)
      let files = try write(to: hidden)
      guard FileSystem.rename(hidden, folder) else {
        throw Refusal(reason: "it cannot be unpacked here")
      }
      return files
    } catch let refusal as Refusal {
      FileSystem.removeTree(hidden)
      throw refusal
    } catch {
      FileSystem.removeTree(hidden)
      let reason = (error as? FieldpackError)?.message
      throw Refusal(reason: reason ?? "it cannot be unpacked here")
    }
  }

  private func write(to folder: String) throws -> Set<String> {
    var files: Set<String> = []
    for entry in entries where !entry.isFolder && entry.name.hasPrefix(root) {
      let name = String(entry.name.dropFirst(root.count))
      let path = folder + "/" + name
      try FileSystem.makeFolder(FileSystem.folder(of: path), mode: 0o700)
      try write(entry, to: path)
      files.insert(name)
    }
    return files
  }

  private func write(_ entry: ZipReader.Entry, to path: String) throws(FieldpackError) {
    let contents = try zip.open(entry)
    guard let descriptor = FileSystem.create(path, mode: 0o600) else {
      throw FieldpackError(.cannotCreate, "'\(entry.name)' cannot be written")
    }
    defer { close(descriptor) }
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 18, alignment: 16)
    defer { buffer.deallocate() }
    while case let count = try contents.read(into: buffer), count > 0 {
      let bytes = UnsafeRawBufferPointer(rebasing: buffer[..<count])
      try FileSystem.write(bytes, to: descriptor, path: entry.name)
    }
  }
}
