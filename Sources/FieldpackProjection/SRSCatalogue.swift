import CPROJ
public import FieldpackGeometry

/// The spatial reference systems of PROJ's database, by `AUTHORITY:CODE`.
///
/// Opens the database on first use and keeps the definitions it has read. Confined to one task at a
/// time; every connection or task has its own catalogue.
public final class SRSCatalogue {
  private var context: ProjectionContext?
  private var known: [SRS: SRSDefinition] = [:]

  public init() {}

  /// PROJ's definition of `srs`.
  /// - Throws: ``ProjectionError/Kind/unknownSRS``, ``ProjectionError/Kind/undefinedSRS`` for
  ///   GeoPackage's -1 and 0, ``ProjectionError/Kind/unavailable`` without PROJ's database.
  public func definition(of srs: SRS) throws(ProjectionError) -> SRSDefinition {
    if let found = known[srs] { return found }
    let context = try openedContext()
    let object = try context.object(of: srs)
    let definition = try context.describe(object, srs: srs)
    known[srs] = definition
    return definition
  }

  /// The code of a system in PROJ's database that is equivalent to a file's own WKT definition;
  /// `nil` where there is none.
  ///
  /// Only a certain match counts, which PROJ gives a confidence of at least 90 of 100.
  public func identify(_ reference: SRSReference) throws(ProjectionError) -> SRS? {
    if let srs = reference.srs { return srs }
    let context = try openedContext()
    let object = try context.object(of: reference)
    var confidence: UnsafeMutablePointer<Int32>?
    let list = proj_identify(context.handle, object.handle, nil, nil, &confidence)
    defer {
      proj_list_destroy(list)
      proj_int_list_destroy(confidence)
    }
    guard let list, let confidence, proj_list_get_count(list) > 0, confidence[0] >= 90,
      let first = proj_list_get(context.handle, list, 0)
    else { return nil }
    let match = ProjectionObject(first)
    guard let authority = proj_get_id_auth_name(match.handle, 0),
      let code = proj_get_id_code(match.handle, 0)
    else { return nil }
    return SRS(String(cString: authority) + ":" + String(cString: code))
  }

  /// The definition in ESRI's dialect of WKT 1, as a shapefile's `.prj` holds it; `nil` where that
  /// dialect cannot express it.
  public func esriDefinition(of reference: SRSReference) throws(ProjectionError) -> String? {
    let context = try openedContext()
    let object = try context.object(of: reference)
    return context.wkt(object, PJ_WKT1_ESRI)
  }

  private func openedContext() throws(ProjectionError) -> ProjectionContext {
    if let context { return context }
    let made = try ProjectionContext()
    context = made
    return made
  }
}

extension ProjectionContext {
  fileprivate func describe(
    _ object: borrowing ProjectionObject, srs: SRS
  ) throws(ProjectionError) -> SRSDefinition {
    guard let wkt2 = wkt(object, PJ_WKT2_2019) else {
      throw ProjectionError(
        .unavailable, "PROJ cannot write \(srs) as WKT: \(takeMessage() ?? "no reason given")")
    }
    let unit = firstAxisUnit(object)
    var definition = SRSDefinition(
      srs: srs, name: proj_get_name(object.handle).map { String(cString: $0) } ?? "",
      kind: kind(object), wkt1: wkt(object, PJ_WKT1_GDAL), wkt2: wkt2, unit: unit.name,
      unitFactor: unit.factor, areaOfUse: areaOfUse(object),
      isDeprecated: proj_is_deprecated(object.handle) != 0)
    definition.isNorthFirst = isNorthFirst(object)
    return definition
  }

  /// Whether the first axis leads north and the second east. At the poles both axes lead the same way, and
  /// their names decide, as in PROJ when it turns axes.
  private func isNorthFirst(_ object: borrowing ProjectionObject) -> Bool {
    let horizontal = proj_crs_get_sub_crs(handle, object.handle, 0)
    defer { proj_destroy(horizontal) }
    guard let axes = proj_crs_get_coordinate_system(handle, horizontal ?? object.handle) else {
      return false
    }
    defer { proj_destroy(axes) }
    let (first, second) = (axis(0, in: axes), axis(1, in: axes))
    switch (first.direction, second.direction) {
    case ("north", "east"): return true
    case ("south", "south"), ("north", "north"):
      return first.name == "Northing" && second.name == "Easting"
    default: return false
    }
  }

  private func axis(_ index: Int32, in axes: OpaquePointer) -> (name: String, direction: String) {
    var (name, direction): (UnsafePointer<CChar>?, UnsafePointer<CChar>?)
    guard
      proj_cs_get_axis_info(handle, axes, index, &name, nil, &direction, nil, nil, nil, nil) != 0
    else { return ("", "") }
    return (
      name.map { String(cString: $0) } ?? "",
      direction.map { String(cString: $0).lowercased() } ?? ""
    )
  }

  fileprivate func wkt(_ object: borrowing ProjectionObject, _ type: PJ_WKT_TYPE) -> String? {
    "MULTILINE=NO".withCString { option in
      let options: [UnsafePointer<CChar>?] = [option, nil]
      return proj_as_wkt(handle, object.handle, type, options).map { String(cString: $0) }
    }
  }

  private func kind(_ object: borrowing ProjectionObject) -> SRSDefinition.Kind {
    switch proj_get_type(object.handle) {
    case PJ_TYPE_GEOGRAPHIC_2D_CRS, PJ_TYPE_GEOGRAPHIC_3D_CRS: .geographic
    case PJ_TYPE_GEOCENTRIC_CRS: .geocentric
    case PJ_TYPE_PROJECTED_CRS: .projected
    case PJ_TYPE_VERTICAL_CRS: .vertical
    case PJ_TYPE_COMPOUND_CRS: .compound
    case PJ_TYPE_ENGINEERING_CRS: .engineering
    default: .other
    }
  }

  private func firstAxisUnit(
    _ object: borrowing ProjectionObject
  ) -> (name: String, factor: Double) {
    let horizontal = proj_crs_get_sub_crs(handle, object.handle, 0)
    defer { proj_destroy(horizontal) }
    guard let axes = proj_crs_get_coordinate_system(handle, horizontal ?? object.handle) else {
      return ("unknown", 1)
    }
    defer { proj_destroy(axes) }
    var factor = 1.0
    var name: UnsafePointer<CChar>?
    guard
      proj_cs_get_axis_info(handle, axes, 0, nil, nil, nil, &factor, &name, nil, nil) != 0,
      let name
    else { return ("unknown", 1) }
    return (String(cString: name), factor)
  }

  private func areaOfUse(_ object: borrowing ProjectionObject) -> SRSDefinition.Area? {
    var west = 0.0
    var south = 0.0
    var east = 0.0
    var north = 0.0
    var name: UnsafePointer<CChar>?
    // PROJ gives -1000 for unknown bounds.
    guard
      proj_get_area_of_use(handle, object.handle, &west, &south, &east, &north, &name) != 0,
      west >= -180, east >= -180, south >= -90, north >= -90
    else { return nil }
    return SRSDefinition.Area(
      name: name.map { String(cString: $0) } ?? "",
      envelope: Envelope(minX: west, minY: south, maxX: east, maxY: north))
  }
}
