import FieldpackCore

/// Finds the dates of times of day, of which most sentences give nothing else.
///
/// A time that lies 12 hours or more before the last one is of the next day, one that lies more
/// than 23 hours behind it of the day before; any other is of the same day, even where it goes back.
package struct NMEAClock: Equatable {
  package static let dayLength = 86_400_000
  /// The day number of ``relativeDay`` 0, once a date was there.
  package private(set) var firstDay: Int?
  /// Days since the first time.
  private var relativeDay = 0
  private var lastTime: Int?

  /// - Parameter firstDay: the day number of the first time, where it is known.
  init(firstDay: Int? = nil) { self.firstDay = firstDay }

  /// How many days lie between two times of day that follow each other: 0, 1 or -1.
  package static func days(from last: Int, to time: Int) -> Int {
    if time <= last - dayLength / 2 { return 1 }
    return time > last + dayLength / 24 * 23 ? -1 : 0
  }

  /// The moment of a time of day, in milliseconds; `nil` while no date was there.
  mutating func instant(_ time: Int, day: Int? = nil) -> Instant? {
    if let lastTime { relativeDay += Self.days(from: lastTime, to: time) }
    lastTime = time
    if let day {
      if let firstDay { relativeDay = day - firstDay } else { firstDay = day - relativeDay }
    }
    guard let firstDay else { return nil }
    return Instant(milliseconds: Int64((firstDay + relativeDay) * Self.dayLength + time))
  }
}
