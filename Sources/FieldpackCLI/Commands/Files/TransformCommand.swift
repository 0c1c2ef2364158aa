import Fieldpack
import FieldpackCore
import FieldpackGeoPackage
import FieldpackGeometry
import FoundationEssentials

extension FieldpackTool {
  static var transformCommand: Command {
    Command(
      "transform", abstract: "Write a GeoPackage with its layers in another SRS.",
      discussion: """
        Feature ids, columns and layers without geometry are kept as they are. For each layer the \
        operation chosen is shown, its accuracy, and the grids that would make it better.
        """,
      examples: [
        "fieldpack transform field.gpkg --srs EPSG:25832 --output utm.gpkg"
      ],
      arguments: [TransformCommand.source, SourceArguments.layers],
      options: [
        OptionGroup(
          nil,
          [
            TransformCommand.srs, ExportArguments.output, ExportArguments.overwrite,
            ExportArguments.version, QueryArguments.skipErrors,
          ]),
        OptionGroup("Rows in place of layers", DerivedArguments.options),
        GeometryArguments.group, CommonOptions.group,
      ]
    ) { invocation throws(FieldpackError) in
      try await TransformCommand(invocation: invocation).run()
    }
  }
}

/// `fieldpack transform`.
struct TransformCommand {
  static let source = Argument<String>.required(
    .text("gpkg", completion: .source(["gpkg"])), help: "The GeoPackage to transform.")
  static let srs = Option<SRS>.required("srs", .srs, help: "The SRS that the layers get.")

  let invocation: Invocation
  private var arguments: ParsedArguments { invocation.arguments }

  func run() async throws(FieldpackError) -> Int32 {
    let path = arguments[Self.source]
    let output = arguments[ExportArguments.output]
    guard output != "-" else {
      throw FieldpackError(
        .invalidArgument, "a GeoPackage cannot be written to standard output. Try: --output FILE")
    }
    try check(path)
    let query = Query(layers: arguments[SourceArguments.layers].map { LayerID($0) })
      .transformed(to: arguments[Self.srs])
      .applying(try GeometryArguments.operations(arguments))
    let layer = try DerivedArguments.layer(arguments, query)
    return try await invocation.stoppingAtBadFeatures { () async throws(FieldpackError) in
      let workspace = try await Workspace.open(file: URL(fileURLWithPath: path))
      do throws(FieldpackError) {
        let status = try await invocation.withDerived(layer, query, of: workspace) {
          (workspace, query) async throws(FieldpackError) in
          try await transform(query, of: workspace, to: output)
        }
        await workspace.close()
        return status
      } catch {
        await workspace.close()
        throw error
      }
    }
  }

  private func check(_ path: String) throws(FieldpackError) {
    let format = try Format.detect(path: path, head: try ByteInput(path: path).head(4096))
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
    let total =
      console.terminal.isErrorTerminal ? try await workspace.count(query) : nil
    let display = ProgressDisplay("transforming", total: total, unit: .features, console: console)
    defer { display.finish() }
    var options = ExportArguments.options(invocation)
    options.progress = { display.update($0) }
    let report = try await workspace.exportFeatures(
      query, toPath: output, as: .geoPackage, options: options)
    display.finish()
    if arguments[CommonOptions.json] {
      let stores = JSONValue.stores(of: workspace, asked: nil, failures: report.failures)
      try invocation.print(report.document(output, Format.geoPackage.name, stores: stores))
    } else {
      try invocation.print(report.summary(output) + operations(report))
    }
    try invocation.output.flush()
    for note in report.notes { console.note(note) }
    invocation.report(report.skipped)
    return invocation.status(failures: report.failures, skippedCount: report.skipped.count)
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
