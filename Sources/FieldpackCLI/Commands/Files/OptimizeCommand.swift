import Fieldpack
import FieldpackCore
import FieldpackGeoPackage

extension FieldpackTool {
  static var optimizeCommand: Command {
    Command(
      "optimize", abstract: "Make a GeoPackage quick to read.",
      discussion: """
        Packs the R-trees of all layers, or of those named, gathers statistics for the planner of \
        queries, and compacts the file. With --index nothing but R-trees is written, also for \
        layers that have none. With --cluster features that are near each other are stored \
        near each other: they get new ids from 1 up, so key tuples made before do not hold any more. \
        Layers whose ids other tables refer to keep their order. What fails leaves every feature as \
        it was.
        """,
      examples: [
        "fieldpack optimize field.gpkg",
        "fieldpack optimize field.gpkg wells --index",
        "fieldpack optimize field.gpkg --cluster",
      ],
      body: OptimizeCommand.self)
  }
}

/// `fieldpack optimize`.
private struct OptimizeCommand: CommandBody {
  struct Options: OptionGroup {
    @Required var file: String
    let layers: [LayerID]
    let onlyIndexes: Bool
    let clusters: Bool

    init(_ reader: inout OptionReader) {
      _file = reader.geoPackage("The GeoPackage, which is changed.")
      layers = reader.layers()
      onlyIndexes = reader.flag(
        "index", help: "Only pack R-trees, and make those that layers lack.")
      clusters = reader.flag(
        "cluster", help: "Store features along a Hilbert curve, under new ids.")
    }
  }

  let invocation: Invocation
  let options: Options

  func run() async throws(FieldpackError) -> Int32 {
    let path = options.file
    let display = ProgressDisplay(
      "optimizing", total: nil, unit: .features, console: invocation.console)
    defer { display.finish() }
    var work = OptimizeOptions()
    work.layers = options.layers
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
