#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The clocks of the machine, in seconds.
enum MachineClock {
  static var monotonic: Double { seconds(CLOCK_MONOTONIC) }
  static var unix: Double { seconds(CLOCK_REALTIME) }

  private static func seconds(_ clock: clockid_t) -> Double {
    var time = timespec()
    clock_gettime(clock, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }
}
