import Foundation

/// What one work took and found.
struct Figures {
  var seconds: Double
  /// Seconds of processor time, on all cores, where that is told.
  var cpu: Double?
  var count: Int
  /// Two sums over what was found that a peer can build as well.
  var checksum: [Int] = []
  /// Microseconds a query, where the work is many queries.
  var latencies: [Double] = []

  var json: String {
    let own = cpu.map { #""cpu":\#($0),"# } ?? ""
    var text = #"{"seconds":\#(seconds),\#(own)"count":\#(count),"checksum":\#(checksum)"#
    if !latencies.isEmpty {
      let sorted = latencies.sorted()
      text += #","p50":\#(sorted[sorted.count / 2]),"p99":\#(sorted[sorted.count * 99 / 100])"#
    }
    return text + "}"
  }

  /// Seconds of processor time of this process so far.
  static func processorTime() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }

  /// Runs `body` and takes the time.
  static func timing<R>(_ body: () async throws -> R) async throws -> (R, Double) {
    let start = ContinuousClock.now
    let result = try await body()
    return (result, start.duration(to: .now) / .seconds(1))
  }
}
