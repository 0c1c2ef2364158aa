import FieldpackSQLite

/// The tables that every GeoPackage has.
package enum RequiredTables {
  /// SQL for the current time in the form of clause 1.1.3.1.2.
  package static let now = "strftime('%Y-%m-%dT%H:%M:%fZ','now')"

  static var all: [String] {
    [
      GPKGSpatialRefSys.creation(), GPKGContents.creation(), GPKGGeometryColumns.creation(),
      GPKGExtensions.creation(),
    ]
  }

  /// The rows that clause 1.1.2.1.2 requires, without 4326, whose WKT comes from PROJ.
  static let undefinedSystems =
    "INSERT INTO gpkg_spatial_ref_sys VALUES "
    + undefinedKinds.map { id, kind in
      "('Undefined \(kind) SRS', \(id), 'NONE', \(id), 'undefined', "
        + "'undefined \(kind) coordinate reference system')"
    }.sqlList

  package static let undefinedKinds: [(id: Int64, kind: String)] = [
    (-1, "Cartesian"), (0, "geographic"),
  ]
}
