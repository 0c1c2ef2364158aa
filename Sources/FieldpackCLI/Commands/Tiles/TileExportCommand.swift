import Fieldpack
import FieldpackCore
import FieldpackGeoPackage

/// `fieldpack export` of tiles to an MBTiles file or a folder.
struct TileExportCommand {
  private let invocation: Invocation
  private let options: ExportCommand.Options
  private var path: String { options.writing.file.path }

  /// `nil` where features are exported.
  init?(_ invocation: Invocation, _ options: ExportCommand.Options) {
    let path = options.writing.file.path
    guard options.writing.format == nil, options.writing.splitColumn == nil,
      path.hasSuffix("/") || path.lowercased().hasSuffix(".mbtiles")
    else { return nil }
    self.invocation = invocation
    self.options = options
  }

  func run() async throws(FieldpackError) -> Int32 {
    let operations = try await options.query.geometries.operations(invocation)
    let query = try options.query.query(of: options.source, stores: nil, operations)
    guard query == Query(layers: query.layers), query.layers.count < 2, !options.map.isGiven,
      options.opening.stores == nil
    else {
      throw FieldpackError(
        .invalidArgument, "tiles are exported whole, a pyramid a time, without other options")
    }
    let display = ProgressDisplay(
      "exporting", total: nil, unit: .tiles, console: invocation.console)
    defer { display.finish() }
    var exporting = TileExport()
    exporting.overwrite = options.writing.file.overwrites
    exporting.progress = { display.update($0) }
    let report = try await invocation.withGeoPackage(options.source.path) {
      (store) async throws(FieldpackError) in
      try await exporting.run(
        try await store.tileLayer(query.layers.first), of: store, to: path)
    }
    display.finish()
    for note in report.notes { invocation.console.note(note) }
    guard !invocation.isJSON else {
      try invocation.print([
        "output": .text(path), "layer": .text(report.layer.rawValue),
        "count": JSONValue(report.count), "notes": JSONValue(report.notes),
      ])
      return ExitStatus.success
    }
    try invocation.print(
      DisplayText.visible("\(report.count.counting("tile")) of \(report.layer) written to \(path)")
        + "\n")
    return ExitStatus.success
  }
}

extension GeoPackageStore {
  /// The pyramid of that name, or the only one of the file.
  fileprivate func tileLayer(_ name: LayerID?) async throws(FieldpackError) -> LayerID {
    if let name { return name }
    let names = try await tilePyramids().map(\.name)
    guard names.count != 1 else { return names[0] }
    guard !names.isEmpty else {
      throw FieldpackError(
        .notFound, "store '\(id)' has no tiles", location: .init(store: id))
    }
    throw FieldpackError(
      .invalidArgument,
      "store '\(id)' has several tile pyramids (\(names.map(\.rawValue).joined(separator: ", "))). "
        + "Try: FILE:LAYER", location: .init(store: id))
  }
}
