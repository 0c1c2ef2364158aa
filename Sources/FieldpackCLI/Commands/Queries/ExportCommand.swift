import Fieldpack
import FieldpackCore
import FieldpackGeometry

extension FieldpackTool {
  static var exportCommand: Command {
    Command(
      "export", abstract: "Write features to a file of another format.",
      discussion: """
        The file's extension tells its format: .geojson .geojsonl .gpx .csv .gpkg .svg .html. It \
        appears when it is complete, and not at all when something fails. GeoJSON and CSV take one \
        layer. GeoJSON and GPX are in longitude and latitude; GeoJSON in another --srs says so in \
        the member crs.
        """,
      examples: [
        "fieldpack export field.gpkg track_points --output walk.gpx",
        "fieldpack export survey.scfg wells --where \"depth > 20\" --output deep.geojson",
        "fieldpack export field.gpkg --output map.svg --overwrite",
      ],
      arguments: [SourceArguments.source, SourceArguments.layers],
      options: [
        ExportArguments.group, QueryArguments.group, GeometryArguments.group, SourceArguments.group,
        CommonOptions.group,
      ]
    ) { invocation throws(FieldpackError) in
      try await ExportCommand(invocation: invocation).run()
    }
  }
}

/// `fieldpack export`.
struct ExportCommand {
  let invocation: Invocation
  private var arguments: ParsedArguments { invocation.arguments }

  func run() async throws(FieldpackError) -> Int32 {
    let query = try QueryArguments.query(arguments)
    let format = try format()
    return try await invocation.within(seconds: arguments[QueryArguments.timeout]) {
      () async throws(FieldpackError) in
      try await invocation.stoppingAtBadFeatures { () async throws(FieldpackError) in
        try await invocation.withQueried(query) {
          (source, query) async throws(FieldpackError) in
          try await export(query, from: source, as: format)
        }
      }
    }
  }

  private func format() throws(FieldpackError) -> OutputFormat {
    let path = arguments[ExportArguments.output]
    let given = arguments[ExportArguments.format].flatMap { OutputFormat(name: $0) }
    guard let format = given ?? OutputFormat(path: path) else {
      throw FieldpackError(
        .invalidArgument,
        "the format of \(path == "-" ? "standard output" : path) is not known. "
          + "Try: --format geojson")
    }
    guard path == "-" else { return format }
    if format == .features(.geoPackage) {
      throw FieldpackError(
        .invalidArgument, "a GeoPackage cannot be written to standard output. Try: --output FILE")
    }
    if arguments[CommonOptions.json] {
      throw FieldpackError(
        .invalidArgument,
        "--json and --output - both want standard output. Try: --output FILE")
    }
    return format
  }

  private func export(
    _ query: Query, from source: OpenedSource, as format: OutputFormat
  ) async throws(FieldpackError) -> Int32 {
    let path = arguments[ExportArguments.output]
    if path == "-", case .features(let format) = format {
      return try await invocation.write(query, from: source, as: format)
    }
    var options = ExportArguments.options(invocation)
    options.writesRecordSeparators = path.lowercased().hasSuffix(".geojsons")
    let report: ExportReport
    switch format {
    case .picture(let picture):
      let export = PictureExport(
        invocation: invocation, source: source, query: query, format: picture)
      report = try await export.write(to: path)
    case .features(let format):
      let display = try await progress(query, source)
      options.progress = { display.update($0) }
      defer { display.finish() }
      report = try await source.workspace.exportFeatures(
        query, toPath: path, as: format, options: options)
    }
    if path != "-" { try print(report, format, query, source) }
    return invocation.finish(report)
  }

  /// Counting first tells how long it will take; only worth it where someone watches.
  private func progress(
    _ query: Query, _ source: OpenedSource
  ) async throws(FieldpackError) -> ProgressDisplay {
    let console = invocation.console
    let isWatched =
      switch console.progressMode {
      case .auto: console.terminal.isErrorTerminal && !console.isQuiet
      case .bar, .plain: true
      case .none: false
      }
    let total = isWatched ? try await source.workspace.count(query) : nil
    return ProgressDisplay("exporting", total: total, unit: .features, console: console)
  }

  private func print(
    _ report: ExportReport, _ format: OutputFormat, _ query: Query, _ source: OpenedSource
  ) throws(FieldpackError) {
    let path = arguments[ExportArguments.output]
    guard arguments[CommonOptions.json] else {
      try invocation.print(report.summary(path))
      try invocation.output.flush()
      return
    }
    let stores = JSONValue.stores(
      of: source.workspace, asked: query.stores, failures: report.failures)
    try invocation.print(report.document(path, format.name, stores: stores))
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
    return DisplayText.visible("\(count) feature\(count == 1 ? "" : "s")\(of) written to \(path)")
      + "\n"
  }

  func document(_ path: String, _ format: String, stores: JSONValue) -> JSONValue {
    let layers = layers.map { layer -> JSONValue in
      [
        "store": .text(layer.store.rawValue), "layer": .text(layer.layer.rawValue),
        "count": JSONValue(layer.count),
      ]
    }
    return [
      "output": .text(path), "format": .text(format), "count": JSONValue(count),
      "layers": .array(layers), "stores": stores,
      "skipped": JSONValue(skipped),
      "transformations": .array(transformations.map { JSONValue($0) }), "notes": JSONValue(notes),
    ]
  }
}

extension Invocation {
  /// Writes features to standard output in a format of files.
  func write(
    _ query: Query, from source: OpenedSource, as format: Format
  ) async throws(FieldpackError) -> Int32 {
    let report = try await source.workspace.exportFeatures(
      query, to: output, as: format, options: ExportArguments.options(self))
    try output.flush()
    return finish(report)
  }

  /// Tells what an export had to say, and gives the command's status.
  func finish(_ report: ExportReport) -> Int32 {
    for transformed in report.transformations { note(transformed) }
    for note in report.notes { console.note(note) }
    self.report(report.skipped)
    self.report(report.failures)
    return status(failures: report.failures, skippedCount: report.skipped.count)
  }
}
