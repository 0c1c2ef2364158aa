/// Looks for a vertex in a box, borders included; of polygons only outer rings are looked at.
package struct VertexVisitor: GeometryVisitor {
  private let box: Envelope
  private var ring = 0
  private var hasVertex = false
  private var isFound = false

  package init(_ box: Envelope) { self.box = box }

  /// Whether a vertex was found; `nil` where the geometry has no vertex.
  package var answer: Bool? { hasVertex ? isFound : nil }

  package mutating func begin(_ type: GeometryType, _ dimensions: Dimensions, count: Int?) {
    ring = 0
  }

  package mutating func beginRing(count: Int?) { ring += 1 }

  package mutating func position(_ x: Double, _ y: Double, _ z: Double, _ m: Double) {
    guard !x.isNaN && !y.isNaN else { return }
    hasVertex = true
    if ring > 1 || isFound { return }
    isFound = x >= box.minX && x <= box.maxX && y >= box.minY && y <= box.maxY
  }

  package mutating func endRing() {}
  package mutating func end(_ type: GeometryType) { ring = 0 }
}
