import FieldpackCore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Standard input, output and error, which a caller may have closed (`<&-`, `>&-`).
enum StandardDescriptors {
  /// Puts `/dev/null` on each that is closed, so that no file or pipe of ours gets its number and is
  /// read or written as if it were a standard one.
  ///
  /// `/dev/null` is opened the other way round, which keeps reading from a closed input and writing
  /// to a closed output errors.
  static func holdClosed() throws(FieldpackError) {
    for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) < 0 {
      let access = descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY
      // The lowest free number is taken, and those below are in use by now.
      guard open("/dev/null", access) == descriptor else {
        throw .system(errno, "open", "/dev/null")
      }
    }
  }
}
