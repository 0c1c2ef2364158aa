import FieldpackCore

/// How often each of many may do something: so often at once, and then at a steady rate.
final class RateLimit: Sendable {
  private struct Bucket {
    var left: Double
    var moment: Duration
  }

  private let perSecond: Double
  private let atOnce: Double
  private let buckets = Locked<[String: Bucket]>([:])
  /// Whoever has many addresses fills no memory.
  private static let mostKept = 10_000

  init(perSecond: Double, atOnce: Double) {
    (self.perSecond, self.atOnce) = (perSecond, atOnce)
  }

  /// Counts one.
  ///
  /// - Returns: how long to wait where there were too many; `nil` where not.
  func take(_ key: String, at moment: Duration) -> Duration? {
    buckets.withLock { buckets in
      var bucket = buckets[key] ?? Bucket(left: atOnce, moment: moment)
      bucket.left = left(in: bucket, at: moment)
      bucket.moment = moment
      let isFree = bucket.left >= 1
      if isFree { bucket.left -= 1 }
      if buckets[key] == nil, buckets.count >= Self.mostKept { clear(&buckets, at: moment) }
      buckets[key] = bucket
      return isFree ? nil : .seconds((1 - bucket.left) / perSecond)
    }
  }

  private func left(in bucket: Bucket, at moment: Duration) -> Double {
    min(atOnce, bucket.left + (moment - bucket.moment) / .seconds(1) * perSecond)
  }

  /// Leaves out those that have been quiet, and all where nobody has.
  private func clear(_ buckets: inout [String: Bucket], at moment: Duration) {
    buckets = buckets.filter { left(in: $0.value, at: moment) < atOnce }
    if buckets.count >= Self.mostKept { buckets = [:] }
  }
}
