import FieldpackGeometry

/// The side of a geometry on which a position lies, if it is not on the geometry's boundary, lines
/// or points.
enum Side: UInt8 {
  case outside, inside
}

/// A raster over a geometry, by which most boxes are known to lie wholly inside or outside without
/// asking GEOS.
///
/// Cells that a line of the geometry touches have no side. All other cells of a connected region
/// are on one side, so GEOS is asked for only one cell of each region.
struct SideGrid {
  /// The number of cells in a row and in a column; larger for geometries with many lines, which
  /// leave few cells free.
  private let size: Int
  /// How near, in cells, a line has to be to a cell to count as touching it; far above the rounding
  /// error.
  private static let margin = 1e-6

  private let origin: (x: Double, y: Double)
  private let scale: (x: Double, y: Double)
  private let cells: Cells
  private let outside: CellSums
  private let inside: CellSums

  /// - Parameters:
  ///   - envelope: the box around the geometry.
  ///   - lines: the lines of the geometry's WKB, in x and y.
  ///   - side: the side of a position that lies on no line.
  /// - Returns: `nil` where the box is too flat, or too small for its distance from the origin.
  init?(
    envelope: Envelope, lines: LineCollector, side: (_ x: Double, _ y: Double) -> Side?
  ) {
    self.size = lines.lines.count < 256 ? 256 : 512
    let size = Double(self.size)
    let greatest = max(
      abs(envelope.minX), abs(envelope.maxX), abs(envelope.minY), abs(envelope.maxY))
    // With smaller cells the rounding of a position would not be far below the margin.
    let least = greatest * 1e-8
    guard envelope.width.isFinite, envelope.height.isFinite, envelope.width / size > least,
      envelope.height / size > least
    else { return nil }
    origin = (envelope.minX, envelope.minY)
    scale = (size / envelope.width, size / envelope.height)
    guard scale.x.isFinite, scale.y.isFinite else { return nil }
    var cells = Cells(size: self.size)
    for line in lines.lines {
      cells.mark(
        from: ((line.x0 - origin.x) * scale.x, (line.y0 - origin.y) * scale.y),
        to: ((line.x1 - origin.x) * scale.x, (line.y1 - origin.y) * scale.y),
        margin: Self.margin)
    }
    let (origin, scale) = (origin, scale)
    cells.fill { column, row in
      side(origin.x + (column + 0.5) / scale.x, origin.y + (row + 0.5) / scale.y)
    }
    outside = CellSums(cells, counting: .outside)
    inside = CellSums(cells, counting: .inside)
    self.cells = cells
  }

  /// The side of a position; `nil` where it lies too near to a line.
  func side(x: Double, y: Double) -> Side? {
    let (column, row) = ((x - origin.x) * scale.x, (y - origin.y) * scale.y)
    let limit = Double(size)
    guard column >= 0, column < limit, row >= 0, row < limit else {
      return column < 0 || column > limit || row < 0 || row > limit ? .outside : nil
    }
    switch cells.states[Int(row) * size + Int(column)] {
    case .outside: return .outside
    case .inside: return .inside
    case .unknown, .line, .undecided: return nil
    }
  }

  /// The side on which all of `box` lies; `nil` where the geometry must be asked.
  func side(of box: Envelope) -> Side? {
    let columns = range(box.minX, box.maxX, from: origin.x, scale.x)
    let rows = range(box.minY, box.maxY, from: origin.y, scale.y)
    guard let columns, let rows else { return nil }
    let all = columns.range.count * rows.range.count
    // Everything beyond the grid is outside.
    if outside.count(columns.range, rows.range) == all { return .outside }
    guard !columns.isBeyond, !rows.isBeyond else { return nil }
    return inside.count(columns.range, rows.range) == all ? .inside : nil
  }

  private func range(
    _ low: Double, _ high: Double, from origin: Double, _ scale: Double
  ) -> (range: Range<Int>, isBeyond: Bool)? {
    let (first, last) = ((low - origin) * scale, (high - origin) * scale)
    guard first <= last else { return nil }
    let limit = Double(size - 1)
    let start = Int(min(max(first, 0), limit))
    let end = Int(min(max(last, 0), limit))
    return (start..<end + 1, first < 0 || last > Double(size))
  }
}

/// The cells of a grid while their states are found.
private struct Cells {
  enum State: UInt8 { case unknown, line, undecided, outside, inside }

  let size: Int
  private(set) var states: [State]

  init(size: Int) {
    self.size = size
    states = [State](repeating: .unknown, count: size * size)
  }

  /// Marks each cell that the line from `a` to `b` touches; `a` and `b` are in cells.
  mutating func mark(from a: (x: Double, y: Double), to b: (x: Double, y: Double), margin: Double) {
    let (low, high) = a.y <= b.y ? (a, b) : (b, a)
    let rise = high.y - low.y
    for row in clamped(low.y - margin)...clamped(high.y + margin) {
      var (from, to) = (low.x, high.x)
      // For an almost level line the part in a row cannot be computed more exactly than the whole.
      if rise > 1e-3 {
        let enters = max(0, (Double(row) - margin - low.y) / rise)
        let leaves = min(1, (Double(row + 1) + margin - low.y) / rise)
        guard enters <= leaves else { continue }
        from = low.x + enters * (high.x - low.x)
        to = low.x + leaves * (high.x - low.x)
      }
      for column in clamped(min(from, to) - margin)...clamped(max(from, to) + margin) {
        states[row * size + column] = .line
      }
    }
  }

  private func clamped(_ coordinate: Double) -> Int {
    Int(min(max(coordinate, 0), Double(size - 1)))
  }

  /// Finds the side of the cells without lines, one connected region after the other.
  mutating func fill(_ side: (_ column: Double, _ row: Double) -> Side?) {
    var waiting: [Int] = []
    for start in states.indices where states[start] == .unknown {
      let state: State =
        switch side(Double(start % size), Double(start / size)) {
        case .outside?: .outside
        case .inside?: .inside
        case nil: .undecided
        }
      states[start] = state
      waiting.append(start)
      while let cell = waiting.popLast() {
        let (row, column) = cell.quotientAndRemainder(dividingBy: size)
        if column > 0 { take(cell - 1, state, &waiting) }
        if column < size - 1 { take(cell + 1, state, &waiting) }
        if row > 0 { take(cell - size, state, &waiting) }
        if row < size - 1 { take(cell + size, state, &waiting) }
      }
    }
  }

  private mutating func take(_ cell: Int, _ state: State, _ waiting: inout [Int]) {
    guard states[cell] == .unknown else { return }
    states[cell] = state
    waiting.append(cell)
  }
}

/// The number of cells of one state in any rectangle of cells.
private struct CellSums {
  private let stride: Int
  private let sums: [Int32]

  init(_ cells: Cells, counting state: Cells.State) {
    stride = cells.size + 1
    var sums = [Int32](repeating: 0, count: stride * stride)
    for row in 0..<cells.size {
      var inRow: Int32 = 0
      for column in 0..<cells.size {
        if cells.states[row * cells.size + column] == state { inRow += 1 }
        sums[(row + 1) * stride + column + 1] = sums[row * stride + column + 1] + inRow
      }
    }
    self.sums = sums
  }

  func count(_ columns: Range<Int>, _ rows: Range<Int>) -> Int {
    let (top, bottom) = (rows.upperBound * stride, rows.lowerBound * stride)
    return Int(
      sums[top + columns.upperBound] - sums[top + columns.lowerBound]
        - sums[bottom + columns.upperBound] + sums[bottom + columns.lowerBound])
  }
}

/// Gathers the lines of a well-known binary in x and y; a point becomes a line without length.
struct LineCollector: GeometryVisitor {
  struct Line {
    var x0: Double
    var y0: Double
    var x1: Double
    var y1: Double
  }

  private(set) var lines: [Line] = []
  private var last: (x: Double, y: Double)?

  mutating func begin(_ type: GeometryType, _ dimensions: Dimensions, count: Int?) { last = nil }
  mutating func beginRing(count: Int?) { last = nil }
  mutating func endRing() { last = nil }
  mutating func end(_ type: GeometryType) { last = nil }

  mutating func position(_ x: Double, _ y: Double, _ z: Double, _ m: Double) {
    let from = last ?? (x, y)
    lines.append(Line(x0: from.x, y0: from.y, x1: x, y1: y))
    last = (x, y)
  }
}
