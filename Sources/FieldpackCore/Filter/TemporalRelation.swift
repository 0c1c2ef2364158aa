/// How one stretch of time lies to another, by the relations of Allen's algebra.
///
/// An instant starts and ends in one moment, a date is a whole day in UTC. Two dates compare by the
/// day. Between a date and an instant, a date that begins a period counts as the day's first
/// millisecond, and a date that ends one as the day's last.
public enum TemporalRelation: String, Hashable, Sendable, CaseIterable {
  case after, before, contains, disjoint, during, equals, finishedBy, finishes, intersects, meets
  case metBy, overlappedBy, overlaps, startedBy, starts

  /// The name as CQL2 Text writes it.
  var functionName: String { "T_" + rawValue.uppercased() }

  func holds(_ a: Period, _ b: Period) -> Bool {
    let start = a.start.order(to: b.start)
    let end = a.end.order(to: b.end)
    switch self {
    case .after: return a.start.order(to: b.end) > 0
    case .before: return a.end.order(to: b.start) < 0
    case .contains: return start < 0 && end > 0
    case .disjoint: return !meetsOrShares(a, b)
    case .during: return start > 0 && end < 0
    case .equals: return start == 0 && end == 0
    case .finishedBy: return start < 0 && end == 0
    case .finishes: return start > 0 && end == 0
    case .intersects: return meetsOrShares(a, b)
    case .meets: return a.end.order(to: b.start) == 0
    case .metBy: return a.start.order(to: b.end) == 0
    case .overlappedBy: return start > 0 && a.start.order(to: b.end) < 0 && end > 0
    case .overlaps: return start < 0 && a.end.order(to: b.start) > 0 && end < 0
    case .startedBy: return start == 0 && end > 0
    case .starts: return start == 0 && end < 0
    }
  }

  private func meetsOrShares(_ a: Period, _ b: Period) -> Bool {
    a.start.order(to: b.end) <= 0 && a.end.order(to: b.start) >= 0
  }
}

/// A moment, or a whole day, in a temporal condition.
package struct Moment: Hashable, Sendable {
  /// Milliseconds since 1970 in UTC; for a day those of its first moment.
  package var milliseconds: Int64
  package var isDay: Bool

  package init(milliseconds: Int64, isDay: Bool) {
    self.milliseconds = milliseconds
    self.isDay = isDay
  }

  /// The moment or day of a value; `nil` where the value is neither.
  package init?(_ value: Value) {
    switch value {
    case .date(let day): self.init(milliseconds: day.startOfDay.milliseconds, isDay: true)
    case .dateTime(let instant): self.init(milliseconds: instant.milliseconds, isDay: false)
    case .text(var text):
      guard let moment = text.withUTF8({ Moment($0) }) else { return nil }
      self = moment
    default: return nil
    }
  }

  /// The moment or day that a text names, as ``DateTimeParser/moment(_:)`` reads it.
  package init?(_ text: UnsafeBufferPointer<UInt8>) {
    guard let instant = DateTimeParser.moment(text) else { return nil }
    self.init(milliseconds: instant.milliseconds, isDay: text.count == 10)
  }
}

/// A stretch of time from one bound to another, both included.
package struct Period: Sendable {
  /// The start or the end of a period.
  package struct Bound: Sendable {
    fileprivate var milliseconds: Int64
    fileprivate var isDay: Bool
    fileprivate var isEnd: Bool
    /// -1 for a start that is left open, 1 for such an end, else 0.
    fileprivate var infinity = 0

    /// -1, 0 or 1 where this bound lies before, at or behind the other.
    func order(to other: Bound) -> Int {
      if infinity != 0 || other.infinity != 0 { return (infinity - other.infinity).signum() }
      let (a, b) =
        isDay && other.isDay ? (milliseconds, other.milliseconds) : (moment, other.moment)
      return a < b ? -1 : a == b ? 0 : 1
    }

    private var moment: Int64 {
      isDay && isEnd ? milliseconds &+ 86_399_999 : milliseconds
    }
  }

  let start: Bound
  let end: Bound

  /// A period; a bound that is `nil` is an open end. The result is `nil` where the end lies before
  /// the start.
  package init?(from start: Moment?, to end: Moment?) {
    self.start = Self.bound(start, isEnd: false)
    self.end = Self.bound(end, isEnd: true)
    if self.end.order(to: self.start) < 0 { return nil }
  }

  private static func bound(_ moment: Moment?, isEnd: Bool) -> Bound {
    guard let moment else {
      return Bound(milliseconds: 0, isDay: false, isEnd: isEnd, infinity: isEnd ? 1 : -1)
    }
    return Bound(milliseconds: moment.milliseconds, isDay: moment.isDay, isEnd: isEnd)
  }
}

extension TemporalRelation {
  /// Whether the relation holds; `nil` where `a` or `b` is no period.
  package func answer(_ a: Period?, _ b: Period?) -> Bool? {
    guard let a, let b else { return nil }
    return holds(a, b)
  }
}
