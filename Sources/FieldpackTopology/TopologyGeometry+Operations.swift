import CGEOS

/// The form of a buffer's corners and ends.
public struct BufferStyle: Hashable, Sendable {
  public enum Cap: Hashable, Sendable { case round, flat, square }
  public enum Join: Hashable, Sendable { case round, mitre, bevel }

  /// The number of segments of a quarter circle, 1 to 1,000.
  public var quadrantSegments: Int
  public var cap: Cap
  public var join: Join
  /// How far a mitred corner may reach, as a multiple of the distance.
  public var mitreLimit: Double
  /// Whether the buffer lies only to the left of a line, or to its right for a negative distance.
  public var isSingleSided: Bool

  public init(
    quadrantSegments: Int = 8, cap: Cap = .round, join: Join = .round, mitreLimit: Double = 5,
    isSingleSided: Bool = false
  ) {
    self.quadrantSegments = quadrantSegments
    self.cap = cap
    self.join = join
    self.mitreLimit = mitreLimit
    self.isSingleSided = isSingleSided
  }
}

extension TopologyGeometry {
  /// The centre of mass; `POINT EMPTY` for an empty geometry.
  public func centroid() throws(TopologyError) -> TopologyGeometry {
    try made("the centroid", GEOSGetCentroid_r(context.handle, pointer))
  }

  /// A point that certainly lies on the geometry.
  public func pointOnSurface() throws(TopologyError) -> TopologyGeometry {
    try made("a point on the surface", GEOSPointOnSurface_r(context.handle, pointer))
  }

  public func convexHull() throws(TopologyError) -> TopologyGeometry {
    try made("the convex hull", GEOSConvexHull_r(context.handle, pointer))
  }

  /// The boundary; GEOS does not define it for a geometry collection.
  public func boundary() throws(TopologyError) -> TopologyGeometry {
    try made("the boundary", GEOSBoundary_r(context.handle, pointer))
  }

  /// Everything within `distance`; with a negative distance a polygon shrinks.
  public func buffered(
    by distance: Double, style: BufferStyle = BufferStyle()
  ) throws(TopologyError) -> TopologyGeometry {
    try check(distance, "distance")
    try check(style.mitreLimit, "mitre limit")
    try checkNearness(of: distance)
    guard let parameters = GEOSBufferParams_create_r(context.handle) else {
      throw context.failure("GEOS cannot make a buffer")
    }
    defer { GEOSBufferParams_destroy_r(context.handle, parameters) }
    let segments = Int32(clamping: max(1, min(style.quadrantSegments, 1_000)))
    GEOSBufferParams_setQuadrantSegments_r(context.handle, parameters, segments)
    GEOSBufferParams_setEndCapStyle_r(context.handle, parameters, style.cap.code)
    GEOSBufferParams_setJoinStyle_r(context.handle, parameters, style.join.code)
    GEOSBufferParams_setMitreLimit_r(context.handle, parameters, style.mitreLimit)
    GEOSBufferParams_setSingleSided_r(context.handle, parameters, style.isSingleSided ? 1 : 0)
    return try made(
      "a buffer of \(distance)",
      GEOSBufferWithParams_r(context.handle, pointer, parameters, distance))
  }

  /// Refuses distances at which GEOS would end the process, because the squares that it computes
  /// for a buffer overflow.
  private func checkNearness(of distance: Double) throws(TopologyError) {
    let farthest = 1e150
    var bounds = (0.0, 0.0, 0.0, 0.0)
    let isKnown =
      GEOSGeom_getXMin_r(context.handle, pointer, &bounds.0) == 1
      && GEOSGeom_getYMin_r(context.handle, pointer, &bounds.1) == 1
      && GEOSGeom_getXMax_r(context.handle, pointer, &bounds.2) == 1
      && GEOSGeom_getYMax_r(context.handle, pointer, &bounds.3) == 1
    // An empty geometry has no bounds to check.
    guard isKnown else { return }
    for value in [bounds.0, bounds.1, bounds.2, bounds.3, distance]
    where value.magnitude > farthest {
      throw TopologyError(
        .invalidArgument, "\(value) is too far away for a buffer (no more than \(farthest))")
    }
  }

  /// The geometry with fewer positions; those left out are no farther than `tolerance` from the
  /// result.
  ///
  /// Without `preservingTopology` (Douglas-Peucker) rings may vanish or cross.
  public func simplified(
    tolerance: Double, preservingTopology: Bool = true
  ) throws(TopologyError) -> TopologyGeometry {
    try check(tolerance, "tolerance")
    guard tolerance >= 0 else {
      throw TopologyError(.invalidArgument, "the tolerance \(tolerance) is negative")
    }
    return try made(
      "a simpler geometry",
      preservingTopology
        ? GEOSTopologyPreserveSimplify_r(context.handle, pointer, tolerance)
        : GEOSSimplify_r(context.handle, pointer, tolerance))
  }

  /// A valid geometry of the same positions; GEOS chooses the one nearest to what was probably
  /// meant.
  public func madeValid() throws(TopologyError) -> TopologyGeometry {
    try made("a valid geometry", GEOSMakeValid_r(context.handle, pointer))
  }

  /// A valid geometry whose positions lie on a grid; what is narrower than a step may vanish.
  ///
  /// - Parameter step: the distance of the grid's lines, above 0.
  package func rounded(toGrid step: Double) throws(TopologyError) -> TopologyGeometry {
    try check(step, "grid")
    return try made(
      "a geometry on a grid", GEOSGeom_setPrecision_r(context.handle, pointer, step, 0))
  }

  /// The points in either geometry.
  public func union(
    _ other: TopologyGeometry
  ) throws(TopologyError) -> TopologyGeometry {
    try made("the union", GEOSUnion_r(context.handle, pointer, other.pointer))
  }

  /// The members merged into one geometry without overlaps.
  public func unionOfMembers() throws(TopologyError) -> TopologyGeometry {
    try made("the union of the members", GEOSUnaryUnion_r(context.handle, pointer))
  }

  /// The points in both geometries.
  public func intersection(
    _ other: TopologyGeometry
  ) throws(TopologyError) -> TopologyGeometry {
    try made("the intersection", GEOSIntersection_r(context.handle, pointer, other.pointer))
  }

  /// The points of this geometry that are not in `other`.
  public func difference(
    _ other: TopologyGeometry
  ) throws(TopologyError) -> TopologyGeometry {
    try made("the difference", GEOSDifference_r(context.handle, pointer, other.pointer))
  }

  /// The points in exactly one of the two geometries.
  public func symmetricDifference(
    _ other: TopologyGeometry
  ) throws(TopologyError) -> TopologyGeometry {
    try made(
      "the symmetric difference", GEOSSymDifference_r(context.handle, pointer, other.pointer))
  }
}

extension BufferStyle.Cap {
  fileprivate var code: Int32 {
    switch self {
    case .round: Int32(GEOSBUF_CAP_ROUND.rawValue)
    case .flat: Int32(GEOSBUF_CAP_FLAT.rawValue)
    case .square: Int32(GEOSBUF_CAP_SQUARE.rawValue)
    }
  }
}

extension BufferStyle.Join {
  fileprivate var code: Int32 {
    switch self {
    case .round: Int32(GEOSBUF_JOIN_ROUND.rawValue)
    case .mitre: Int32(GEOSBUF_JOIN_MITRE.rawValue)
    case .bevel: Int32(GEOSBUF_JOIN_BEVEL.rawValue)
    }
  }
}
