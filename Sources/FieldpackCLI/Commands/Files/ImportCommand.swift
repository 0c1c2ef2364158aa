import Fieldpack
import FieldpackCore
import FieldpackFormats
import FieldpackGeoPackage
import FieldpackGeometry
import FoundationEssentials

extension FieldpackTool {
  static var importCommand: Command {
    Command(
      "import", abstract: "Import GeoJSON, GPX, CSV, logs and captures.",
      discussion: """
        All files are imported, or nothing is. Each gives a layer of its name; with --layer all go \
        into one, and the layers of GPX and of logs get the name as a prefix. NMEA, IGC and TCX \
        logs become tracks, in the layers that GPX gives. A GeoPackage that does not exist is \
        created.

        A folder of captures becomes points, tracks and related media, each capture as a whole or \
        not at all; those that cannot be read are listed, and the status is 1, or 2 with \
        --skip-errors. What is stored already stays as it is.
        """,
      examples: [
        "fieldpack import survey.geojson walk.gpx --into field.gpkg",
        "fieldpack import flight.igc receiver.nmea --into field.gpkg",
        "fieldpack import new.csv --into field.gpkg --layer wells --mode append",
        "fieldpack import StraboCaptures --into field.gpkg",
        "cat wells.geojson | fieldpack import - --layer wells --into field.gpkg",
      ],
      arguments: [ImportCommand.files],
      options: [
        OptionGroup(nil, ImportCommand.options),
        CSVArguments.group,
        CommonOptions.group,
      ]
    ) { invocation throws(FieldpackError) in
      try await ImportCommand(invocation: invocation).run()
    }
  }
}

/// `fieldpack import`.
struct ImportCommand {
  static let files = Argument<[String]>.list(
    .file(
      "file", "geojson", "json", "geojsonl", "ndjson", "gpx", "csv", "tsv", "nmea", "nma", "igc",
      "tcx"), minimum: 1,
    help: "A file, or - for standard input.")
  static let into = Option<String>.required(
    "into", .text("gpkg", completion: .source(["gpkg"])), help: "The GeoPackage to import into.")
  static let layer = Option<String?>.value(
    "layer", .text("name", completion: .layer), help: "The layer; by default the file's name.")
  static let only = Option<[String]>.values(
    "only", .oneOf("layer", GPXReader.layerNames),
    help: "Import only this layer of GPX files and logs; may be given again.")
  static let sourceSRS = Option<SRS?>.value(
    "source-srs", .srs, help: "The SRS of coordinates in files that name none.")
  static let srs = Option<SRS?>.value(
    "srs", .srs, help: "Transform to this SRS; by default layers keep their file's.")
  static let mode = Option<ImportMode>.value(
    "mode", .choice("mode"), default: .create, shownAs: "create",
    help: "Refuse layers that exist, append to them, or replace them.")
  static let id = Option<String?>.value(
    "id", .text("column"), help: "The column whose integers become the feature ids.")
  static let version = Option<GeoPackageVersion>.value(
    "gpkg-version", .choice("version"), default: .v14, shownAs: "1.4",
    help: "The version of a GeoPackage that is created.")
  static let format = Option<String?>.value(
    "format", .oneOf("format", Format.readable.map(\.name)),
    help: "The files' format, where their contents and names do not tell.")
  static let cluster = Option<Bool>.flag(
    "cluster",
    help: "Store features along a Hilbert curve, where the file has no integer ids of its own.")
  static let skipErrors = Option<Bool>.flag(
    "skip-errors", help: "Pass over bad features, list them, and end with status 2.")
  static let dryRun = Option<Bool>.flag("dry-run", help: "Read and check, but write nothing.")

  static var options: [any OptionKey] {
    [
      into, layer, only, sourceSRS, srs, mode, id, version, format, cluster, skipErrors, dryRun,
      WriteArguments.allowTriggers,
    ]
  }

  let invocation: Invocation
  private var arguments: ParsedArguments { invocation.arguments }

  func run() async throws(FieldpackError) -> Int32 {
    let files = arguments[Self.files]
    if try CaptureImportCommand.takes(files) {
      return try await CaptureImportCommand(invocation: invocation).run()
    }
    let target = arguments[Self.into]
    try check(files, target)
    let options = try importOptions()
    let report = try await withProgress(options) { (options) throws(FieldpackError) in
      try await FileImport(options).run(files, into: target)
    }
    let output = ImportOutput(report: report, target: target)
    if arguments[CommonOptions.json] {
      try invocation.print(output.document)
    } else {
      try invocation.print(output.text(for: invocation.console.terminal))
    }
    for note in output.notes { invocation.console.note(note) }
    return report.skipped.count > 0 ? ExitStatus.skippedFeatures : ExitStatus.success
  }

  private func withProgress(
    _ options: ImportOptions, _ body: (ImportOptions) async throws(FieldpackError) -> ImportReport
  ) async throws(FieldpackError) -> ImportReport {
    let progress = ImportProgressDisplay(console: invocation.console)
    var options = options
    options.progress = { progress.show($0) }
    defer { progress.finish() }
    return try await body(options)
  }

  private func importOptions() throws(FieldpackError) -> ImportOptions {
    var options = ImportOptions(
      layer: arguments[Self.layer].map { LayerID($0) }, mode: arguments[Self.mode])
    options.format = arguments[Self.format].flatMap { Format.named($0) }
    if arguments.contains(Self.only) { options.only = Set(arguments[Self.only]) }
    options.sourceSRS = arguments[Self.sourceSRS]
    options.srs = arguments[Self.srs]
    options.idColumn = arguments[Self.id]
    options.version = arguments[Self.version]
    options.clusters = arguments[Self.cluster]
    options.skipsErrors = arguments[Self.skipErrors]
    options.profile = invocation.profile
    options.isDryRun = arguments[Self.dryRun]
    options.csv = try CSVArguments.options(arguments)
    options.logger = invocation.logger
    return options
  }

  // MARK: What people get wrong

  private func check(_ files: [String], _ target: String) throws(FieldpackError) {
    let exists = FileManager.default.fileExists(atPath: target)
    if !exists, Format.byExtension(target) != .geoPackage {
      throw FieldpackError(
        .invalidArgument, "the name of a GeoPackage ends with .gpkg, not \(target)",
        position: FilePosition(file: target))
    }
    if exists, arguments.contains(Self.version) {
      invocation.console.note("\(target) exists and keeps its version")
    }
    if files.contains("-"), arguments[Self.layer] == nil,
      arguments[Self.format].flatMap({ Format.named($0) })?.holdsLayers != true
    {
      throw FieldpackError(
        .invalidArgument, "standard input needs a name for its layer. Try: --layer NAME")
    }
    guard files.filter({ $0 == "-" }).count < 2 else {
      throw FieldpackError(.invalidArgument, "standard input can be read only once")
    }
    for file in files where file != "-" { try check(file, target) }
  }

  private func check(_ file: String, _ target: String) throws(FieldpackError) {
    let position = FilePosition(file: file)
    var isFolder = false
    if FileManager.default.fileExists(atPath: file, isDirectory: &isFolder), isFolder {
      let bare = file.hasSuffix("/") ? String(file.dropLast()) : file
      throw FieldpackError(
        .invalidArgument,
        "\(file) is a folder. Try: fieldpack import \(bare)/*.geojson --into \(target)",
        position: position)
    }
    let isConfig = file.lowercased().hasSuffix(".scfg")
    guard Format.byExtension(file) == .geoPackage || isConfig else { return }
    throw FieldpackError(
      .invalidArgument,
      "\(file) is a \(isConfig ? "config" : "GeoPackage"), which is read as it is",
      advice: .exportFirst(file: file), position: position)
  }
}

extension Format {
  /// The formats that are imported.
  static let readable: [Format] = [
    .geoJSON, .geoJSONSequence, .gpx, .csv, .nmea, .igc, .tcx,
  ]
}

/// The bar of an import: a new one for each reading.
private final class ImportProgressDisplay: Sendable {
  private let console: Console
  private let shown = Locked<(pass: Int, display: ProgressDisplay)?>(nil)

  init(console: Console) { self.console = console }

  func show(_ progress: ImportProgress) {
    let display = shown.withLock { shown in
      if let shown, shown.pass == progress.pass { return shown.display }
      shown?.display.finish()
      let title = progress.pass > 1 ? "reading again" : "importing"
      let display = ProgressDisplay(
        title, total: progress.bytesInAll, unit: .bytes, console: console)
      shown = (progress.pass, display)
      return display
    }
    display.update(progress.bytesRead)
  }

  func finish() { shown.withLock { $0?.display.finish() } }
}
