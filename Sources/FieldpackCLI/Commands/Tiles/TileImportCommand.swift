import Fieldpack
import FieldpackCore

/// `fieldpack import` of MBTiles files and folders of tiles.
struct TileImportCommand {
  let invocation: Invocation
  let options: ImportCommand.Options

  /// Whether what is to be imported are tiles.
  ///
  /// - Throws: `.invalidArgument` where other files or other tiles stand beside them.
  static func takes(_ paths: [String]) throws(FieldpackError) -> Bool {
    guard let tiles = paths.first(where: TileImport.takes) else { return false }
    guard paths.count == 1 else {
      throw FieldpackError(
        .invalidArgument, "\(tiles) holds tiles, which are imported alone. Try: two commands")
    }
    return true
  }

  func run() async throws(FieldpackError) -> Int32 {
    try check()
    let (source, target) = (options.files[0], options.into.path)
    try ImportCommand.checkName(target)
    let console = invocation.console
    let display = Locked<ProgressDisplay?>(nil)
    defer { display.withLock { $0?.finish() } }
    var importing = TileImport(layer: options.layer)
    importing.replaces = options.mode == .replace
    importing.version = options.version ?? .v14
    importing.profile = options.profile
    importing.logger = invocation.logger
    importing.progress = { done, total in
      let bar = display.withLock { display in
        if display == nil {
          display = ProgressDisplay("importing", total: total, unit: .tiles, console: console)
        }
        return display
      }
      bar?.update(done)
    }
    let report = try await importing.run(source, into: target)
    display.withLock { $0?.finish() }
    for note in report.notes { console.note(note) }
    guard !invocation.isJSON else {
      try invocation.print([
        "target": .text(target), "layer": .text(report.layer.rawValue),
        "count": JSONValue(report.count), "minimum_zoom": JSONValue(report.zooms.lowerBound),
        "maximum_zoom": JSONValue(report.zooms.upperBound), "notes": JSONValue(report.notes),
      ])
      return ExitStatus.success
    }
    let zooms = report.zooms.count == 1 ? "zoom" : "zooms"
    let range = Set([report.zooms.lowerBound, report.zooms.upperBound]).sorted()
      .map(String.init).joined(separator: " to ")
    try invocation.print(
      DisplayText.visible(
        "\(report.count.counting("tile")) of \(zooms) \(range) imported into \(target) as "
          + "\(report.layer)") + "\n")
    return ExitStatus.success
  }

  /// Tiles have no features.
  private func check() throws(FieldpackError) {
    let others: [(String, Bool)] = [
      ("--only", !options.only.isEmpty), ("--srs", options.srs != nil),
      ("--source-srs", options.sourceSRS != nil), ("--id", options.idColumn != nil),
      ("--format", options.format != nil), ("--cluster", options.clusters),
      ("--dry-run", options.isDryRun), ("--skip-errors", options.skipsErrors),
      ("--mode append", options.mode == .append), ("--mode upsert", options.mode == .upsert),
    ]
    guard let other = others.first(where: \.1) else { return }
    throw FieldpackError(.invalidArgument, "\(other.0) does not go with tiles")
  }
}
