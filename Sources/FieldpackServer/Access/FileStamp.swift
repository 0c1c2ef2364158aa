#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A mark that changes with every change of a file, its mode, and the file that a path leads to.
struct FileStamp: Hashable, Sendable {
  private let numbers: [Int]

  /// - Returns: `nil` where the path leads to no file.
  init?(_ path: String) {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    #if canImport(Darwin)
      let (changed, marked) = (status.st_mtimespec, status.st_ctimespec)
    #else
      let (changed, marked) = (status.st_mtim, status.st_ctim)
    #endif
    numbers = [
      Int(truncatingIfNeeded: status.st_dev), Int(truncatingIfNeeded: status.st_ino),
      Int(status.st_size), changed.tv_sec, changed.tv_nsec, marked.tv_sec, marked.tv_nsec,
    ]
  }
}
