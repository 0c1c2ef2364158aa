/// Gathers the envelope of the geometries it visits; positions with NaN in x or y are ignored.
public struct EnvelopeVisitor: GeometryVisitor {
  private var box = Envelope.empty
  private var minZ = Double.infinity
  private var maxZ = -Double.infinity
  private var minM = Double.infinity
  private var maxM = -Double.infinity
  private var isFlat = true

  public init() {}

  /// The envelope so far; `nil` while no position has counted.
  public var envelope: Envelope? {
    guard !box.isEmpty else { return nil }
    var result = box
    if minZ <= maxZ { result.z = minZ...maxZ }
    if minM <= maxM { result.m = minM...maxM }
    return result
  }

  public mutating func begin(_ type: GeometryType, _ dimensions: Dimensions, count: Int?) {
    isFlat = dimensions == .xy
  }

  @inline(__always)
  public mutating func position(_ x: Double, _ y: Double, _ z: Double, _ m: Double) {
    guard !x.isNaN && !y.isNaN else { return }
    box.extend(x: x, y: y)
    if isFlat { return }
    if z < minZ { minZ = z }
    if z > maxZ { maxZ = z }
    if m < minM { minM = m }
    if m > maxM { maxM = m }
  }

  public mutating func beginRing(count: Int?) {}
  public mutating func endRing() {}
  public mutating func end(_ type: GeometryType) {}
}

/// Counts the positions that it visits.
struct PositionCounter: GeometryVisitor {
  var count = 0

  mutating func position(_ x: Double, _ y: Double, _ z: Double, _ m: Double) { count += 1 }
  mutating func begin(_ type: GeometryType, _ dimensions: Dimensions, count: Int?) {}
  mutating func beginRing(count: Int?) {}
  mutating func endRing() {}
  mutating func end(_ type: GeometryType) {}
}

extension Geometry {
  /// The smallest box around all positions, with the ranges of Z and M; `nil` where no position has
  /// both x and y.
  public var envelope: Envelope? {
    var visitor = EnvelopeVisitor()
    visit(with: &visitor)
    return visitor.envelope
  }

  /// The number of positions, including the last one of a ring, which repeats the first.
  public var coordinateCount: Int {
    var visitor = PositionCounter()
    visit(with: &visitor)
    return visitor.count
  }

  /// Whether the geometry has no position.
  public var isEmpty: Bool { coordinateCount == 0 }

  public var hasZ: Bool { dimensions.hasZ }
  public var hasM: Bool { dimensions.hasM }
}
