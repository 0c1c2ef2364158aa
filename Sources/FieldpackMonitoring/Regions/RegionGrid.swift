/// What a position may lie in, by the cells of a grid: it looks at one cell, where a tree is gone down
/// to a leaf for each box.
struct RegionGrid: Sendable {
  typealias Box = BoxIndex.Box

  private struct Item {
    /// Rounded outwards.
    let box: SIMD4<Float>
    let entry: PackedRegions.Entry
  }

  /// A cell with more is left to the tree.
  private static let crowd = 24

  private let lines: GridLines
  /// Where the items of each cell begin, and where those of the last end; all bits inverted of a
  /// crowded one, which has none.
  private let starts: [Int32]
  private let items: [Item]

  /// - Parameter boxes: of the entries.
  init(_ entries: [PackedRegions.Entry], _ boxes: [Box]) {
    let lines = GridLines(boxes)
    var counts = [Int32](repeating: 0, count: lines.count)
    for box in boxes { lines.visit(box) { counts[$0] += 1 } }
    var starts: [Int32] = [0]
    starts.reserveCapacity(counts.count + 1)
    var total: Int32 = 0
    for (cell, count) in counts.enumerated() {
      if count > Self.crowd { starts[cell] = ~total } else { total += count }
      starts.append(total)
    }
    let items = [Item](unsafeUninitializedCapacity: Int(total)) { items, count in
      for (entry, box) in zip(entries, boxes) {
        let item = Item(box: Self.rounded(box), entry: entry)
        lines.visit(box) { cell in
          guard starts[cell] >= 0 else { return }
          // Cells are filled from behind.
          counts[cell] -= 1
          items.initializeElement(at: Int(starts[cell] + counts[cell]), to: item)
        }
      }
      count = Int(total)
    }
    (self.lines, self.starts, self.items) = (lines, starts, items)
  }

  /// All sides downwards, of which two have the other sign.
  private static func rounded(_ box: Box) -> SIMD4<Float> {
    var rounded = SIMD4<Float>(box)
    for side in 0..<4 where Double(rounded[side]) > box[side] {
      rounded[side] = rounded[side].nextDown
    }
    return rounded
  }

  /// Gives the entries whose boxes hold a position, whose borders count, and few others; false where
  /// only the tree tells which they are.
  @inline(__always)
  func visit(_ x: Double, _ y: Double, _ body: (PackedRegions.Entry) -> Void) -> Bool {
    guard lines.count > 0 else { return true }
    let cell = lines.cell(x, y)
    let (first, next) = (starts[cell], starts[cell + 1])
    guard first >= 0 else { return false }
    let end = next < 0 ? ~next : next
    // Zeros without a sign, so that the difference of equal ones has none.
    let box = SIMD4<Float>(BoxIndex.box(x, y, x, y)) + 0
    return items.withUnsafeBufferPointer { items in
      for item in items[Int(first)..<Int(end)] where Self.hasNoSign(box - item.box) {
        body(item.entry)
      }
      return true
    }
  }

  /// Whether no number is below zero; quicker than to compare them.
  @inline(__always)
  private static func hasNoSign(_ numbers: SIMD4<Float>) -> Bool {
    let pairs = unsafeBitCast(numbers, to: SIMD2<UInt64>.self)
    return (pairs.x | pairs.y) & 0x8000_0000_8000_0000 == 0
  }
}

/// The lines between the cells of a grid over the boxes of all regions.
private struct GridLines: Sendable {
  private var origin = SIMD2<Double>()
  /// Cells a degree.
  private var scale = SIMD2<Double>()
  private var columns = 0
  private var rows = 0

  var count: Int { columns * rows }

  /// Two cells a box, and fewer where boxes would be in many.
  init(_ boxes: [BoxIndex.Box]) {
    guard var union = boxes.first else { return }
    for box in boxes { union = pointwiseMin(union, box) }
    origin = pointwiseMax(SIMD2(union.x, union.y), [-180, -90])
    let size = pointwiseMax(
      pointwiseMin(SIMD2(-union.z, -union.w), [180, 90]) - origin, [1e-9, 1e-9])
    var count = Double(min(2 * boxes.count, 1 << 22))
    while true {
      let side = max((size.x * size.y / count).squareRoot(), max(size.x, size.y) / count)
      columns = max(1, Int(size.x / side))
      rows = max(1, Int(size.y / side))
      scale = SIMD2(Double(columns), Double(rows)) / size
      if count < 2 || boxes.reduce(0, { $0 + cellCount($1) }) <= 8 * boxes.count { return }
      count /= 2
    }
  }

  /// Rounding is the same for boxes and positions, and monotone, so that the cell of a position is one
  /// of those of each box that holds it.
  @inline(__always)
  private func column(_ x: Double) -> Int {
    Int(max(0, min(Double(columns - 1), (x - origin.x) * scale.x)))
  }

  @inline(__always)
  private func row(_ y: Double) -> Int {
    Int(max(0, min(Double(rows - 1), (y - origin.y) * scale.y)))
  }

  @inline(__always)
  func cell(_ x: Double, _ y: Double) -> Int { row(y) * columns + column(x) }

  private func cellCount(_ box: BoxIndex.Box) -> Int {
    (column(-box.z) - column(box.x) + 1) * (row(-box.w) - row(box.y) + 1)
  }

  @inline(__always)
  func visit(_ box: BoxIndex.Box, _ body: (Int) -> Void) {
    for row in row(box.y)...row(-box.w) {
      for column in column(box.x)...column(-box.z) { body(row * columns + column) }
    }
  }
}
