/// Cuts lines and rings to a box.
struct TileClip {
  let box: TileBox
  private var scratch: [SIMD2<Double>] = []

  init(_ box: TileBox) { self.box = box }

  // MARK: Rings

  /// Cuts a ring, which is given and left without its last position.
  ///
  /// Sutherland and Hodgman: what lies beyond a side is moved onto it, so a ring that the box cuts into
  /// several parts has edges on the box that lie on each other. These are mended with the polygon.
  mutating func cut(ring: inout [SIMD2<Double>], within bounds: TileBox) {
    if bounds.least.x < box.least.x { cut(&ring, axis: 0, at: box.least.x, sign: 1) }
    if bounds.greatest.x > box.greatest.x { cut(&ring, axis: 0, at: box.greatest.x, sign: -1) }
    if bounds.least.y < box.least.y { cut(&ring, axis: 1, at: box.least.y, sign: 1) }
    if bounds.greatest.y > box.greatest.y { cut(&ring, axis: 1, at: box.greatest.y, sign: -1) }
  }

  /// - Parameter sign: 1 where greater numbers than `limit` are inside, else -1.
  private mutating func cut(
    _ ring: inout [SIMD2<Double>], axis: Int, at limit: Double, sign: Double
  ) {
    scratch.removeAll(keepingCapacity: true)
    guard var last = ring.last else { return }
    var wasInside = (last[axis] - limit) * sign >= 0
    for position in ring {
      let isInside = (position[axis] - limit) * sign >= 0
      if isInside != wasInside {
        scratch.append(Self.crossing(last, position, axis, limit))
      }
      if isInside { scratch.append(position) }
      (last, wasInside) = (position, isInside)
    }
    swap(&ring, &scratch)
  }

  /// Where an edge meets a side. Both directions of an edge give the same position, so that neighbours
  /// stay neighbours.
  private static func crossing(
    _ a: SIMD2<Double>, _ b: SIMD2<Double>, _ axis: Int, _ limit: Double
  ) -> SIMD2<Double> {
    let (low, high) = a[axis] < b[axis] ? (a, b) : (b, a)
    let share = (limit - low[axis]) / (high[axis] - low[axis])
    var found = low + (high - low) * share
    found[axis] = limit
    return found
  }

  // MARK: Lines

  /// Gives the parts of a line that lie in the box.
  mutating func cut(
    line: ArraySlice<SIMD2<Double>>, _ body: (_ part: [SIMD2<Double>]) -> Void
  ) {
    var part: [SIMD2<Double>] = []
    swap(&part, &scratch)
    defer { swap(&part, &scratch) }
    part.removeAll(keepingCapacity: true)
    guard var last = line.first else { return }
    for position in line.dropFirst() {
      let edge = (last, position)
      last = position
      guard let (start, end) = inside(edge.0, edge.1) else {
        finish(&part, body)
        continue
      }
      if part.last != start {
        finish(&part, body)
        part.append(start)
      }
      part.append(end)
      if end != position { finish(&part, body) }
    }
    finish(&part, body)
  }

  private func finish(
    _ part: inout [SIMD2<Double>], _ body: (_ part: [SIMD2<Double>]) -> Void
  ) {
    if part.count > 1 { body(part) }
    part.removeAll(keepingCapacity: true)
  }

  /// The part of an edge in the box (Liang and Barsky); `nil` where there is none.
  private func inside(
    _ a: SIMD2<Double>, _ b: SIMD2<Double>
  ) -> (start: SIMD2<Double>, end: SIMD2<Double>)? {
    if box.contains(a), box.contains(b) { return (a, b) }
    let step = b - a
    var (first, last) = (0.0, 1.0)
    for axis in 0..<2 {
      guard step[axis] != 0 else {
        if a[axis] < box.least[axis] || a[axis] > box.greatest[axis] { return nil }
        continue
      }
      let low = (box.least[axis] - a[axis]) / step[axis]
      let high = (box.greatest[axis] - a[axis]) / step[axis]
      first = max(first, min(low, high))
      last = min(last, max(low, high))
    }
    guard first <= last else { return nil }
    func position(_ share: Double) -> SIMD2<Double> {
      (a + step * share).clamped(lowerBound: box.least, upperBound: box.greatest)
    }
    return (first == 0 ? a : position(first), last == 1 ? b : position(last))
  }
}
