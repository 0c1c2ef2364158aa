import FieldpackCore
import FieldpackGeoPackage
import FieldpackGeometry

/// One export from what it asks to its report.
struct ExportRun: Sendable {
  let workspace: Workspace
  let query: Query
  let format: Format
  let options: ExportOptions

  // MARK: Plan

  private struct Plan {
    var prepared: PreparedQuery
    var writing: FeatureFileWriter.Plan
    var report = ExportReport()
  }

  private func plan() async throws(FieldpackError) -> Plan {
    var prepared = try await workspace.prepare(query)
    var targets = prepared.targets
    try targets.check(for: format, options)
    var notes: [Note] = []
    if format.isGeographic, query.srs == nil {
      if let raw = targets.first(where: { $0.schema.geometry?.srs.isUndefined ?? false }),
        format != .gpx
      {
        notes.append("layer '\(raw.layer)' has no SRS; its coordinates are written as they are")
      } else if targets.contains(where: { $0.schema.geometry.map { $0.srs != .wgs84 } ?? false }) {
        prepared = try await workspace.prepare(query.transformed(to: .wgs84))
        targets = prepared.targets
      }
    } else if format.isGeographic, let srs = query.srs, srs != .wgs84 {
      notes.append(Note(try Self.note(on: srs, format)))
    }
    if format == .geoPackage {
      try await describe(&targets)
      notes += try await leftBehind(targets)
    }
    var plan = Plan(
      prepared: prepared,
      writing: .init(
        format: format, targets: targets, options: options,
        srs: prepared.query.srs == .wgs84 ? nil : prepared.query.srs))
    plan.report.notes = notes
    plan.report.transformations = prepared.moved
    plan.report.layers = targets.map { .init(store: $0.store, layer: $0.layer, count: 0) }
    return plan
  }

  private static func note(on srs: SRS, _ format: Format) throws(FieldpackError) -> String {
    if format == .gpx {
      throw FieldpackError(
        .invalidArgument, "GPX is in WGS 84 and cannot be in \(srs)", advice: .keepWGS84)
    }
    let member =
      format == .geoJSON ? "its member crs says so" : "nothing in the file says so"
    return "the coordinates are in \(srs), not in RFC 7946's WGS 84; \(member)"
  }

  /// A GeoPackage needs to know before the first row which layers have texts for ids, and how
  /// their systems are defined.
  private func describe(_ targets: inout [ExportTarget]) async throws(FieldpackError) {
    for index in targets.indices {
      let store = try workspace.store(targets[index].store)
      if let store = store.geoPackage {
        let geometry = targets[index].schema.geometry
        targets[index].system = try await store.systems().first {
          $0.srs == geometry?.srs && $0.epoch == geometry?.epoch
        }
        continue
      }
      let first = Query(layers: [targets[index].layer]).select([]).withoutGeometry().limit(1)
      guard let batch = try await store.query(first).makeAsyncIterator().next() else { continue }
      if case .text? = batch.ids.first { targets[index].hasTextIDs = true }
    }
  }

  // MARK: To a file

  func write(to path: String) async throws(FieldpackError) -> ExportReport {
    var plan = try await plan()
    let worker = try ExportWorker()
    do throws(FieldpackError) {
      try await worker.open(plan.writing, at: path)
      let contents = try await transfer(plan.prepared, to: worker, &plan.report)
      let state = await worker.state
      plan.report.notes += try await finish(worker, state).map { Note($0) }
      plan.report.add(contents, state)
    } catch {
      await worker.abandon()
      throw error
    }
    return plan.report
  }

  /// Writes all features; gives what the query had to tell.
  private func transfer(
    _ prepared: PreparedQuery, to worker: ExportWorker, _ report: inout ExportReport
  ) async throws(FieldpackError) -> QueryReport.Contents {
    let encoder = try await worker.encoder(skipsErrors: options.skipsErrors)
    let contents = try await copyPieces(
      of: prepared, as: encoder, requiresAll: true, &report
    ) { (piece) async throws(FieldpackError) in try await worker.take(piece) }
    if let contents { return contents }
    let batches = try await prepared.batches()
    try requireAll(batches.report)
    try await copy(batches, to: worker, &report)
    try requireAll(batches.report)
    return batches.report.current
  }

  /// Reads the next batch while the last one is written.
  private func copy(
    _ batches: FeatureBatches, to worker: ExportWorker, _ report: inout ExportReport
  ) async throws(FieldpackError) {
    let iterator = batches.makeAsyncIterator()
    var next = try await iterator.next()
    while let batch = next {
      async let written = worker.write(batch)
      let following: Result<FeatureBatch?, FieldpackError>
      do throws(FieldpackError) {
        following = .success(try await iterator.next())
      } catch {
        following = .failure(error)
      }
      report.add(try await written.get(), batch.store, batch.schema.layer)
      options.progress?(report.count)
      next = try following.get()
      try checkCancellation()
    }
  }

  private func finish(
    _ worker: ExportWorker, _ state: ExportWorker.State
  ) async throws(FieldpackError) -> [String] {
    try checkCancellation()
    let result = await withTaskCancellationHandler {
      await worker.finish()
    } onCancel: {
      state.interrupt?()
    }
    return try result.get()
  }

  func checkCancellation() throws(FieldpackError) {
    if Task.isCancelled {
      throw FieldpackError(.interrupted, "interrupted; nothing was written")
    }
  }

  func requireAll(_ report: QueryReport) throws(FieldpackError) {
    guard !options.skipsErrors, let error = FieldpackError(incomplete: report.current.failures)
    else { return }
    throw error
  }

  // MARK: To bytes

  func write(to output: ByteOutput) async throws(FieldpackError) -> ExportReport {
    var plan = try await plan()
    var writer = try FeatureFileWriter(plan.writing, to: output)
    for target in plan.writing.targets { try writer.begin(target) }
    let encoder = try writer.encoder(skipsErrors: options.skipsErrors)
    let contents = try await copyPieces(
      of: plan.prepared, as: encoder, requiresAll: false, &plan.report
    ) { (piece) async throws(FieldpackError) in try writer.take(piece) }
    let told =
      if let contents { contents } else {
        try await copyBatches(of: plan.prepared, to: &writer, &plan.report)
      }
    let state = ExportWorker.State(skipped: writer.skipped, notes: writer.notes)
    try writer.finish()
    plan.report.add(told, state)
    return plan.report
  }

  private func copyBatches(
    of prepared: PreparedQuery, to writer: inout FeatureFileWriter,
    _ report: inout ExportReport
  ) async throws(FieldpackError) -> QueryReport.Contents {
    let batches = try await prepared.batches()
    let iterator = batches.makeAsyncIterator()
    while let batch = try await iterator.next() {
      let before = writer.skipped.count
      try writer.write(batch)
      let count = batch.count - (writer.skipped.count - before)
      report.add(count, batch.store, batch.schema.layer)
      options.progress?(report.count)
      try checkCancellation()
    }
    return batches.report.current
  }
}

extension Format {
  /// Whether the format is in WGS 84 by itself.
  fileprivate var isGeographic: Bool {
    self == .geoJSON || self == .geoJSONSequence || self == .gpx
  }
}

extension ExportReport {
  mutating func add(_ count: Int, _ store: StoreID, _ layer: LayerID) {
    if let index = layers.firstIndex(where: { $0.store == store && $0.layer == layer }) {
      layers[index].count += count
    } else {
      layers.append(.init(store: store, layer: layer, count: count))
    }
  }

  fileprivate mutating func add(
    _ contents: QueryReport.Contents, _ state: ExportWorker.State
  ) {
    skipped.add(contents.skipped)
    skipped.add(state.skipped)
    failures = contents.failures
    notes += (contents.notes + state.notes).map { Note($0) }
  }
}
