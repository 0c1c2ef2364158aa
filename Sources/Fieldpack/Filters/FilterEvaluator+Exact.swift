public import FieldpackCore
import FieldpackGeometry
import FieldpackProjection
import FieldpackTopology

extension FilterEvaluator {
  /// The exact relations, by GEOS.
  public static let exactRelations: Relate = { relation, geometry, span throws(FieldpackError) in
    do throws(TopologyError) {
      let prepared = try PreparedGeometry(geometry, in: TopologyContext())
      guard let topological = TopologicalRelation(rawValue: relation.rawValue) else { return nil }
      return try prepared.test(topological, of: span)
    } catch {
      throw FieldpackError(.invalidData, "\(error)", underlying: error)
    }
  }

  /// Patterns and planar distances by GEOS, geodesic distances as `GeodesicShape` tells.
  public static let exactTests: Test = { test, geometry, srs, span throws(FieldpackError) in
    do {
      switch test {
      case .matrix(let pattern):
        let context = try TopologyContext()
        return try context.read(wkb: span).relates(to: context.read(geometry), pattern: pattern)
      case .within(let distance, .planar):
        return try PreparedGeometry(geometry, in: TopologyContext()).isWithin(distance, of: span)
      case .within(let distance, .geodesic):
        let system = try GeodesicSystem(SRSReference(srs))
        let other = try system.shape(of: WKB.bytes(of: geometry).span.bytes)
        return try system.shape(of: span).isWithin(distance, of: other)
      }
    } catch {
      throw FieldpackError(.invalidData, "\(error)", underlying: error)
    }
  }
}
