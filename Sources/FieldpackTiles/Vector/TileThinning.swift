import FieldpackCore

/// Chooses which features a tile with too many of them has, evenly over its area.
///
/// The tile is a tree of quarters. The budget goes to the quarters in turns, one feature at a time, as
/// long as they have some left, and so on down to the steps of the grid: what is left out is left out
/// where features are densest. In each quarter the larger features come first, and among points those
/// with the lower hash of their id. So a quarter's choice only grows with its budget: what a zoom shows
/// is shown by the next zoom, too, whose tiles have a budget each.
struct TileThinning {
  /// The number of times that the tile is quartered.
  private static let depth = 12

  private struct Item {
    /// The numbers of the quarters from the tile down, two bits each.
    var place: UInt32
    var index: UInt32
    /// The lower comes first.
    var rank: UInt64
  }

  private var items: [Item] = []
  private var chosen: [Int] = []

  /// The indices of the chosen candidates, ascending.
  ///
  /// - Parameter candidates: placed on the grid of the tile. Those whose middle lies outside count to
  ///   the nearest step of the tile.
  static func chosen(_ candidates: TileCandidates, budget: Int, extent: Int) -> [Int] {
    var thinning = TileThinning()
    thinning.items = candidates.ids.indices.map { index in
      let hash = ValueHash.number(.integer, UInt64(bitPattern: candidates.ids[index]))
      let size = UInt64(~candidates.sizes[index].bitPattern)
      return Item(
        place: place(candidates.middles[index], extent), index: UInt32(index),
        rank: size << 32 | hash >> 32)
    }
    thinning.items.sort { $0.place < $1.place }
    thinning.choose(0..<candidates.count, budget, level: 0)
    return thinning.chosen.sorted()
  }

  private static func place(_ middle: SIMD2<Double>, _ extent: Int) -> UInt32 {
    let steps = Double(1 << depth)
    // A middle without a place is not a number or infinite.
    func step(_ number: Double) -> UInt32 {
      let step = number / Double(extent) * steps
      return step.isNaN ? 0 : UInt32(min(max(step, 0), steps - 1))
    }
    return spread(step(middle.x)) | spread(step(middle.y)) << 1
  }

  /// The bits with a gap between each two.
  private static func spread(_ bits: UInt32) -> UInt32 {
    var bits = bits
    bits = (bits | bits << 8) & 0x00FF_00FF
    bits = (bits | bits << 4) & 0x0F0F_0F0F
    bits = (bits | bits << 2) & 0x3333_3333
    return (bits | bits << 1) & 0x5555_5555
  }

  private struct Quarter {
    var range: Range<Int>
    var rank: UInt64
    var share = 0

    var room: Int { range.count - share }
  }

  private mutating func choose(_ range: Range<Int>, _ budget: Int, level: Int) {
    if budget >= range.count {
      chosen += items[range].map { Int($0.index) }
    } else if budget == 1 || level == Self.depth {
      let first = items[range].sorted { ($0.rank, $0.index) < ($1.rank, $1.index) }
      chosen += first.prefix(budget).map { Int($0.index) }
    } else if budget > 0 {
      var quarters = quarters(of: range, level: level)
      Self.divide(budget, among: &quarters)
      for quarter in quarters { choose(quarter.range, quarter.share, level: level + 1) }
    }
  }

  /// The quarters that have features, that of the first feature first.
  private func quarters(of range: Range<Int>, level: Int) -> [Quarter] {
    let shift = UInt32(2 * (Self.depth - 1 - level))
    var quarters: [Quarter] = []
    var start = range.lowerBound
    while start < range.upperBound {
      let number = items[start].place >> shift
      var rank = UInt64.max
      var end = start
      while end < range.upperBound, items[end].place >> shift == number {
        rank = min(rank, items[end].rank)
        end += 1
      }
      quarters.append(Quarter(range: start..<end, rank: rank))
      start = end
    }
    return quarters.sorted { $0.rank < $1.rank }
  }

  /// Gives each in turn one more, as long as it has room.
  private static func divide(_ budget: Int, among quarters: inout [Quarter]) {
    var left = budget
    while left > 0 {
      let open = quarters.indices.filter { quarters[$0].room > 0 }
      guard !open.isEmpty else { return }
      let least = open.map { quarters[$0].room }.min() ?? 0
      let turns = min(least, max(1, left / open.count))
      for index in open where left > 0 {
        let share = min(turns, left)
        quarters[index].share += share
        left -= share
      }
    }
  }
}
