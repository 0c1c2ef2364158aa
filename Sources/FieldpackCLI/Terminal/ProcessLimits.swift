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

  /// The stores of a large workspace keep a few files open each.
  private static let mostDescriptors: rlim_t = 65_536

  /// Lets the process open as many files as it may, and checks that it has the least.
  ///
  /// - Throws: `.unavailable`, with the limit to raise.
  static func check() throws(FieldpackError) {
    raiseDescriptors()
    try checkDescriptors()
    let processors = min(sysconf(Int32(_SC_NPROCESSORS_ONLN)), mostProcessors)
    try SystemThread.checkRoom(for: processors + threads)
  }

  #if canImport(Glibc)
    private static let openFiles = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
  #else
    private static let openFiles = RLIMIT_NOFILE
  #endif

  private static func raiseDescriptors() {
    var limit = rlimit()
    guard getrlimit(openFiles, &limit) == 0 else { return }
    let wanted = min(limit.rlim_max, mostDescriptors)
    guard limit.rlim_cur < wanted else { return }
    limit.rlim_cur = wanted
    setrlimit(openFiles, &limit)
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
    getrlimit(openFiles, &limit)
    return FieldpackError(
      .unavailable,
      "the limit of open files (\(limit.rlim_cur)) is too low: a command needs \(descriptors) beside "
        + "those it was started with. Try: ulimit -n 256")
  }
}
