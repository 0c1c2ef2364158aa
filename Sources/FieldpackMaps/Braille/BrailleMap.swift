package import FieldpackGeometry

/// A map for a terminal: Braille dots in a box, with the coordinates of its corners.
package struct BrailleMap: MapDrawing {
  private let frame: MapFrame
  private var canvas: BrailleCanvas
  private let usesUnicode: Bool

  /// - Parameters:
  ///   - isGeographic: whether x and y are degrees.
  ///   - width: the cells of a line.
  ///   - maxRows: the most lines that the map may take inside its box.
  package init(
    _ envelope: Envelope, isGeographic: Bool, width: Int, maxRows: Int = 20,
    usesUnicode: Bool = true
  ) {
    let dots = Double(max(10, min(width, 1000) - 2) * 2)
    frame = MapFrame(
      envelope, isGeographic: isGeographic, maxWidth: dots - 1,
      maxHeight: Double(max(2, min(maxRows, 1000)) * 4 - 1))
    self.usesUnicode = usesUnicode
    canvas = BrailleCanvas(
      columns: Int(((frame.width + 1) / 2 - 1e-6).rounded(.up)),
      rows: Int(((frame.height + 1) / 4 - 1e-6).rounded(.up)))
  }

  package mutating func draw(_ shape: MapShape) {
    switch shape {
    case .point(let point): dot(point)
    case .line(let points): trace(points)
    case .polygon(let rings): for ring in rings { trace(ring) }
    }
  }

  private mutating func dot(_ point: MapPoint) {
    let pixel = frame.project(point)
    guard pixel.x > -1, pixel.y > -1, pixel.x < frame.width + 1, pixel.y < frame.height + 1
    else { return }
    canvas.set(x: Int(pixel.x.rounded()), y: Int(pixel.y.rounded()))
  }

  private mutating func trace(_ points: [MapPoint]) {
    if points.count == 1 { dot(points[0]) }
    for (a, b) in zip(points, points.dropFirst()) where a.isFinite && b.isFinite {
      let clipped = Clipping.segment(
        frame.project(a), frame.project(b), width: frame.width, height: frame.height)
      guard let (from, to) = clipped else { continue }
      canvas.line(
        fromX: Int(from.x.rounded()), y: Int(from.y.rounded()), toX: Int(to.x.rounded()),
        y: Int(to.y.rounded()))
    }
  }

  /// The lines of the picture.
  package var lines: [String] {
    let (line, sides, corners) =
      usesUnicode ? ("─", "│", ["┌", "┐", "└", "┘"]) : ("-", "|", ["+", "+", "+", "+"])
    let rule = String(repeating: line, count: canvas.columns)
    let labels = frame.labels
    return [spread("\(labels.west) \(labels.north)", "\(labels.east) \(labels.north)")]
      + [corners[0] + rule + corners[1]]
      + canvas.lines(usesUnicode: usesUnicode).map { sides + $0 + sides }
      + [corners[2] + rule + corners[3]]
      + [spread("\(labels.west) \(labels.south)", "\(labels.east) \(labels.south)")]
  }

  /// Two texts at the ends of a line as wide as the box.
  private func spread(_ left: String, _ right: String) -> String {
    let room = canvas.columns + 2 - left.utf8.count - right.utf8.count
    return left + String(repeating: " ", count: max(2, room)) + right
  }
}

/// Cuts segments at the border of a drawing.
enum Clipping {
  /// The part of the segment inside `0...width`, `0...height`, after Liang and Barsky.
  static func segment(
    _ a: MapPoint, _ b: MapPoint, width: Double, height: Double
  ) -> (MapPoint, MapPoint)? {
    let (dx, dy) = (b.x - a.x, b.y - a.y)
    guard dx.isFinite, dy.isFinite else { return nil }
    var from = 0.0
    var to = 1.0
    for (step, room) in [(-dx, a.x), (dx, width - a.x), (-dy, a.y), (dy, height - a.y)] {
      if step == 0 {
        if room < 0 { return nil }
      } else if step < 0 {
        from = max(from, room / step)
      } else {
        to = min(to, room / step)
      }
    }
    guard from <= to else { return nil }
    return (
      MapPoint(a.x + from * dx, a.y + from * dy), MapPoint(a.x + to * dx, a.y + to * dy)
    )
  }
}
