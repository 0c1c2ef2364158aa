import Fieldpack
import FieldpackCore
import FieldpackFormats
import FieldpackGeoPackage

/// How features are written.
struct ExportArguments: OptionGroup {
  let file: OutputArguments
  let format: Format?
  /// The column whose values each get a file.
  let splitColumn: String?
  private let writesKeys: Bool
  private let dialect: ExportOptions.Dialect
  private let gpxDialect: GPXDialect
  private let decimals: Int?
  private let writesBoxes: Bool
  private let version: GeoPackageVersion?
  private let prefixesStores: Bool

  init(_ reader: inout OptionReader) {
    file = reader.group()
    format = reader.value(
      "format", .format(Format.written),
      help: "The format, where the name of the file does not tell it.")
    splitColumn = reader.value(
      "split-by", .text("column", completion: .column),
      help: "Write a file for each value of a column into the folder --output; without --format "
        + "they are GeoPackages. File names are made safe, and no two values share one; features "
        + "without a value are in null.")
    writesKeys = reader.keys()
    dialect = reader.value(
      "dialect", .choice("dialect"), default: .rfc7946, shownAs: "rfc7946",
      help: "The GeoJSON to write.")
    gpxDialect = reader.value(
      "gpx-dialect", .choice("dialect"), default: .gpx11, shownAs: "gpx-1.1",
      help: "The GPX to write; photopath has only waypoints, with six decimals and a time.")
    decimals = reader.value(
      "decimals", .integer("n", in: 0...17), help: "Round coordinates to so many decimals.")
    writesBoxes = reader.flag("with-bbox", help: "Write the bbox members of GeoJSON.")
    version = reader.gpkgVersion("The version of a GeoPackage.")
    prefixesStores = reader.flag(
      "prefix-store",
      help: "Name each layer STORE_LAYER in a file that holds several, such as a GeoPackage.")
  }

  /// Whether files are written as the default version of GeoPackages.
  var takesDefaultVersion: Bool { version == nil }

  func options(skipsErrors: Bool) -> ExportOptions {
    var options = ExportOptions()
    options.overwrite = file.overwrites
    options.writesKeys = writesKeys
    options.dialect = dialect
    if dialect == .spatialConnect {
      options.client = try? MachineIdentity.stored(.device).uuid
      options.createdAt = FieldClock.system.now
    }
    options.gpxDialect = gpxDialect
    options.decimals = decimals
    options.writesBoundingBoxes = writesBoxes
    options.version = version ?? .v14
    options.prefixesStores = prefixesStores
    options.skipsErrors = skipsErrors
    return options
  }
}

/// What a map says.
struct MapArguments: OptionGroup {
  static let title: String? = "Options of maps"

  let title: String?
  private let label: String?
  private let color: String?
  private let classes: Int?
  private let method: MapOptions.Method?
  private let size: String?

  init(_ reader: inout OptionReader) {
    title = reader.value(
      "title", .text("text"), shownDefault: "the file's name", help: "The title of the map.")
    label = reader.value(
      "label", .text("column", completion: .column),
      help: "Write a column's values beside the features, as far as no two overlap; the pointer "
        + "shows the others.")
    color = reader.value(
      "color-by", .text("column", completion: .column),
      help: "Colour features by a column: numbers in classes, words in a colour each.")
    classes = reader.value(
      "classes", .integer("n", in: 1...12), shownDefault: "5",
      help: "How many classes the numbers of --color-by have.")
    method = reader.value(
      "method", .choice("method"), shownDefault: "quantile",
      help: "How these classes are found: as many features in each, equal ranges, or Jenks' "
        + "natural breaks.")
    size = reader.value(
      "size", .text("column", completion: .column),
      help: "Size points by a column of numbers, and lines by their width.")
  }

  /// Whether any option is given.
  var isGiven: Bool {
    title != nil || label != nil || color != nil || classes != nil || method != nil || size != nil
  }

  /// - Throws: `.invalidArgument` where an option has nothing to act on.
  func options() throws(FieldpackError) -> MapOptions {
    guard color != nil || classes == nil && method == nil else {
      throw FieldpackError(
        .invalidArgument,
        "--\(classes == nil ? "method" : "classes") is for the numbers of a column. "
          + "Try: --color-by COLUMN")
    }
    var options = MapOptions()
    options.label = label
    options.color = color
    options.classes = classes ?? options.classes
    options.method = method ?? options.method
    options.size = size
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
    value(
      "gpkg-version", .choice("version"), shownDefault: "1.4",
      help: help + " GDAL before 3.7 warns of 1.4.")
  }
}

extension Invocation {
  /// Tells that a new GeoPackage is of the default version, of which older programs warn.
  ///
  /// Only people are told: in the log of a script the line would stand for every file.
  func noteDefaultVersion(of path: String) {
    guard console.terminal.isErrorTerminal else { return }
    console.note(
      "\(path) is a GeoPackage 1.4. Where GDAL before 3.7 has to read it without a warning, use "
        + "--gpkg-version 1.3")
  }
}
