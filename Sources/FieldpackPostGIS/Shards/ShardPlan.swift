/// A stretch of the curve, and the table that has its features.
package struct ShardPart: Hashable, Sendable {
  package var range: Range<Int64>
  /// The name of the server; `nil` for the server of the store.
  package var server: String?
  /// The table there, in the schema of the layer.
  package var table: String
  /// How many features are expected in it.
  package var count = 0

  package init(range: Range<Int64>, server: String?, table: String, count: Int = 0) {
    (self.range, self.server, self.table, self.count) = (range, server, table, count)
  }
}

/// Which server has which part of a layer.
package struct ShardPlan: Hashable, Sendable {
  /// In the order of their ranges, without a gap.
  package var parts: [ShardPart]
  /// The names of the servers; `nil` is the store's own.
  package var servers: [String?]
  /// The number in the names of the tables that the plan adds; each change has a higher one.
  package var generation: Int

  package init(parts: [ShardPart], servers: [String?], generation: Int) {
    (self.parts, self.servers, self.generation) = (parts, servers, generation)
  }

  /// The features that each server has, in the order of ``servers``.
  package var counts: [Int] {
    servers.map { server in parts.filter { $0.server == server }.reduce(0) { $0 + $1.count } }
  }

  static func table(of layer: String, generation: Int, _ number: Int) -> String {
    "\(layer)_g\(generation)_p\(number)"
  }
}

/// What is known of where a layer's features are: numbers of the curve, each of which stands for the
/// same number of features.
package struct ShardSample: Sendable {
  /// Sorted; without the special numbers.
  package let numbers: [Int64]
  /// How many features of a number there are, for each one in ``numbers``.
  package let weight: Double
  /// The features that are not on the curve.
  package let special: Int

  /// - Parameters:
  ///   - numbers: of features, all of them or a part.
  ///   - total: how many features there are.
  package init(_ numbers: [Int64], total: Int? = nil) {
    let factor = numbers.isEmpty ? 1 : Double(total ?? numbers.count) / Double(numbers.count)
    self.numbers = numbers.filter { $0 >= 0 }.sorted()
    weight = factor
    special = Int((Double(numbers.count - self.numbers.count) * factor).rounded())
  }

  /// How many features a range has, about.
  package func count(in range: Range<Int64>) -> Int {
    if range.upperBound <= 0 { return special }
    return Int((Double(place(range.upperBound) - place(range.lowerBound)) * weight).rounded())
  }

  /// How many of the numbers are below one.
  private func place(_ number: Int64) -> Int {
    var (low, high) = (0, numbers.count)
    while low < high {
      let middle = (low + high) / 2
      if numbers[middle] < number { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// Cuts a range into ranges of about equal counts. Features of one number are never apart, so there
  /// may be fewer ranges.
  func cut(_ range: Range<Int64>, into pieces: Int) -> [Range<Int64>] {
    let (first, last) = (place(range.lowerBound), place(range.upperBound))
    guard pieces > 1, last > first else { return [range] }
    var ranges: [Range<Int64>] = []
    var start = range.lowerBound
    for piece in 1..<pieces {
      let number = numbers[first + (last - first) * piece / pieces]
      guard number > start, number < range.upperBound else { continue }
      ranges.append(start..<number)
      start = number
    }
    return ranges + [start..<range.upperBound]
  }
}

extension ShardPlan {
  /// Divides a layer: a table for what is not on the curve, on the store's server, and `pieces` ranges
  /// of about equal counts, of which neighbours are on the same server.
  package init(
    _ layer: String, servers: [String?], pieces: Int, _ sample: ShardSample, generation: Int = 1
  ) {
    self.init(parts: [], servers: servers, generation: generation)
    let ranges = sample.cut(0..<ShardKey.numbers.upperBound, into: max(pieces, servers.count))
    let counts = ranges.map { sample.count(in: $0) }
    let total = counts.reduce(0, +)
    var before = 0
    parts.append(
      ShardPart(
        range: ShardKey.special, server: servers.first ?? nil,
        table: Self.table(of: layer, generation: generation, 0), count: sample.special))
    for (index, range) in ranges.enumerated() {
      // By the middle of the range among all features; by its place where there are no features.
      let middle = before + counts[index] / 2
      let server =
        total > 0
        ? min(servers.count - 1, middle * servers.count / total)
        : index * servers.count / ranges.count
      parts.append(
        ShardPart(
          range: range, server: servers[server],
          table: Self.table(of: layer, generation: generation, index + 1), count: counts[index]))
      before += counts[index]
    }
  }

  /// The same layer in balance: ranges with more than twice their share are cut, those of servers that
  /// are no more move away, and others move from the fullest server to the emptiest, as few as
  /// are needed to bring all servers within a tenth of their share.
  ///
  /// - Parameter sample: of the features as they are now.
  package func rebalanced(
    _ layer: String, servers: [String?], pieces: Int, _ sample: ShardSample
  ) -> ShardPlan {
    var plan = ShardPlan(parts: [], servers: servers, generation: generation + 1)
    let total = sample.count(in: 0..<ShardKey.numbers.upperBound)
    let share = max(1, total / max(pieces, servers.count))
    for part in parts {
      let count = sample.count(in: part.range)
      let isCut = part.range.lowerBound >= 0 && count > 2 * share
      let ranges = isCut ? sample.cut(part.range, into: (count + share / 2) / share) : [part.range]
      for range in ranges {
        var piece = part
        (piece.range, piece.count) = (range, sample.count(in: range))
        if range.lowerBound < 0 { piece.server = servers.first ?? nil }
        plan.parts.append(piece)
      }
    }
    plan.leaveOldServers()
    plan.level()
    plan.nameChanged(from: self, layer)
    return plan
  }

  /// Brings the parts of servers that are no more to the emptiest ones.
  private mutating func leaveOldServers() {
    for index in parts.indices where !servers.contains(parts[index].server) {
      let counts = counts
      let target = counts.indices.min { counts[$0] < counts[$1] } ?? 0
      parts[index].server = servers[target]
    }
  }

  private mutating func level() {
    guard servers.count > 1 else { return }
    for _ in parts.indices {
      let counts = counts
      let share = counts.reduce(0, +) / servers.count
      guard let fullest = counts.indices.max(by: { counts[$0] < counts[$1] }),
        let emptiest = counts.indices.min(by: { counts[$0] < counts[$1] }),
        counts[fullest] - share > share / 10 || share - counts[emptiest] > share / 10
      else { return }
      let surplus = counts[fullest] - counts[emptiest]
      // The part that brings the two closest together.
      let movable = parts.indices.filter {
        parts[$0].server == servers[fullest] && parts[$0].range.lowerBound >= 0
          && parts[$0].count > 0 && parts[$0].count < surplus
      }
      guard
        let best = movable.min(by: {
          abs(surplus - 2 * parts[$0].count) < abs(surplus - 2 * parts[$1].count)
        })
      else { return }
      parts[best].server = servers[emptiest]
    }
  }

  /// Parts that stay what and where they are keep their tables; all others are new tables.
  private mutating func nameChanged(from old: ShardPlan, _ layer: String) {
    var number = 0
    for index in parts.indices where !old.hasPart(like: parts[index]) {
      parts[index].table = Self.table(of: layer, generation: generation, number)
      number += 1
    }
  }

  private func hasPart(like part: ShardPart) -> Bool {
    parts.contains { $0.range == part.range && $0.server == part.server && $0.table == part.table }
  }

  /// The parts that `other` has not.
  package func parts(notIn other: ShardPlan) -> [ShardPart] {
    parts.filter { !other.hasPart(like: $0) }
  }
}
