package import FieldpackCore
package import FieldpackTopology

extension SpatialRelation {
  package var topological: TopologicalRelation {
    switch self {
    case .intersects: .intersects
    case .disjoint: .disjoint
    case .within: .within
    case .contains: .contains
    case .touches: .touches
    case .crosses: .crosses
    case .overlaps: .overlaps
    case .equals: .equals
    case .covers: .covers
    case .coveredBy: .coveredBy
    }
  }
}
