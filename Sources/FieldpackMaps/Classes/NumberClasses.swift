/// Ranges that numbers are sorted into, so that each has a colour.
package struct NumberClasses: Hashable, Sendable {
  /// How the borders of the classes are found.
  package enum Method: String, Hashable, Sendable, CaseIterable {
    /// As many values in each class.
    case quantile
    /// Ranges of one length.
    case equal
    /// The borders that make the values of each class the most alike (Jenks' natural breaks).
    case jenks
  }

  /// The least value of each class, and the greatest of the last: one more than there are classes.
  package let borders: [Double]

  package var count: Int { max(1, borders.count - 1) }

  /// Fewer classes where there are fewer values than that. `nil` where no value is a finite number.
  package init?(_ values: [Double], count: Int, by method: Method) {
    let sorted = values.filter(\.isFinite).sorted()
    guard let least = sorted.first, let greatest = sorted.last else { return nil }
    var distinct = 1
    for (a, b) in zip(sorted, sorted.dropFirst()) where a != b { distinct += 1 }
    let count = max(1, min(count, distinct, 12))
    let inner: [Double]
    switch method {
    case .quantile: inner = (1..<count).map { sorted[sorted.count * $0 / count] }
    case .equal:
      let step = greatest / Double(count) - least / Double(count)
      inner = (1..<count).map { least + step * Double($0) }
    case .jenks: inner = Self.jenks(Self.sample(sorted), count)
    }
    var borders = [least]
    for border in inner where border > borders[borders.count - 1] && border <= greatest {
      borders.append(border)
    }
    borders.append(greatest)
    self.borders = borders
  }

  /// The class of a value; `nil` for what is no finite number.
  package func index(of value: Double) -> Int? {
    guard value.isFinite else { return nil }
    return max(0, (borders.dropLast().lastIndex { $0 <= value }) ?? 0)
  }

  /// The range of each class as its name, with as many digits as the borders need.
  package var names: [String] {
    let range = (borders.last ?? 0) - (borders.first ?? 0)
    return (0..<count).map { index in
      let (from, to) = (borders[index], borders[min(index + 1, borders.count - 1)])
      guard from < to else { return NumberName.text(from, in: range) }
      return "\(NumberName.text(from, in: range)) – \(NumberName.text(to, in: range))"
    }
  }

  /// At most so many values, evenly from all: what Jenks' method takes grows by their square.
  private static func sample(_ sorted: [Double]) -> [Double] {
    let most = 600
    guard sorted.count > most else { return sorted }
    return (0..<most).map { sorted[$0 * (sorted.count - 1) / (most - 1)] }
  }

  /// The least values of all classes but the first, after Fisher's exact optimization.
  private static func jenks(_ sorted: [Double], _ count: Int) -> [Double] {
    let scale = max(abs(sorted[0]), abs(sorted[sorted.count - 1]), 1e-300)
    var sums = [0.0]
    var squares = [0.0]
    for value in sorted {
      let value = value / scale
      sums.append(sums[sums.count - 1] + value)
      squares.append(squares[squares.count - 1] + value * value)
    }
    /// The squared differences from the mean of `from..<to`.
    func spread(_ from: Int, _ to: Int) -> Double {
      let sum = sums[to] - sums[from]
      return squares[to] - squares[from] - sum * sum / Double(to - from)
    }
    var costs = (0...sorted.count).map { $0 == 0 ? 0 : spread(0, $0) }
    var starts: [[Int]] = []
    for _ in 1..<max(count, 1) {
      var next = [Double](repeating: .infinity, count: sorted.count + 1)
      var start = [Int](repeating: 0, count: sorted.count + 1)
      for end in 1...sorted.count {
        for split in 1..<max(end, 1) where costs[split] + spread(split, end) < next[end] {
          next[end] = costs[split] + spread(split, end)
          start[end] = split
        }
      }
      costs = next
      starts.append(start)
    }
    var end = sorted.count
    var borders: [Double] = []
    for start in starts.reversed() {
      end = start[end]
      if end > 0, end < sorted.count { borders.append(sorted[end]) }
    }
    return borders.reversed()
  }
}
