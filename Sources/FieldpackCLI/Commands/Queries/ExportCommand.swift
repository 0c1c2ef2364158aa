import Fieldpack
import FieldpackCore
import FieldpackGeometry

extension FieldpackTool {
  static var exportCommand: Command {
    Command(
      "export", abstract: "Write features to a file of another format.",
      discussion: """
        The extension of the file tells its format: .geojson .geojsonl .gpx .kml .kmz .csv .shp \
        .fgb .gpkg .svg .html. The file appears when it is complete; when something fails there \
        is none. GeoJSON, CSV, shapefiles and FlatGeobuf take one layer. GeoJSON, GPX and KML are \
        in longitude and latitude; GeoJSON in another --srs has a member crs that says so.

        A tile pyramid goes to a .mbtiles file, or to a folder zoom/x/y.png where the name ends \
        with a slash. The tiles keep their bytes.
        """,
      examples: [
        "fieldpack export field.gpkg track_points --output walk.gpx",
        "fieldpack export survey.scfg wells --where \"depth > 20\" --output deep.geojson",
        "fieldpack export field.gpkg --output map.svg --overwrite",
        "fieldpack export field.gpkg wells --label name --color-by depth -o wells.html",
        "fieldpack export field.gpkg wells --split-by use --format geojson -o by-use/",
        "fieldpack export field.gpkg:ortho --output ortho.mbtiles",
      ],
      body: ExportCommand.self)
  }
}

/// `fieldpack export`.
struct ExportCommand: CommandBody {
  struct Options: OptionGroup {
    @Required var source: SourceName
    let writing: ExportArguments
    let map: MapArguments
    let query: QueryArguments
    let opening: SourceArguments

    init(_ reader: inout OptionReader) {
      _source = reader.source()
      writing = reader.group()
      map = reader.group()
      query = reader.group()
      opening = reader.group()
    }
  }

  let invocation: Invocation
  let options: Options
  private var path: String { options.writing.file.path }

  func run() async throws(FieldpackError) -> Int32 {
    if let command = TileExportCommand(invocation, options) { return try await command.run() }
    let format = try format()
    return try await invocation.answer(options.source, options.opening, options.query) {
      (source, query) async throws(FieldpackError) in
      try await export(query, from: source, as: format)
    }
  }

  private func format() throws(FieldpackError) -> Format {
    let written = Format.written.map(\.name).joined(separator: ", ")
    let isSplit = options.writing.splitColumn != nil
    if isSplit, path == "-" {
      throw FieldpackError(
        .invalidArgument, "--split-by writes files into a folder. Try: --output FOLDER")
    }
    let named = options.writing.format ?? (isSplit ? .geoPackage : Format.byExtension(path))
    if let named, !Format.written.contains(named) {
      throw FieldpackError(
        .invalidArgument,
        "\(named.name) is read, and not written. Try: --format \(written)")
    }
    guard let format = named else {
      throw FieldpackError(
        .invalidArgument,
        "the format of \(path == "-" ? "standard output" : path) is not known. "
          + "Try: --format \(written)")
    }
    if path == "-", format == .geoPackage {
      throw FieldpackError(
        .invalidArgument, "a GeoPackage cannot be written to standard output. Try: --output FILE")
    }
    guard !options.map.isGiven || format == .svg || format == .html else {
      throw FieldpackError(
        .invalidArgument,
        "\(format.name) has no title, labels, colours and sizes. "
          + "Try: --output with a name in .svg or .html")
    }
    _ = try options.map.options()
    try options.writing.file.check(invocation)
    return format
  }

  private func export(
    _ query: Query, from source: OpenedSource, as format: Format
  ) async throws(FieldpackError) -> Int32 {
    var writing = options.writing.options(skipsErrors: options.query.skipsErrors)
    writing.logger = invocation.logger
    writing.title =
      options.map.title ?? source.name.split(separator: "/").last.map(String.init)
    writing.map = try options.map.options()
    if path == "-" {
      return try await invocation.write(query, from: source, as: format, writing)
    }
    writing.writesRecordSeparators = path.lowercased().hasSuffix(".geojsons")
    let display = try await invocation.progress("exporting", query, of: source.workspace)
    writing.progress = { display.update($0) }
    defer { display.finish() }
    let report =
      if let column = options.writing.splitColumn {
        try await source.workspace.exportFeatures(
          query, splitBy: column, into: path, as: format, options: writing)
      } else {
        try await source.workspace.exportFeatures(
          query, to: path, as: format, options: writing)
      }
    display.finish()
    try print(report, format, query, source)
    if format == .geoPackage, options.writing.takesDefaultVersion {
      invocation.noteDefaultVersion(
        of: options.writing.splitColumn == nil ? path : "each file in \(path)")
    }
    return invocation.finish(report, skipsErrors: writing.skipsErrors)
  }

  private func print(
    _ report: ExportReport, _ format: Format, _ query: Query, _ source: OpenedSource
  ) throws(FieldpackError) {
    guard invocation.isJSON else {
      let isSplit = options.writing.splitColumn != nil
      try invocation.print(
        report.summary(isSplit ? "\(report.files.count.counting("file")) in \(path)" : path))
      try invocation.output.flush()
      return
    }
    let stores = JSONValue.stores(
      of: source.workspace, asked: query.stores, failures: report.failures)
    let isSplit = options.writing.splitColumn != nil
    try invocation.print(report.document(path, format.name, stores: stores, isSplit: isSplit))
  }
}

extension ExportReport {
  /// `2 features of layer wells written to wells.geojson`.
  func summary(_ path: String) -> String {
    let names = layers.map(\.layer.rawValue)
    let of: String =
      switch names.count {
      case 0: ""
      case 1: " of layer \(names[0])"
      case 2...4: " of layers \(names.joined(separator: ", "))"
      default: " of \(names.count) layers"
      }
    return DisplayText.visible("\(count.counting("feature"))\(of) written to \(path)")
      + "\n"
  }

  /// - Parameter isSplit: whether it is about a file for each value.
  func document(
    _ path: String, _ format: String, stores: JSONValue, isSplit: Bool = false
  ) -> JSONValue {
    let layers = layers.map { layer -> JSONValue in
      [
        "store": .text(layer.store.rawValue), "layer": .text(layer.layer.rawValue),
        "count": JSONValue(layer.count),
      ]
    }
    var members: [(String, JSONValue)] = [
      ("output", .text(path)), ("format", .text(format)), ("count", JSONValue(count)),
      ("layers", .array(layers)),
    ]
    if isSplit { members.append(("files", .array(files.map { JSONValue($0) }))) }
    members += [
      ("stores", stores), ("skipped", JSONValue(skipped)),
      ("transformations", .array(transformations.map { JSONValue($0) })),
      ("notes", JSONValue(notes)),
    ]
    return .object(members.map { .init(name: $0.0, value: $0.1) })
  }
}

extension JSONValue {
  fileprivate init(_ file: ExportReport.File) {
    let value: JSONValue =
      switch file.value {
      case .null: nil
      case .boolean(let flag): .boolean(flag)
      case .integer(let number): .integer(number)
      case .real(let number): .real(number)
      case .text(let text): .text(text)
      case .blob(let bytes): .text("x'\(String(hex: bytes))'")
      case .date(let day): .text(day.description)
      case .dateTime(let instant): .text(instant.description)
      }
    self = ["file": .text(file.name), "value": value, "count": JSONValue(file.count)]
  }
}

extension Invocation {
  /// Writes features to standard output in a format of files.
  func write(
    _ query: Query, from source: OpenedSource, as format: Format, _ options: ExportOptions
  ) async throws(FieldpackError) -> Int32 {
    let report = try await source.workspace.exportFeatures(
      query, to: output, as: format, options: options)
    try output.flush()
    return finish(report, skipsErrors: options.skipsErrors)
  }

  /// Tells what an export had to say, and gives the command's status.
  func finish(_ report: ExportReport, skipsErrors: Bool) -> Int32 {
    for transformed in report.transformations { note(transformed) }
    for note in report.notes { console.note(note) }
    self.report(report.skipped)
    self.report(report.failures)
    return status(
      failures: report.failures, skippedCount: report.skipped.count, skipsErrors: skipsErrors)
  }
}

extension Invocation {
  /// Shows how far an export is. Counting first tells how long it will take; that is only worth it
  /// where someone watches.
  func progress(
    _ title: String, _ query: Query, of workspace: Workspace
  ) async throws(FieldpackError) -> ProgressDisplay {
    let isWatched =
      switch console.progressMode {
      case .auto: console.terminal.isErrorTerminal && !console.isQuiet
      case .bar, .plain: true
      case .none: false
      }
    let total = isWatched ? try await workspace.count(query) : nil
    return ProgressDisplay(title, total: total, unit: .features, console: console)
  }
}
