import Fieldpack
import FieldpackCore
import FieldpackGeometry
import FieldpackMaps

/// Writes a map as SVG, or as a page with the SVG in it.
struct PictureExport {
  let invocation: Invocation
  let source: OpenedSource
  let query: Query
  let format: MapFormat
  let file: OutputArguments
  let skipsErrors: Bool

  func write() async throws(FieldpackError) -> ExportReport {
    if !file.isStandard { try source.workspace.refuseInput(as: file.path) }
    let output = try file.open(invocation)
    let scene = try await MapScene(query.skippingErrors(skipsErrors), of: source.workspace)
    var map = SVGMap(
      title: title, try await scene.envelope(), isGeographic: scene.isGeographic)
    let (contents, counts) = try await scene.draw(on: &map) { map, target, kind in
      let name = name(target, scene)
      map.beginLayer(
        kind.map { "\(name): \($0)" } ?? name,
        style: target.schema.style ?? WalkDrawing.style(of: target.layer, kind: kind))
    }
    if !file.isStandard, !skipsErrors, let error = FieldpackError(incomplete: contents.failures) {
      throw error
    }
    let drawing = map.finished()
    output.buffer.append(
      contentsOf: format == .svg ? drawing : MapPage.bytes(around: drawing, title: title))
    try output.finish()
    return report(scene, contents, counts)
  }

  /// The source's name without its folders.
  private var title: String { source.name.split(separator: "/").last.map(String.init) ?? "map" }

  /// The layer's name, with its store where another layer is called the same.
  private func name(_ target: ExportTarget, _ scene: MapScene) -> String {
    let isShared = scene.targets.contains { $0.layer == target.layer && $0.store != target.store }
    return isShared ? "\(target.store)/\(target.layer)" : target.layer.rawValue
  }

  private func report(
    _ scene: MapScene, _ contents: QueryReport.Contents, _ counts: [Int]
  ) -> ExportReport {
    var report = ExportReport()
    report.layers = zip(scene.targets, counts).map {
      .init(store: $0.store, layer: $0.layer, count: $1)
    }
    report.skipped.add(contents.skipped)
    report.failures = contents.failures
    report.notes = (scene.notes + contents.notes).map { Note($0) }
    report.transformations = scene.transformations
    return report
  }
}
