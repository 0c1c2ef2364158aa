import FieldpackCore
public import FieldpackGeometry
public import FieldpackLocation

/// Positions with their times, in legs. There is no position between two legs.
public struct TimedPath: Hashable, Sendable {
  /// A position on WGS 84 and its time in seconds since 1970.
  public struct Point: Hashable, Sendable {
    public var time: Double
    public var position: Position

    public init(time: Double, position: Position) {
      self.time = time
      self.position = position
    }
  }

  /// The legs in the order of their first times. None is empty, and the times in a leg ascend.
  public let legs: [[Point]]
  /// The latest time of each leg and those before it.
  private let reaches: [Double]

  /// - Parameter legs: points in any order. Of several points with one time in a leg the first
  ///   counts.
  public init(legs: [[Point]]) {
    self.legs = legs.map(Self.ordered).filter { !$0.isEmpty }
      .sorted { ($0.first?.time ?? 0) < ($1.first?.time ?? 0) }
    var latest = -Double.infinity
    reaches = self.legs.map { leg in
      latest = max(latest, leg.last?.time ?? latest)
      return latest
    }
  }

  /// A path of the fixes that have a time, with a leg for each device.
  public init(fixes: [Fix]) {
    var legs: [String: [Point]] = [:]
    for fix in fixes {
      guard let time = fix.time else { continue }
      legs[fix.device, default: []].append(
        Point(time: Double(time.milliseconds) / 1000, position: Position(fix)))
    }
    self.init(legs: legs.sorted { $0.key < $1.key }.map(\.value))
  }

  /// By time, each time once.
  private static func ordered(_ points: [Point]) -> [Point] {
    let sound = points.filter { point in
      point.time.isFinite && point.position.x.isFinite && point.position.y.isFinite
    }
    // The sort keeps the order of equal times.
    let sorted = sound.enumerated().sorted { a, b in
      a.element.time != b.element.time ? a.element.time < b.element.time : a.offset < b.offset
    }
    var points: [Point] = []
    for (_, point) in sorted where point.time != points.last?.time { points.append(point) }
    return points
  }

  public var pointCount: Int { legs.reduce(0) { $0 + $1.count } }

  /// From the first to the last time; `nil` without points.
  public var times: ClosedRange<Double>? {
    guard let first = legs.first?.first?.time, let last = reaches.last else { return nil }
    return first...last
  }

  /// The position at a time: a point of that time, or interpolated between the two points around it
  /// in one leg. Its `m` is the time.
  ///
  /// - Parameter gap: between points that are more seconds apart than this there is no position.
  public func position(at time: Double, maximumGap gap: Double) -> Position? {
    guard time.isFinite else { return nil }
    var index = legs.partitionIndex { ($0.first?.time ?? 0) > time } - 1
    while index >= 0, reaches[index] >= time {
      if let found = Self.position(at: time, in: legs[index], gap) { return found }
      index -= 1
    }
    return nil
  }

  private static func position(at time: Double, in leg: [Point], _ gap: Double) -> Position? {
    let next = leg.partitionIndex { $0.time > time }
    guard next > 0 else { return nil }
    let before = leg[next - 1]
    if before.time == time { return timed(before.position, time) }
    guard next < leg.count, leg[next].time - before.time <= gap else { return nil }
    let after = leg[next]
    let share = (time - before.time) / (after.time - before.time)
    return timed(between(before.position, after.position, share), time)
  }

  private static func between(_ a: Position, _ b: Position, _ share: Double) -> Position {
    // The shorter way around, also over the antimeridian.
    var dx = b.x - a.x
    if abs(dx) > 180 { dx -= dx > 0 ? 360 : -360 }
    var x = a.x + dx * share
    if abs(x) > 180 { x -= x > 0 ? 360 : -360 }
    return Position(x: x, y: a.y + (b.y - a.y) * share)
  }

  private static func timed(_ position: Position, _ time: Double) -> Position {
    Position(x: position.x, y: position.y, m: time)
  }
}

extension Position {
  fileprivate init(_ fix: Fix) { self.init(x: fix.longitude, y: fix.latitude) }
}

extension Array {
  /// The first index whose element holds, where all after it hold, too.
  fileprivate func partitionIndex(_ holds: (Element) -> Bool) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if holds(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
