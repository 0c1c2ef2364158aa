import CGEOS
public import FieldpackGeometry

extension TopologyGeometry {
  /// Whether this geometry has `relation` to `other`; `nil` where one of the two is empty.
  ///
  /// For one geometry against many, a ``PreparedGeometry`` is some hundred times as fast.
  public func has(
    _ relation: SpatialRelation, to other: TopologyGeometry
  ) throws(TopologyError) -> Bool? {
    if isEmpty || other.isEmpty { return nil }
    return try hasExactly(relation, to: other)
  }

  /// The relation as in ``has(_:to:)``, but with DE-9IM's answer for empty geometries: they are
  /// disjoint from all geometries.
  public func hasExactly(
    _ relation: SpatialRelation, to other: TopologyGeometry
  ) throws(TopologyError) -> Bool {
    let (handle, a, b) = (context.handle, pointer, other.pointer)
    let result =
      switch relation {
      case .intersects: GEOSIntersects_r(handle, a, b)
      case .disjoint: GEOSDisjoint_r(handle, a, b)
      case .within: GEOSWithin_r(handle, a, b)
      case .contains: GEOSContains_r(handle, a, b)
      case .covers: GEOSCovers_r(handle, a, b)
      case .coveredBy: GEOSCoveredBy_r(handle, a, b)
      case .touches: GEOSTouches_r(handle, a, b)
      case .crosses: GEOSCrosses_r(handle, a, b)
      case .overlaps: GEOSOverlaps_r(handle, a, b)
      case .equals: GEOSEquals_r(handle, a, b)
      }
    return try answer("the relation '\(relation.rawValue)' holds", result)
  }

  /// The DE-9IM matrix of this geometry and `other`: nine characters of `F`, `0`, `1`, `2`.
  public func relate(to other: TopologyGeometry) throws(TopologyError) -> String {
    guard let text = GEOSRelate_r(context.handle, pointer, other.pointer) else {
      throw context.failure("GEOS cannot relate the geometries")
    }
    defer { GEOSFree_r(context.handle, text) }
    return String(cString: text)
  }

  /// Whether the DE-9IM matrix fits `pattern`: nine characters of `T`, `F`, `0`, `1`, `2`, `*`.
  public func relates(
    to other: TopologyGeometry, pattern: String
  ) throws(TopologyError) -> Bool {
    guard RelationPattern.isPattern(pattern) else {
      throw TopologyError(.invalidArgument, RelationPattern.complaint(pattern))
    }
    return try answer(
      "the geometries fit '\(pattern)'",
      GEOSRelatePattern_r(context.handle, pointer, other.pointer, pattern.uppercased()))
  }
}
