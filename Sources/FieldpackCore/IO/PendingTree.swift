#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A folder in the making, with folders in it: a hidden name beside the target, renamed on success,
/// removed otherwise.
///
/// The hidden name is `.NAME.fieldpack-X`, as that of a ``PendingFile``, and this process holds
/// `flock` on the folder. A killed process leaves it unlocked; the next one for the same target
/// removes it.
package final class PendingTree: Sendable {
  /// The hidden folder, to which files are written.
  package let path: String
  private let target: String
  private let descriptor: Int32
  private let isCommitted = Locked(false)

  /// - Throws: `.cannotCreate` where something of that name is there, unless it is an empty folder,
  ///   or the folder around it is missing.
  package init(target: String) throws(FieldpackError) {
    let target = target.count > 1 && target.hasSuffix("/") ? String(target.dropLast()) : target
    let (folder, name) = FileSystem.split(target)
    let position = FilePosition(file: target)
    if FileSystem.size(target) != nil, FileSystem.names(in: target)?.isEmpty != true {
      throw FieldpackError(
        .cannotCreate, "\(target) exists, and is not replaced by a folder", position: position)
    }
    let prefix = ".\(name).fieldpack-"
    Self.removeLeftovers(prefix, in: folder)
    for _ in 0..<100 {
      let path = folder + prefix + PendingFile.randomDigits()
      guard mkdir(path, 0o777) == 0 else {
        if errno == EEXIST { continue }
        throw .system(errno, "create", target)
      }
      guard let descriptor = Self.opened(path) else { continue }
      if PendingFile.isHeld(descriptor) {
        (self.path, self.target, self.descriptor) = (path, target, descriptor)
        Self.pending.withLock { _ = $0.insert(path) }
        return
      }
      close(descriptor)
    }
    throw FieldpackError(
      .busy, "cannot create \(target): another program removes what is made beside it",
      position: position)
  }

  private static func opened(_ path: String) -> Int32? {
    let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    return descriptor >= 0 ? descriptor : nil
  }

  private static func removeLeftovers(_ prefix: String, in folder: String) {
    for name in FileSystem.names(in: folder) ?? [] {
      guard PendingFile.isLeftover(name, prefix), let descriptor = opened(folder + name) else {
        continue
      }
      if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { FileSystem.removeTree(folder + name) }
      close(descriptor)
    }
  }

  /// Makes the files durable, and gives the folder its name. An empty folder of that name is
  /// replaced.
  package func commit() throws(FieldpackError) {
    // Once for all files: to sync each of many small ones takes much longer.
    sync()
    guard FileSystem.rename(path, target) else { throw .system(errno, "create", target) }
    isCommitted.withLock { $0 = true }
    let folder = FileSystem.split(target).folder
    FileSystem.syncFolder(folder.isEmpty ? "." : folder)
  }

  // MARK: Removing

  private static let pending = Locked<Set<String>>([])

  /// Removes the hidden folders of this process; may be called from any thread.
  static func removeAll() {
    pending.withLock { for path in $0 { FileSystem.removeTree(path) } }
  }

  deinit {
    let path = path
    if !isCommitted.withLock({ $0 }) { FileSystem.removeTree(path) }
    Self.pending.withLock { _ = $0.remove(path) }
    close(descriptor)
  }
}
