import FieldpackCore
import FieldpackSQLite

/// A clock on which each look takes a millisecond: how long a view runs is then counted in SQLite's
/// steps, however fast the machine is.
struct CountedClock: Sendable {
  private let start = ContinuousClock.now
  private let count = Locked(0)

  /// How many looks there were.
  var looks: Int { count.withLock { $0 } }

  var clock: DeadlineClock {
    DeadlineClock { [start, count] in
      start
        + .milliseconds(
          count.withLock { count in
            count += 1
            return count
          })
    }
  }
}
