import FoundationEssentials

extension MotionTime {
  /// The clock of the machine.
  public static let system = MotionTime(
    now: { Date().timeIntervalSince1970 },
    sleep: { seconds in try await Task.sleep(for: .seconds(min(seconds, longestSleep))) },
    random: { Double.random(in: 0..<1) },
    uptime: { (ContinuousClock.now - beginning) / .seconds(1) })

  private static let beginning = ContinuousClock.now
  /// Seconds that every clock can add to its time.
  private static let longestSleep = 1e9

  /// How long to wait after so many failures: 0.5 s, doubled each time up to 30 s, less up to half
  /// of it by chance.
  func delay(afterFailures count: Int) -> Double {
    var delay = 0.5
    for _ in 1..<max(count, 1) where delay < 30 { delay *= 2 }
    return min(delay, 30) * (1 - random() / 2)
  }
}
