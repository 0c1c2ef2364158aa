#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The `errno` behind a failure.
public struct SystemErrorNumber: Error, Hashable, Sendable {
  public let rawValue: Int32

  /// Whether the reader of the output has gone.
  public var isBrokenPipe: Bool { rawValue == EPIPE }
}

extension FieldpackError {
  /// The error for `errno` after a call that failed on `path`.
  package static func system(_ number: Int32, _ what: String, _ path: String) -> FieldpackError {
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
      position: FilePosition(file: path), underlying: SystemErrorNumber(rawValue: number))
  }
}
