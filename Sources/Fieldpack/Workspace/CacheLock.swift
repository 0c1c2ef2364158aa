import FieldpackCore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A lock between processes, given up when the value is released or the process ends.
struct CacheLock {
  private let descriptor: Int32

  /// Waits for the lock; goes without where the file system has none.
  ///
  /// - Parameter check: called while waiting; throws to stop.
  init(path: String, check: () throws(FieldpackError) -> Void) throws(FieldpackError) {
    descriptor = open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { return }
    do throws(FieldpackError) {
      while flock(descriptor, LOCK_EX | LOCK_NB) != 0, errno == EWOULDBLOCK || errno == EINTR {
        try check()
        usleep(20_000)
      }
    } catch {
      close(descriptor)
      throw error
    }
  }

  func release() { if descriptor >= 0 { close(descriptor) } }
}

/// A kept GeoPackage in use: as long as the value lives nobody removes the file to make room, and
/// a hidden one goes with it.
final class CacheEntry: Sendable {
  let path: String
  private let hidden: PendingFile?
  private let descriptor: Int32

  /// A file of this process alone.
  init(hidden: PendingFile) {
    path = hidden.path
    self.hidden = hidden
    descriptor = -1
  }

  /// An entry of the cache, marked as used now; `nil` where there is none.
  init?(kept path: String) {
    let opened = open(path, O_RDONLY | O_CLOEXEC)
    guard opened >= 0 else { return nil }
    var status = stat()
    // Between opening and locking someone may have removed it.
    guard flock(opened, LOCK_SH) == 0, fstat(opened, &status) == 0, status.st_nlink > 0 else {
      close(opened)
      return nil
    }
    futimens(opened, nil)
    self.path = path
    hidden = nil
    descriptor = opened
  }

  deinit {
    if descriptor >= 0 { close(descriptor) }
  }

  /// Removes an entry that nobody uses; false where somebody does.
  static func remove(_ path: String) -> Bool {
    let opened = open(path, O_RDONLY | O_CLOEXEC)
    guard opened >= 0 else { return false }
    defer { close(opened) }
    return flock(opened, LOCK_EX | LOCK_NB) == 0 && unlink(path) == 0
  }
}
