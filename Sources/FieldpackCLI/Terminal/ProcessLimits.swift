import FieldpackCore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// What the system has to let a command have, whatever the command does.
///
/// Without a descriptor libdispatch ends the process, and without a thread it waits for one for ever:
/// both are found out before it is asked for anything.
enum ProcessLimits {
  /// Descriptors of libdispatch, and of a few files.
  private static let descriptors = 24
  /// Threads beside those that run Swift's tasks, one for each processor.
  private static let threads = 4
  private static let mostProcessors = 16

  /// - Throws: `.unavailable`, with the limit to raise.
  static func check() throws(FieldpackError) {
    try checkDescriptors()
    let processors = min(sysconf(Int32(_SC_NPROCESSORS_ONLN)), mostProcessors)
    try SystemThread.checkRoom(for: processors + threads)
  }

  private static func checkDescriptors() throws(FieldpackError) {
    var held: [Int32] = []
    defer { for descriptor in held { close(descriptor) } }
    while held.count < descriptors {
      let copy = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)
      guard copy >= 0 else { throw shortage }
      held.append(copy)
    }
  }

  private static var shortage: FieldpackError {
    var limit = rlimit()
    #if canImport(Glibc)
      getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    #else
      getrlimit(RLIMIT_NOFILE, &limit)
    #endif
    return FieldpackError(
      .unavailable,
      "the limit of open files (\(limit.rlim_cur)) is too low: a command needs \(descriptors) beside "
        + "those it was started with. Try: ulimit -n 256")
  }
}
