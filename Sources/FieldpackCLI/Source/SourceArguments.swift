import Fieldpack
import FieldpackCore
import FieldpackGeometry
import FoundationEssentials

/// What a command reads from, and how it is opened.
enum SourceArguments {
  static let extensions = [
    "scfg", "gpkg", "geojson", "json", "geojsonl", "ndjson", "gpx", "csv", "tsv", "nmea",
    "nma", "igc", "tcx",
  ]
  static let source = Argument<String>.required(
    .text("source", completion: .source(extensions)),
    help: "A GeoPackage, a .scfg or a folder of them, a GeoJSON, GPX, CSV, NMEA, IGC or TCX "
      + "file, or - for standard input.")
  static let layers = Argument<[String]>.list(
    .text("layer", completion: .layer), help: "The layers; all where none is named.")
  static let stores = Option<[String]>.values(
    "store", .text("id", completion: .store), help: "Only this store; may be repeated.")
  static let allowPath = Option<[String]>.values(
    "allow-path", .text("folder", completion: .folder),
    help: "A folder that the uris of a config may lead to; may be repeated.")
  static let noCache = Option<Bool>.flag(
    "no-cache", help: "Do not keep what is read of files that are no GeoPackage for the next time.")
  static let sourceSRS = Option<SRS?>.value(
    "source-srs", .srs, help: "The SRS of a file's coordinates, where it says none.")
  static let inputFormat = Option<String?>.value(
    "input-format", .oneOf("format", Format.all.map(\.name)),
    help: "The format of the source, where its contents and name do not tell.")

  static let group = OptionGroup(
    "Source options",
    [
      stores, allowPath, noCache, sourceSRS, inputFormat, CSVArguments.delimiter, CSVArguments.x,
      CSVArguments.y, CSVArguments.wkt,
    ])

  /// How the source is opened.
  static func options(_ arguments: ParsedArguments) throws(FieldpackError) -> SourceOptions {
    var options = SourceOptions()
    options.allowing = arguments[allowPath].map { URL(fileURLWithPath: $0) }
    options.file.format = arguments[inputFormat].flatMap(Format.named)
    options.file.importing.sourceSRS = arguments[sourceSRS]
    options.file.importing.csv = try CSVArguments.options(arguments)
    if arguments[noCache] { options.file.cache = .private }
    return options
  }

  /// The stores asked, `nil` for all.
  static func stores(_ arguments: ParsedArguments) -> [StoreID]? {
    let ids = arguments[stores]
    return ids.isEmpty ? nil : ids.map { StoreID($0) }
  }
}
