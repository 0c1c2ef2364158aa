import CPROJ
public import FieldpackGeometry

/// Measures geometries of one reference system on an ellipsoid.
///
/// Positions of a geographic system in degrees are measured on its own ellipsoid without
/// transformation. Those of any other system are first transformed to WGS 84. GeoPackage's
/// undefined geographic system (`srs_id` 0) counts as WGS 84. Owns a PROJ context where it
/// transforms: confined to one task.
public final class GeodesicSystem {
  public let ellipsoid: Geodesic
  /// The transformation to longitude and latitude; `nil` where positions are in these already.
  public let transformation: CoordinateTransformation?
  /// The reference system of the measured positions: the geographic system itself, or WGS 84.
  public let frame: SRSReference

  /// - Throws: ``ProjectionError/Kind/undefinedSRS`` for `srs_id` -1, whose coordinates are not on
  ///   Earth; ``ProjectionError/Kind/unknownSRS``, ``ProjectionError/Kind/noOperation``.
  public init(_ reference: SRSReference) throws(ProjectionError) {
    if reference.srs == .wgs84 || reference.srs == .undefinedGeographic {
      (ellipsoid, transformation, frame) = (.wgs84, nil, SRSReference(.wgs84))
    } else if let own = try ProjectionContext().ellipsoidOfDegrees(reference) {
      (ellipsoid, transformation, frame) = (own, nil, reference)
    } else {
      (ellipsoid, frame) = (.wgs84, SRSReference(.wgs84))
      transformation = try CoordinateTransformation(from: reference, to: SRSReference(.wgs84))
    }
  }

  /// The geometry in longitude and latitude, prepared for measuring.
  public func shape(of wkb: RawSpan) throws(ProjectionError) -> GeodesicShape {
    guard let transformation else { return try GeodesicShape(wkb: wkb, on: ellipsoid) }
    var bytes = wkb.withUnsafeBytes { [UInt8]($0) }
    try transformation.transform(wkb: &bytes)
    return try GeodesicShape(wkb: bytes.span.bytes, on: ellipsoid)
  }

  /// The lengths and the area of the geometry on the ellipsoid.
  public func measures(of wkb: RawSpan) throws(ProjectionError) -> GeodesicMeasures {
    guard let transformation else { return try GeodesicMeasures(wkb: wkb, on: ellipsoid) }
    var bytes = wkb.withUnsafeBytes { [UInt8]($0) }
    try transformation.transform(wkb: &bytes)
    return try GeodesicMeasures(wkb: bytes.span.bytes, on: ellipsoid)
  }

  /// A lower bound in metres of the distance to a box in the system's coordinates; 0 where none is
  /// known.
  public func leastDistance(from shape: GeodesicShape, to box: Envelope) -> Double {
    guard let transformation else { return shape.leastDistance(to: box) }
    guard let boxes = try? transformation.transform(box), !boxes.isEmpty else { return 0 }
    // The factor allows for a side of the box that bulges out between its sampled positions.
    return boxes.map { shape.leastDistance(to: $0) * 0.999 }.min() ?? 0
  }
}

extension ProjectionContext {
  /// The ellipsoid of a geographic system in degrees; `nil` for every other system.
  fileprivate func ellipsoidOfDegrees(
    _ reference: SRSReference
  ) throws(ProjectionError) -> Geodesic? {
    let object = try object(of: reference)
    let type = proj_get_type(object.handle)
    guard type == PJ_TYPE_GEOGRAPHIC_2D_CRS || type == PJ_TYPE_GEOGRAPHIC_3D_CRS,
      let axes = proj_crs_get_coordinate_system(handle, object.handle)
    else { return nil }
    defer { proj_destroy(axes) }
    var factor = 0.0
    guard proj_cs_get_axis_info(handle, axes, 0, nil, nil, nil, &factor, nil, nil, nil) != 0,
      abs(factor - .pi / 180) < 1e-12, let ellipsoid = proj_get_ellipsoid(handle, object.handle)
    else { return nil }
    defer { proj_destroy(ellipsoid) }
    var (major, minor) = (0.0, 0.0)
    guard
      proj_ellipsoid_get_parameters(handle, ellipsoid, &major, &minor, nil, nil) != 0,
      major > 0, minor > 0
    else { return nil }
    return Geodesic(semiMajorAxis: major, flattening: (major - minor) / major)
  }
}
