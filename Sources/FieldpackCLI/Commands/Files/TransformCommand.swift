import Fieldpack
import FieldpackCore
import FieldpackGeoPackage
import FieldpackGeometry

extension FieldpackTool {
  static var transformCommand: Command {
    Command(
      "transform", abstract: "Write a GeoPackage with its layers in another SRS.",
      discussion: """
        Feature ids, columns and layers without geometry are kept as they are. For each layer \
        the command shows which operation was chosen, its accuracy, and the grids that would \
        make it better. CONFIG:LAYER takes a layer of the stores of a config.
        """,
      examples: [
        "fieldpack transform field.gpkg --srs EPSG:25832 --output utm.gpkg"
      ],
      family: editFamily, body: TransformCommand.self)
  }
}

/// `fieldpack transform`.
private struct TransformCommand: CommandBody {
  struct Options: OptionGroup {
    @Required var file: SourceName
    let layers: [LayerID]
    @Required var srs: SRS
    let output: OutputArguments
    let version: GeoPackageVersion?
    let skipsErrors: Bool
    let derived: DerivedArguments
    let geometries: GeometryArguments

    init(_ reader: inout OptionReader) {
      _file = reader.geoPackageLayer("The GeoPackage to transform, or one of its layers.")
      layers = reader.layers()
      _srs = reader.required("srs", .srs, help: "The SRS that the layers get.")
      output = reader.group()
      version = reader.gpkgVersion("The version of a GeoPackage.")
      skipsErrors = reader.skipErrors()
      derived = reader.group()
      geometries = reader.group()
    }
  }

  let invocation: Invocation
  let options: Options

  func run() async throws(FieldpackError) -> Int32 {
    let path = options.file.path
    guard !options.output.isStandard else {
      throw FieldpackError(
        .invalidArgument, "a GeoPackage cannot be written to standard output. Try: --output FILE")
    }
    try check(path)
    let layers = [options.file.layer].compactMap { $0 } + options.layers
    let query = Query(layers: layers).transformed(to: options.srs)
      .applying(try await options.geometries.operations(invocation))
    let layer = try options.derived.layer(query)
    return try await invocation.stoppingAtBadFeatures { () async throws(FieldpackError) in
      try await invocation.withSource(path, SourceArguments()) {
        (source) async throws(FieldpackError) in
        try await invocation.withDerived(layer, query, of: source.workspace) {
          (workspace, query) async throws(FieldpackError) in
          try await transform(query, of: workspace, to: options.output.path)
        }
      }
    }
  }

  private func check(_ path: String) throws(FieldpackError) {
    // The stores of a config are asked what they have.
    guard !options.file.isConfig else { return }
    let format = try Format.detect(try ByteInput(path: path))
    guard format != .geoPackage else { return }
    throw FieldpackError(
      .invalidArgument,
      "\(path) is no GeoPackage but \(format). Try: fieldpack import \(path) --srs …",
      position: FilePosition(file: path))
  }

  private func transform(
    _ query: Query, of workspace: Workspace, to output: String
  ) async throws(FieldpackError) -> Int32 {
    let console = invocation.console
    let display = try await invocation.progress("transforming", query, of: workspace)
    defer { display.finish() }
    var writing = ExportOptions()
    writing.logger = invocation.logger
    writing.overwrite = options.output.overwrites
    writing.version = options.version ?? .v14
    writing.skipsErrors = options.skipsErrors
    writing.progress = { display.update($0) }
    let report = try await workspace.exportFeatures(
      query, to: output, as: .geoPackage, options: writing)
    display.finish()
    if invocation.isJSON {
      let stores = JSONValue.stores(of: workspace, asked: nil, failures: report.failures)
      try invocation.print(report.document(output, Format.geoPackage.name, stores: stores))
    } else {
      try invocation.print(report.summary(output) + operations(report))
    }
    try invocation.output.flush()
    for note in report.notes { console.note(note) }
    invocation.report(report.skipped)
    return invocation.status(
      failures: report.failures, skippedCount: report.skipped.count,
      skipsErrors: options.skipsErrors)
  }

  /// Which operation took each layer there.
  private func operations(_ report: ExportReport) -> String {
    let rows = report.layers.map { layer -> [String] in
      let operation = report.transformations.first { $0.layer == layer.layer }?.report
      return [layer.layer.rawValue, "\(layer.count)", operation?.line ?? "copied"]
    }
    guard !rows.isEmpty else { return "" }
    let terminal = invocation.console.terminal
    return "\n"
      + TextTable.text(
        [
          TableColumn("layer"), TableColumn("features", isNumeric: true),
          TableColumn("operation"),
        ], rows, width: nil, usesUnicode: terminal.usesUnicode || !terminal.isOutputTerminal)
  }
}
