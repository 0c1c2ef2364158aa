import FoundationEssentials

extension MotionTime {
  /// The clock of the machine.
  public static let system = MotionTime(
    now: { Date().timeIntervalSince1970 },
    sleep: { seconds in try await Task.sleep(for: .seconds(seconds)) },
    random: { Double.random(in: 0..<1) })

  /// How long to wait after so many failures: 0.5 s, doubled each time up to 30 s, less up to half
  /// of it by chance.
  func delay(afterFailures count: Int) -> Double {
    var delay = 0.5
    for _ in 1..<max(count, 1) where delay < 30 { delay *= 2 }
    return min(delay, 30) * (1 - random() / 2)
  }
}
