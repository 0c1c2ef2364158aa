#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A file in the making: a hidden name beside the target, renamed on success, removed otherwise.
///
/// The hidden name is `.NAME.fieldpack-X`, where X is 16 random hexadecimal digits. Until it has its
/// own name the file belongs to this user alone (mode 0600), and this process holds `flock` on it. A
/// killed process leaves its pending file unlocked; the next one for the same target removes it. The
/// target itself is always whole. A process that is about to end at once calls ``removeAll()``.
package final class PendingFile: Sendable {
  /// The path that the file will have; a link is resolved, so that the link stays.
  package let target: String
  /// The hidden path, to which the bytes are written.
  package let path: String
  private let overwrite: Bool
  /// The descriptor, open for reading and writing until the file has its name; then -1.
  private let opened: Locked<Int32>
  private let kept: Locked<Bool>
  /// Whether the hidden name is the caller's, which another process may use as well.
  private let isShared: Bool

  /// - Throws: `.cannotCreate` where the target exists and may not be overwritten, is a folder, or
  ///   its folder is missing; `.permission`, `.readOnly`, `.full`.
  package init(target: String, overwrite: Bool) throws(FieldpackError) {
    let real = try Self.resolve(target, overwrite: overwrite)
    (kept, isShared) = (Locked(false), false)
    let (folder, name) = FileSystem.split(real)
    var status = stat()
    guard stat(folder.isEmpty ? "." : folder, &status) == 0 else {
      throw FieldpackError(
        .cannotCreate, "cannot create \(target): its folder does not exist",
        position: FilePosition(file: target))
    }
    self.target = real
    self.overwrite = overwrite
    let prefix = Self.prefix(of: name)
    Self.removeLeftovers(prefix, in: folder)
    let (hidden, descriptor) = try Self.make(prefix, in: folder, for: target)
    path = hidden
    opened = Locked(descriptor)
    Self.pending.withLock { _ = $0.insert(hidden) }
  }

  /// A file in the making under a hidden name of the caller's, where another process goes on with
  /// what this one leaves.
  ///
  /// It stays when this process is killed; else as ``isKept`` says, which is true at first where the file
  /// has bytes already.
  /// - Returns: `nil` where another process has the file, what has the name is no plain file, or the file
  ///   system has no locks.
  /// - Throws: as ``init(target:overwrite:)``.
  package init?(target: String, overwrite: Bool, keptAs hidden: String) throws(FieldpackError) {
    self.target = try Self.resolve(target, overwrite: overwrite)
    self.overwrite = overwrite
    guard let descriptor = try Self.openKept(hidden, for: target) else { return nil }
    path = hidden
    opened = Locked(descriptor)
    (kept, isShared) = (Locked(FileSystem.size(hidden) ?? 0 > 0), true)
    if !isKept { Self.pending.withLock { _ = $0.insert(hidden) } }
  }

  /// The path that the target's links lead to.
  private static func resolve(
    _ target: String, overwrite: Bool
  ) throws(FieldpackError) -> String {
    let position = FilePosition(file: target)
    var status = stat()
    guard stat(target, &status) == 0 else { return try followLinks(target) }
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw FieldpackError(
        .cannotCreate, "\(target) is not a regular file and cannot be replaced", position: position)
    }
    guard overwrite else {
      throw FieldpackError(
        .cannotCreate, "\(target) exists", advice: .overwrite, position: position)
    }
    guard let real = FileSystem.real(target) else { throw .system(errno, "open", target) }
    return real
  }

  /// The target of a link, also where that file is missing; `target` itself where it is no link.
  private static func followLinks(_ target: String) throws(FieldpackError) -> String {
    var path = target
    // Linux follows 40 links at most.
    for _ in 0..<40 {
      guard let next = readLink(path) else { return path }
      path = next.hasPrefix("/") ? next : FileSystem.split(path).folder + next
    }
    throw FieldpackError(
      .cannotCreate, "\(target) is a link that leads to itself",
      position: FilePosition(file: target)
    )
  }

  static func readLink(_ path: String) -> String? {
    var target = [UInt8](repeating: 0, count: Int(PATH_MAX))
    let count = target.withUnsafeMutableBytes { readlink(path, $0.baseAddress!, $0.count) }
    return count > 0 ? String(decoding: target[..<count], as: UTF8.self) : nil
  }

  // MARK: Making

  private static func make(
    _ prefix: String, in folder: String, for target: String
  ) throws(FieldpackError) -> (path: String, descriptor: Int32) {
    for _ in 0..<100 {
      let path = folder + prefix + randomDigits()
      guard let descriptor = FileSystem.create(path, mode: 0o600) else {
        if errno == EEXIST { continue }
        throw .system(errno, "create", target)
      }
      if isHeld(descriptor) { return (path, descriptor) }
      close(descriptor)
    }
    throw FieldpackError(
      .busy, "cannot create \(target): another program removes what is made beside it",
      position: FilePosition(file: target))
  }

  /// Opens and locks a file that stays, and makes it where it is missing.
  private static func openKept(
    _ path: String, for target: String
  ) throws(FieldpackError) -> Int32? {
    var descriptor = FileSystem.create(path, mode: 0o600) ?? -1
    let isNew = descriptor >= 0
    if !isNew {
      guard errno == EEXIST else { throw .system(errno, "create", target) }
      descriptor = open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    }
    guard descriptor >= 0 else { return nil }
    var status = stat()
    let isLocked = flock(descriptor, LOCK_EX | LOCK_NB) == 0
    let hasLocks = isLocked || errno == EWOULDBLOCK
    // The process that had the file may have removed or renamed it before this one could lock it.
    guard isLocked, fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
      status.st_nlink == 1, isNamed(path, descriptor)
    else {
      close(descriptor)
      if isNew, !hasLocks { FileSystem.remove(path) }
      return nil
    }
    return descriptor
  }

  /// Whether the path still leads to the open file.
  private static func isNamed(_ path: String, _ descriptor: Int32) -> Bool {
    var (status, named) = (stat(), stat())
    return fstat(descriptor, &status) == 0 && lstat(path, &named) == 0
      && status.st_ino == named.st_ino && status.st_dev == named.st_dev
  }

  /// Locks a new file; `false` where another process took it for a leftover, has locked it and
  /// removes it.
  static func isHeld(_ descriptor: Int32) -> Bool {
    if flock(descriptor, LOCK_EX | LOCK_NB) != 0, errno == EWOULDBLOCK { return false }
    var status = stat()
    return fstat(descriptor, &status) == 0 && status.st_nlink > 0
  }

  /// The start of the hidden names for `name`, cut because file systems allow names of 255 bytes.
  private static func prefix(of name: String) -> String {
    let kept = String(decoding: name.utf8.prefix(250 - 11 - digitCount), as: UTF8.self)
    return ".\(kept).fieldpack-"
  }

  private static let digitCount = 16

  static func randomDigits() -> String {
    let digits = String(UInt64.random(in: .min ... .max), radix: 16)
    return String(repeating: "0", count: digitCount - digits.count) + digits
  }

  // MARK: Removing

  /// What goes with this process.
  static let pending = Locked<Set<String>>([])

  /// Removes all pending files and folders of this process, finished or not; may be called from any
  /// thread.
  package static func removeAll() {
    pending.withLock { for path in $0 { remove(path) } }
    PendingFolder.removeAll()
    PendingTree.removeAll()
  }

  private static func remove(_ path: String) {
    for suffix in ["-journal", "-wal", "-shm", ""] { FileSystem.remove(path + suffix) }
  }

  /// Removes the pending files of killed processes, which are those that nobody has locked.
  private static func removeLeftovers(_ prefix: String, in folder: String) {
    for name in FileSystem.names(in: folder) ?? [] where isLeftover(name, prefix) {
      let path = folder + name
      let opened = open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
      guard opened >= 0 else { continue }
      if flock(opened, LOCK_EX | LOCK_NB) == 0 { remove(path) }
      close(opened)
    }
  }

  /// Removes a file that was kept under a hidden name.
  ///
  /// - Returns: `false` where somebody has the file, and it stays.
  package static func removeKept(_ path: String) -> Bool {
    let opened = open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    guard opened >= 0 else { return FileSystem.remove(path) || errno == ENOENT }
    defer { close(opened) }
    if flock(opened, LOCK_EX | LOCK_NB) != 0, errno == EWOULDBLOCK { return false }
    return isNamed(path, opened) && FileSystem.remove(path)
  }

  static func isLeftover(_ name: String, _ prefix: String) -> Bool {
    guard name.hasPrefix(prefix) else { return false }
    let digits = name.utf8.dropFirst(prefix.utf8.count)
    return digits.count == digitCount
      && digits.allSatisfy { (48...57).contains($0) || (97...102).contains($0) }
  }

  deinit {
    if descriptor >= 0, !isKept, isOwn { Self.remove(path) }
    end()
  }

  private func end() {
    let path = path
    Self.pending.withLock { _ = $0.remove(path) }
    opened.withLock { descriptor in
      if descriptor >= 0 { close(descriptor) }
      descriptor = -1
    }
  }

  /// The descriptor, open for reading and writing until the file has its name.
  package var descriptor: Int32 { opened.withLock { $0 } }

  /// Whether the hidden file stays when this value goes.
  package var isKept: Bool {
    get { kept.withLock { $0 } }
    set {
      kept.withLock { $0 = newValue }
      Self.pending.withLock { pending in
        if newValue { pending.remove(path) } else { pending.insert(path) }
      }
    }
  }

  /// Whether the hidden name is still that of this file.
  private var isOwn: Bool { !isShared || Self.isNamed(path, descriptor) }

  // MARK: End

  /// Makes the file durable and gives it the target's name.
  ///
  /// - Parameters:
  ///   - mode: the file's permissions; by default those of the file that is replaced, else 0666 less
  ///     the umask.
  ///   - takeName: called when all is written and before the target changes; it may throw to stop.
  package func commit(
    mode: UInt32? = nil, takeName: () throws(FieldpackError) -> Void = {}
  ) throws(FieldpackError) {
    let descriptor = descriptor
    setMode(of: descriptor, mode)
    try FileSystem.sync(descriptor, path: target)
    try takeName()
    guard isOwn else {
      throw FieldpackError(
        .busy, "cannot create \(target): another program has replaced what is made beside it",
        position: FilePosition(file: target))
    }
    guard overwrite ? FileSystem.rename(path, target) : FileSystem.renameIfFree(path, to: target)
    else {
      throw .system(errno, "create", target)
    }
    // The descriptor is closed before this process opens the target with SQLite: closing it later
    // would drop SQLite's locks on the file (https://www.sqlite.org/howtocorrupt.html, section 2.2).
    end()
    let folder = FileSystem.split(target).folder
    FileSystem.syncFolder(folder.isEmpty ? "." : folder)
  }

  /// Sets the file's permissions. Failures are ignored, because some file systems have no
  /// permissions.
  private func setMode(of descriptor: Int32, _ mode: UInt32?) {
    var old = stat()
    if let mode {
      _ = fchmod(descriptor, mode_t(mode))
    } else if overwrite, stat(target, &old) == 0 {
      // The owner is set first, because changing it may remove permissions.
      if old.st_uid != geteuid() || old.st_gid != getegid() {
        _ = fchown(descriptor, old.st_uid, old.st_gid)
      }
      _ = fchmod(descriptor, old.st_mode & 0o7777)
    } else {
      _ = fchmod(descriptor, 0o666 & ~Self.creationMask)
    }
  }

  /// The umask. Linux reports it; elsewhere it can only be read by setting it, which other threads
  /// notice.
  private static var creationMask: mode_t {
    if let input = try? ByteInput(path: "/proc/self/status"), let head = try? input.head(4096) {
      for line in String(decoding: head, as: UTF8.self).split(separator: "\n")
      where line.hasPrefix("Umask:") {
        let digits = line.dropFirst(6).drop { $0 == "\t" || $0 == " " }
        if let mask = mode_t(digits, radix: 8) { return mask }
      }
    }
    let mask = umask(0o077)
    umask(mask)
    return mask
  }
}
