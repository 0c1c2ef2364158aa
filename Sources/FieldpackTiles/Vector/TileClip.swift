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

  /// Cuts the ring of a polygon without holes, which is given without its last position, into the rings
  /// that lie in the box, so that nothing needs mending; `nil` where the ring meets itself at a side.
  func parts(of ring: [SIMD2<Double>], within bounds: TileBox) -> [[SIMD2<Double>]]? {
    var rings = [ring]
    for axis in 0..<2 {
      for (limit, sign) in [(box.least[axis], 1.0), (box.greatest[axis], -1.0)] {
        let farthest = sign > 0 ? bounds.least[axis] : bounds.greatest[axis]
        guard (farthest - limit) * sign < 0 else { continue }
        var parts: [[SIMD2<Double>]] = []
        for ring in rings {
          guard let found = Self.parts(of: ring, axis, limit, sign) else { return nil }
          parts += found
        }
        rings = parts
      }
    }
    return rings
  }

  /// The same at one side.
  ///
  /// The crossings of a ring that does not meet itself bound its inside on the side in pairs. So a part
  /// goes on from where it leaves the box at the other crossing of the pair.
  private static func parts(
    of ring: [SIMD2<Double>], _ axis: Int, _ limit: Double, _ sign: Double
  ) -> [[SIMD2<Double>]]? {
    func isInside(_ position: SIMD2<Double>) -> Bool { (position[axis] - limit) * sign >= 0 }
    guard let outside = ring.firstIndex(where: { !isInside($0) }) else { return [ring] }
    var chains: [[SIMD2<Double>]] = []
    var last = ring[outside]
    for step in 1...ring.count {
      let position = ring[(outside + step) % ring.count]
      switch (isInside(last), isInside(position)) {
      case (false, true): chains.append([crossing(last, position, axis, limit), position])
      case (true, true): chains[chains.count - 1].append(position)
      case (true, false): chains[chains.count - 1].append(crossing(last, position, axis, limit))
      case (false, false): break
      }
      last = position
    }
    return joined(chains, along: 1 - axis)
  }

  /// Joins the parts of a ring between its crossings of a side to rings.
  private static func joined(
    _ chains: [[SIMD2<Double>]], along axis: Int
  ) -> [[SIMD2<Double>]]? {
    // A chain has two crossings: an even number for its first position, an odd one for its last.
    func place(_ crossing: Int) -> Double {
      let chain = chains[crossing / 2]
      return chain[crossing % 2 == 0 ? 0 : chain.count - 1][axis]
    }
    let sorted = (0..<chains.count * 2).sorted { place($0) < place($1) }
    var partners = [Int](repeating: 0, count: sorted.count)
    for index in stride(from: 0, to: sorted.count, by: 2) {
      let (a, b) = (sorted[index], sorted[index + 1])
      guard a % 2 != b % 2 else { return nil }
      (partners[a], partners[b]) = (b, a)
    }
    var rings: [[SIMD2<Double>]] = []
    var isTaken = [Bool](repeating: false, count: chains.count)
    for first in chains.indices where !isTaken[first] {
      var ring: [SIMD2<Double>] = []
      var next = first
      while !isTaken[next] {
        isTaken[next] = true
        ring += chains[next]
        next = partners[next * 2 + 1] / 2
      }
      rings.append(ring)
    }
    return rings
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
