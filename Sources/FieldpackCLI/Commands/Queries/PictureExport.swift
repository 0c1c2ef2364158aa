import Fieldpack
import FieldpackCore
import FieldpackGeometry

/// Writes a map as SVG, or as a page with the SVG in it.
struct PictureExport {
  let invocation: Invocation
  let source: OpenedSource
  let query: Query
  let format: MapFormat

  /// - Parameter path: `-` is standard output.
  func write(to path: String) async throws(FieldpackError) -> ExportReport {
    let options = ExportArguments.options(invocation)
    let output: ByteOutput
    if path == "-" {
      output = invocation.output
    } else {
      try source.workspace.refuseInput(as: path)
      output = try ByteOutput(replacing: path, overwrite: options.overwrite)
    }
    let scene = try await MapScene(query.skippingErrors(options.skipsErrors), of: source.workspace)
    var map = SVGMap(
      title: title, try await scene.envelope(), isGeographic: scene.isGeographic)
    let (contents, counts) = try await scene.draw(on: &map) { map, target, kind in
      let name = name(target, scene)
      map.beginLayer(
        kind.map { "\(name): \($0)" } ?? name,
        style: target.schema.style ?? WalkDrawing.style(of: target.layer, kind: kind))
    }
    if path != "-", !options.skipsErrors, let error = FieldpackError(incomplete: contents.failures)
    {
      throw error
    }
    let drawing = map.finished()
    output.buffer.append(contentsOf: format == .svg ? drawing : HTMLPage.around(drawing, title))
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

/// A page that shows a drawing and needs nothing from elsewhere.
enum HTMLPage {
  static func around(_ svg: [UInt8], _ title: String) -> [UInt8] {
    var page = Array(
      """
      <!DOCTYPE html>
      <html lang="en">
      <head>
      <meta charset="utf-8">
      <meta name="viewport" content="width=device-width, initial-scale=1">
      <title>\(SVGText.escaped(title))</title>
      <style>
      body { margin: 0; background: #fff; }
      svg { display: block; margin: 0 auto; width: 100%; max-height: 100vh; }
      </style>
      </head>
      <body>

      """.utf8)
    page.append(contentsOf: svg)
    page.append(contentsOf: "</body>\n</html>\n".utf8)
    return page
  }
}
