/// A packed R-tree over boxes: full nodes of sixteen, level by level in one array.
///
/// The boxes are put in order as sort-tile-recursive packing does: cut into slices by the middle of
/// x, each slice ordered by the middle of y.
struct BoxIndex: Sendable {
  /// West, south, east and north in degrees, of which the last two have the other sign, so that one
  /// comparison tells whether a box holds or meets another.
  typealias Box = SIMD4<Double>

  static let width = 16

  /// The entries' boxes in their order, then the nodes of each level above.
  private var boxes: [Box] = []
  /// Where each level starts in `boxes`, the entries' first.
  private var levels: [Int] = [0]
  /// The place among the boxes given of each box in its order.
  private var places: [Int32] = []

  static func box(_ minX: Double, _ minY: Double, _ maxX: Double, _ maxY: Double) -> Box {
    [minX, minY, -maxX, -maxY]
  }

  init(_ entries: [Box]) {
    places = Self.order(entries)
    boxes = places.map { entries[Int($0)] }
    var level = 0..<boxes.count
    while level.count > 1 {
      let start = boxes.count
      for first in stride(from: level.lowerBound, to: level.upperBound, by: Self.width) {
        var union = boxes[first]
        for index in first..<min(first + Self.width, level.upperBound) {
          union = pointwiseMin(union, boxes[index])
        }
        boxes.append(union)
      }
      levels.append(start)
      level = start..<boxes.count
    }
    levels.append(boxes.count)
  }

  private static func order(_ entries: [Box]) -> [Int32] {
    var order = entries.indices.map { Int32($0) }
    // The sum of a side and its negated opposite is the doubled middle.
    func middle(_ place: Int32, _ axis: Int) -> Double {
      let box = entries[Int(place)]
      return box[axis] - box[axis + 2]
    }
    order.sort { (middle($0, 0), $0) < (middle($1, 0), $1) }
    let leaves = (entries.count + width - 1) / width
    let slice = max(1, Int(Double(leaves).squareRoot().rounded(.up))) * width
    for start in stride(from: 0, to: order.count, by: slice) {
      order[start..<min(start + slice, order.count)].sort {
        (middle($0, 1), $0) < (middle($1, 1), $1)
      }
    }
    return order
  }

  /// Gives the places of the boxes that meet a box, whose borders count.
  @inline(__always)
  func visit(meeting box: Box, _ body: (Int) -> Void) {
    // Mine from the west: at most its east; mine from the east, negated: at most its west, negated.
    let limit = Box(-box.z, -box.w, -box.x, -box.y)
    guard let top = levels.dropLast().indices.last, !places.isEmpty else { return }
    boxes.withUnsafeBufferPointer { boxes in
      visit(top, levels[top]..<levels[top + 1], limit, boxes, body)
    }
  }

  private func visit(
    _ level: Int, _ range: Range<Int>, _ limit: Box, _ boxes: UnsafeBufferPointer<Box>,
    _ body: (Int) -> Void
  ) {
    for index in range where all(boxes[index] .<= limit) {
      if level == 0 {
        body(Int(places[index]))
      } else {
        let start = levels[level - 1] + (index - levels[level]) * Self.width
        visit(level - 1, start..<min(start + Self.width, levels[level]), limit, boxes, body)
      }
    }
  }
}
