import FieldpackRTree

/// A rectangle of cells of the Hilbert curve.
struct HilbertCells {
  let x: ClosedRange<UInt32>
  let y: ClosedRange<UInt32>

  /// A square of cells, which is one stretch of the curve: all of its cells have the same digits in
  /// front.
  private struct Square {
    var x: UInt32
    var y: UInt32
    var side: UInt32

    var range: Range<Int64> {
      let cells = Int64(side) * Int64(side)
      let start = Int64(Hilbert.index(x: x, y: y)) & ~(cells - 1)
      return start..<start + cells
    }

    var quarters: [Square] {
      let half = side / 2
      return [
        Square(x: x, y: y, side: half), Square(x: x + half, y: y, side: half),
        Square(x: x, y: y + half, side: half), Square(x: x + half, y: y + half, side: half),
      ]
    }
  }

  /// Squares are divided until there are so many.
  private static let mostSquares = 64

  /// Ranges of the curve that have all cells of the rectangle, in order, and as few others as `limit`
  /// ranges allow.
  func ranges(atMost limit: Int) -> [Range<Int64>] {
    var whole: [Square] = []
    var partial = [Square(x: 0, y: 0, side: 65_536)]
    while !partial.isEmpty, whole.count + partial.count <= Self.mostSquares {
      var next: [Square] = []
      for quarter in partial.flatMap(\.quarters) where touches(quarter) {
        if isInside(quarter) { whole.append(quarter) } else { next.append(quarter) }
      }
      partial = next
    }
    let found = (whole + partial).map(\.range).sorted { $0.lowerBound < $1.lowerBound }
    return Self.merged(found, atMost: max(1, limit))
  }

  private func touches(_ square: Square) -> Bool {
    square.x <= x.upperBound && square.x + (square.side - 1) >= x.lowerBound
      && square.y <= y.upperBound && square.y + (square.side - 1) >= y.lowerBound
  }

  private func isInside(_ square: Square) -> Bool {
    square.x >= x.lowerBound && square.x + (square.side - 1) <= x.upperBound
      && square.y >= y.lowerBound && square.y + (square.side - 1) <= y.upperBound
  }

  /// Joins ranges that touch, then those with the smallest gaps between them.
  private static func merged(_ ranges: [Range<Int64>], atMost limit: Int) -> [Range<Int64>] {
    var joined: [Range<Int64>] = []
    for range in ranges {
      if let last = joined.last, last.upperBound == range.lowerBound {
        joined[joined.count - 1] = last.lowerBound..<range.upperBound
      } else {
        joined.append(range)
      }
    }
    while joined.count > limit {
      var best = 1
      for index in 2..<joined.count where gap(joined, index) < gap(joined, best) { best = index }
      joined[best - 1] = joined[best - 1].lowerBound..<joined[best].upperBound
      joined.remove(at: best)
    }
    return joined
  }

  private static func gap(_ ranges: [Range<Int64>], _ index: Int) -> Int64 {
    ranges[index].lowerBound - ranges[index - 1].upperBound
  }
}
