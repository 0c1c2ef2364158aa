import Fieldpack
import FieldpackCore
import FieldpackFormats
import FieldpackGeoPackage

/// How features are written.
struct ExportArguments: OptionGroup {
  let file: OutputArguments
  let format: OutputFormat?
  private let writesKeys: Bool
  private let dialect: ExportOptions.Dialect
  private let gpxDialect: GPXDialect
  private let decimals: Int?
  private let writesBoxes: Bool
  private let version: GeoPackageVersion

  init(_ reader: inout OptionReader) {
    file = reader.group()
    format = reader.value(
      "format", .outputFormat, help: "The format, where the file's name does not tell.")
    writesKeys = reader.keys()
    dialect = reader.value(
      "dialect", .choice("dialect"), default: .rfc7946, shownAs: "rfc7946",
      help: "The GeoJSON to write.")
    gpxDialect = reader.value(
      "gpx-dialect", .choice("dialect"), default: .gpx11, shownAs: "gpx-1.1",
      help: "The GPX to write; photopath has waypoints alone, with six decimals and a time.")
    decimals = reader.value(
      "decimals", .integer("n", in: 0...17), help: "Round coordinates to so many decimals.")
    writesBoxes = reader.flag("with-bbox", help: "Write the bbox members of GeoJSON.")
    version = reader.gpkgVersion("The version of a GeoPackage.") ?? .v14
  }

  func options(skipsErrors: Bool) -> ExportOptions {
    var options = ExportOptions()
    options.overwrite = file.overwrites
    options.writesKeys = writesKeys
    options.dialect = dialect
    options.gpxDialect = gpxDialect
    options.decimals = decimals
    options.writesBoundingBoxes = writesBoxes
    options.version = version
    options.skipsErrors = skipsErrors
    return options
  }
}

/// The file that a command writes.
struct OutputArguments: OptionGroup {
  @Required var path: String
  let overwrites: Bool

  init(_ reader: inout OptionReader) {
    _path = reader.required(
      "output", short: "o", .file(), help: "The file to write, or - for standard output.")
    overwrites = reader.flag("overwrite", help: "Replace a file that exists.")
  }

  /// Whether it is standard output.
  var isStandard: Bool { path == "-" }

  /// - Throws: `.cannotCreate` where the file exists and is not to be replaced.
  func open(_ invocation: Invocation) throws(FieldpackError) -> ByteOutput {
    isStandard ? invocation.output : try ByteOutput(replacing: path, overwrite: overwrites)
  }

  /// Refuses a document beside what is written to standard output.
  func check(_ invocation: Invocation) throws(FieldpackError) {
    guard isStandard, invocation.isJSON else { return }
    throw FieldpackError(
      .invalidArgument, "--json and --output - both want standard output. Try: --output FILE")
  }
}

extension OptionReader {
  mutating func keys() -> Bool {
    flag("keys", help: "Write each feature's key tuple: in GeoJSON as id, else as first column.")
  }

  mutating func gpkgVersion(_ help: String) -> GeoPackageVersion? {
    value("gpkg-version", .choice("version"), shownDefault: "1.4", help: help)
  }
}

extension ValueForm where Value == OutputFormat {
  fileprivate static var outputFormat: ValueForm {
    let names = Format.written.map(\.name) + MapFormat.allCases.map(\.rawValue)
    return ValueForm("format", completion: .choices(names)) { (text) throws(ValueError) in
      guard names.contains(text), let format = OutputFormat(name: text) else {
        throw .notAmong(names, text)
      }
      return format
    }
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
