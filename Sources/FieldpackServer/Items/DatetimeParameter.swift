import FieldpackCore

/// The parameter `datetime`: an instant, a day, or a time between two of them; `..` or nothing is an open
/// end, and a duration such as `P1DT2H` stands for an end (RFC 3339, OGC 17-069r4 clause 7.15.4).
enum DatetimeParameter {
  /// Features whose instant or date lies in that time. A collection without a column of time gives all.
  ///
  /// - Throws: `.invalidArgument`.
  static func filter(_ text: String, of layer: ServedLayer) throws(FieldpackError) -> Filter {
    let sides = text.split(separator: "/", omittingEmptySubsequences: false).map { String($0) }
    guard sides.count <= 2, let bounds = bounds(sides) else {
      throw FieldpackError(
        .invalidArgument,
        "datetime is no instant and no time between two: '\(text)'. Try: 2024-01-01T00:00:00Z/..")
    }
    guard let column = layer.instantColumn else { return .all }
    let operand = Operand.column(column.name)
    func literal(_ instant: Instant) -> Operand {
      column.type == .date
        ? .literal(.date(CalendarDate(instant))) : .literal(.dateTime(instant))
    }
    switch bounds {
    case (let first?, let last?): return .between(operand, literal(first), literal(last))
    case (let first?, nil): return .compare(operand, .greaterOrEqual, literal(first))
    case (nil, let last?): return .compare(operand, .lessOrEqual, literal(last))
    case (nil, nil): return .not(.isNull(operand))
    }
  }

  /// The first and the last instant; `nil` in it is an open end.
  private static func bounds(_ sides: [String]) -> (first: Instant?, last: Instant?)? {
    let first = moment(sides[0])
    guard sides.count == 2 else {
      guard case .time(let start, let end)? = first else { return nil }
      return (start, end)
    }
    switch (first, moment(sides[1])) {
    case (.open?, .open?): return (nil, nil)
    case (.open?, .time(_, let end)?): return (nil, end)
    case (.time(let start, _)?, .open?): return (start, nil)
    case (.time(let start, _)?, .time(_, let end)?): return start <= end ? (start, end) : nil
    case (.time(let start, _)?, nil):
      guard let end = TimeSpan(sides[1]).flatMap({ start.adding($0) }) else { return nil }
      return (start, end)
    case (nil, .time(_, let end)?):
      guard let start = TimeSpan(sides[0]).flatMap({ end.subtracting($0) }) else { return nil }
      return (start, end)
    default: return nil
    }
  }

  private enum Moment {
    case open
    case time(Instant, Instant)
  }

  private static func moment(_ text: String) -> Moment? {
    if text.isEmpty || text == ".." { return .open }
    if let instant = Instant(text) { return .time(instant, instant) }
    guard CalendarDate(text) != nil, let start = Instant(text + "T00:00:00Z"),
      let end = Instant(text + "T23:59:59.999Z")
    else { return nil }
    return .time(start, end)
  }
}
