package import FieldpackGeometry

/// Which longitudes have data, so that a map across the antimeridian shows these and not the world.
package struct LongitudeSpans: Sendable {
  private static let binCount = 720
  /// The least and the greatest longitude in each half degree; `nil` where there is nothing.
  private var bins = [(least: Double, greatest: Double)?](repeating: nil, count: binCount)
  private var isElsewhere = false

  package init() {}

  /// Adds a span that does not cross the antimeridian.
  package mutating func add(_ from: Double, _ to: Double) {
    guard from.isFinite, to.isFinite, from <= to else { return }
    guard from >= -180, to <= 180 else {
      isElsewhere = true
      return
    }
    for bin in Self.bin(from)...Self.bin(to) {
      let west = -180 + Double(bin) / 2
      let (least, greatest) = (max(from, west), min(to, west + 0.5))
      let known = bins[bin]
      bins[bin] = (
        min(known?.least ?? least, least), max(known?.greatest ?? greatest, greatest)
      )
    }
  }

  /// Adds all segments of a geometry; one that is longer than half the globe takes the other way.
  package mutating func add(_ geometry: Geometry) {
    var walk = SpanWalk(spans: self)
    walk.draw(geometry)
    self = walk.spans
  }

  private static func bin(_ longitude: Double) -> Int {
    max(0, min(binCount - 1, Int(((longitude + 180) * 2).rounded(.down))))
  }

  /// The envelope with longitudes beyond 180 where the data lie more closely together across the
  /// antimeridian; `nil` where they do not.
  package func cut(_ envelope: Envelope) -> Envelope? {
    guard !isElsewhere, envelope.width > 180 else { return nil }
    var best = 0..<0
    var start = 0
    for bin in 0...Self.binCount where bin == Self.binCount || bins[bin] != nil {
      if bin - start > best.count { best = start..<bin }
      start = bin + 1
    }
    // A gap at the edges is what a plain map leaves out already.
    guard best.lowerBound > 0, best.upperBound < Self.binCount,
      let west = bins[best.upperBound]?.least, let east = bins[best.lowerBound - 1]?.greatest,
      east + 360 - west <= 0.8 * envelope.width
    else { return nil }
    var cut = envelope
    (cut.minX, cut.maxX) = (west, east + 360)
    return cut
  }

  private struct SpanWalk: MapDrawing {
    var spans: LongitudeSpans

    mutating func draw(_ shape: MapShape) {
      switch shape {
      case .point(let point): spans.add(point.x, point.x)
      case .line(let points): add(points)
      case .polygon(let rings): for ring in rings { add(ring) }
      }
    }

    private mutating func add(_ points: [MapPoint]) {
      for (a, b) in zip(points, points.dropFirst()) {
        let (west, east) = (min(a.x, b.x), max(a.x, b.x))
        if east - west > 180, east <= 180, west >= -180 {
          spans.add(-180, west)
          spans.add(east, 180)
        } else {
          spans.add(west, east)
        }
      }
    }
  }
}
