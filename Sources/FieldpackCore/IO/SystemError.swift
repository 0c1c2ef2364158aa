#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

extension FieldpackError {
  /// The error for `errno` after a call that failed on `path`.
  static func system(_ number: Int32, _ what: String, _ path: String) -> FieldpackError {
    let code: Code =
      switch number {
      case ENOENT, ENOTDIR: .notFound
      case EACCES, EPERM: .permission
      case EROFS: .readOnly
      case ENOSPC, EDQUOT, EFBIG: .full
      case EEXIST: .cannotCreate
      default: .io
      }
    return FieldpackError(
      code, "cannot \(what) \(path): \(String(cString: strerror(number)))",
      position: FilePosition(file: path))
  }
}
