import FieldpackGeoPackage

/// A requirement that a check tests: one of the standard, of an extension with its own standard, or
/// of Fieldpack for correct answers.
public struct Requirement: Hashable, Sendable, CustomStringConvertible {
  /// `gpkg-33` for requirement 33 of OGC 12-128, `related-9` of OGC 18-000 (related tables),
  /// `coverage-6` of OGC 17-066 (gridded coverages), or `upkeep-` and a word for a requirement that
  /// no standard has, but answers depend on.
  public let id: String

  private init(id: String) { self.id = id }

  /// A requirement of the GeoPackage standard. Its number is the same in all versions.
  public static func core(_ number: Int) -> Requirement { Requirement(id: "gpkg-\(number)") }

  /// A requirement of the related tables extension.
  public static func related(_ number: Int) -> Requirement { Requirement(id: "related-\(number)") }

  /// A requirement of the tiled gridded coverage extension.
  public static func coverage(_ number: Int) -> Requirement {
    Requirement(id: "coverage-\(number)")
  }

  /// The R-tree holds every geometry of its layer, with true bounds, and nothing else.
  public static let index = Requirement(id: "upkeep-index")
  /// The extent in `gpkg_contents` is that of the geometries.
  public static let extent = Requirement(id: "upkeep-extent")
  /// The count in GDAL's `gpkg_ogr_contents` is that of the rows.
  public static let count = Requirement(id: "upkeep-count")
  /// Lines and rings are valid: closed, long enough, and with finite numbers.
  public static let shape = Requirement(id: "upkeep-shape")
  /// Geometries are valid by OGC Simple Features, where a check was asked to look.
  public static let validity = Requirement(id: "upkeep-validity")
  /// Triggers are the standard's, or others that Fieldpack knows and runs.
  public static let triggers = Requirement(id: "upkeep-triggers")

  /// The requirement in a few words.
  public var title: String { Self.titles[id] ?? id }

  public var description: String { id }

  /// Every requirement that a check can report.
  public static let all: [Requirement] = order.map { Requirement(id: $0.0) }

  private static let titles = Dictionary(uniqueKeysWithValues: order)

  /// Rank of the requirement in the order of the standards.
  var rank: Int { Self.ranks[id] ?? .max }

  private static let ranks = Dictionary(
    uniqueKeysWithValues: order.enumerated().map { ($0.element.0, $0.offset) })

  private static let order: [(String, String)] = [
    ("gpkg-1", "the file is an SQLite 3 database"),
    ("gpkg-2", "application_id and user_version name a version"),
    ("gpkg-3", "the file's name ends with .gpkg"),
    ("gpkg-5", "columns have types of the standard, and values are of them"),
    ("gpkg-6", "SQLite finds the file whole"),
    ("gpkg-7", "foreign keys lead to rows"),
    ("gpkg-10", "gpkg_spatial_ref_sys is as defined"),
    ("gpkg-11", "the required reference systems are there"),
    ("gpkg-13", "gpkg_contents is as defined"),
    ("gpkg-14", "contents name tables or views"),
    ("gpkg-15", "last_change is a moment in UTC"),
    ("gpkg-16", "srs_id of contents is defined"),
    ("gpkg-17", "data types are known"),
    ("gpkg-18", "data types are in lower case"),
    ("gpkg-19", "geometries are GeoPackage blobs"),
    ("gpkg-20", "geometries are ISO WKB"),
    ("gpkg-21", "gpkg_geometry_columns is as defined"),
    ("gpkg-22", "feature tables have their geometry column registered"),
    ("gpkg-23", "geometry columns belong to feature tables of the contents"),
    ("gpkg-24", "registered geometry columns exist"),
    ("gpkg-25", "geometry types are known, in capitals"),
    ("gpkg-26", "srs_id of geometry columns is defined"),
    ("gpkg-27", "Z is as declared"),
    ("gpkg-28", "M is as declared"),
    ("gpkg-29", "feature tables have an integer primary key"),
    ("gpkg-30", "feature tables have one geometry column"),
    ("gpkg-31", "the declared geometry type is the registered one"),
    ("gpkg-32", "geometries are of the declared type"),
    ("gpkg-33", "geometries have the srs_id of their column"),
    ("gpkg-34", "tile pyramids are tables of the contents"),
    ("gpkg-35", "pixels double from one zoom level to the next"),
    ("gpkg-36", "tiles are PNG or JPEG"),
    ("gpkg-38", "gpkg_tile_matrix_set is as defined"),
    ("gpkg-39", "tile matrix sets belong to tables of the contents"),
    ("gpkg-40", "tile pyramids have a tile matrix set"),
    ("gpkg-41", "srs_id of tile matrix sets is defined"),
    ("gpkg-42", "gpkg_tile_matrix is as defined"),
    ("gpkg-43", "tile matrices belong to tables of the contents"),
    ("gpkg-44", "zoom levels with tiles have a tile matrix"),
    ("gpkg-45", "tile matrices span their set"),
    ("gpkg-46", "zoom levels are not negative"),
    ("gpkg-47", "matrix_width is above 0"),
    ("gpkg-48", "matrix_height is above 0"),
    ("gpkg-49", "tile_width is above 0"),
    ("gpkg-50", "tile_height is above 0"),
    ("gpkg-51", "pixel_x_size is above 0"),
    ("gpkg-52", "pixel_y_size is above 0"),
    ("gpkg-53", "pixels shrink as zoom levels grow"),
    ("gpkg-54", "tile pyramids are as defined"),
    ("gpkg-55", "tiles are of zoom levels that exist"),
    ("gpkg-56", "tile columns are within their matrix"),
    ("gpkg-57", "tile rows are within their matrix"),
    ("gpkg-58", "gpkg_extensions is as defined"),
    ("gpkg-60", "extensions are registered for tables that exist"),
    ("gpkg-61", "extensions are registered for columns that exist"),
    ("gpkg-62", "names of extensions are well formed and known"),
    ("gpkg-63", "extensions say where they are defined"),
    ("gpkg-64", "the scope of extensions is read-write or write-only"),
    ("gpkg-68", "nonlinear geometry types are registered"),
    ("gpkg-75", "the R-tree extension is registered for geometry columns"),
    ("gpkg-76", "R-trees are registered as write-only"),
    ("gpkg-77", "R-trees and their triggers are as defined"),
    ("gpkg-88", "other zoom intervals are registered for tile_data"),
    ("gpkg-91", "WebP tiles are registered"),
    ("gpkg-93", "gpkg_metadata is as defined"),
    ("gpkg-94", "scopes of metadata are known"),
    ("gpkg-95", "gpkg_metadata_reference is as defined"),
    ("gpkg-96", "scopes of references to metadata are known"),
    ("gpkg-97", "references to metadata name tables of the contents"),
    ("gpkg-98", "references to metadata name columns that exist"),
    ("gpkg-99", "references to metadata name rows that exist"),
    ("gpkg-100", "timestamps of metadata are moments in UTC"),
    ("gpkg-101", "references lead to metadata"),
    ("gpkg-102", "parents of metadata exist"),
    ("gpkg-103", "gpkg_data_columns is as defined"),
    ("gpkg-104", "described columns are of tables that are known"),
    ("gpkg-105", "described columns exist"),
    ("gpkg-106", "constraints of columns exist"),
    ("gpkg-107", "gpkg_data_column_constraints is as defined"),
    ("gpkg-108", "constraints are range, enum or glob"),
    ("gpkg-109", "ranges and globs have names of their own"),
    ("gpkg-110", "ranges have no value"),
    ("gpkg-111", "ranges have a minimum below their maximum"),
    ("gpkg-112", "ranges say whether their ends belong to them"),
    ("gpkg-113", "enums and globs have no minimum or maximum"),
    ("gpkg-114", "enums and globs have a value"),
    ("gpkg-115", "gpkg_spatial_ref_sys has the columns of the CRS WKT extension"),
    ("gpkg-116", "the required reference systems have their WKT 2"),
    ("gpkg-117", "reference systems have a definition"),
    ("gpkg-119", "attribute tables have an integer primary key"),
    ("gpkg-140", "the metadata extension is registered"),
    ("gpkg-141", "the schema extension is registered, with both tables"),
    ("gpkg-145", "the CRS WKT extension is registered"),
    ("gpkg-146", "geometry columns have the srs_id of the contents"),
    ("gpkg-147", "tile matrix sets have the srs_id of the contents"),
    ("gpkg-150", "views of features have an integer key as first column"),
    ("gpkg-151", "views of attributes have an integer key as first column"),
    ("gpkg-152", "empty geometries are marked as such"),
    ("related-1", "gpkgext_relations is registered"),
    ("related-2", "mapping tables are registered"),
    ("related-4", "gpkgext_relations is as defined"),
    ("related-5", "base tables exist"),
    ("related-6", "related tables exist"),
    ("related-7", "mapping tables exist"),
    ("related-8", "names of relations are known"),
    ("related-9", "mapping tables are as defined"),
    ("related-10", "mappings begin at rows that exist"),
    ("related-11", "mappings end at rows that exist"),
    ("related-13", "media tables are as defined"),
    ("related-15", "tables of simple attributes are as defined"),
    ("coverage-1", "gpkg_2d_gridded_coverage_ancillary is as defined"),
    ("coverage-2", "gpkg_2d_gridded_tile_ancillary is as defined"),
    ("coverage-3", "the reference system of coverages is there"),
    ("coverage-6", "the gridded coverage extension is registered"),
    ("coverage-7", "coverages have one row of ancillary data"),
    ("coverage-9", "coverages are of integers or floats"),
    ("coverage-10", "tiles of coverages have ancillary data"),
    ("coverage-11", "ancillary data belong to coverages"),
    ("coverage-12", "ancillary data belong to tiles"),
    ("upkeep-index", "R-trees hold what their layers hold"),
    ("upkeep-extent", "extents are those of the geometries"),
    ("upkeep-count", "gpkg_ogr_contents has the true counts"),
    ("upkeep-shape", "lines and rings are whole"),
    ("upkeep-validity", "geometries are valid"),
    ("upkeep-triggers", "triggers are those that Fieldpack knows"),
  ]
}
