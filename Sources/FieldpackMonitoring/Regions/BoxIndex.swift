/// A packed R-tree over boxes: nodes of four, each followed by all that is below it, in one array.
///
/// The boxes are cut into halves by the middles of their longer spread, and these again.
struct BoxIndex: Sendable {
  /// West, south, east and north in degrees, of which the last two have the other sign, so that one
  /// comparison tells whether a box holds or meets another.
  typealias Box = SIMD4<Double>

  private struct Link {
    /// The first node that is not below this one.
    var after: Int32
    /// Index among the boxes given; -1 for a node that holds others.
    var entry: Int32
  }

  private var boxes: [Box] = []
  private var links: [Link] = []

  static func box(_ minX: Double, _ minY: Double, _ maxX: Double, _ maxY: Double) -> Box {
    [minX, minY, -maxX, -maxY]
  }

  init(_ entries: [Box]) {
    guard !entries.isEmpty else { return }
    boxes.reserveCapacity(entries.count * 3 / 2)
    links.reserveCapacity(entries.count * 3 / 2)
    var order = entries.indices.map { Int32($0) }
    add(&order, entries.indices, entries)
  }

  /// Adds the node above the entries of a range of the order.
  private mutating func add(_ order: inout [Int32], _ range: Range<Int>, _ entries: [Box]) {
    let node = boxes.count
    var union = entries[Int(order[range.lowerBound])]
    for entry in order[range].dropFirst() { union = pointwiseMin(union, entries[Int(entry)]) }
    boxes.append(union)
    links.append(Link(after: 0, entry: range.count == 1 ? order[range.lowerBound] : -1))
    if range.count > 1 {
      for half in Self.halves(&order, range, entries) {
        guard range.count > 4 else {
          for entry in half { add(&order, entry..<entry + 1, entries) }
          continue
        }
        for quarter in Self.halves(&order, half, entries) { add(&order, quarter, entries) }
      }
    }
    links[node].after = Int32(boxes.count)
  }

  private static func halves(
    _ order: inout [Int32], _ range: Range<Int>, _ entries: [Box]
  ) -> [Range<Int>] {
    guard range.count > 1 else { return [range] }
    // The sum of a side and its negated opposite is the doubled middle.
    func middle(_ entry: Int32, _ axis: Int) -> Double {
      let box = entries[Int(entry)]
      return box[axis] - box[axis + 2]
    }
    var low = SIMD2(repeating: Double.infinity)
    var high = -low
    for entry in order[range] {
      let own = SIMD2(middle(entry, 0), middle(entry, 1))
      (low, high) = (pointwiseMin(low, own), pointwiseMax(high, own))
    }
    let spread = high - low
    let axis = spread.x >= spread.y ? 0 : 1
    if range.count > 4 {
      order[range].sort { (middle($0, axis), $0) < (middle($1, axis), $1) }
    }
    let half = range.lowerBound + range.count / 2
    return [range.lowerBound..<half, half..<range.upperBound]
  }

  /// Gives the indexes of the boxes that meet a box, whose borders count.
  @inline(__always)
  func visit(meeting box: Box, _ body: (Int) -> Void) {
    visit(meeting: box, where: { _ in true }, body)
  }

  /// - Parameter meets: tells of each box that meets `box` whether it or one below it may count.
  @inline(__always)
  func visit(meeting box: Box, where meets: (Box) -> Bool, _ body: (Int) -> Void) {
    // Mine from the west: at most its east; mine from the east, negated: at most its west, negated.
    let limit = Box(-box.z, -box.w, -box.x, -box.y)
    boxes.withUnsafeBufferPointer { boxes in
      links.withUnsafeBufferPointer { links in
        var node = 0
        while node < boxes.count {
          let (own, link) = (boxes[node], links[node])
          guard all(own .<= limit), meets(own) else {
            node = Int(link.after)
            continue
          }
          if link.entry >= 0 { body(Int(link.entry)) }
          node += 1
        }
      }
    }
  }

  /// Gives the indexes of the boxes that the straight way from `start` to `end` meets, and few others.
  @inline(__always)
  func visit(alongWayFrom start: SIMD2<Double>, to end: SIMD2<Double>, _ body: (Int) -> Void) {
    let (low, high) = (pointwiseMin(start, end), pointwiseMax(start, end))
    let step = end - start
    let (wide, tall) = (abs(step.x), abs(step.y))
    // More than all rounding of what is compared, whose terms are below 2000 degrees times the step.
    let room = 1e-11 * (wide + tall)
    visit(
      meeting: Self.box(low.x, low.y, high.x, high.y),
      where: { box in
        let (doubled, size) = (
          SIMD2(box.x - box.z, box.y - box.w) - 2 * start, SIMD2(-box.z - box.x, -box.w - box.y)
        )
        return abs(step.x * doubled.y - step.y * doubled.x)
          <= size.x * tall + size.y * wide + room
      }, body)
  }
}
