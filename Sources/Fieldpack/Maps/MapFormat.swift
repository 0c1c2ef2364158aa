import FieldpackCore
import FieldpackMaps
import FoundationEssentials

/// A format that shows a map of the layers.
///
/// A map is in one SRS, as ``MapScene`` says, and leaves out layers without a geometry.
protocol MapFormat: ExportedFormat {
  /// The file that shows a map, which is SVG.
  func file(of map: [UInt8], title: String) -> [UInt8]
}

extension MapFormat {
  var holdsLayers: Bool { true }

  func export(
    _ run: ExportRun, to place: ExportPlace
  ) async throws(FieldpackError) -> ExportReport {
    try checkKeys(run.options)
    switch place {
    case .path(let path): return try await write(run, toPath: path)
    case .output(let output):
      let (file, report) = try await drawn(run, requiresAll: false)
      try output.write(file)
      return report
    }
  }

  @concurrent private func write(
    _ run: ExportRun, toPath path: String
  ) async throws(FieldpackError) -> ExportReport {
    // Refused before anything is read, where the file exists.
    let output = try ByteOutput(replacing: path, overwrite: run.options.overwrite)
    let (file, report) = try await drawn(run, requiresAll: true)
    try output.write(file)
    try output.finish()
    return report
  }

  /// - Parameter requiresAll: whether a store that does not answer is an error.
  @concurrent private func drawn(
    _ run: ExportRun, requiresAll: Bool
  ) async throws(FieldpackError) -> (file: [UInt8], report: ExportReport) {
    let title = run.options.title ?? run.workspace.fileName ?? "map"
    let scene = try await MapScene(run.query, of: run.workspace)
    var map = SVGMap(
      title: title, try await scene.envelope(), isGeographic: scene.isGeographic)
    let (contents, counts) = try await scene.draw(on: &map) { map, target, kind in
      let name = scene.name(of: target)
      map.beginLayer(
        kind.map { "\(name): \($0)" } ?? name,
        style: target.schema.style ?? FieldDrawing.style(of: target.layer, kind: kind))
    } drew: { (count) throws(FieldpackError) in
      run.options.progress?(count)
      try run.checkCancellation()
    }
    if requiresAll, !run.options.skipsErrors,
      let error = FieldpackError(incomplete: contents.failures)
    {
      throw error
    }
    return (file(of: map.finished(), title: title), ExportReport(scene, contents, counts))
  }
}

extension MapScene {
  /// The layer's name, with its store where another layer is called the same.
  fileprivate func name(of target: ExportTarget) -> String {
    let isShared = targets.contains { $0.layer == target.layer && $0.store != target.store }
    return isShared ? "\(target.store)/\(target.layer)" : target.layer.rawValue
  }
}

extension ExportReport {
  fileprivate init(_ scene: MapScene, _ contents: QueryReport.Contents, _ counts: [Int]) {
    self.init()
    layers = zip(scene.targets, counts).map {
      .init(store: $0.store, layer: $0.layer, count: $1)
    }
    skipped.add(contents.skipped)
    failures = contents.failures
    notes = (scene.notes + contents.notes).map { Note($0) }
    transformations = scene.transformations
  }
}

extension Workspace {
  /// The name of the only store's file, without its folders.
  fileprivate nonisolated var fileName: String? {
    guard members.count == 1, let file = try? members[0].config.localFile() else { return nil }
    return file.lastPathComponent
  }
}
