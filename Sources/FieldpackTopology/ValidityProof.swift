import FieldpackGeometry

/// Proves that a geometry is valid without GEOS, which makes objects of every position.
///
/// What cannot be proved may be valid or not: GEOS has to tell. Signs are taken from a determinant
/// only where it is larger than its greatest rounding error.
struct ValidityProof: GeometryVisitor {
  private struct Edge {
    var start: SIMD2<Double>
    var end: SIMD2<Double>
    var ring: Int
    /// The number of the edge in its ring, and that of the ring's edges.
    var index: Int
    var count: Int
  }

  /// The box of an edge.
  private struct Span {
    var least: SIMD2<Double>
    var greatest: SIMD2<Double>
    var edge: Int
  }

  private var edges: [Edge] = []
  private var rings: [Range<Int>] = []
  private var positions: [SIMD2<Double>] = []
  /// The boxes of the polygons of a collection.
  private var boxes: [Envelope] = []
  /// The least x of each edge, and the edges' boxes in that order: a sweep reads them one after the
  /// other.
  private var order: [(x: Double, edge: Int)] = []
  private var spans: [Span] = []
  private var isProved = true
  private var depth = 0

  /// Whether the geometry is certainly valid.
  mutating func proves(_ wkb: RawSpan) -> Bool {
    (isProved, depth) = (true, 0)
    boxes.removeAll(keepingCapacity: true)
    do throws(GeometryError) {
      try WKB.visit(wkb, with: &self)
    } catch {
      return false
    }
    return isProved && areApart(boxes)
  }

  mutating func begin(_ type: GeometryType, _ dimensions: Dimensions, count: Int?) {
    depth += 1
    edges.removeAll(keepingCapacity: true)
    rings.removeAll(keepingCapacity: true)
    positions.removeAll(keepingCapacity: true)
    switch type {
    case .point, .multiPoint, .lineString, .multiLineString, .polygon, .multiPolygon:
      if depth > 1, count == 0 { isProved = false }
    default: isProved = false
    }
  }

  mutating func beginRing(count: Int?) {
    positions.removeAll(keepingCapacity: true)
    if count ?? 0 < 4 { isProved = false }
  }

  mutating func position(_ x: Double, _ y: Double, _ z: Double, _ m: Double) {
    guard (x - x) + (y - y) == 0 else {
      isProved = false
      return
    }
    let position = SIMD2(x, y)
    if positions.last != position { positions.append(position) }
  }

  mutating func endRing() {
    guard isProved else { return }
    // The last position is the first one.
    let count = positions.count - 1
    guard count >= 3, positions[0] == positions[count] else {
      isProved = false
      return
    }
    let first = edges.count
    for index in 0..<count {
      edges.append(
        Edge(
          start: positions[index], end: positions[index + 1], ring: rings.count, index: index,
          count: count))
    }
    rings.append(first..<edges.count)
  }

  mutating func end(_ type: GeometryType) {
    depth -= 1
    guard isProved else { return }
    switch type {
    case .lineString: isProved = positions.count > 1
    case .polygon: isProved = provesPolygon()
    default: break
    }
  }

  // MARK: Polygons

  private mutating func provesPolygon() -> Bool {
    guard !rings.isEmpty, edgesMeetAtCorners() else { return false }
    let boxes = rings.map { box(of: edges[$0]) }
    self.boxes.append(boxes[0])
    guard rings.count > 1 else { return true }
    return areApart(Array(boxes.dropFirst()))
      && rings.dropFirst().allSatisfy { isInside(edges[$0.lowerBound].start, edges[rings[0]]) }
  }

  private func box(of edges: ArraySlice<Edge>) -> Envelope {
    var box = Envelope.empty
    for edge in edges { box.extend(x: edge.start.x, y: edge.start.y) }
    return box
  }

  /// Whether no two of the boxes meet.
  private func areApart(_ boxes: [Envelope]) -> Bool {
    guard boxes.count > 1 else { return true }
    let sorted = boxes.sorted { $0.minX < $1.minX }
    var left = 64 * sorted.count
    for (index, box) in sorted.enumerated() {
      for other in sorted[(index + 1)...] {
        if other.minX > box.maxX { break }
        left -= 1
        if left < 0 || box.intersects(other) { return false }
      }
    }
    return true
  }

  /// Whether edges meet at the corners of their ring and nowhere else.
  private mutating func edgesMeetAtCorners() -> Bool {
    arrangeSpans()
    // Where many edges lie beside one another, GEOS is faster.
    var left = 32 * edges.count + 1_000
    for place in spans.indices {
      let span = spans[place]
      var next = place + 1
      while next < spans.count {
        let other = spans[next]
        if other.least.x > span.greatest.x { break }
        next += 1
        left -= 1
        if left < 0 { return false }
        if other.least.y > span.greatest.y || other.greatest.y < span.least.y { continue }
        if !areApart(edges[span.edge], edges[other.edge]) { return false }
      }
    }
    return true
  }

  private mutating func arrangeSpans() {
    order.removeAll(keepingCapacity: true)
    for (index, edge) in edges.enumerated() {
      order.append((min(edge.start.x, edge.end.x), index))
    }
    order.sort { $0.x < $1.x }
    spans.removeAll(keepingCapacity: true)
    for (_, index) in order {
      let edge = edges[index]
      spans.append(
        Span(
          least: pointwiseMin(edge.start, edge.end), greatest: pointwiseMax(edge.start, edge.end),
          edge: index))
    }
  }

  private func areApart(_ a: Edge, _ b: Edge) -> Bool {
    if a.ring == b.ring {
      if (a.index + 1) % a.count == b.index { return isCorner(a.start, b.start, b.end) }
      if (b.index + 1) % b.count == a.index { return isCorner(b.start, a.start, a.end) }
    }
    return areOnOneSide(of: a, b.start, b.end) || areOnOneSide(of: b, a.start, a.end)
  }

  private func areOnOneSide(
    of edge: Edge, _ first: SIMD2<Double>, _ second: SIMD2<Double>
  ) -> Bool {
    let side = Self.side(edge.start, edge.end, first)
    return side != 0 && side == Self.side(edge.start, edge.end, second)
  }

  /// Whether the edges to and from the corner have nothing else in common.
  private func isCorner(
    _ before: SIMD2<Double>, _ corner: SIMD2<Double>, _ after: SIMD2<Double>
  ) -> Bool {
    if Self.side(before, corner, after) != 0 { return true }
    let products = (before - corner) * (after - corner)
    let most = abs(products.x) + abs(products.y)
    return products.x + products.y < -1e-15 * most
  }

  /// Whether a position that is on no edge lies in the ring; `false` where that is not certain.
  private func isInside(_ position: SIMD2<Double>, _ ring: ArraySlice<Edge>) -> Bool {
    var isInside = false
    for edge in ring where (edge.start.y > position.y) != (edge.end.y > position.y) {
      let side = Self.side(edge.start, edge.end, position)
      guard side != 0 else { return false }
      // The ray to the east crosses an upward edge that the position lies to the left of.
      if (edge.end.y > edge.start.y) == (side > 0) { isInside.toggle() }
    }
    return isInside
  }

  /// 1 to the left of the line, -1 to its right; 0 where rounding leaves it open.
  private static func side(
    _ start: SIMD2<Double>, _ end: SIMD2<Double>, _ position: SIMD2<Double>
  ) -> Int {
    let left = (end.x - start.x) * (position.y - start.y)
    let right = (end.y - start.y) * (position.x - start.x)
    let determinant = left - right
    // Shewchuk's bound of the error (1997), a little enlarged.
    let error = 3.4e-16 * (abs(left) + abs(right))
    return determinant > error ? 1 : determinant < -error ? -1 : 0
  }
}

extension TopologyContext {
  /// Whether a geometry in well-known binary is valid; if not, with the reason and a position.
  ///
  /// Most valid geometries are proved valid without GEOS.
  package func validity(of wkb: RawSpan) throws(TopologyError) -> Validity {
    if proof.proves(wkb) { return .valid }
    return try read(wkb: wkb).validity()
  }
}
