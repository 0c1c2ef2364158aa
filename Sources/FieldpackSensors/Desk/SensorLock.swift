import FieldpackCore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Keeps other programs from the sensors of a file, until it is released or the program ends.
///
/// It is a lock on a hidden file beside the GeoPackage. One that a killed program leaves is free, and is
/// taken by the next one.
final class SensorLock: Sendable {
  private let path: String
  private let descriptor: Int32

  /// - Parameters:
  ///   - database: the path of the GeoPackage.
  ///   - name: what the GeoPackage is called in errors.
  /// - Throws: `.busy` where another program has the lock.
  init(of database: String, named name: String) throws(FieldpackError) {
    guard let real = FileSystem.real(database) else { throw .system(errno, "open", name) }
    let place = FileSystem.split(real)
    // File systems allow names of 255 bytes.
    let start = String(decoding: place.name.utf8.prefix(230), as: UTF8.self)
    let path = "\(place.folder).\(start).fieldpack-sensors"
    descriptor = try SensorLock.locked(path, name)
    self.path = path
  }

  private static func locked(
    _ path: String, _ name: String
  ) throws(FieldpackError) -> Int32 {
    while true {
      let opened = open(path, O_CREAT | O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0o600)
      guard opened >= 0 else { throw .system(errno, "open", path) }
      // Where the file system has no locks it goes without.
      if flock(opened, LOCK_EX | LOCK_NB) != 0, errno == EWOULDBLOCK {
        close(opened)
        throw FieldpackError(
          .busy,
          "another program works with the sensors of \(name). Try: capture with that one, or end it "
            + "first")
      }
      var own = stat()
      var named = stat()
      // The program that had it may have removed the file between opening and locking.
      if fstat(opened, &own) == 0, stat(path, &named) == 0, own.st_ino == named.st_ino,
        own.st_dev == named.st_dev
      {
        return opened
      }
      close(opened)
    }
  }

  deinit {
    unlink(path)
    close(descriptor)
  }
}
