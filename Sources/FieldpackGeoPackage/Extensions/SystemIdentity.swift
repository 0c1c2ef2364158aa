import FieldpackGeometry

/// Which reference system a row of `gpkg_spatial_ref_sys` means.
struct SystemIdentity {
  var id: Int64
  var name: String
  var organization: String
  var code: Int64
  /// WKT 1 or WKT 2.
  var definition: String

  var srs: SRS {
    if id == 0 { return .undefinedGeographic }
    if id == -1 || isUndefined { return .undefinedCartesian }
    let stated = SRS(organization, Int32(clamping: code))
    guard stated.organization != "EPSG" else { return stated }
    return SRS.epsg(inWKT: definition) ?? stated
  }

  /// GDAL gives a layer without a reference system the row `Undefined SRS` of the organization
  /// GDAL, whose WKT has a unit of no length (`ogrgeopackagedatasource.cpp`, `GetSrsId`).
  private var isUndefined: Bool {
    let organization = organization.uppercased()
    if organization == "GDAL" || organization == "NONE", name == "Undefined SRS" { return true }
    return organization == "NONE" && ReferenceSystems.isUndefined(definition)
  }
}
