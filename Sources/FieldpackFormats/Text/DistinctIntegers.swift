/// Tells whether integers are distinct, in little memory where they ascend.
struct DistinctIntegers {
  /// Ascending, without gaps inside; what came out of order is in `stragglers`.
  private var runs: [ClosedRange<Int64>] = []
  private var stragglers: Set<Int64> = []

  /// Adds `value`; `false` where it was there.
  mutating func insert(_ value: Int64) -> Bool {
    guard let last = runs.last else {
      runs.append(value...value)
      return true
    }
    if value > last.upperBound {
      guard !stragglers.contains(value) else { return false }
      if value == last.upperBound + 1 {
        runs[runs.count - 1] = last.lowerBound...value
      } else {
        runs.append(value...value)
      }
      return true
    }
    return !isInRun(value) && stragglers.insert(value).inserted
  }

  private func isInRun(_ value: Int64) -> Bool {
    var low = 0
    var high = runs.count
    while low < high {
      let middle = (low + high) / 2
      if runs[middle].upperBound < value { low = middle + 1 } else { high = middle }
    }
    return low < runs.count && runs[low].contains(value)
  }
}
