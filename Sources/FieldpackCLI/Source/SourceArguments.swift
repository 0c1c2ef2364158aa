import Fieldpack
import FieldpackCore
import FieldpackGeometry

/// How a source is opened.
struct SourceArguments: OptionGroup {
  static let title: String? = "Source options"
  static let extensions = ["scfg"] + Format.read.flatMap(\.extensions)

  /// The only stores to open, `nil` for all.
  var stores: [StoreID]?
  var allowsPaths: [String]
  private(set) var usesNoCache = false
  private(set) var storeFolder: String?
  private var srs: SRS?
  private var format: Format?
  private var csv: CSVArguments?

  init(_ reader: inout OptionReader) {
    let ids = reader.values(
      "store", .text("id", completion: .store), help: "Only this store; may be repeated.")
    stores = ids.isEmpty ? nil : ids.map { StoreID($0) }
    allowsPaths = reader.allowedPaths()
    storeFolder = reader.storeFolder()
    usesNoCache = reader.flag(
      "no-cache",
      help: "Do not keep a file that is no GeoPackage in the cache for the next time.")
    srs = reader.value(
      "source-srs", .srs, help: "The SRS of a file that names none.")
    format = reader.value(
      "input-format", .format(Format.read),
      help: "The format of the source, where its contents and name do not tell it.")
    // Its options stand under this heading.
    csv = CSVArguments(&reader)
  }

  /// For commands that take no more than folders.
  init(stores: [StoreID]? = nil, allowing paths: [String] = [], usesNoCache: Bool = false) {
    self.usesNoCache = usesNoCache
    self.stores = stores
    allowsPaths = paths
  }

  func options() throws(FieldpackError) -> SourceOptions {
    var options = SourceOptions()
    options.stores = stores
    options.allowing = allowsPaths
    options.file.format = format
    options.file.importing.sourceSRS = srs
    if let csv { options.file.importing.csv = try csv.options() }
    options.storeFolder = storeFolder
    if usesNoCache { options.file.cache = .private }
    return options
  }
}

extension OptionReader {
  mutating func allowedPaths() -> [String] {
    values(
      "allow-path", .text("folder", completion: .folder),
      help: "A folder outside the config's own that its uris may lead to; may be repeated."
    ).map(ShellWord.expandingHome)
  }

  mutating func storeFolder() -> String? {
    value(
      "store-folder", .text("folder", completion: .folder),
      help: "Where downloaded files are kept, in place of the folder beside the config."
    ).map(ShellWord.expandingHome)
  }

  /// What a command reads from.
  mutating func source() -> Required<SourceName> {
    argument(
      .source(),
      help:
        "A GeoPackage, a .scfg or a folder of them, a GeoJSON, GPX, KML, CSV, FlatGeobuf, NMEA, "
        + "IGC or TCX file, a shapefile, or - for standard input; a layer of it stands after a colon."
    )
  }

  /// What a command reads from that names layers itself.
  mutating func wholeSource() -> Required<String> {
    argument(
      .whole("source", completion: .source(SourceArguments.extensions)),
      help: "A GeoPackage, a .scfg or a folder of them.")
  }

  mutating func layers() -> [LayerID] {
    arguments(
      .text("layer", completion: .layer), help: "The layers; all where none is named."
    ).map { LayerID($0) }
  }

  /// A GeoPackage that is there.
  mutating func geoPackage(_ help: String) -> Required<String> {
    argument(.whole("gpkg", completion: .source(["gpkg"])), help: help)
  }

  /// A GeoPackage that is there, or one of its layers.
  mutating func geoPackageLayer(_ help: String) -> Required<SourceName> {
    argument(.source("gpkg", ["gpkg"]), help: help)
  }
}

extension ValueForm where Value == Format {
  /// One of the formats, by its name.
  static func format(_ formats: [Format]) -> ValueForm {
    let names = formats.map(\.name)
    return ValueForm("format", completion: .choices(names)) { (text) throws(ValueError) in
      guard let format = formats.first(where: { $0.name == text }) else {
        throw .notAmong(names, text)
      }
      return format
    }
  }
}
