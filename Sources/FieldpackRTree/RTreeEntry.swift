package import FieldpackGeometry

/// A row's box in an R-tree, rounded outwards to floats as SQLite rounds.
package struct RTreeEntry: Hashable, BitwiseCopyable, Sendable {
  package var id: Int64
  package var minX: Float
  package var maxX: Float
  package var minY: Float
  package var maxY: Float

  /// An entry whose bounds are rounded already.
  package init(_ id: Int64, minX: Float, maxX: Float, minY: Float, maxY: Float) {
    self.id = id
    self.minX = minX
    self.maxX = maxX
    self.minY = minY
    self.maxY = maxY
  }

  package init(_ id: Int64, _ bounds: RTreeBounds) {
    self.init(id, minX: bounds[0], maxX: bounds[1], minY: bounds[2], maxY: bounds[3])
  }

  package init(_ id: Int64, _ envelope: Envelope) {
    self.init(
      id, minX: Self.roundedDown(envelope.minX), maxX: Self.roundedUp(envelope.maxX),
      minY: Self.roundedDown(envelope.minY), maxY: Self.roundedUp(envelope.maxY))
  }

  package func withID(_ id: Int64) -> RTreeEntry {
    var entry = self
    entry.id = id
    return entry
  }

  /// A key that ascends with the ids; the lowest possible id has the key 0.
  package static func order(of id: Int64) -> UInt64 { UInt64(bitPattern: id) ^ 1 << 63 }

  /// minX, maxX, minY, maxY.
  package var box: SIMD4<Float> { SIMD4(minX, maxX, minY, maxY) }

  // SQLite's steps (rtreeValueDown and rtreeValueUp in ext/rtree/rtree.c): where the nearest float
  // is on the wrong side, the bound moves away by one float or two. Beyond the range of normal
  // floats these steps stay on the wrong side; there the next float is taken.
  private static let away = 1 + 0x1p-23
  private static let towards = 1 - 0x1p-23

  package static func roundedDown(_ value: Double) -> Float {
    let float = Float(value)
    guard Double(float) > value else { return float }
    let stepped = Float(value * (value < 0 ? away : towards))
    return Double(stepped) <= value ? stepped : float.nextDown
  }

  package static func roundedUp(_ value: Double) -> Float {
    let float = Float(value)
    guard Double(float) < value else { return float }
    let stepped = Float(value * (value < 0 ? towards : away))
    return Double(stepped) >= value ? stepped : float.nextUp
  }
}
