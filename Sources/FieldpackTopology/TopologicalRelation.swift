/// How one geometry lies to another, exactly, as DE-9IM defines it.
public enum TopologicalRelation: String, Hashable, Sendable, CaseIterable {
  /// They share a point.
  case intersects
  /// They share no point.
  case disjoint
  /// No point of the first lies outside the second, and their interiors share a point.
  case within
  /// The second is within the first.
  case contains
  /// No point of the second lies outside the first.
  case covers
  /// No point of the first lies outside the second.
  case coveredBy
  /// They share points, none of them in both interiors.
  case touches
  /// Their interiors share points of a lower dimension than the larger of both.
  case crosses
  /// They share points of their own, equal dimension, and each has points outside the other.
  case overlaps
  /// They are the same set of points, whatever their order.
  case equals

  /// The relation of the second to the first: `a within b` is `b contains a`.
  public var converse: TopologicalRelation {
    switch self {
    case .within: .contains
    case .contains: .within
    case .covers: .coveredBy
    case .coveredBy: .covers
    case .intersects, .disjoint, .touches, .crosses, .overlaps, .equals: self
    }
  }
}
