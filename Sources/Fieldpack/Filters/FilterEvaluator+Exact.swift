public import FieldpackCore
import FieldpackGeoPackage
import FieldpackGeometry
import FieldpackProjection
import FieldpackTopology

extension FilterEvaluator {
  /// The exact relations, by GEOS.
  ///
  /// Each value prepares the geometries of its relations once, for one thread at a time: take one for
  /// each evaluator.
  public static var exactRelations: Relate {
    let kept = Locked(PreparedGeometries())
    return { relation, geometry, span throws(FieldpackError) in
      try kept.withLock { (kept) throws(FieldpackError) in
        try kept.answer { (kept) throws(TopologyError) in
          try kept.prepared(geometry).test(relation, of: span)
        }
      }
    }
  }

  /// Patterns and planar distances by GEOS, geodesic distances as `GeodesicShape` tells.
  ///
  /// Each value is for one evaluator, as those of ``exactRelations`` are.
  public static var exactTests: Test {
    let kept = Locked(PreparedGeometries())
    return { test, geometry, srs, span throws(FieldpackError) in
      try kept.withLock { (kept) throws(FieldpackError) in
        switch test {
        case .matrix(let pattern):
          return try kept.answer { (kept) throws(TopologyError) in
            let other = try kept.prepared(geometry).base
            return try other.reading(span).relates(to: other, pattern: pattern)
          }
        case .within(let distance, .planar):
          return try kept.answer { (kept) throws(TopologyError) in
            try kept.prepared(geometry).isWithin(distance, of: span)
          }
        case .within(let distance, .geodesic):
          return try kept.isWithin(distance, of: geometry, in: srs, span)
        }
      }
    }
  }

}

/// The geometries that rows were last tested against, as GEOS has them.
private struct PreparedGeometries {
  private var latest: [(geometry: Geometry, prepared: PreparedGeometry)] = []
  private var measured: (srs: SRS, system: GeodesicSystem)?

  mutating func prepared(_ geometry: Geometry) throws(TopologyError) -> PreparedGeometry {
    if let known = latest.first(where: { $0.geometry == geometry }) { return known.prepared }
    let prepared = try PreparedGeometry(geometry, in: TopologyContext())
    if latest.count == 8 { latest.removeFirst() }
    latest.append((geometry, prepared))
    return prepared
  }

  mutating func isWithin(
    _ distance: Double, of geometry: Geometry, in srs: SRS, _ span: RawSpan
  ) throws(FieldpackError) -> Bool? {
    do throws(ProjectionError) {
      let system = try system(of: srs)
      let other = try system.shape(of: WKB.bytes(of: geometry).span.bytes)
      return try system.shape(of: span).isWithin(distance, of: other)
    } catch {
      throw FieldpackError(error)
    }
  }

  private mutating func system(of srs: SRS) throws(ProjectionError) -> GeodesicSystem {
    if let measured, measured.srs == srs { return measured.system }
    let system = try GeodesicSystem(SRSReference(srs))
    measured = (srs, system)
    return system
  }

  mutating func answer(
    _ body: (inout Self) throws(TopologyError) -> Bool?
  ) throws(FieldpackError) -> Bool? {
    do throws(TopologyError) {
      return try body(&self)
    } catch {
      let code: FieldpackError.Code =
        switch error.kind {
        case .invalidGeometry, .notFinite: .invalidData
        case .invalidArgument: .invalidArgument
        case .failed: .unsupported
        case .unavailable: .unavailable
        }
      throw FieldpackError(code, error.message, underlying: error)
    }
  }
}
