import Fieldpack
import FieldpackCore
import FieldpackFormats
import FieldpackGeoPackage

/// How features are written.
enum ExportArguments {
  static let output = Option<String>.required(
    "output", short: "o", .file("file"), help: "The file to write, or - for standard output.")
  static let overwrite = Option<Bool>.flag("overwrite", help: "Replace a file that exists.")
  static let format = Option<String?>.value(
    "format", .oneOf("format", Format.written.map(\.name) + MapFormat.allCases.map(\.rawValue)),
    help: "The format, where the file's name does not tell.")
  static let keys = Option<Bool>.flag(
    "keys", help: "Write each feature's key tuple: in GeoJSON as id, else as first column.")
  static let dialect = Option<ExportOptions.Dialect>.value(
    "dialect", .choice("dialect"), default: .rfc7946, shownAs: "rfc7946",
    help: "The GeoJSON to write.")
  static let gpxDialect = Option<GPXDialect>.value(
    "gpx-dialect", .choice("dialect"), default: .gpx11, shownAs: "gpx-1.1",
    help: "The GPX to write; photopath has waypoints alone, with six decimals and a time.")
  static let decimals = Option<Int?>.value(
    "decimals", .integer("n", in: 0...17), help: "Round coordinates to so many decimals.")
  static let boxes = Option<Bool>.flag("with-bbox", help: "Write the bbox members of GeoJSON.")
  static let version = Option<GeoPackageVersion>.value(
    "gpkg-version", .choice("version"), default: .v14, shownAs: "1.4",
    help: "The version of a GeoPackage.")

  static let group = OptionGroup(
    nil, [output, overwrite, format, keys, dialect, gpxDialect, decimals, boxes, version])

  static func options(_ invocation: Invocation) -> ExportOptions {
    let arguments = invocation.arguments
    var options = ExportOptions()
    options.logger = invocation.logger
    options.overwrite = arguments[overwrite]
    options.writesKeys = arguments[keys]
    options.dialect = arguments[dialect]
    options.gpxDialect = arguments[gpxDialect]
    options.decimals = arguments[decimals]
    options.writesBoundingBoxes = arguments[boxes]
    options.version = arguments[version]
    options.skipsErrors = arguments[QueryArguments.skipErrors]
    return options
  }
}

/// The formats of pictures, which the tool draws.
enum MapFormat: String, CaseIterable, Sendable {
  case svg, html
}

/// Every format that is written.
enum OutputFormat: Hashable {
  case features(Format)
  case picture(MapFormat)

  init?(name: String) {
    if let picture = MapFormat(rawValue: name.lowercased()) {
      self = .picture(picture)
    } else if let format = Format.named(name), Format.written.contains(format) {
      self = .features(format)
    } else {
      return nil
    }
  }

  /// The format that a file's extension names.
  init?(path: String) {
    let lower = path.lowercased()
    if lower.hasSuffix(".svg") {
      self = .picture(.svg)
    } else if lower.hasSuffix(".html") || lower.hasSuffix(".htm") {
      self = .picture(.html)
    } else if let format = Format.byExtension(path), Format.written.contains(format) {
      self = .features(format)
    } else {
      return nil
    }
  }

  var name: String {
    switch self {
    case .features(let format): format.name
    case .picture(let format): format.rawValue
    }
  }
}
