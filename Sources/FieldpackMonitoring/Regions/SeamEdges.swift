/// The edges of a region on the antimeridian and at the poles, which are no border where the region
/// goes on behind them.
///
/// Areas that cross the antimeridian are cut there as RFC 7946 section 3.1.9 asks, and areas around a
/// pole run along it from -180° to 180°.
struct SeamEdges {
  private typealias Interval = (low: Double, high: Double)

  /// The latitudes of edges at 180° and at -180°.
  private var west: [Interval] = []
  private var east: [Interval] = []
  /// Edges along a pole.
  private var polar: [(start: SIMD2<Double>, end: SIMD2<Double>)] = []

  /// Keeps the edge where it lies on the antimeridian or a pole.
  mutating func takes(_ a: SIMD2<Double>, _ b: SIMD2<Double>) -> Bool {
    if abs(a.y) == 90, a.y == b.y {
      polar.append((a, b))
    } else if a.x == 180, b.x == 180 {
      west.append((min(a.y, b.y), max(a.y, b.y)))
    } else if a.x == -180, b.x == -180 {
      east.append((min(a.y, b.y), max(a.y, b.y)))
    } else {
      return false
    }
    return true
  }

  /// What is left of the edges taken, as border.
  var borders: [(SIMD2<Double>, SIMD2<Double>)] {
    let (west, east) = (Self.merged(west), Self.merged(east))
    var left: [(SIMD2<Double>, SIMD2<Double>)] = []
    for interval in Self.rest(of: west, without: east) {
      left.append(([180, interval.low], [180, interval.high]))
    }
    for interval in Self.rest(of: east, without: west) {
      left.append(([-180, interval.low], [-180, interval.high]))
    }
    for pole in [-90.0, 90] {
      let edges = polar.filter { $0.start.y == pole }
      let turn = edges.reduce(0) { $0 + abs($1.end.x - $1.start.x) }
      if turn < 360 - 1e-9 { left += edges.map { ($0.start, $0.end) } }
    }
    return left
  }

  private static func merged(_ intervals: [Interval]) -> [Interval] {
    var merged: [Interval] = []
    for interval in intervals.sorted(by: { $0.low < $1.low }) {
      if let last = merged.last, interval.low <= last.high {
        merged[merged.count - 1].high = max(last.high, interval.high)
      } else {
        merged.append(interval)
      }
    }
    return merged
  }

  /// Both are apart from one another and in order.
  private static func rest(of intervals: [Interval], without others: [Interval]) -> [Interval] {
    var rest: [Interval] = []
    var next = 0
    for interval in intervals {
      var low = interval.low
      while next < others.count, others[next].high <= low { next += 1 }
      var other = next
      while other < others.count, others[other].low < interval.high {
        if others[other].low > low { rest.append((low, others[other].low)) }
        low = max(low, others[other].high)
        other += 1
      }
      if low < interval.high { rest.append((low, interval.high)) }
    }
    return rest
  }
}
