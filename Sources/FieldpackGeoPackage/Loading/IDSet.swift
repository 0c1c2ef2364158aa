/// A set of ids, with a bit for each: ids mostly follow each other.
struct IDSet: Sendable {
  /// The ids from 64 n on, by n.
  private var words: [Int64: UInt64] = [:]

  /// Adds an id; `false` where it is there already.
  mutating func insert(_ id: Int64) -> Bool {
    let bit: UInt64 = 1 << UInt64(id & 63)
    let word = words[id >> 6, default: 0]
    guard word & bit == 0 else { return false }
    words[id >> 6] = word | bit
    return true
  }
}
