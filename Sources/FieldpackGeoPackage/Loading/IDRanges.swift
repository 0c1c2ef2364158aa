/// A set of ids as ranges without gaps, because ids mostly follow each other.
struct IDRanges: Sendable {
  /// Ascending, with a gap between each two.
  private var ranges: [ClosedRange<Int64>] = []

  /// Adds an id; `false` where it is there already.
  mutating func insert(_ id: Int64) -> Bool {
    let next = place(of: id)
    if next < ranges.count, ranges[next].contains(id) { return false }
    let joinsBefore = next > 0 && ranges[next - 1].upperBound == id &- 1 && id > .min
    let joinsAfter = next < ranges.count && id < .max && ranges[next].lowerBound == id + 1
    switch (joinsBefore, joinsAfter) {
    case (true, true):
      ranges[next - 1] = ranges[next - 1].lowerBound...ranges[next].upperBound
      ranges.remove(at: next)
    case (true, false): ranges[next - 1] = ranges[next - 1].lowerBound...id
    case (false, true): ranges[next] = id...ranges[next].upperBound
    case (false, false): ranges.insert(id...id, at: next)
    }
    return true
  }

  /// The index of the first range that does not end before `id`.
  private func place(of id: Int64) -> Int {
    if let last = ranges.last, last.upperBound < id { return ranges.count }
    var (low, high) = (0, ranges.count)
    while low < high {
      let middle = (low + high) / 2
      if ranges[middle].upperBound < id { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
