public import FieldpackGeometry

/// The length, perimeter and area on the ellipsoid of a geometry in longitude and latitude.
///
/// Here edges are geodesics, while in ``GeodesicShape`` they are straight in longitude and
/// latitude. For edges of some kilometres this makes no difference. Curves are linearised; z and m
/// are ignored.
public struct GeodesicMeasures: Hashable, Sendable {
  /// The length of lines in metres.
  public private(set) var length = 0.0
  /// The perimeter of polygons in metres.
  public private(set) var perimeter = 0.0
  /// The area of polygons without their holes in square metres, for any direction of the rings. Of
  /// the two sides of a ring the smaller one counts.
  public private(set) var area = 0.0

  /// Measures one geometry in well-known binary.
  /// - Throws: ``ProjectionError/Kind/invalidGeometry`` for damaged bytes and for latitudes beyond
  ///   the poles.
  public init(wkb: RawSpan, on ellipsoid: Geodesic = .wgs84) throws(ProjectionError) {
    let geometry: Geometry
    do throws(GeometryError) {
      geometry = try WKB.read(wkb)
    } catch {
      throw ProjectionError(.invalidGeometry, "the geometry is damaged: \(error)")
    }
    try self.init(geometry, on: ellipsoid)
  }

  public init(_ geometry: Geometry, on ellipsoid: Geodesic = .wgs84) throws(ProjectionError) {
    add(geometry.linearized(), ellipsoid)
    guard length.isFinite, perimeter.isFinite, area.isFinite else {
      throw ProjectionError(
        .invalidGeometry, "the geometry has positions that are no longitude and latitude")
    }
  }

  private mutating func add(_ geometry: Geometry, _ ellipsoid: Geodesic) {
    switch geometry {
    case .point, .multiPoint: break
    case .lineString(let line), .circularString(let line): length += ellipsoid.length(of: line)
    case .multiLineString(let lines, _):
      for line in lines { length += ellipsoid.length(of: line) }
    case .polygon(let rings, _): add(rings, ellipsoid)
    case .multiPolygon(let polygons, _): for rings in polygons { add(rings, ellipsoid) }
    case .geometryCollection(let members, _), .composite(_, let members, _):
      for member in members { add(member, ellipsoid) }
    }
  }

  private mutating func add(_ rings: [CoordinateSequence], _ ellipsoid: Geodesic) {
    for (index, ring) in rings.enumerated() {
      let measured = ellipsoid.measure(ring: ring)
      perimeter += measured.perimeter
      area += index == 0 ? abs(measured.area) : -abs(measured.area)
    }
  }
}

extension Geometry {
  /// The length of lines along geodesics in metres; see ``FieldpackProjection/GeodesicMeasures``.
  /// Positions are in degrees.
  public func geodesicLength(on ellipsoid: Geodesic = .wgs84) throws(ProjectionError) -> Double {
    try GeodesicMeasures(self, on: ellipsoid).length
  }

  /// The perimeter of polygons along geodesics in metres, including holes. Positions are in
  /// degrees.
  public func geodesicPerimeter(
    on ellipsoid: Geodesic = .wgs84
  ) throws(ProjectionError) -> Double {
    try GeodesicMeasures(self, on: ellipsoid).perimeter
  }

  /// The area on the ellipsoid in square metres; see ``FieldpackProjection/GeodesicMeasures/area``.
  /// Positions are in degrees.
  public func geodesicArea(on ellipsoid: Geodesic = .wgs84) throws(ProjectionError) -> Double {
    try GeodesicMeasures(self, on: ellipsoid).area
  }

  /// The shortest distance in metres; `nil` where one of the two is empty. See
  /// ``FieldpackProjection/GeodesicShape`` for the method and its error. Positions are in degrees.
  public func geodesicDistance(
    to other: Geometry, on ellipsoid: Geodesic = .wgs84
  ) throws(ProjectionError) -> Double? {
    try GeodesicShape(self, on: ellipsoid).distance(to: GeodesicShape(other, on: ellipsoid))
  }
}
