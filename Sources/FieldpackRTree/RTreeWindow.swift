package import FieldpackCore
package import FieldpackGeometry

/// An entry's bounds in an R-tree: minx, maxx, miny, maxy.
package typealias RTreeBounds = SIMD4<Float>

/// What a relation to a box asks of the bounds in an R-tree, which are floats rounded outwards: a
/// minimum is at most the true one and a maximum at least.
///
/// Writers round by one step or, as SQLite does, by up to two, and SQLite's rounding fails for
/// numbers that are no normal floats; so four steps are allowed for, in both directions.
package struct RTreeWindow: Sendable {
  private static let steps = 4

  /// True for every entry that may satisfy the relation.
  private let candidates: Range
  /// True for every node that may have such an entry below it.
  private let nodes: Range
  /// True only for entries that satisfy the relation whatever the rounding was; `nil` where floats
  /// cannot tell.
  private let certain: Range?
  /// True only for nodes all of whose entries do.
  private let certainNodes: Range?

  /// - Parameter relation: not `.disjoint`, for which an R-tree knows no candidates.
  package init(_ relation: EnvelopeRelation, _ box: Envelope) {
    // The box made larger, and smaller, than the rounding of any bound.
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
      // Around the box is around the smaller one, surely so around the larger one.
      candidates = .around(inner)
      nodes = candidates
      certain = outer.isFinite ? .around(outer) : nil
      certainNodes = nil
    }
  }

  package func mayHold(_ entry: RTreeBounds) -> Bool { candidates.holds(entry) }
  package func mayHoldBelow(_ node: RTreeBounds) -> Bool { nodes.holds(node) }
  package func surelyHolds(_ entry: RTreeBounds) -> Bool { certain?.holds(entry) ?? false }
  package func surelyHoldsAllBelow(_ node: RTreeBounds) -> Bool {
    certainNodes?.holds(node) ?? false
  }

  /// The box around whatever an entry of these bounds stands for, by more than any rounding.
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

    /// A bound that floats cannot tell from infinity decides nothing.
    var isFinite: Bool { west.isFinite && east.isFinite && south.isFinite && north.isFinite }
  }

  /// Bounds between two others, each of the four on its own.
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
      // NaN, as damage may bring, is in no range.
      all((bounds .>= least) .& (bounds .<= greatest))
    }
  }
}
