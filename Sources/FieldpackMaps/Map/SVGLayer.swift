import FieldpackCore

/// What is drawn of the features that have one symbol.
struct SVGLayer {
  let symbol: MapSymbol
  /// Whether a picture shows only as many points as do not hide each other.
  let isThinned: Bool
  private let frame: MapFrame
  /// One `<path>` a polygon, so that features that overlap do not cut holes into each other.
  private(set) var polygons: [UInt8] = []
  private(set) var lines = SVGPath()
  /// Where points are, each pixel once: a million points are no more dots than the map has pixels.
  private(set) var dots: Set<Dot> = []
  /// Polygons and lines too small to be seen as such.
  private(set) var specks: Set<Dot> = []
  var features: [SVGFeature] = []

  struct Dot: Hashable, Comparable {
    let x: Int
    let y: Int

    static func < (a: Dot, b: Dot) -> Bool { (a.y, a.x) < (b.y, b.x) }
  }

  /// Vertices nearer to the last one than this are left out, in tenths of a pixel.
  private static let tolerance = 6

  init(_ symbol: MapSymbol, isThinned: Bool, frame: MapFrame) {
    self.symbol = symbol
    self.isThinned = isThinned
    self.frame = frame
  }

  var hasPolygons: Bool { !polygons.isEmpty || features.contains { $0.kind == .polygon } }
  var hasLines: Bool { !lines.bytes.isEmpty || features.contains { $0.kind == .line } }
  var hasPoints: Bool { !dots.isEmpty || features.contains { $0.kind == .point } }
  /// Whether nothing was drawn but what is too small.
  var isEmpty: Bool {
    polygons.isEmpty && lines.bytes.isEmpty && dots.isEmpty && specks.isEmpty && features.isEmpty
  }

  mutating func draw(_ shape: MapShape) {
    switch shape {
    case .point(let point): if let dot = dot(at: point) { dots.insert(dot) }
    case .line(let points):
      let kept = simplified(points)
      guard kept.count > 1 else {
        if let first = kept.first { specks.insert(dot(first)) }
        return
      }
      lines.add(kept)
    case .polygon(let rings):
      let (path, speck) = outline(rings)
      if let speck { specks.insert(speck) }
      guard !path.bytes.isEmpty else { return }
      polygons.append(contentsOf: "<path d=\"".utf8)
      polygons.append(contentsOf: path.bytes)
      polygons.append(contentsOf: "\"/>\n".utf8)
    }
  }

  // MARK: Shapes of the drawing

  func dot(at point: MapPoint) -> Dot? {
    point.isFinite ? dot(SVGPath.tenths(frame.project(point))) : nil
  }

  private func dot(_ point: (x: Int, y: Int)) -> Dot {
    // To the whole pixel: a dot is several pixels wide.
    Dot(x: (point.x + 5) / 10 * 10, y: (point.y + 5) / 10 * 10)
  }

  /// A line, or the dot that stands for one that is too short.
  func path(_ points: [MapPoint]) -> (path: SVGPath, speck: Dot?) {
    var path = SVGPath()
    let kept = simplified(points)
    guard kept.count > 1 else { return (path, kept.first.map(dot)) }
    path.add(kept)
    return (path, nil)
  }

  /// The rings, or the dot that stands for a polygon that is too small.
  func outline(_ rings: [[MapPoint]]) -> (path: SVGPath, speck: Dot?) {
    var path = SVGPath()
    for (index, ring) in rings.enumerated() {
      var kept = simplified(ring)
      if kept.count > 1, let first = kept.first, let last = kept.last, first == last {
        kept.removeLast()
      }
      guard kept.count > 2 else {
        if index == 0 { return (path, kept.first.map(dot)) }
        continue
      }
      path.add(kept)
      path.close()
    }
    return (path, nil)
  }

  /// The vertices that can be told apart on the map, in tenths of a pixel; the last is always kept.
  func simplified(_ points: [MapPoint]) -> [(x: Int, y: Int)] {
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

extension SVGPath {
  mutating func add(_ points: [(x: Int, y: Int)]) {
    guard let first = points.first else { return }
    move(to: first)
    for point in points.dropFirst() { line(to: point) }
  }
}
