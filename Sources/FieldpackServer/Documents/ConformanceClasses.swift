/// The conformance classes that the server has.
enum ConformanceClasses {
  private static let start = "http://www.opengis.net/spec/"

  /// Their URIs.
  static func uris(_ options: ServerDocuments.Options) -> [String] {
    var groups = always
    if options.isWritable {
      groups.append(
        ("ogcapi-features-4/1.0/conf/", ["create-replace-delete", "update", "features"]))
      // The draft writes `req` for this class, also in its table of conformance classes.
      if options.requiresIfMatch {
        groups.append(("ogcapi-features-4/1.0/req/", ["optimistic-locking-etags"]))
      }
    }
    return groups.flatMap { group in group.names.map { start + group.path + $0 } }
  }

  // The classes of Part 5 have moved to Common and are asked for by either name. QGIS asks for the
  // older name `basic-spatial-operators`, too.
  private static let schemas = ["schemas", "core-roles-features", "queryables", "sortables"]

  private static let always: [(path: String, names: [String])] = [
    ("ogcapi-common-1/1.0/conf/", ["core", "landing-page", "json", "html", "oas30"]),
    ("ogcapi-common-2/1.0/conf/", ["collections"]),
    ("ogcapi-features-1/1.0/conf/", ["core", "geojson", "html", "oas30"]),
    ("ogcapi-features-2/1.0/conf/", ["crs"]),
    (
      "ogcapi-features-3/1.0/conf/",
      ["queryables", "queryables-query-parameters", "filter", "features-filter"]
    ),
    (
      "cql2/1.0/conf/",
      [
        "cql2-text", "cql2-json", "basic-cql2", "advanced-comparison-operators",
        "case-insensitive-comparison", "accent-insensitive-comparison", "basic-spatial-functions",
        "basic-spatial-functions-plus", "basic-spatial-operators", "spatial-functions",
        "temporal-functions", "array-functions", "property-property", "functions", "arithmetic",
      ]
    ),
    ("ogcapi-features-5/1.0/conf/", schemas + ["returnables-and-receivables"]),
    ("ogcapi-common-3/1.0/conf/", schemas + ["returnables-and-receivables"]),
    ("ogcapi-features-8/1.0/conf/", ["sortables", "sorting", "features-sorting"]),
    (
      "ogcapi-tiles-1/1.0/conf/",
      ["core", "tileset", "tilesets-list", "geodata-tilesets", "mvt", "oas30"]
    ),
    (
      "tms/2.0/conf/",
      ["tilematrixset", "json-tilematrixset", "tilesetmetadata", "json-tilesetmetadata"]
    ),
  ]
}
