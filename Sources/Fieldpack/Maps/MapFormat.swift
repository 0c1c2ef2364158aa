import FieldpackCore
import FieldpackGeometry
import FieldpackMaps

/// A format that shows a map of the layers.
///
/// A map is in one SRS, as ``MapScene`` says, and leaves out layers without a geometry.
protocol MapFormat: ExportedFormat {
  var medium: SVGMap.Medium { get }
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
      let (file, report) = try await MapRun(run, medium).drawn(requiresAll: false)
      try output.write(file)
      return report
    }
  }

  @concurrent private func write(
    _ run: ExportRun, toPath path: String
  ) async throws(FieldpackError) -> ExportReport {
    // Refused before anything is read, where the file exists.
    let output = try ByteOutput(replacing: path, overwrite: run.options.overwrite)
    let (file, report) = try await MapRun(run, medium).drawn(requiresAll: true)
    try output.write(file)
    try output.finish()
    return report
  }
}

/// One map from what is asked to its file.
private struct MapRun {
  private let run: ExportRun
  private let medium: SVGMap.Medium
  private var options: MapOptions { run.options.map }

  init(_ run: ExportRun, _ medium: SVGMap.Medium) {
    self.run = run
    self.medium = medium
  }

  /// - Parameter requiresAll: whether a store that does not answer is an error.
  @concurrent func drawn(
    requiresAll: Bool
  ) async throws(FieldpackError) -> (file: [UInt8], report: ExportReport) {
    let stored = try await storedStyles()
    let extra = stored.values.flatMap(\.attributes)
    let scene = try await MapScene(
      run.query, of: run.workspace,
      reading: medium == .page ? .all(and: options.columns) : .named(options.columns),
      alsoNamed: extra)
    let plans = scene.targets.map {
      MapThemePlan($0, options, stored: stored[$0.store]?[$0.layer])
    }
    let survey = try await MapSurvey(scene, plans, options)
    let envelope = survey.extent.envelope
    var map = SVGMap(
      title: run.options.title ?? run.workspace.fileName ?? "map", envelope,
      in: scene.reference(in: envelope), for: medium)
    let themes = begin(scene, plans, survey, on: &map)
    let (contents, counts) = try await draw(scene, themes, survey, on: &map)
    if requiresAll, !run.options.skipsErrors,
      let error = FieldpackError(incomplete: contents.failures)
    {
      throw error
    }
    let file = medium == .page ? map.page() : map.finished()
    var report = ExportReport(scene, contents, counts)
    report.notes += notes(of: map, survey)
    return (file, report)
  }

  private func storedStyles() async throws(FieldpackError) -> [StoreID: StoredStyles] {
    var styles: [StoreID: StoredStyles] = [:]
    for member in run.workspace.members where run.query.stores?.contains(member.id) ?? true {
      guard let store = member.store else { continue }
      styles[member.id] = try await StoredStyles(of: store)
    }
    return styles
  }

  private func begin(
    _ scene: MapScene, _ plans: [MapThemePlan], _ survey: MapSurvey, on map: inout SVGMap
  ) -> [MapTheme] {
    scene.targets.indices.map { number in
      let target = scene.targets[number]
      let name = scene.targets.name(of: target)
      let theme = MapTheme(
        plans[number], survey.colors[number], name: name, layer: target.layer, options)
      let columns = target.schema.columns.map(\.name)
      let hasSizes = options.size.map { target.schema.columnIndex($0) != nil } ?? false
      map.beginLayer(
        name, heading: theme.heading, symbols: theme.symbols,
        columns: medium == .page ? [target.schema.idColumn ?? "id"] + columns : [],
        sizes: hasSizes ? options.size.flatMap { survey.samples($0) } : nil,
        isThinned: FieldDrawing.isTrackPoints(target.layer))
      return theme
    }
  }

  private func draw(
    _ scene: MapScene, _ themes: [MapTheme], _ survey: MapSurvey, on map: inout SVGMap
  ) async throws(FieldpackError) -> (QueryReport.Contents, [Int]) {
    var counts = [Int](repeating: 0, count: scene.targets.count)
    let contents = try await scene.eachBatch { (batch, number) throws(FieldpackError) in
      guard let number else { return }
      let walk = FieldDrawing(batch.schema, isGeographic: scene.isGeographic)
      for index in 0..<batch.count {
        guard let geometry = try batch.geometry(at: index) else { continue }
        let row = batch[index]
        var mark = mark(of: row, batch.schema, survey)
        mark.symbol = themes[number].symbol(of: row, batch.schema)
        map.draw(walk.shape(geometry, of: row), as: mark, in: number)
      }
      counts[number] += batch.count
      run.options.progress?(counts.reduce(0, +))
      try run.checkCancellation()
    }
    return (contents, counts)
  }

  private func mark(
    of row: FeatureBatch.Row, _ schema: Schema, _ survey: MapSurvey
  ) -> MapMark {
    var mark = MapMark()
    if let name = options.label { mark.label = label(name, of: row, schema) }
    if let size = options.size.flatMap({ schema.columnIndex($0) }) {
      mark.share = survey.share(ColumnSurvey.number(row.stored(at: size)))
    }
    if medium == .page {
      mark.attributes =
        [.text("\(row.id)")]
        + schema.columns.indices.map { row.value(at: $0, of: schema.columns[$0].type) }
    }
    return mark
  }

  private func label(_ name: String, of row: FeatureBatch.Row, _ schema: Schema) -> String? {
    guard let index = schema.columnIndex(name) else {
      return schema.idColumn == name ? "\(row.id)" : nil
    }
    let value = row.value(at: index, of: schema.columns[index].type)
    if let word = ColumnSurvey.word(value) { return word }
    return ColumnSurvey.number(value).map { Decimals.short($0) }
  }

  private func notes(of map: SVGMap, _ survey: MapSurvey) -> [Note] {
    var notes: [Note] = []
    if let size = options.size, survey.sizes == nil {
      notes.append("column '\(size)' has no numbers, so that all sizes are the same")
    }
    if map.plainCount > 0 {
      notes.append(
        Note(
          "\(map.plainCount) features are drawn without labels, sizes and attributes: a map has "
            + "\(SVGMap.mostElements) features with them"))
    }
    return notes
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
    notes = scene.notes + contents.notes
    transformations = scene.transformations
  }
}

extension Workspace {
  /// The name of the only store's file, without its folders.
  fileprivate nonisolated var fileName: String? {
    guard members.count == 1, let file = try? members[0].config.localFile() else { return nil }
    return FileSystem.name(of: file)
  }
}
