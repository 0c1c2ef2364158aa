import CGEOS
public import FieldpackGeometry

/// Whether a geometry is valid by OGC Simple Features; if not, why and where.
public enum Validity: Hashable, Sendable {
  case valid
  /// GEOS's reason, such as `Self-intersection`, and the position of the mistake.
  case invalid(reason: String, location: Position?)
}

extension TopologyGeometry {
  /// The area; 0 for points and lines.
  public func area() throws(TopologyError) -> Double {
    try number("area", GEOSArea_r)
  }

  /// The length of lines and of the rings of polygons.
  public func length() throws(TopologyError) -> Double {
    try number("length", GEOSLength_r)
  }

  /// The shortest distance to `other`; `nil` where one of the two is empty.
  public func distance(to other: TopologyGeometry) throws(TopologyError) -> Double? {
    if isEmpty || other.isEmpty { return nil }
    return try number("distance") { handle, pointer, value in
      GEOSDistance_r(handle, pointer, other.pointer, value)
    }
  }

  /// Whether the two are no more than `distance` apart; `nil` where one of them is empty.
  public func isWithin(
    _ distance: Double, of other: TopologyGeometry
  ) throws(TopologyError) -> Bool? {
    try check(distance, "distance")
    if isEmpty || other.isEmpty { return nil }
    return try answer(
      "the geometries lie within \(distance) of one another",
      GEOSDistanceWithin_r(context.handle, pointer, other.pointer, distance))
  }

  /// The position on this geometry and the position on `other` with the shortest distance between
  /// them.
  public func nearestPositions(
    to other: TopologyGeometry
  ) throws(TopologyError) -> (here: Position, there: Position)? {
    if isEmpty || other.isEmpty { return nil }
    guard let found = GEOSNearestPoints_r(context.handle, pointer, other.pointer) else {
      throw context.failure("GEOS cannot find the nearest positions")
    }
    defer { GEOSCoordSeq_destroy_r(context.handle, found) }
    var here = Position(x: 0, y: 0)
    var there = here
    GEOSCoordSeq_getXY_r(context.handle, found, 0, &here.x, &here.y)
    GEOSCoordSeq_getXY_r(context.handle, found, 1, &there.x, &there.y)
    return (here, there)
  }

  /// Whether the geometry is valid; an EMPTY one is.
  public func isValid() throws(TopologyError) -> Bool {
    try answer("the geometry is valid", GEOSisValid_r(context.handle, pointer))
  }

  /// Whether the geometry is valid; if not, with the reason and a position.
  public func validity() throws(TopologyError) -> Validity {
    var reason: UnsafeMutablePointer<CChar>?
    var location: OpaquePointer?
    let result = GEOSisValidDetail_r(context.handle, pointer, 0, &reason, &location)
    defer {
      if let reason { GEOSFree_r(context.handle, reason) }
      if let location { GEOSGeom_destroy_r(context.handle, location) }
    }
    if try answer("the geometry is valid", result) { return .valid }
    return .invalid(
      reason: reason.map { String(cString: $0) } ?? "unknown", location: position(of: location))
  }

  /// Whether the geometry does not meet itself, except at the ends of its lines.
  public func isSimple() throws(TopologyError) -> Bool {
    try answer("the geometry is simple", GEOSisSimple_r(context.handle, pointer))
  }

  private func position(of point: OpaquePointer?) -> Position? {
    var position = Position(x: 0, y: 0)
    guard let point, GEOSGeomGetX_r(context.handle, point, &position.x) == 1,
      GEOSGeomGetY_r(context.handle, point, &position.y) == 1
    else { return nil }
    return position
  }
}
