import Fieldpack
import FieldpackCore
import FieldpackGeoPackage

extension FieldpackTool {
  static var optimizeCommand: Command {
    Command(
      "optimize", abstract: "Make a GeoPackage fast to read.",
      discussion: """
        Packs the R-trees of all layers, or of the layers named, gathers statistics for the \
        query planner, and compacts the file. --index only writes R-trees, also for layers that \
        have none.

        --cluster stores features that are near each other close together. They get new ids from \
        1 up, and earlier key tuples are not valid any more. A layer whose ids other tables \
        refer to keeps its order. When something fails every feature stays as it was.
        """,
      examples: [
        "fieldpack optimize field.gpkg",
        "fieldpack optimize field.gpkg wells --index",
        "fieldpack optimize field.gpkg --cluster",
      ],
      family: careFamily, body: OptimizeCommand.self)
  }
}

/// `fieldpack optimize`.
private struct OptimizeCommand: CommandBody {
  struct Options: OptionGroup {
    @Required var file: SourceName
    let layers: [LayerID]
    let onlyIndexes: Bool
    let clusters: Bool

    init(_ reader: inout OptionReader) {
      _file = reader.geoPackageLayer(
        "The GeoPackage, which is changed, or one of its layers.")
      layers = reader.layers()
      onlyIndexes = reader.flag(
        "index", help: "Only write R-trees: pack them, and make those that are missing.")
      clusters = reader.flag(
        "cluster", help: "Store features along a Hilbert curve, under new ids.")
    }
  }

  let invocation: Invocation
  let options: Options

  func run() async throws(FieldpackError) -> Int32 {
    let path = options.file.path
    let display = ProgressDisplay(
      "optimizing", total: nil, unit: .features, console: invocation.console)
    defer { display.finish() }
    var work = OptimizeOptions()
    work.layers = [options.file.layer].compactMap { $0 } + options.layers
    work.createsIndexes = options.onlyIndexes
    work.clusters = options.clusters
    work.compacts = options.clusters || !options.onlyIndexes
    work.logger = invocation.logger
    work.progress = { (done) throws(FieldpackError) in display.update(done) }
    let report = try await FileOptimization(work).run(path)
    display.finish()
    if invocation.isJSON {
      try invocation.print(document(report, path))
    } else {
      try invocation.print(text(report, path))
    }
    for note in report.notes { invocation.console.note(note) }
    return ExitStatus.success
  }

  // MARK: Output

  private func text(_ report: OptimizeReport, _ path: String) -> String {
    let size = { (bytes: Int) in ProgressDisplay.amount(Double(bytes), .bytes) }
    let head =
      "\(DisplayText.visible(path)): \(size(report.bytesBefore)) before, "
      + "\(size(report.bytesAfter)) now\n"
    guard !report.layers.isEmpty else { return head }
    let terminal = invocation.console.terminal
    return head + "\n"
      + TextTable.text(
        [
          TableColumn("layer"), TableColumn("index"), TableColumn("entries", isNumeric: true),
          TableColumn("new ids"),
        ],
        report.layers.map { layer in
          [
            layer.layer.rawValue, layer.index.rawValue,
            layer.index == .none ? "" : "\(layer.entries)",
            layer.renumbered.map { $0 > 0 ? "1-\($0)" : "" } ?? "",
          ]
        }, width: terminal.cutWidth, usesUnicode: terminal.usesUnicode)
  }

  private func document(_ report: OptimizeReport, _ path: String) -> JSONValue {
    [
      "target": .text(path), "store": .text(FileImport.storeID(of: path).rawValue),
      "size_before_bytes": JSONValue(report.bytesBefore),
      "size_after_bytes": JSONValue(report.bytesAfter),
      "is_compacted": .boolean(report.isCompacted),
      "layers": .array(
        report.layers.map { layer in
          [
            "layer": .text(layer.layer.rawValue), "index": .text(layer.index.rawValue),
            "entry_count": JSONValue(layer.entries),
            "new_ids": layer.renumbered.map {
              ["first_id": 1, "last_id": JSONValue($0)]
            } ?? nil,
          ]
        }),
      "notes": JSONValue(report.notes),
    ]
  }
}
