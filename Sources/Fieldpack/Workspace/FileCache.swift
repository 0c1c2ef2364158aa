import FieldpackCore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Where files that are read as stores are kept as GeoPackages.
public enum CachePolicy: Hashable, Sendable {
  /// `$XDG_CACHE_HOME/fieldpack`, by default `~/.cache/fieldpack`.
  case shared
  /// A temporary file that only this user can read, removed with the store and with the process.
  case `private`
  /// A folder of the caller's.
  case folder(String)
}

/// Finds and keeps the GeoPackage that stands for a file.
///
/// An entry is named by the file's real path, size, inode and times of modification and change, so that
/// a file that changed is imported anew. Entries are built aside and renamed under a lock; the oldest that
/// nobody uses go when all together exceed 2 GB.
struct FileCache: Sendable {
  let policy: CachePolicy
  static let capacity = 2_000_000_000

  /// The entry for `file`, made by `build` where there is none.
  ///
  /// - Parameters:
  ///   - companions: the files that belong to it.
  ///   - variant: what else the contents depend on, such as options.
  ///   - renewing: whether an entry that is there is of no use.
  ///   - check: called while another process makes the entry; throws to stop.
  func entry(
    for file: String, with companions: [String] = [], variant: String, renewing: Bool = false,
    check: () throws(FieldpackError) -> Void,
    build: (Importer.Target) throws(FieldpackError) -> Void
  ) throws(FieldpackError) -> CacheEntry {
    let identity = try CacheIdentity(file, with: companions)
    guard let folder = folder(), Self.makeFolder(folder) else { return try temporary(build) }
    let path = "\(folder)/\(identity.key)-\(identity.version(variant)).gpkg"
    if !renewing, let entry = CacheEntry(kept: path) { return entry }
    let lock = try CacheLock(path: "\(folder)/\(identity.key).lock", check: check)
    defer { lock.release() }
    if renewing {
      // Another process may be reading what is damaged for this one.
      guard CacheEntry.remove(path) else { return try temporary(build) }
    } else if let entry = CacheEntry(kept: path) {
      return entry
    }
    do throws(FieldpackError) {
      try build(.new(path: path))
    } catch  where [.full, .readOnly, .permission].contains(error.code) {
      return try temporary(build)
    }
    guard let entry = CacheEntry(kept: path) else { return try temporary(build) }
    makeRoom(for: identity, keeping: path, in: folder)
    return entry
  }

  private func temporary(
    _ build: (Importer.Target) throws(FieldpackError) -> Void
  ) throws(FieldpackError) -> CacheEntry {
    let folder = UnnamedFile.usualFolder
    let pending = try PendingFile(target: folder + "/fieldpack.gpkg", overwrite: true)
    try build(.hidden(pending))
    return CacheEntry(hidden: pending)
  }

  func folder() -> String? {
    switch policy {
    case .private: return nil
    case .folder(let path): return path
    case .shared:
      if let cache = Environment.value("XDG_CACHE_HOME"), cache.hasPrefix("/") {
        return cache + "/fieldpack"
      }
      guard let home = Environment.value("HOME"), !home.isEmpty else { return nil }
      return home + "/.cache/fieldpack"
    }
  }

  /// Makes the folder for this user alone; false where that cannot be.
  private static func makeFolder(_ path: String) -> Bool {
    var status = stat()
    if stat(path, &status) == 0 {
      return status.st_mode & S_IFMT == S_IFDIR && status.st_uid == getuid()
        && access(path, W_OK) == 0
    }
    try? FileSystem.makeFolder(FileSystem.folder(of: path))
    return mkdir(path, 0o700) == 0
  }

  // MARK: Room

  /// Removes older versions of the same file, and the least used entries beyond the capacity.
  private func makeRoom(for identity: CacheIdentity, keeping path: String, in folder: String) {
    let names = FileSystem.names(in: folder) ?? []
    var others: [(path: String, size: Int, used: Int)] = []
    var total = Self.size(path)?.size ?? 0
    for name in names where name.hasSuffix(".gpkg") && !name.hasPrefix(".") {
      let other = "\(folder)/\(name)"
      guard other != path, let known = Self.size(other) else { continue }
      if name.hasPrefix(identity.key + "-"), !name.hasPrefix("\(identity.key)-\(identity.stamp)-") {
        _ = CacheEntry.remove(other)
      } else {
        others.append((other, known.size, known.used))
        total += known.size
      }
    }
    for entry in others.sorted(by: { $0.used < $1.used }) where total > Self.capacity {
      if CacheEntry.remove(entry.path) { total -= entry.size }
    }
  }

  /// The size of an entry in bytes, and when it was used last.
  static func size(_ path: String) -> (size: Int, used: Int)? {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    return (Int(status.st_size), Int(status.st_mtim.tv_sec))
  }
}

/// What tells one state of one file from another.
private struct CacheIdentity {
  /// The file's stem, shortened, and a hash of its real path.
  let key: String
  let stamp: String

  init(_ path: String, with companions: [String]) throws(FieldpackError) {
    var status = stat()
    guard let real = FileSystem.real(path) else {
      throw FieldpackError(
        .notFound, "\(path) does not exist", position: FilePosition(file: path))
    }
    stat(real, &status)
    let name = FileSystem.name(of: real)
    let stem = name.utf8.prefix(24).map { byte -> Character in
      let letter = Character(Unicode.Scalar(byte))
      return letter.isASCII && (letter.isLetter || letter.isNumber) ? letter : "_"
    }
    key = String(stem) + "-" + Self.hash(real)
    var states = Self.state(status)
    for companion in companions where stat(companion, &status) == 0 {
      states += " \(companion) \(Self.state(status))"
    }
    stamp = Self.hash(states)
  }

  /// Size, node and times. A program can set the time of modification back, but not that of change.
  private static func state(_ status: stat) -> String {
    let times = [status.st_mtim, status.st_ctim].map { "\($0.tv_sec) \($0.tv_nsec)" }
    return "\(status.st_size) \(status.st_ino) \(times.joined(separator: " "))"
  }

  /// Changes with the file, the variant and the way files are imported.
  func version(_ variant: String) -> String { "\(stamp)-\(Self.hash("6 " + variant))" }

  private static func hash(_ text: String) -> String {
    String(FNV1a.hash(of: text.utf8), radix: 16)
  }
}
