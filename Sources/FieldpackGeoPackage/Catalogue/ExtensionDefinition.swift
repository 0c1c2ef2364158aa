/// The URLs of the extensions' definitions, which `gpkg_extensions` must hold.
enum ExtensionDefinition {
  static func url(of name: String) -> String {
    switch name {
    case RTreeSQL.extensionName: geoPackage("spec120", "rtree")
    case "gpkg_crs_wkt": geoPackage("spec120", "crs_wkt")
    case "gpkg_crs_wkt_1_1": geoPackage("spec", "crs_wkt")
    case "gpkg_metadata": geoPackage("spec120", "metadata")
    case "gpkg_schema": geoPackage("spec121", "schema")
    case "gpkg_webp": geoPackage("spec120", "tiles_webp")
    case "gpkg_zoom_other": geoPackage("spec120", "zoom_other_intervals")
    case "gpkg_related_tables", "related_tables": "http://www.geopackage.org/18-000.html"
    case "gpkg_2d_gridded_coverage":
      "http://docs.opengeospatial.org/is/17-066r1/17-066r1.html"
    case "gdal_aspatial": "http://gdal.org/geopackage_aspatial.html"
    case "fieldpack_log": "Fieldpack, article Synchronisation: change logs of layers"
    case "fieldpack_schema": "Fieldpack, article Tracks: versions of the layers of field data"
    default: geoPackage("spec120", "geometry_types")
    }
  }

  private static func geoPackage(_ edition: String, _ anchor: String) -> String {
    "http://www.geopackage.org/\(edition)/#extension_\(anchor)"
  }
}
