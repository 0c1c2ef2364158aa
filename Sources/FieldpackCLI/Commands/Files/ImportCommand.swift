import Fieldpack
import FieldpackCore
import FieldpackFormats
import FieldpackGeoPackage
import FieldpackGeometry

extension FieldpackTool {
  static var importCommand: Command {
    Command(
      "import", abstract: "Import files of many formats into a GeoPackage.",
      discussion: """
        All files are imported, or none is. Each file becomes a layer of its name. With --layer \
        all files go into one layer; the layers of GPX files, of KML and of logs get the name as \
        a prefix. NMEA, IGC and TCX logs become tracks, in the layers that GPX has. A shapefile \
        is named by its .shp; the files beside it are read with it. A GeoPackage that does not \
        exist is created.

        Of another GeoPackage all layers come, or the one of FILE:LAYER and its media, with \
        their rules, metadata, styles and relations. Features keep their ids where these are \
        free. --layer gives a single layer another name.

        A folder of captures becomes points, tracks and related media. Each capture is imported \
        whole or not at all. Captures that cannot be read are listed, and the status is 1, or 2 \
        with --skip-errors. Captures that the file has already stay as they are.

        --into CONFIG:STORE imports into a store of a config, such as a database of PostGIS; there \
        a config is a source, too.

        An MBTiles file, or a folder of tiles named zoom/x/y.png, becomes a tile pyramid. The \
        tiles keep their bytes: PNG, JPEG or WebP.
        """,
      examples: [
        "fieldpack import survey.geojson walk.gpx --into field.gpkg",
        "fieldpack import flight.igc receiver.nmea --into field.gpkg",
        "fieldpack import new.csv --into field.gpkg --layer wells --mode append",
        "fieldpack import pegel.csv --into f.gpkg --decimal , --date-format %d.%m.%Y",
        "fieldpack import other.gpkg --into field.gpkg --mode append",
        "fieldpack import other.gpkg:wells --into field.gpkg --layer old_wells",
        "fieldpack import StraboCaptures --into field.gpkg",
        "fieldpack import field.gpkg --into team.scfg:db --mode append",
        "fieldpack import ortho.mbtiles --into field.gpkg",
        "cat wells.geojson | fieldpack import - --layer wells --into field.gpkg",
      ],
      body: ImportCommand.self)
  }
}

/// `fieldpack import`.
struct ImportCommand: CommandBody {
  struct Options: OptionGroup {
    let sources: [SourceName]
    var files: [String] { sources.map(\.path) }
    @Required var into: SourceName
    let layerName: LayerID?
    let only: [String]
    let sourceSRS: SRS?
    let srs: SRS?
    let mode: ImportMode?
    let idColumn: String?
    let matchColumn: String?
    let version: GeoPackageVersion?
    let format: Format?
    let clusters: Bool
    let skipsErrors: Bool
    let isDryRun: Bool
    let profile: OpeningProfile
    let csv: CSVArguments

    init(_ reader: inout OptionReader) {
      sources = reader.arguments(
        .source("file", Format.imported.flatMap(\.extensions)), minimum: 1,
        help: "A file, or - for standard input; FILE.gpkg:LAYER takes one layer.")
      _into = reader.required(
        "into", .source("gpkg", ["gpkg"]),
        help: "The GeoPackage to import into; --into FILE:LAYER also names the layer. A store of a "
          + "config is CONFIG:STORE.")
      layerName = reader.value(
        "layer", .text("name", completion: .layer),
        help: "The name of the layer; by default that of the file."
      ).map { LayerID($0) }
      only = reader.values(
        "only", .oneOf("layer", GPXReader.layerNames),
        help: "Import only this layer of GPX files and logs; may be repeated.")
      sourceSRS = reader.value(
        "source-srs", .srs, help: "The SRS of files that name none.")
      srs = reader.value(
        "srs", .srs, help: "Transform to this SRS; by default a layer keeps the SRS of its file.")
      mode = reader.value(
        "mode", .choice("mode"), shownDefault: "create",
        help: "What happens to a layer that exists: create refuses it, append adds to it, replace "
          + "replaces it, upsert changes the features that it has and adds the others.")
      matchColumn = reader.value(
        "match", .text("column"),
        help: "The column by which --mode upsert finds features; by default their ids.")
      idColumn = reader.value(
        "id", .text("column"), help: "The column whose integers become the feature ids.")
      version = reader.gpkgVersion("The version of a GeoPackage that is created.")
      format = reader.value(
        "format", .format(Format.imported),
        help: "The format of the files, where their contents and names do not tell it.")
      clusters = reader.flag(
        "cluster",
        help: "Store features that are near each other close together, where the file has no "
          + "integer ids of its own.")
      skipsErrors = reader.skipErrors()
      isDryRun = reader.flag("dry-run", help: "Read and check, but write nothing.")
      profile = reader.editingProfile()
      csv = reader.group()
    }

    /// The layer that is named, at either place.
    var layer: LayerID? { into.layer ?? layerName }

    func check() throws(FieldpackError) {
      if matchColumn != nil, mode != .upsert {
        throw FieldpackError(.invalidArgument, "--match goes with --mode upsert")
      }
      guard let named = into.layer, let layerName, named != layerName, !into.isConfig else {
        return
      }
      throw FieldpackError(
        .invalidArgument, "--into names layer '\(named)', and --layer '\(layerName)'")
    }
  }

  let invocation: Invocation
  let options: Options

  func run() async throws(FieldpackError) -> Int32 {
    try options.check()
    let files = options.files
    if options.into.isConfig {
      return try await StoreImportCommand(invocation: invocation, options: options).run()
    }
    if try CaptureImportCommand.takes(files) {
      return try await CaptureImportCommand(invocation: invocation, options: options).run()
    }
    if try TileImportCommand.takes(files) {
      return try await TileImportCommand(invocation: invocation, options: options).run()
    }
    let target = options.into.path
    try check(files, target)
    let sources = options.sources.map { ImportSource($0.path, layer: $0.layer) }
    let isNew = !FileSystem.exists(target)
    let report = try await withProgress(try importOptions()) { (options) throws(FieldpackError) in
      try await FileImport(options).run(sources: sources, into: target)
    }
    let output = ImportOutput(report: report, target: target)
    if invocation.isJSON {
      try invocation.print(output.document)
    } else {
      try invocation.print(output.text(for: invocation.console.terminal))
    }
    for note in output.notes { invocation.console.note(note) }
    if isNew, options.version == nil, !options.isDryRun {
      invocation.noteDefaultVersion(of: target)
    }
    return report.skipped.count > 0 ? ExitStatus.skippedFeatures : ExitStatus.success
  }

  func withProgress(
    _ options: ImportOptions, _ body: (ImportOptions) async throws(FieldpackError) -> ImportReport
  ) async throws(FieldpackError) -> ImportReport {
    let progress = ImportProgressDisplay(console: invocation.console)
    var options = options
    options.progress = { progress.show($0) }
    defer { progress.finish() }
    return try await body(options)
  }

  func importOptions() throws(FieldpackError) -> ImportOptions {
    var importing = ImportOptions(layer: options.layer, mode: options.mode ?? .create)
    importing.format = options.format
    if !options.only.isEmpty { importing.only = Set(options.only) }
    importing.sourceSRS = options.sourceSRS
    importing.srs = options.srs
    importing.idColumn = options.idColumn
    importing.matchColumn = options.matchColumn
    importing.version = options.version ?? .v14
    importing.clusters = options.clusters
    importing.skipsErrors = options.skipsErrors
    importing.profile = options.profile
    importing.isDryRun = options.isDryRun
    importing.csv = try options.csv.options()
    importing.logger = invocation.logger
    return importing
  }

  // MARK: What people get wrong

  /// - Throws: `.invalidArgument` where a file is to be created whose name is no GeoPackage's.
  static func checkName(_ target: String) throws(FieldpackError) {
    guard !FileSystem.exists(target),
      Format.byExtension(target) != .geoPackage
    else { return }
    throw FieldpackError(
      .invalidArgument, "the name of a GeoPackage ends with .gpkg, not \(target)",
      position: FilePosition(file: target))
  }

  private func check(_ files: [String], _ target: String) throws(FieldpackError) {
    let exists = FileSystem.exists(target)
    try Self.checkName(target)
    if exists, options.version != nil {
      invocation.console.note("\(target) exists and keeps its version")
    }
    if files.contains("-"), options.layer == nil, options.format?.holdsLayers != true {
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
    if FileSystem.isFolder(file) {
      let bare = file.hasSuffix("/") ? String(file.dropLast()) : file
      throw FieldpackError(
        .invalidArgument,
        "\(file) is a folder. Try: fieldpack import \(bare)/*.geojson --into \(target)",
        position: position)
    }
    guard file.lowercased().hasSuffix(".scfg") else { return }
    throw FieldpackError(
      .invalidArgument, "\(file) is a config, which is read as it is",
      advice: .exportFirst(file: file), position: position)
  }
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
