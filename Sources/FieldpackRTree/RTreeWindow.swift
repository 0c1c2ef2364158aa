package import FieldpackCore
package import FieldpackGeometry

/// An entry's bounds in an R-tree: minx, maxx, miny, maxy.
package typealias RTreeBounds = SIMD4<Float>

/// Tests the bounds in an R-tree for a relation to a box.
///
/// The bounds are floats rounded outwards: a minimum is never above the true one, and a maximum
/// never below. Writers round by one float or, as SQLite does, by up to two, and SQLite's rounding
/// fails for numbers that are no normal floats. So the tests allow for four floats in both
/// directions.
package struct RTreeWindow: Sendable {
  private static let steps = 4

  /// True for every entry that may satisfy the relation.
  private let candidates: Range
  /// True for every node that may have a candidate below it.
  private let nodes: Range
  /// True only for entries that satisfy the relation whatever the rounding was; `nil` where the
  /// floats decide nothing.
  private let certain: Range?
  /// True only for nodes below which all entries are certain.
  private let certainNodes: Range?

  /// - Parameter relation: not `.disjoint`, for which an R-tree knows no candidates.
  package init(_ relation: EnvelopeRelation, _ box: Envelope) {
    // The box enlarged, and shrunk, by more than the rounding of any bound.
    let outer = Edges(
      west: Self.below(box.minX), east: Self.above(box.maxX), south: Self.below(box.minY),
      north: Self.above(box.maxY))
    let inner = Edges(
      west: Self.above(box.minX), east: Self.below(box.maxX), south: Self.above(box.minY),
      north: Self.below(box.maxY))
    switch relation {
    case .intersects, .disjoint:
      candidates = .touching(outer)
      nodes = .touching(outer)
      certain = inner.isFinite ? .touching(inner) : nil
      certainNodes = inner.isFinite ? .inside(inner) : nil
    case .within:
      candidates = .inside(outer)
      nodes = .touching(outer)
      certain = inner.isFinite ? .inside(inner) : nil
      certainNodes = certain
    case .contains:
      // Bounds that contain the box contain the shrunk box; those that contain the enlarged box
      // certainly contain the box.
      candidates = .around(inner)
      nodes = candidates
      certain = outer.isFinite ? .around(outer) : nil
      certainNodes = nil
    }
  }

  func mayHold(_ entry: RTreeBounds) -> Bool { candidates.holds(entry) }
  func mayHoldBelow(_ node: RTreeBounds) -> Bool { nodes.holds(node) }
  func surelyHolds(_ entry: RTreeBounds) -> Bool { certain?.holds(entry) ?? false }
  func surelyHoldsAllBelow(_ node: RTreeBounds) -> Bool {
    certainNodes?.holds(node) ?? false
  }

  /// The bounds, enlarged by more than any rounding: the true envelope lies inside.
  package static func cover(of bounds: RTreeBounds) -> Envelope {
    Envelope(
      minX: Double(below(Double(bounds[0]))), minY: Double(below(Double(bounds[2]))),
      maxX: Double(above(Double(bounds[1]))), maxY: Double(above(Double(bounds[3]))))
  }

  private static func above(_ value: Double) -> Float {
    var float = Float(value)
    for _ in 0..<steps + 1 { float = float.nextUp }
    return float
  }

  private static func below(_ value: Double) -> Float {
    var float = Float(value)
    for _ in 0..<steps + 1 { float = float.nextDown }
    return float
  }

  private struct Edges {
    let west: Float
    let east: Float
    let south: Float
    let north: Float

    /// Whether floats can tell all edges from infinity; an infinite edge decides nothing.
    var isFinite: Bool { west.isFinite && east.isFinite && south.isFinite && north.isFinite }
  }

  /// The bounds whose four numbers each lie between two limits.
  private struct Range {
    let least: RTreeBounds
    let greatest: RTreeBounds

    static func touching(_ box: Edges) -> Range {
      Range(
        least: [-.infinity, box.west, -.infinity, box.south],
        greatest: [box.east, .infinity, box.north, .infinity])
    }

    static func inside(_ box: Edges) -> Range {
      Range(
        least: [box.west, -.infinity, box.south, -.infinity],
        greatest: [.infinity, box.east, .infinity, box.north])
    }

    static func around(_ box: Edges) -> Range {
      Range(
        least: [-.infinity, box.east, -.infinity, box.north],
        greatest: [box.west, .infinity, box.south, .infinity])
    }

    @inline(__always)
    func holds(_ bounds: RTreeBounds) -> Bool {
      // NaN, which a damaged file may hold, is in no range.
      all((bounds .>= least) .& (bounds .<= greatest))
    }
  }
}
