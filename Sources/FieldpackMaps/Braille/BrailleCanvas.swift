/// A drawing of dots, 2 by 4 in each cell of a terminal.
struct BrailleCanvas: Sendable {
  /// In cells.
  let columns: Int
  let rows: Int
  private var cells: [UInt8]

  init(columns: Int, rows: Int) {
    self.columns = max(1, columns)
    self.rows = max(1, rows)
    cells = Array(repeating: 0, count: self.columns * self.rows)
  }

  /// In dots.
  var width: Int { columns * 2 }
  var height: Int { rows * 4 }

  /// Sets a dot, counted from the top left; one outside sets nothing.
  mutating func set(x: Int, y: Int) {
    guard x >= 0, y >= 0, x < width, y < height else { return }
    // Unicode numbers the dots 1 2 3 7 down the left and 4 5 6 8 down the right.
    let left: [UInt8] = [0x01, 0x02, 0x04, 0x40]
    let right: [UInt8] = [0x08, 0x10, 0x20, 0x80]
    cells[y / 4 * columns + x / 2] |= (x % 2 == 0 ? left : right)[y % 4]
  }

  /// Sets the dots of a straight line, after Bresenham; both ends must lie inside.
  mutating func line(fromX x0: Int, y y0: Int, toX x1: Int, y y1: Int) {
    let (dx, dy) = (abs(x1 - x0), -abs(y1 - y0))
    let (stepX, stepY) = (x0 < x1 ? 1 : -1, y0 < y1 ? 1 : -1)
    var (x, y, error) = (x0, y0, dx + dy)
    for _ in 0...max(dx, -dy) {
      set(x: x, y: y)
      let doubled = 2 * error
      if doubled >= dy {
        error += dy
        x += stepX
      }
      if doubled <= dx {
        error += dx
        y += stepY
      }
    }
  }

  /// The rows from the top, in Braille patterns, or in ASCII by how many dots a cell has.
  func lines(usesUnicode: Bool = true) -> [String] {
    let shades: [Character] = [" ", ".", ":", "-", "=", "+", "*", "#", "#"]
    return (0..<rows).map { row in
      let line = cells[row * columns..<(row + 1) * columns]
      guard usesUnicode else { return String(line.map { shades[$0.nonzeroBitCount] }) }
      var scalars = String.UnicodeScalarView()
      for cell in line {
        // An empty cell is a blank, not a pattern without dots: some fonts draw that one.
        scalars.append(cell == 0 ? " " : Unicode.Scalar(UInt32(0x2800) + UInt32(cell)) ?? " ")
      }
      return String(scalars)
    }
  }
}
