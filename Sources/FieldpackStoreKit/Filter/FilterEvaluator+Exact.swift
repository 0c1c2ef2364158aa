import FieldpackCore
import FieldpackGeometry
import FieldpackProjection
import FieldpackTopology

extension FilterEvaluator {
  /// Whether the geometry in WKB, which is not empty, has the relation to the other geometry.
  func answer(
    _ relation: SpatialRelation, _ geometry: Geometry, _ wkb: RawSpan
  ) throws(FieldpackError) -> Bool? {
    try topology.withLock { (cache) throws(FieldpackError) in
      try cache.answer { (cache) throws(TopologyError) in
        try cache.prepared(geometry).test(relation, of: wkb)
      }
    }
  }

  /// Whether the geometry in WKB, which is not empty, passes the test with the other geometry. Both
  /// are in `srs`.
  func answer(
    _ test: SpatialTest, _ geometry: Geometry, _ srs: SRS, _ wkb: RawSpan
  ) throws(FieldpackError) -> Bool? {
    try topology.withLock { (cache) throws(FieldpackError) in
      switch test {
      case .matrix(let pattern):
        return try cache.answer { (cache) throws(TopologyError) in
          let other = try cache.prepared(geometry).base
          return try other.reading(wkb).relates(to: other, pattern: pattern)
        }
      case .within(let distance, .planar):
        return try cache.answer { (cache) throws(TopologyError) in
          try cache.prepared(geometry).isWithin(distance, of: wkb)
        }
      case .within(let distance, .geodesic):
        return try cache.isWithin(distance, of: geometry, in: srs, wkb)
      }
    }
  }
}

/// The geometries that rows were last tested against, as GEOS has them.
struct TopologyCache {
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
      let code: FieldpackError.Code =
        switch error.kind {
        case .unknownSRS, .undefinedSRS, .invalidDefinition: .invalidArgument
        case .failedPoints, .invalidGeometry: .invalidData
        case .noOperation: .unsupported
        case .unavailable: .unavailable
        }
      throw FieldpackError(code, error.message, underlying: error)
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
