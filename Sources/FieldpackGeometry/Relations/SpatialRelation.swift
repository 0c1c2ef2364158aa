/// How one geometry lies to another, exactly, as DE-9IM defines it.
public enum SpatialRelation: String, Hashable, Sendable, CaseIterable {
  /// The geometries share a point.
  case intersects
  /// The geometries share no point.
  case disjoint
  /// No point of the first lies outside the second, and their interiors share a point.
  case within
  /// The second is within the first.
  case contains
  /// The geometries share points, but their interiors share none.
  case touches
  /// The interiors share points, whose dimension is lower than the larger of the two geometries'
  /// dimensions.
  case crosses
  /// The geometries have the same dimension, share points of that dimension, and each has points
  /// outside the other.
  case overlaps
  /// The geometries are the same set of points, in any order.
  case equals
  /// No point of the second lies outside the first.
  case covers
  /// No point of the first lies outside the second.
  case coveredBy

  /// The relation of the second geometry to the first: `a within b` is `b contains a`.
  public var mirrored: SpatialRelation {
    switch self {
    case .within: .contains
    case .contains: .within
    case .covers: .coveredBy
    case .coveredBy: .covers
    case .intersects, .disjoint, .touches, .crosses, .overlaps, .equals: self
    }
  }
}
