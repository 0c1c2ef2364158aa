public import FieldpackGeometry

/// GEOS's measures, relations and operations on geometry values.
///
/// Lengths and areas are in the units of the geometry's reference system; both geometries of a call
/// must have the same one. Curves are linearised, m is dropped. Each call makes a GEOS context,
/// which costs some microseconds: keep a ``TopologyContext`` for many geometries, and a
/// ``PreparedGeometry`` for many features against one geometry.
extension Geometry {
  /// The area of polygons without their holes.
  public func area() -> Double { PlanarMeasures(self).area }

  /// The length of lines; 0 for polygons, see ``perimeter()``.
  public func length() -> Double { PlanarMeasures(self).length }

  /// The length of the rings of polygons, including holes.
  public func perimeter() -> Double { PlanarMeasures(self).perimeter }

  /// The centre of mass; `POINT EMPTY` for an empty geometry.
  public func centroid() throws(TopologyError) -> Geometry {
    try made { geometry throws(TopologyError) in try geometry.centroid() }
  }

  /// A point that certainly lies on the geometry.
  public func pointOnSurface() throws(TopologyError) -> Geometry {
    try made { geometry throws(TopologyError) in try geometry.pointOnSurface() }
  }

  public func convexHull() throws(TopologyError) -> Geometry {
    try made { geometry throws(TopologyError) in try geometry.convexHull() }
  }

  /// The boundary; GEOS does not define it for a geometry collection.
  public func boundary() throws(TopologyError) -> Geometry {
    try made { geometry throws(TopologyError) in try geometry.boundary() }
  }

  /// Everything within `distance`; with a negative distance a polygon shrinks.
  public func buffered(
    by distance: Double, style: BufferStyle = BufferStyle()
  ) throws(TopologyError) -> Geometry {
    try made { geometry throws(TopologyError) in
      try geometry.buffered(by: distance, style: style)
    }
  }

  /// The geometry with fewer positions; see
  /// ``FieldpackTopology/TopologyGeometry/simplified(tolerance:preservingTopology:)``.
  public func simplified(
    tolerance: Double, preservingTopology: Bool = true
  ) throws(TopologyError) -> Geometry {
    try made { geometry throws(TopologyError) in
      try geometry.simplified(tolerance: tolerance, preservingTopology: preservingTopology)
    }
  }

  /// A valid geometry of the same positions; GEOS chooses the one nearest to what was probably
  /// meant.
  public func madeValid() throws(TopologyError) -> Geometry {
    try made { geometry throws(TopologyError) in try geometry.madeValid() }
  }

  /// Whether the geometry is valid by OGC Simple Features; if not, with the reason and a position.
  public func validity() throws(TopologyError) -> Validity {
    try TopologyContext().read(self).validity()
  }

  // MARK: Two geometries

  /// The points in either geometry.
  public func union(_ other: Geometry) throws(TopologyError) -> Geometry {
    try made(other) { a, b throws(TopologyError) in try a.union(b) }
  }

  /// The points in both geometries.
  public func intersection(_ other: Geometry) throws(TopologyError) -> Geometry {
    try made(other) { a, b throws(TopologyError) in try a.intersection(b) }
  }

  /// The points of this geometry that are not in `other`.
  public func difference(_ other: Geometry) throws(TopologyError) -> Geometry {
    try made(other) { a, b throws(TopologyError) in try a.difference(b) }
  }

  /// The points in exactly one of the two geometries.
  public func symmetricDifference(_ other: Geometry) throws(TopologyError) -> Geometry {
    try made(other) { a, b throws(TopologyError) in try a.symmetricDifference(b) }
  }

  /// The shortest distance to `other`; `nil` where one of the two is empty.
  public func distance(to other: Geometry) throws(TopologyError) -> Double? {
    let context = try TopologyContext()
    return try context.read(self).distance(to: context.read(other))
  }

  /// Whether the two are no more than `distance` apart; `nil` where one of them is empty.
  public func isWithin(
    _ distance: Double, of other: Geometry
  ) throws(TopologyError) -> Bool? {
    let context = try TopologyContext()
    return try context.read(self).isWithin(distance, of: context.read(other))
  }

  /// Whether this geometry has `relation` to `other`; `nil` where one of the two is empty.
  public func has(
    _ relation: SpatialRelation, to other: Geometry
  ) throws(TopologyError) -> Bool? {
    let context = try TopologyContext()
    return try context.read(self).has(relation, to: context.read(other))
  }

  /// The DE-9IM matrix of this geometry and `other`: nine characters of `F`, `0`, `1`, `2`.
  public func relate(to other: Geometry) throws(TopologyError) -> String {
    let context = try TopologyContext()
    return try context.read(self).relate(to: context.read(other))
  }

  /// Whether the DE-9IM matrix fits `pattern`: nine characters of `T`, `F`, `0`, `1`, `2`, `*`.
  public func relates(to other: Geometry, pattern: String) throws(TopologyError) -> Bool {
    let context = try TopologyContext()
    return try context.read(self).relates(to: context.read(other), pattern: pattern)
  }

  /// The points in any of the geometries, merged into one geometry; `nil` where there is none.
  public static func union(
    of geometries: some Sequence<Geometry>
  ) throws(TopologyError) -> Geometry? {
    let union = GeometryUnion(in: try TopologyContext())
    for geometry in geometries { try union.add(WKB.bytes(of: geometry).span.bytes) }
    return try union.result()?.geometry()
  }

  private func made(
    _ body: (TopologyGeometry) throws(TopologyError) -> TopologyGeometry
  ) throws(TopologyError) -> Geometry {
    try body(TopologyContext().read(self)).geometry()
  }

  private func made(
    _ other: Geometry,
    _ body: (TopologyGeometry, TopologyGeometry) throws(TopologyError) -> TopologyGeometry
  ) throws(TopologyError) -> Geometry {
    let context = try TopologyContext()
    return try body(context.read(self), context.read(other)).geometry()
  }
}
