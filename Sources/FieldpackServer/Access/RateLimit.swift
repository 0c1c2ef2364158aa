import FieldpackCore

/// Limits how often each client may ask: `atOnce` times in a burst, and `perSecond` times in each second.
final class RateLimit: Sendable {
  private struct Bucket {
    var left: Double
    var moment: Duration
  }

  private let perSecond: Double
  private let atOnce: Double
  private let buckets = Locked<[String: Bucket]>([:])
  /// A limit, so that a client with many addresses cannot fill the memory.
  private static let mostKept = 10_000

  init(perSecond: Double, atOnce: Double) {
    (self.perSecond, self.atOnce) = (perSecond, atOnce)
  }

  /// Counts one request of the client that `key` names.
  ///
  /// - Returns: how long the client has to wait; `nil` where the request is within the limit.
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

  /// Removes the buckets that are full again, or all buckets where none is.
  private func clear(_ buckets: inout [String: Bucket], at moment: Duration) {
    buckets = buckets.filter { left(in: $0.value, at: moment) < atOnce }
    if buckets.count >= Self.mostKept { buckets = [:] }
  }
}
