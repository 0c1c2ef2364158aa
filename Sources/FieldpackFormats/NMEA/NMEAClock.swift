import FieldpackCore

/// Finds the dates of times of day, of which most sentences give nothing else.
///
/// A time that lies 12 hours or more before the last one is of the next day, one that lies more
/// than 23 hours behind it of the day before; any other is of the same day, even where it goes back.
struct NMEAClock: Equatable {
  static let dayLength = 86_400_000
  /// The day number of ``relativeDay`` 0, once a date was there.
  private(set) var firstDay: Int?
  /// Days since the first time.
  private var relativeDay = 0
  private var lastTime: Int?

  /// - Parameter firstDay: the day number of the first time, where it is known.
  init(firstDay: Int? = nil) { self.firstDay = firstDay }

  /// The moment of a time of day, in milliseconds; `nil` while no date was there.
  mutating func instant(_ time: Int, day: Int? = nil) -> Instant? {
    if let lastTime, time <= lastTime - Self.dayLength / 2 { relativeDay += 1 }
    if let lastTime, time > lastTime + Self.dayLength / 24 * 23 { relativeDay -= 1 }
    lastTime = time
    if let day {
      if let firstDay { relativeDay = day - firstDay } else { firstDay = day - relativeDay }
    }
    guard let firstDay else { return nil }
    return Instant(milliseconds: Int64((firstDay + relativeDay) * Self.dayLength + time))
  }
}
