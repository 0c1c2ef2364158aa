/// One layer of an SVG map as it gathers what is drawn of it.
struct SVGLayer {
  let name: String
  let paint: SVGPaint
  private let frame: MapFrame
  /// One `<path>` a polygon, so that features that overlap do not cut holes into each other.
  private(set) var polygons: [UInt8] = []
  private(set) var lines = SVGPath()
  /// Where points are, each pixel once: a million points are no more dots than the map has pixels.
  private(set) var dots: Set<Dot> = []
  /// Polygons and lines too small to be seen as such.
  private(set) var specks: Set<Dot> = []

  struct Dot: Hashable, Comparable {
    let x: Int
    let y: Int

    static func < (a: Dot, b: Dot) -> Bool { (a.y, a.x) < (b.y, b.x) }
  }

  /// Vertices nearer to the last one than this are left out, in tenths of a pixel.
  private static let tolerance = 6

  init(name: String, paint: SVGPaint, frame: MapFrame) {
    self.name = name
    self.paint = paint
    self.frame = frame
  }

  var hasPolygons: Bool { !polygons.isEmpty }
  var hasLines: Bool { !lines.bytes.isEmpty }

  mutating func draw(_ shape: MapShape) {
    switch shape {
    case .point(let point):
      if point.isFinite { dots.insert(dot(SVGPath.tenths(frame.project(point)))) }
    case .line(let points): draw(line: points)
    case .polygon(let rings): draw(polygon: rings)
    }
  }

  private func dot(_ point: (x: Int, y: Int)) -> Dot {
    // To the whole pixel: a dot is several pixels wide.
    Dot(x: (point.x + 5) / 10 * 10, y: (point.y + 5) / 10 * 10)
  }

  private mutating func draw(line points: [MapPoint]) {
    let kept = simplified(points)
    guard let first = kept.first else { return }
    guard kept.count > 1 else {
      specks.insert(dot(first))
      return
    }
    lines.move(to: first)
    for point in kept.dropFirst() { lines.line(to: point) }
  }

  private mutating func draw(polygon rings: [[MapPoint]]) {
    var path = SVGPath()
    for (index, ring) in rings.enumerated() {
      var kept = simplified(ring)
      if kept.count > 1, let first = kept.first, let last = kept.last, first == last {
        kept.removeLast()
      }
      guard kept.count > 2 else {
        if index == 0, let first = kept.first {
          specks.insert(dot(first))
          return
        }
        continue
      }
      path.move(to: kept[0])
      for point in kept.dropFirst() { path.line(to: point) }
      path.close()
    }
    guard !path.bytes.isEmpty else { return }
    polygons.append(contentsOf: "<path d=\"".utf8)
    polygons.append(contentsOf: path.bytes)
    polygons.append(contentsOf: "\"/>\n".utf8)
  }

  /// The vertices that can be told apart on the map, in tenths of a pixel; the last is always kept.
  private func simplified(_ points: [MapPoint]) -> [(x: Int, y: Int)] {
    var kept: [(x: Int, y: Int)] = []
    var last: (x: Int, y: Int)?
    for point in points where point.isFinite {
      let point = SVGPath.tenths(frame.project(point))
      last = point
      if let previous = kept.last {
        let (dx, dy) = (point.x - previous.x, point.y - previous.y)
        if dx * dx + dy * dy < Self.tolerance * Self.tolerance { continue }
      }
      kept.append(point)
    }
    if let last, let end = kept.last, last != end {
      if kept.count > 1 { kept.removeLast() }
      kept.append(last)
    }
    return kept
  }
}
