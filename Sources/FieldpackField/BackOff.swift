/// How long to wait before what has failed is tried again: longer after each failure.
///
/// The pause after the first failure is ``first``; each further one is ``factor`` times as long, up to
/// ``limit``.
public struct BackOff: Hashable, Sendable {
  public var first: Duration
  /// 1 or more.
  public var factor: Double
  public var limit: Duration
  /// The share of a pause that chance may take away, 0 to 1, so that clients that failed together do
  /// not come back together.
  public var jitter: Double

  public init(first: Duration, factor: Double = 2, limit: Duration, jitter: Double = 0) {
    self.first = first
    self.factor = factor
    self.limit = limit
    self.jitter = jitter
  }

  /// The pause after so many failures one after the other.
  ///
  /// - Parameters:
  ///   - asked: how long the server asked to wait, as by HTTP's `Retry-After`; no pause is shorter.
  ///   - random: gives numbers from 0 up to 1.
  public func pause(
    after failures: Int, asked: Duration? = nil,
    random: () -> Double = { .random(in: 0..<1) }
  ) -> Duration {
    var pause = first
    var left = failures - 1
    while left > 0, pause < limit, factor > 1 {
      pause = pause * factor
      left -= 1
    }
    pause = min(pause, limit)
    if jitter > 0 { pause = pause * (1 - jitter * random()) }
    return max(pause, asked ?? .zero)
  }
}
