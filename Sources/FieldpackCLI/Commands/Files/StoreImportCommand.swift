import Fieldpack
import FieldpackCore
import FieldpackGeoPackage

/// `fieldpack import FILE --into CONFIG:STORE`.
struct StoreImportCommand {
  let invocation: Invocation
  let options: ImportCommand.Options
  private var config: String { options.into.path }

  func run() async throws(FieldpackError) -> Int32 {
    try check()
    let stores = options.into.layer.map { [StoreID($0.rawValue)] }
    let report: (ImportReport, StoreID)? = try await invocation.withSource(
      config, SourceArguments(stores: stores), profile: options.profile
    ) { (target) async throws(FieldpackError) in
      let store = try store(of: target.workspace)
      guard store.geoPackage == nil else { return nil }
      return (try await run(into: store), store.id)
    }
    guard let (report, store) = report else { throw isFile }
    let shown = "\(config):\(store)"
    let output = ImportOutput(report: report, target: shown, store: store)
    if invocation.isJSON {
      try invocation.print(output.document)
    } else {
      try invocation.print(output.text(for: invocation.console.terminal))
    }
    for note in output.notes { invocation.console.note(note) }
    return report.skipped.count > 0 ? ExitStatus.skippedFeatures : ExitStatus.success
  }

  private func check() throws(FieldpackError) {
    guard options.version == nil else {
      throw FieldpackError(
        .invalidArgument, "--gpkg-version goes with a GeoPackage, and \(config) is a config")
    }
    if options.files.contains("-"), options.layerName == nil {
      throw FieldpackError(
        .invalidArgument, "standard input needs a name for its layer. Try: --layer NAME")
    }
    if options.layerName == nil, options.files.contains(config) { throw isItself }
    guard options.files.count > 1, options.sources.contains(where: \.isConfig) else { return }
    throw FieldpackError(.invalidArgument, "a config is imported alone")
  }

  private var isItself: FieldpackError {
    FieldpackError(
      .invalidArgument, "\(config) cannot be imported into itself. Try: --layer with another name")
  }

  /// A table that is made anew would wait for those who read it, and they for the table.
  private func refuseItself(
    _ source: SourceName, _ workspace: Workspace, _ store: any Store
  ) async throws(FieldpackError) {
    guard let place = FileIdentity(config), FileIdentity(source.path) == place else { return }
    let read = try await workspace.prepare(Query(layers: [source.layer].compactMap(\.self)))
    for layer in read.layers where layer.store == store.id {
      let name = layer.schema.layer
      if (options.layerName ?? name) == name { throw isItself }
    }
  }

  private var isFile: FieldpackError {
    FieldpackError(
      .invalidArgument, "a GeoPackage is imported into by its own name. Try: --into FILE.gpkg")
  }

  /// The store that is named, or the only one.
  private func store(of workspace: Workspace) throws(FieldpackError) -> any Store {
    if let named = options.into.layer { return try workspace.store(StoreID(named.rawValue)) }
    let ids = workspace.members.map(\.id)
    if ids.count == 1 { return try workspace.store(ids[0]) }
    throw FieldpackError(
      .invalidArgument,
      "\(config) has \(ids.count.counting("store")) (\(ids.map(\.rawValue).joined(separator: ", "))). "
        + "Try: --into \(config):STORE")
  }

  private func run(into store: any Store) async throws(FieldpackError) -> ImportReport {
    let command = ImportCommand(invocation: invocation, options: options)
    var importing = try command.importOptions()
    importing.layer = options.layerName
    let display = ProgressDisplay(
      "copying", total: nil, unit: .features, console: invocation.console)
    defer { display.finish() }
    return try await command.withProgress(importing) {
      (importing) async throws(FieldpackError) in
      let work = StoreImport(importing) { display.update($0) }
      guard let source = options.sources.first, source.isConfig else {
        return try await work.run(
          options.sources.map { ImportSource($0.path, layer: $0.layer) }, into: store)
      }
      return try await invocation.withSource(
        source.path, SourceArguments(), skipsErrors: options.skipsErrors
      ) { (opened) async throws(FieldpackError) in
        try await refuseItself(source, opened.workspace, store)
        return try await work.run(opened.workspace, layer: source.layer, into: store)
      }
    }
  }
}
