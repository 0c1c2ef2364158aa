#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// How many files and connections this process may have open.
package enum OpenFiles {
  static var limit: Int {
    var limit = rlimit()
    guard get(&limit) == 0, limit.rlim_cur < 1 << 30 else { return 1 << 30 }
    return Int(limit.rlim_cur)
  }

  /// Allows this process as many as the system permits. A server needs one for each connection.
  package static func allowMost() {
    var limit = rlimit()
    guard get(&limit) == 0, limit.rlim_cur < limit.rlim_max else { return }
    limit.rlim_cur = limit.rlim_max
    #if canImport(Glibc)
      setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    #else
      setrlimit(RLIMIT_NOFILE, &limit)
    #endif
  }

  private static func get(_ limit: inout rlimit) -> Int32 {
    #if canImport(Glibc)
      getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    #else
      getrlimit(RLIMIT_NOFILE, &limit)
    #endif
  }
}
